//! Passages: what is found, where it stands, and what it costs.

use neardup_align::{Aligner, GONE, Library, MOST_OF_A_SHINGLE, Paper, Passage, Run, fence, file};

/// Characters that look random and are not.
fn noise(length: usize, seed: u32) -> String {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from_u32(0x4E00 + (state >> 12) % 6000).unwrap_or('一')
    };
    (0..length).map(|_| next()).collect()
}

fn aligner() -> Aligner {
    Aligner::new()
}

fn passages(paper: &str, source: &str, least: u32) -> Vec<Passage> {
    let aligner = aligner();
    let paper = Paper::new(aligner.letters(paper).unwrap());
    paper.passages(&aligner.letters(source).unwrap(), least)
}

fn spans(found: &[Passage]) -> Vec<(u32, u32, u32, u32)> {
    found
        .iter()
        .map(|one| (one.begin, one.end, one.source_begin, one.source_end))
        .collect()
}

#[test]
fn piece_without_beginning_hides_no_other() {
    // The paper has the first sentence twice, once with another going on, and so two chains begin
    // with the same runs of the source.
    let (first, second, third) = (noise(30, 1), noise(60, 2), noise(56, 3));
    let source = format!("{first}{second}{}{third}", noise(800, 4));
    let paper = format!("{first}{second}{}{third}{}", noise(90, 5), &first[..60]);
    let found = passages(&paper, &source, 20);
    assert!(spans(&found).contains(&(180, 236, 890, 946)), "{found:?}");
}

#[test]
fn repetitive_text_takes_linear_time() {
    // Quadratic work would take minutes here.
    for text in [
        "一".repeat(300_000),
        "春江潮水".repeat(75_000),
        "ab".repeat(300_000),
    ] {
        let found = passages(&text, &text, 20);
        let length = text.chars().count() as u32;
        assert_eq!((found[0].begin, found[0].end), (0, length));
    }
}

#[test]
fn repetitive_text_with_edits_takes_linear_time() {
    let text = "春江潮水连海平海上明月".repeat(60_000);
    let mut edited: Vec<char> = text.chars().collect();
    for at in (5..edited.len()).step_by(13) {
        edited[at] = '甲';
    }
    let edited: String = edited.into_iter().collect();
    assert!(!passages(&edited, &text, 20).is_empty());
    assert!(!passages(&text, &edited, 20).is_empty());
}

#[test]
fn a_paragraph_many_times_over_is_found_each_time() {
    let paragraph = noise(120, 1);
    let source = format!("{}{paragraph}", noise(200, 2));
    for times in [20, 60] {
        let parts: Vec<String> = (0..times)
            .map(|part| format!("{paragraph}{}", noise(40, 10 + part)))
            .collect();
        let found = passages(&parts.concat(), &source, 20);
        assert_eq!(found.len(), times as usize, "{times}");
    }
}

#[test]
fn a_letter_of_the_source_counts_once() {
    // A phrase of the source that the paper repeats is worth one; a sentence, too, is found.
    for (length, count) in [(12, 0), (19, 0), (20, 1)] {
        let phrase = noise(length, 1);
        let source = format!("{}{phrase}{}", noise(90, 2), noise(90, 3));
        let parts: Vec<String> = (0..6)
            .map(|part| format!("{phrase}{}", noise(5, 10 + part)))
            .collect();
        let paper = format!("{}{}{}", noise(90, 4), parts.concat(), noise(90, 5));
        assert_eq!(passages(&paper, &source, 20).len(), count, "{length}");
    }
}

#[test]
fn letters_added_by_a_later_piece_count() {
    // The second piece repeats 12 letters of the first, and adds 10.
    let (first, second) = (noise(12, 1), noise(10, 2));
    let source = format!("{}{first}{second}{}", noise(90, 3), noise(90, 4));
    let middle = noise(5, 5);
    let paper = format!(
        "{}{first}{middle}{first}{second}{}",
        noise(90, 6),
        noise(90, 7)
    );
    for (least, count) in [(22, 1), (23, 0)] {
        assert_eq!(passages(&paper, &source, least).len(), count, "{least}");
    }
}

#[test]
fn own_words_in_between_are_not_copied() {
    // (copied characters, own ones after each, whether the source has others in their place)
    for (copied, own, replaced) in [(12, 19, false), (30, 30, true), (30, 30, false)] {
        let (mut paper, mut source) = (String::new(), String::new());
        for part in 0..12 {
            let text = noise(copied, 10 + part);
            paper += &(text.clone() + &noise(own, 100 + part));
            source += &text;
            if replaced {
                source += &noise(own, 200 + part);
            }
        }
        let found = passages(&paper, &source, 20);
        let pieces = found.iter().flat_map(|one| &one.pieces);
        let all: usize = pieces.map(|one| (one.end - one.begin) as usize).sum();
        let truth = 12 * copied;
        assert!(
            all.abs_diff(truth) <= truth / 20,
            "{copied} {own}: {all} for {truth}"
        );
    }
}

#[test]
fn short_passages_are_found_if_asked_for() {
    for least in 5..12 {
        let copied = noise(least, 1);
        let paper = format!("{}{copied}{}", noise(90, 2), noise(90, 3));
        let source = format!("{}{copied}{}", noise(40, 4), noise(40, 5));
        assert_eq!(passages(&paper, &source, least as u32).len(), 1, "{least}");
    }
}

#[test]
fn spans_reproduce_the_copied_text_in_any_surroundings() {
    for seed in 0..40 {
        let copied = noise(30 + 5 * seed as usize, 100 + seed);
        let before = format!("<p>é{}&\u{1F600}\u{0}", noise(seed as usize, 200 + seed));
        let paper = format!("{before}{copied}。{}", noise(50, 300 + seed));
        let source = format!("{}。{copied}", noise(3 * seed as usize, 400 + seed));
        let found = passages(&paper, &source, 20);
        assert_eq!(found.len(), 1, "{seed}");
        let part = |text: &str, begin: u32, end: u32| -> String {
            let length = (end - begin) as usize;
            text.chars().skip(begin as usize).take(length).collect()
        };
        assert_eq!(part(&paper, found[0].begin, found[0].end), copied);
        let span = (found[0].source_begin, found[0].source_end);
        assert_eq!(part(&source, span.0, span.1), copied);
    }
}

#[test]
fn one_paragraph_in_a_book_is_found() {
    let aligner = aligner();
    let paragraph = noise(150, 1);
    let books: Vec<String> = (0..50)
        .map(|book| {
            let middle = if book == 17 { paragraph.as_str() } else { "" };
            format!(
                "{}{middle}{}",
                noise(20_000, 1000 + book),
                noise(9000, 2000 + book)
            )
        })
        .collect();
    let sketches: Vec<Vec<u32>> = books
        .iter()
        .map(|text| aligner.sketch(text).unwrap())
        .collect();
    let filed = file(sketches);
    let positions: Vec<u32> = (0..50).collect();
    let fence_of_filed = fence(&filed);
    let library = Library::new(vec![Run {
        filed: &filed,
        fence: &fence_of_filed,
        positions: &positions,
    }]);
    let text = format!("{}{paragraph}{}", noise(30_000, 3), noise(30_000, 4));
    let paper = Paper::new(aligner.letters(&text).unwrap());
    let found = library.sources(&paper, 20, 10);
    assert_eq!(found[0].0, 17);
    assert!(found[0].1 > 20);
}

#[test]
fn common_passage_brings_its_first_source() {
    let aligner = aligner();
    let text = noise(100, 1);
    let sketch = aligner.sketch(&text).unwrap();
    let filed = file(vec![sketch; 3 * MOST_OF_A_SHINGLE]);
    // Every other document is gone; those that are left count as if it had never been there.
    let positions: Vec<u32> = (0..3 * MOST_OF_A_SHINGLE as u32)
        .map(|number| if number % 2 == 0 { GONE } else { number / 2 })
        .collect();
    let fence_of_filed = fence(&filed);
    let library = Library::new(vec![Run {
        filed: &filed,
        fence: &fence_of_filed,
        positions: &positions,
    }]);
    let paper = Paper::new(aligner.letters(&text).unwrap());
    let found = library.sources(&paper, 20, 1000);
    let documents: Vec<u32> = found.iter().map(|one| one.0).collect();
    assert_eq!(documents, (0..MOST_OF_A_SHINGLE as u32).collect::<Vec<_>>());
    assert_eq!(library.sources(&paper, 20, 5).len(), 5);
    let counts = library.counts(&paper);
    assert!(counts.is_sorted() && counts.len() > 10);
    assert!(
        counts
            .iter()
            .all(|one| one.1 == 3 * MOST_OF_A_SHINGLE as u32)
    );
}

#[test]
fn runs_find_as_much_as_merged() {
    let aligner = aligner();
    // Stretches that recur in most documents have lists that cross the ends of runs.
    let parts: Vec<String> = (0..6).map(|seed| noise(60, 100 + seed)).collect();
    let sketches: Vec<Vec<u32>> = (0..300)
        .map(|at| {
            let text = format!("{}{}{}", parts[at % 6], noise(40, at as u32), parts[at % 5]);
            aligner.sketch(&text).unwrap()
        })
        .collect();
    let gone = |number: usize| number % 7 == 3;
    let mut position = 0;
    let positions: Vec<u32> = (0..sketches.len())
        .map(|number| {
            if gone(number) {
                return GONE;
            }
            position += 1;
            position - 1
        })
        .collect();
    let there = sketches.iter().enumerate().filter(|&(at, _)| !gone(at));
    let whole = file(there.map(|(_, sketch)| sketch.iter().copied()));
    let every: Vec<u32> = (0..position).collect();
    let fence_of_whole = fence(&whole);
    let expected = Library::new(vec![Run {
        filed: &whole,
        fence: &fence_of_whole,
        positions: &every,
    }]);
    let paper = Paper::new(aligner.letters(&parts.concat()).unwrap());
    for ends in [vec![0, 300], vec![0, 1, 1, 90, 299, 300]] {
        let ranges: Vec<_> = ends.windows(2).map(|ends| ends[0]..ends[1]).collect();
        let parts: Vec<Vec<u64>> = ranges
            .iter()
            .map(|range| {
                file(
                    sketches[range.clone()]
                        .iter()
                        .map(|one| one.iter().copied()),
                )
            })
            .collect();
        let fences: Vec<Vec<u32>> = parts.iter().map(|filed| fence(filed)).collect();
        let runs = parts.iter().zip(&fences).zip(&ranges);
        let runs = runs.map(|((filed, fence), range)| Run {
            filed,
            fence,
            positions: &positions[range.clone()],
        });
        let library = Library::new(runs.collect());
        for limit in [5, 1000] {
            let found = library.sources(&paper, 20, limit);
            assert_eq!(found, expected.sources(&paper, 20, limit));
            assert!(!found.is_empty());
        }
        for most in [0, 1, 50, 1 << 20] {
            let (mut all, mut from) = (Vec::new(), Some(0));
            while let Some(begin) = from {
                let (entries, next) = library.merged(begin, most);
                assert!(next.is_none_or(|next| next > begin));
                all.extend(entries);
                from = next;
            }
            assert_eq!(all, whole);
        }
    }
}

#[test]
fn a_damaged_run_brings_no_other_documents() {
    let aligner = aligner();
    let text = noise(100, 1);
    let filed = file([aligner.sketch(&text).unwrap()]);
    let fence_of_filed = fence(&filed);
    let library = Library::new(vec![Run {
        filed: &filed,
        fence: &fence_of_filed,
        positions: &[],
    }]);
    let paper = Paper::new(aligner.letters(&text).unwrap());
    assert!(library.sources(&paper, 20, 10).is_empty());
}

/*! The measure `content(k)`: what two texts share beside the form they share.

Resemblance counts every shingle alike. In a collection with forms, of weather
bulletins or court notices, two texts of one form so resemble each other whatever
they say. Here three things are looked at beside the sets of shingles.

**Common shingles**, those that many texts of the collection carry, count three tenths,
and so do edits of a text that is posted often: see [`Weighed`]. Where no shared
shingle is common, the content is the resemblance.

**Numbers.** Texts whose numbers contradict each other are not similar: see
[`Agreement::contradicts`].

**Short texts.** In less than [`SHORT`] letters and digits one changed word is
all. There the letters and digits of one text must be those of the other or a
piece of it, at least 3/4 as long; the share is the similarity. A text without
letters and digits equals itself only.

What a pair costs is a merge of two samples of some 200 hashes each, and one of the
whole sets if these do not rule the pair out.
*/

use super::numbers::{Agreement, Numbers};
use super::resemblance::{Overlap, Shingles};
use super::shingle_frequencies::{RARE, ShingleFrequencies, text_level};
use super::short::{Letters, SHORT};
use super::weighed::{Sample, Scratch, Weighed, Weighing, sampled};

/// What comparing a text by content needs of it.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    shingles: Shingles,
    /// In how many texts each of the first shingles stands: those of `level`.
    counts: Box<[u32]>,
    level: u32,
    /// Texts that carry a shingle, at most, for it to be rare.
    rare: u32,
    numbers: Numbers,
    letters: Letters,
}

/// Two texts that are similar unless their numbers contradict each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alike {
    pub(super) similarity: f64,
    /// Of the whole sets, if it is known.
    overlap: Option<Overlap>,
}

/// Everything that decides about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Sizes of the sets of shingles and of their intersection.
    pub overlap: Overlap,
    /// What was weighed; `None` where the resemblance stands for the content.
    pub weighed: Option<Weighed>,
    /// The numbers of the texts.
    pub numbers: Agreement,
    /// Whether the numbers contradict each other: then the texts are not
    /// similar, whatever the similarity.
    pub contradicts: bool,
    /// Whether a text is so short that letters and digits decide.
    pub short: bool,
    /// The content or, for short texts, the share of letters and digits.
    pub similarity: f64,
}

impl Profile {
    /// Looks at a normalized text by shingles of `k` characters, or of more in a
    /// text with spaces between its words.
    ///
    /// `frequencies` must have been counted with the same `k`, and be the same
    /// for both profiles of a pair. O(n log n) for n characters; 8 bytes for
    /// each distinct shingle and each number.
    pub fn of(text: &str, k: usize, frequencies: Option<&ShingleFrequencies>) -> Self {
        Profile {
            numbers: Numbers::of(text),
            ..Profile::without_numbers(text, k, frequencies)
        }
    }

    /// The same for pairs whose numbers are looked at elsewhere, and only if the rest
    /// is [alike](Self::alike).
    pub(super) fn without_numbers(
        text: &str,
        k: usize,
        frequencies: Option<&ShingleFrequencies>,
    ) -> Self {
        let is_spaced = is_spaced(text);
        let shingles = Shingles::of(text, if is_spaced { spaced(k) } else { k });
        let (mut level, mut counts, mut rare) = (0, Box::default(), RARE);
        if let Some(table) = frequencies.filter(|_| !is_spaced) {
            rare = table.rare();
            level = text_level(shingles.len()).max(table.level());
            let sample = sampled(shingles.hashes(), level);
            counts = sample.iter().map(|&hash| table.count(hash)).collect();
        }
        Profile {
            shingles,
            counts,
            level,
            rare,
            numbers: Numbers::default(),
            letters: Letters::of(text),
        }
    }

    /// Bytes that the profile takes beside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        8 * (self.shingles.len() + self.numbers.len())
            + 4 * self.counts.len()
            + self.letters.heap_bytes()
    }

    /// The similarity if it is at least `threshold` and the numbers do not
    /// contradict each other, else `None`.
    ///
    /// The verdict is that of [`Evidence::verdict`]; what rules a pair out is
    /// looked at first, the cheapest before all.
    pub fn similarity_from(
        &self,
        other: &Profile,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<f64> {
        let alike = self.alike(other, threshold, scratch)?;
        let fits = self.numbers_fit(other, &self.numbers, &other.numbers, alike);
        fits.then_some(alike.similarity)
    }

    /// The similarity if it is at least `threshold`, whatever the numbers say.
    pub(super) fn alike(
        &self,
        other: &Profile,
        threshold: f64,
        scratch: &mut Scratch,
    ) -> Option<Alike> {
        let similarity = if self.is_short_beside(other) {
            self.letters.similarity(&other.letters)
        } else {
            match self.weigh(other, threshold, scratch) {
                Weighing::TooLow => return None,
                Weighing::Done(weighed) => weighed.content(),
                Weighing::NothingCommon => {
                    let overlap = self.shingles.overlap_from(&other.shingles, threshold)?;
                    return Some(Alike {
                        similarity: overlap.resemblance(),
                        overlap: Some(overlap),
                    });
                }
            }
        };
        (similarity >= threshold).then_some(Alike {
            similarity,
            overlap: None,
        })
    }

    /// Whether the numbers of both texts do not contradict each other.
    pub(super) fn numbers_fit(
        &self,
        other: &Profile,
        own: &Numbers,
        others: &Numbers,
        alike: Alike,
    ) -> bool {
        let numbers = own.compare(others);
        if numbers.contradicts_anyway() {
            return false;
        }
        // The whole sets are merged only where numbers differ.
        if numbers.differ == 0 {
            return true;
        }
        let overlap = alike.overlap;
        let overlap = overlap.unwrap_or_else(|| self.shingles.overlap(&other.shingles));
        !numbers.contradicts(overlap.common, overlap.smaller())
    }

    fn is_short_beside(&self, other: &Profile) -> bool {
        self.letters.len().min(other.letters.len()) < SHORT
    }

    /// Sorts out the sampled shingles of both texts.
    fn weigh(&self, other: &Profile, threshold: f64, scratch: &mut Scratch) -> Weighing {
        let level = self.level.max(other.level);
        let (a, b) = (self.sample(level), other.sample(level));
        scratch.weigh(&a, &b, level, threshold)
    }

    fn sample(&self, level: u32) -> Sample<'_> {
        // A text whose profile was made without a table has no counts.
        let hashes = sampled(&self.shingles.hashes()[..self.counts.len()], level);
        Sample {
            hashes,
            counts: &self.counts[..hashes.len()],
            rare: self.rare,
        }
    }
}

/// Characters of a shingle in a text with spaces between its words.
///
/// Five letters are one word and five Chinese characters are three: what stands
/// in a few texts of one stands in hundreds of the other. So shingles are longer
/// there, and none of them is taken for common.
fn spaced(k: usize) -> usize {
    (8 * k).div_ceil(5)
}

/// Whether a text is mostly of a script with spaces between words, where four
/// letters say about as much as one character of another script.
fn is_spaced(text: &str) -> bool {
    let (mut narrow, mut wide) = (0_usize, 0_usize);
    for c in text.chars() {
        narrow += usize::from(matches!(c, 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{DFF}'));
        wide += usize::from(c >= '\u{E00}');
    }
    narrow > 4 * wide
}

impl Evidence {
    /// Compares two texts in full.
    pub fn of(a: &Profile, b: &Profile) -> Self {
        let overlap = a.shingles.overlap(&b.shingles);
        let numbers = a.numbers.compare(&b.numbers);
        let short = a.is_short_beside(b);
        let weighed = match a.weigh(b, 0.0, &mut Scratch::default()) {
            Weighing::Done(weighed) if !short => Some(weighed),
            _ => None,
        };
        let similarity = if short {
            a.letters.similarity(&b.letters)
        } else {
            weighed.map_or_else(|| overlap.resemblance(), Weighed::content)
        };
        Evidence {
            overlap,
            weighed,
            numbers,
            contradicts: numbers.contradicts(overlap.common, overlap.smaller()),
            short,
            similarity,
        }
    }

    /// The similarity if it is at least `threshold`, inclusive, and the numbers
    /// do not contradict each other.
    pub fn verdict(&self, threshold: f64) -> Option<f64> {
        let similar = self.similarity >= threshold && !self.contradicts;
        similar.then_some(self.similarity)
    }
}

#[cfg(test)]
mod tests {
    use super::super::weighed::KNOWN;
    use super::*;

    /// A text of distinct characters, which are its shingles of length 1: those
    /// of `range`, of an alphabet without numerals.
    fn text(range: std::ops::Range<u32>) -> String {
        range.filter_map(|at| char::from_u32(0xac00 + at)).collect()
    }

    /// A table that says how many texts carry the characters of each text.
    fn table(carried: &[(&str, usize)]) -> ShingleFrequencies {
        let mut table = ShingleFrequencies::default();
        for (text, times) in carried {
            let set = Shingles::of(text, 1);
            table.add(&vec![set.hashes(); *times]);
        }
        table
    }

    fn evidence(a: &str, b: &str, table: &ShingleFrequencies) -> Evidence {
        let [a, b] = [a, b].map(|text| Profile::of(text, 1, Some(table)));
        let found = Evidence::of(&a, &b);
        let back = Evidence::of(&b, &a);
        assert_eq!(found.similarity, back.similarity);
        let mut scratch = Scratch::default();
        let s = found.similarity;
        for threshold in [0.0, s - 1e-9, s, s + 1e-9, 0.5, 1.0] {
            let got = a.similarity_from(&b, threshold, &mut scratch);
            assert_eq!(got, found.verdict(threshold));
        }
        found
    }

    #[test]
    fn four_letters_weigh_as_one_character() {
        assert!(!is_spaced("渡口abcdefgh"));
        assert!(is_spaced("渡口abcdefghi"));
        assert!(is_spaced("Ärzte"));
        assert!(is_spaced("паром"));
        assert!(!is_spaced("สวัสดี"));
        assert!(!is_spaced("12:30"));
        assert_eq!([1, 5, 6].map(spaced), [2, 8, 10]);
    }

    #[test]
    fn a_form_that_many_texts_share_counts_three_tenths() {
        let (form, a, b) = (text(0..60), text(100..140), text(200..240));
        let same = text(300..310);
        let (a, b) = (format!("{form}{same}{a}"), format!("{form}{same}{b}"));
        for (times, rare) in [(RARE as usize, 70), (RARE as usize + 1, 10)] {
            let found = evidence(&a, &b, &table(&[(&form, times)]));
            let shared = 10 * rare + 3 * (70 - rare);
            assert_eq!(found.similarity, shared as f64 / (shared + 800) as f64);
            assert_eq!(found.weighed.is_none(), rare == 70);
            assert_eq!(found.overlap.resemblance(), 70.0 / 150.0);
        }
    }

    #[test]
    fn departures_from_a_majority_are_edits() {
        // `b` is posted often; `a` says 5 characters of it in another way.
        let (form, own, usual) = (text(0..50), text(100..105), text(200..205));
        let (a, b) = (format!("{form}{own}"), format!("{form}{usual}"));
        let weighed = |in_form, in_usual| {
            let found = evidence(&a, &b, &table(&[(&form, in_form), (&usual, in_usual)]));
            found.weighed.unwrap()
        };
        let edited = weighed(10, 8);
        assert_eq!((edited.median, edited.edits), (10, 10));
        assert_eq!((edited.differs_a, edited.differs_b), (0, 0));
        assert_eq!(edited.content(), 50.0 / 60.0);
        // Below 0.8 of the median.
        for (in_form, in_usual) in [(10, 7), (5, 3)] {
            let content = weighed(in_form, in_usual);
            assert_eq!((content.differs_a, content.differs_b), (5, 5));
            assert_eq!(content.content(), 150.0 / 250.0);
        }
    }

    #[test]
    fn a_majority_excuses_as_many_departures_as_it_has_shingles() {
        let (form, own, usual) = (text(0..50), text(100..109), text(200..205));
        let (a, b) = (format!("{form}{own}"), format!("{form}{usual}"));
        let found = evidence(&a, &b, &table(&[(&form, 20), (&usual, 20)]));
        let weighed = found.weighed.unwrap();
        assert_eq!((weighed.differs_a, weighed.differs_b), (4, 0));
        assert_eq!(weighed.edits, 10);
        assert_eq!(weighed.content(), 150.0 / 220.0);
    }

    #[test]
    fn the_median_is_the_lower_one() {
        let (low, high, rest) = (text(0..20), text(20..40), text(40..80));
        let a = format!("{low}{high}{rest}");
        let found = evidence(&a, &a, &table(&[(&low, 6), (&high, 30)]));
        assert_eq!(found.weighed.unwrap().median, 6);
        assert_eq!(found.similarity, 1.0);
    }

    #[test]
    fn a_sample_of_less_than_24_says_nothing() {
        let whole = text(0..50);
        let mut known = Profile::of(&whole, 1, Some(&table(&[(&whole, 9)])));
        for (sampled, is_known) in [(KNOWN, true), (KNOWN - 1, false)] {
            known.counts = known.counts[..sampled].into();
            assert_eq!(Evidence::of(&known, &known).weighed.is_some(), is_known);
        }
    }

    #[test]
    fn the_level_of_a_pair_is_the_larger_one() {
        let (form, more) = (text(0..100), text(1000..1500));
        let found = evidence(
            &form,
            &format!("{form}{more}"),
            &table(&[(&form, 9), (&form, 3)]),
        );
        let weighed = found.weighed.unwrap();
        assert_eq!(weighed.level, 2);
        let set = Shingles::of(&form, 1);
        assert_eq!(weighed.common, sampled(set.hashes(), 2).len());
        assert_eq!((weighed.rare, weighed.median), (0, 12));
    }

    #[test]
    fn without_a_table_it_is_the_resemblance_to_the_last_bit() {
        for cut in 0..120 {
            let (a, b) = (text(0..100), text(cut..cut * 2 + 45));
            let resemblance = Shingles::of(&a, 1).resemblance(&Shingles::of(&b, 1));
            let [x, y] = [&a, &b].map(|text| Profile::of(text, 1, None));
            let found = Evidence::of(&x, &y);
            assert_eq!(found.similarity.to_bits(), resemblance.to_bits());
            let nothing_common = evidence(&a, &b, &ShingleFrequencies::default());
            assert_eq!(nothing_common.similarity, resemblance);
        }
    }

    #[test]
    fn texts_that_contradict_each_other_are_not_similar() {
        let body = text(0..60);
        let (a, b) = (format!("{body}7度"), format!("{body}8度"));
        let found = evidence(&a, &b, &ShingleFrequencies::default());
        assert!(found.contradicts && found.similarity > 0.9);
        assert_eq!(found.verdict(0.0), None);
    }

    #[test]
    fn one_letter_decides_whether_a_text_is_short() {
        let nothing = ShingleFrequencies::default();
        for (letters, short) in [(SHORT as u32 - 1, true), (SHORT as u32, false)] {
            let a = text(0..letters);
            let b = format!("{}。", text(0..letters + 1));
            let found = evidence(&a, &b, &nothing);
            assert_eq!(found.short, short);
            let resemblance = f64::from(letters) / f64::from(letters + 2);
            let share = f64::from(letters) / f64::from(letters + 1);
            assert_eq!(found.similarity, if short { share } else { resemblance });
        }
    }

    #[test]
    fn a_short_text_with_another_number_is_another() {
        let found = evidence(
            "码头停航3天",
            "码头停航3天4天",
            &ShingleFrequencies::default(),
        );
        assert!(found.short && !found.contradicts);
        let found = evidence(
            "第3天停航",
            "码头第3天停航4天",
            &ShingleFrequencies::default(),
        );
        assert_eq!(found.similarity, 0.0);
    }
}

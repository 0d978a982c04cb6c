/*! The engine in a web page: two texts compared, or a small collection cleaned.

The page writes a question into the [`buffer`], as JSON, calls a function, and reads the answer
there. Recipe and rule are part of each question: they are declared in Python only. A recipe that
needs a dictionary of words is refused.
*/

use std::cell::RefCell;
use std::ops::Range;

use neardup_core::Result;
use neardup_core::candidates::{Reach, Search};
use neardup_core::cluster::{Clusterer, Reason};
use neardup_core::corpus::{Corpus, Document};
use neardup_core::ids::DocId;
use neardup_core::judge::{Bounds, Rule};
use neardup_core::normalize::Mapped;
use neardup_core::recipe::{Recipe, Resources, Settings};
use neardup_core::verify::{Measure, equal_places};
use serde::Deserialize;
use serde_json::{Value, json};

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes the buffer `length` bytes long, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn buffer(length: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(length, 0);
        buffer.as_mut_ptr()
    })
}

/// Compares the two texts of a question; see [`Question::compare`]. Returns the length of the
/// answer.
#[unsafe(no_mangle)]
pub extern "C" fn compare() -> usize {
    answer(Question::compare)
}

/// Finds the texts that repeat an earlier one; see [`Question::dedup`]. Returns the length of the
/// answer.
#[unsafe(no_mangle)]
pub extern "C" fn dedup() -> usize {
    answer(Question::dedup)
}

fn answer(of: impl FnOnce(&Question) -> Result<Value>) -> usize {
    BUFFER.with_borrow_mut(|buffer| {
        let answer = match serde_json::from_slice::<Question>(buffer) {
            Ok(question) => of(&question).unwrap_or_else(|error| failed(&error)),
            Err(error) => failed(&error),
        };
        *buffer = answer.to_string().into_bytes();
        buffer.len()
    })
}

fn failed(error: &dyn std::error::Error) -> Value {
    json!({ "error": error.to_string() })
}

/// Texts, and what Python says of its default recipe and rule.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// Of the first four stages.
    pub settings: Settings,
    /// The resemblance that candidates are searched by.
    pub resemblance: f64,
    /// The smallest similarity of duplicates by `content(shingle)`, inclusive.
    pub threshold: f64,
    /// Characters in a shingle.
    pub shingle: usize,
    /// Texts with fewer features are duplicates only of identical texts.
    pub min_features: u32,
    /// Two texts, or a collection in its order.
    pub texts: Vec<String>,
}

impl Question {
    /// The verdict about the first two texts, and the places where they are the same, in UTF-16
    /// units as a page counts them: begin and end in the first text, begin and end in the second.
    ///
    /// # Errors
    ///
    /// If a text is too long, or the recipe needs words.
    pub fn compare(&self) -> Result<Value> {
        // Two texts do not show what is common in a collection.
        let corpus = self.corpus(None)?;
        let judged = self
            .rule()
            .bounds
            .judge(&corpus, DocId(0), DocId(1), self.shingle)?;
        let [a, b] = [0, 1].map(|text| corpus.recipe().normalize_mapped(&self.texts[text]));
        let origins = [
            Origins::of(&self.texts[0], &a),
            Origins::of(&self.texts[1], &b),
        ];
        let places = equal_places(&a.text, &b.text).into_iter().map(|[a, b]| {
            let (a, b) = (origins[0].place(a), origins[1].place(b));
            [a.start, a.end, b.start, b.end]
        });
        let aligned = judged.evidence.aligned;
        Ok(json!({
            "duplicate": judged.is_duplicate,
            "similarity": judged.similarity,
            "identical": judged.is_identical,
            "few_features": judged.has_few_features,
            "resemblance": judged.overlap.resemblance(),
            "containment_a": judged.overlap.containment_a(),
            "containment_b": judged.overlap.containment_b(),
            "numbers_agree": aligned.agree,
            "numbers_differ": aligned.differ,
            "numbers_replaced": aligned.replaced,
            "places": places.collect::<Vec<_>>(),
        }))
    }

    /// For each text in order: null if it is kept; else the number of the kept text that it
    /// repeats, from 0, the similarity, and whether both are the same.
    ///
    /// # Errors
    ///
    /// If a text is too long, or the recipe needs words.
    pub fn dedup(&self) -> Result<Value> {
        let corpus = self.corpus(Some(self.shingle))?;
        let documents: Vec<DocId> = DocId::range(0..corpus.len()).collect();
        let decided = Clusterer::new(&corpus, self.rule())?.decide(&corpus, &documents)?;
        let decisions = decided.iter().map(|decision| {
            decision.map(|decision| {
                let is_identical = decision.reason == Reason::Identical;
                (decision.kept.0, decision.similarity, is_identical)
            })
        });
        Ok(json!({ "decisions": decisions.collect::<Vec<_>>() }))
    }

    fn corpus(&self, counted: Option<usize>) -> Result<Corpus> {
        let recipe = Recipe::new(self.settings.clone(), Resources::default())?;
        let mut corpus = Corpus::new(recipe, true, counted)?;
        let documents = self.texts.iter().map(|text| Document {
            text: Some(text),
            ..Document::default()
        });
        corpus.push(&documents.collect::<Vec<_>>())?;
        corpus.finish()?;
        Ok(corpus)
    }

    fn rule(&self) -> Rule {
        Rule {
            search: Search::Postings {
                threshold: self.resemblance,
                reach: Reach::Kept,
            },
            bounds: Bounds {
                measure: Some(Measure::Content { k: self.shingle }),
                threshold: Some(self.threshold),
                max_distance: None,
                min_features: self.min_features,
            },
        }
    }
}

/// Where the bytes of a normalized text come from.
struct Origins<'a> {
    normalized: &'a Mapped,
    /// For each character of the original text, and its end: the UTF-16 units before it.
    units: Vec<usize>,
}

impl<'a> Origins<'a> {
    fn of(text: &str, normalized: &'a Mapped) -> Self {
        let mut units = vec![0];
        for c in text.chars() {
            units.push(units[units.len() - 1] + c.len_utf16());
        }
        Origins { normalized, units }
    }

    /// The place in the original text of bytes of the normalized one, which are not empty.
    fn place(&self, bytes: Range<usize>) -> Range<usize> {
        let text = &self.normalized.text;
        let begin = text[..bytes.start].chars().count();
        let length = text[bytes].chars().count();
        let spans = &self.normalized.spans[begin..begin + length];
        let (first, last) = (spans[0], spans[length - 1]);
        self.units[first.0 as usize]..self.units[last.1 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(texts: &[&str], of: extern "C" fn() -> usize) -> Value {
        let settings = json!({
            "normalize": {"nfkc": true, "lowercase": true, "whitespace": "by-script",
                "drop_invisible": true, "strip_markup": false},
            "segment": {"units": "script-shingles", "k": 5},
            "weigh": {"scheme": "once"},
            "sketch": {"kind": "sample", "size": 32},
        });
        let question = json!({
            "settings": settings, "resemblance": 0.45, "threshold": 0.45, "shingle": 5,
            "min_features": 1, "texts": texts,
        });
        BUFFER.replace(question.to_string().into_bytes());
        let length = of();
        BUFFER.with_borrow(|buffer| {
            assert_eq!(buffer.len(), length);
            serde_json::from_slice(buffer).unwrap()
        })
    }

    #[test]
    fn places_count_utf16_units_of_the_original() {
        let (a, b) = ("🛥 ＡＢ　渡轮下周一试航", "AB渡轮下周二试航");
        let found = asked(&[a, b], compare);
        let places: Vec<[usize; 4]> = serde_json::from_value(found["places"].clone()).unwrap();
        let cut = |text: &str, begin: usize, end: usize| {
            let units: Vec<u16> = text.encode_utf16().collect();
            String::from_utf16(&units[begin..end]).unwrap()
        };
        let cuts: Vec<_> = places
            .iter()
            .map(|&[x, y, u, v]| (cut(a, x, y), cut(b, u, v)))
            .collect();
        let expected = [("ＡＢ　渡轮下周", "AB渡轮下周"), ("试航", "试航")];
        assert_eq!(cuts, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn a_collection_is_decided_in_its_order() {
        let texts = [
            "市图书馆周六重新开放。",
            "气象台预计周末有雨。",
            "市图书馆周六重新开放！",
        ];
        let found = asked(&texts, dedup);
        assert_eq!(found["decisions"], json!([null, null, [0, 1.0, false]]));
    }

    #[test]
    fn malformed_question_is_an_error() {
        BUFFER.replace(b"{\"texts\": [\"\\ud800\"]}".to_vec());
        compare();
        let found: Value = BUFFER.with_borrow(|buffer| serde_json::from_slice(buffer).unwrap());
        assert!(found["error"].is_string());
    }
}

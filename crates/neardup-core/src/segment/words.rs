/*! Words and parts of speech, by jieba.

The dictionary of 349,000 words is loaded once per process (about a tenth of a second).
A user dictionary creates a separate instance, since its words change how other words
are segmented. jieba guesses unknown words and their tags by hidden Markov models.
*/

use std::fmt;
use std::sync::{Arc, LazyLock};

use jieba_rs::Jieba;

use super::Unit;
use crate::error::{Error, Result};

/// With larger frequencies, the sum over a dictionary could overflow.
const MAX_FREQUENCY: usize = 1 << 32;

/// jieba with its dictionary.
#[derive(Clone)]
pub(super) struct Words(Arc<Jieba>);

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words")
    }
}

impl Words {
    pub(super) fn new(user_dictionary: Option<&str>) -> Result<Self> {
        static SHARED: LazyLock<Arc<Jieba>> = LazyLock::new(|| Arc::new(Jieba::new()));
        let Some(lines) = user_dictionary else {
            return Ok(Words(Arc::clone(&SHARED)));
        };
        let mut jieba = Jieba::clone(&SHARED);
        for (number, line) in lines.lines().enumerate() {
            add_line(&mut jieba, number + 1, line)?;
        }
        Ok(Words(Arc::new(jieba)))
    }

    pub(super) fn for_each(&self, text: &str, mut take: impl FnMut(Unit<'_>)) {
        for tagged in self.0.tag(text, true) {
            take(Unit {
                text: tagged.word,
                tag: tagged.tag,
            });
        }
    }
}

/// Adds `word [frequency] [tag]`. Without a frequency jieba finds the smallest
/// that keeps the word whole.
fn add_line(jieba: &mut Jieba, number: usize, line: &str) -> Result<()> {
    let mut fields = line.split_whitespace();
    let Some(word) = fields.next() else {
        return Ok(());
    };
    let (second, third) = (fields.next(), fields.next());
    let (frequency, tag) = match (second, third) {
        (Some(tag), None) if tag.parse::<usize>().is_err() => (None, Some(tag)),
        (frequency, tag) => (frequency, tag),
    };
    let frequency = frequency.map(|digits| (digits, digits.parse::<usize>()));
    let frequency = match frequency {
        None => None,
        Some((_, Ok(frequency))) if frequency <= MAX_FREQUENCY => Some(frequency),
        Some((digits, _)) => {
            return Err(Error::input(
                format!("user dictionary, line {number}"),
                format!("a frequency of at most {MAX_FREQUENCY}"),
                digits,
            ));
        }
    };
    if fields.next().is_some() {
        return Err(Error::input(
            format!("user dictionary, line {number}"),
            "a word, a frequency and a tag",
            line,
        ));
    }
    jieba.add_word(word, frequency, tag);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(words: &Words, text: &str) -> Vec<String> {
        let mut units = Vec::new();
        words.for_each(text, |unit| {
            units.push(format!("{}/{}", unit.text, unit.tag))
        });
        units
    }

    #[test]
    fn every_token_comes_out() -> Result<()> {
        let words = Words::new(None)?;
        assert_eq!(
            cut(&words, "我们 喜欢图书馆。"),
            ["我们/r", " /x", "喜欢/v", "图书馆/n", "。/x"]
        );
        Ok(())
    }

    #[test]
    fn a_user_dictionary_changes_its_own_instance_only() -> Result<()> {
        let text = "他在新街口步行街";
        let plain = cut(&Words::new(None)?, text);
        let with_user_words = Words::new(Some("新街口步行街 ns\n\n街口步 3 n\n"))?;
        assert!(cut(&with_user_words, text).contains(&"新街口步行街/ns".to_owned()));
        assert_eq!(cut(&Words::new(None)?, text), plain);
        Ok(())
    }

    #[test]
    fn a_bad_line_is_named() {
        for (dictionary, number) in [
            ("好 1 a\n坏 many n", 2),
            ("好 1 a b", 1),
            ("好 9999999999999 a", 1),
        ] {
            let error = Words::new(Some(dictionary)).unwrap_err().to_string();
            assert!(error.contains(&format!("line {number}")), "{error}");
        }
    }
}

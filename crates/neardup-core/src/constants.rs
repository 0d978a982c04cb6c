/*! The constants of the verdict: every tuned number that decides whether two texts are duplicates.

Each is fitted to pairs that people read, of news, notices, laws and web pages; they are few and round, so
that they fit other collections too. `docs/accuracy.md` shows what the results lose if one is a fifth less or
more. Sizes of buffers and limits of memory, which change no result, are where they are used.
*/

// Candidates: which documents are compared.

/// The wanted size of the sample by which a document is compared: a document has up to twice as many.
/// The error of a resemblance of 0.45 is then at most 0.04.
pub const SAMPLE: usize = 128;

/// A key is rare if at most this many texts have it. As long as a [capped list](MAX_LIST_LEN_OF_KEPT): what
/// more documents have would not fit.
pub const RARE_KEY_TEXTS: u32 = 32;

/// The most rare keys that a document is filed under. Of texts with a resemblance of 0.45, hardly any pair
/// shares none of them.
pub const RARE_KEYS: usize = 16;

/// The most other keys that a document is filed under. Copies of a text that is posted in a hundred versions
/// share few rare keys.
pub const COMMON_KEYS: usize = 8;

/// A candidate shares the rare keys that the threshold implies, divided by this: an excerpt shares fewer, and
/// one in a thousand of them is missed.
pub const RARE_KEY_DIVISOR: f64 = 3.0;

/// Or it shares this part of all keys that the threshold implies, as versions of one text do.
pub const ALL_KEYS_SHARE: f64 = 0.75;

/// The most documents in the list of a key where only kept documents are filed: more share boilerplate.
pub const MAX_LIST_LEN_OF_KEPT: usize = 32;

/// The most documents in the list of a band where only kept documents are filed.
pub const MAX_LIST_LEN: usize = 1000;

/// The most documents in any list where all documents are filed.
pub const MAX_LIST_LEN_OF_ALL: usize = 10_000;

/// The share of the pairs at the threshold that an estimate by samples may lose.
pub const MISSED: f64 = 1e-6;

/// A higher threshold is taken for this one, of which the least probability is not too small for a
/// floating-point number.
pub const HIGHEST: f64 = 0.9;

// Weights of shingles that many texts of the collection contain.

/// In a small collection, a shingle is rare if at most this many texts contain it: fewer texts of one template
/// cannot be told from re-posts.
pub const RARE: u32 = 4;

/// In a collection of n texts, a shingle is rare if at most √(n / this) texts contain it: more texts have more
/// phrases in common.
pub const TEXTS_PER_RARE: u64 = 1600;

/// Beyond this many texts more than a rare shingle has, a shingle weighs no less: 0.15, since thousands of
/// texts may share an item that thousands have posted, each with its own line.
pub const LIGHTEST: usize = 32;

/// A shingle is boilerplate if it occurs in this many texts more than a rare one.
pub const MANY: u32 = 16;

/// A shingle is of the majority version if the texts that contain it are at most one part in this fewer than
/// the median of the common shingles.
pub const MAJORITY_PARTS: u32 = 5;

/// A text has unique text if its unshared shingles are more than this many times the other's unshared shingles
/// of the majority version: an edit removes as many as it adds.
pub const EDITS: usize = 2;

/// Two texts have different content if they share less than this of their shingles without boilerplate.
pub const OTHER: f64 = 0.1;

/// The least number of sampled shingles, of both texts together, by which anything is weighed.
pub const KNOWN: usize = 24;

// Alignment: the common runs of both texts, and the replacements between them.

/// Units of an anchor, a row that occurs once in each text.
pub const ANCHOR: usize = 4;

/// Two rows of units are aligned without anchors if the product of their lengths is at most the square of
/// this.
pub const WITHOUT_ANCHORS: usize = 256;

/// Two rows of units between anchors are aligned by their longest common subsequence if the product of their
/// lengths is at most the square of this, which takes 8 MB. Else they count as rewritten.
pub const EXACT: usize = 4096;

/// The least number of units of a stretch between two differences: any two texts have shorter ones.
pub const SHORTEST: usize = 3;

/// The most units, of either text, of a short gap: a place that was edited, and in which a number is replaced.
pub const SHORT_GAP: usize = 12;

/// The most units of a line of credit, a source or a date: characters, or words where words have spaces
/// between them.
pub const LINE: [usize; 2] = [12, 4];

/// The least number of units, of each text, that a name or a value has.
pub const SLOT: usize = 2;

/// The least number of other names or values in the same places of boilerplate that make another text of one
/// template.
pub const SLOTS: usize = 3;

/// The least number of units of a sentence that the other text has not, for it to be unique text.
pub const SENTENCE: usize = 5;

/// They are at least one part in this of the sentence.
pub const SENTENCE_PARTS: usize = 2;

// Score: resemblance, alignment and replaced numbers in one number.

/// The sum of resemblance and alignment of two texts at the default threshold, in hundredths; in scripts
/// without spaces between words, and in others.
pub const NEEDED: [u64; 2] = [108, 120];

/// The difference of that threshold to a similarity of 1, in hundredths.
pub const LEFT: u64 = 60;

/// Letters and digits for which one replaced number speaks.
pub const REACH: u64 = 200;

/// More replaced numbers than this have no further effect.
pub const MOST_NUMBERS: u64 = 2;

/// How much the share of replaced numbers, beyond the edited share, counts.
pub const NUMBERS_FACTOR: u64 = 6;

// Scattered edits. Of 846 labelled and judged pairs and 2,600 natural pairs that align over 85 percent and are
// not duplicates, 3 have four small differences among five, and none becomes a duplicate; of copies with 2 to
// 10 percent of the characters replaced, 99 in 100 have.

/// The most units of a small difference, of either text: a name has two or more.
pub const SMALL: usize = 2;

/// The least share of the longer text that is aligned, in percent.
pub const ALIGNED: usize = 85;

/// The least number of small differences.
pub const FEWEST: usize = 4;

/// As many times the weighty differences are small, at least.
pub const TIMES: usize = 4;

/// The least share of the longer text from the first difference to the last one, in percent.
pub const SPREAD: usize = 50;

/// Shingles that one replaced character breaks: as many as a shingle has characters.
pub const BROKEN_SHINGLES: f64 = 5.0;

/// The least resemblance of texts with scattered edits, whatever the threshold.
pub const SCATTERED: f64 = 1.0 / 3.0;

// Short texts: a headline in which one changed name is a quarter of the shingles.

/// Texts with fewer letters and digits than this are short.
pub const SHORT: usize = 40;

/// The shorter text has at least this part, first of second, of the letters and digits of the longer.
pub const PART: (usize, usize) = (3, 4);

// Words that turn the meaning.

/// Each one unit.
pub const NEGATIONS: [&str; 10] = [
    "不", "未", "没", "无", "非", "勿", "not", "no", "never", "without",
];

/// Letters and digits from which a text is no line, in which an opposite word decides.
pub const LINE_LETTERS: usize = 200;

/// The most units of a place in which one word decides, and in which one character does.
pub const OPPOSED: [usize; 2] = [6, 2];

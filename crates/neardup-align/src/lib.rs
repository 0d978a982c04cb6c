/*! Alignment: which stretches of a paper occur in a source, and where.

The naive method is a dot plot: a dot wherever the paper and the source have the same
letter, and a diagonal of dots wherever one copies the other. This module finds the
diagonals without drawing the plot.

1. [`Letters`]: only the letters and digits of each text are compared, normalized with all
   foldings. Each letter keeps its position in the original.
2. *runs*: a shingle that both texts contain is a dot, and consecutive dots on a diagonal
   are a run of equal letters.
3. *chains*: runs that follow each other in both texts, with a small gap, are one
   piece; the text between them was edited. This is a local alignment over runs: common
   letters raise the score of a chain, letters in a gap lower it.
4. *ends*: a piece is extended at both ends letter by letter, as long as common letters
   outweigh edits.
5. *passages*: pieces that are close to each other in the paper and near each other in the
   source form one passage, since sentences may have been moved. Each letter of the source
   counts once, and scattered phrases are not a passage.

Seeding and chaining is the method of genome alignment and of the best detectors of text
reuse (Potthast et al., *Overview of the 6th International Competition on Plagiarism
Detection*, CLEF 2014). In a library, [`Library`] finds the documents worth aligning by
winnowed shingles (Schleimer, Wilkerson and Aiken, *Winnowing*, SIGMOD 2003). [`Items`] turns
this around: many short texts are looked for in each document. [`repeats`] finds sentences and
paragraphs that several documents have.

Time and memory are linear in the length of the texts: a shingle that occurs in many places
of a paper is followed only from the first of them, and a run is chained
to one of a bounded number of runs before it. Reported matches are exact; the search for
them is heuristic, and the lab measures its quality.
*/

mod chains;
mod edits;
mod ends;
mod items;
mod letters;
mod library;
mod paper;
mod passages;
pub mod repeats;
mod runs;
mod shingles;

pub use edits::edit_similarity;
pub use items::{Finding, Items};
pub use letters::{Aligner, Letters};
pub use library::{BLOCK, GONE, Library, MOST_OF_A_SHINGLE, Run, fence, file};
pub use paper::Paper;
pub use passages::{Passage, Piece};

/*! Which stretches of a paper stand in a source, and where.

The naive way is a dot plot: a dot wherever the paper and the source have the same
letter, and a diagonal of dots wherever one copies the other. This module finds the
diagonals without drawing the plot.

1. [`Letters`]: of each text only letters and digits are looked at, in a form that
   full-width and half-width, case, traditional and simplified have in common; each knows
   where it stands in the original.
2. *runs*: a shingle that both texts have is a dot, and dots that follow each other
   on a diagonal are a run of equal letters.
3. *chains*: runs that follow each other in both texts, with a small gap, are one
   piece: what lies between them was edited. A local alignment over runs: letters in
   common count for a chain, letters in a gap against it.
4. *ends*: a piece is continued at both ends letter by letter, as long as letters
   in common outweigh edits.
5. *passages*: pieces that are close to each other in the paper and near each other in the
   source are one passage: sentences may have been moved. A letter of the source counts once,
   and phrases that lie about are no passage.

Seeding and chaining is how genomes are aligned and how the best detectors of text
re-use work (Potthast et al., *Overview of the 6th International Competition on Plagiarism
Detection*, CLEF 2014). Of a library, the documents worth aligning are found by
winnowed shingles (Schleimer, Wilkerson and Aiken, *Winnowing*, SIGMOD 2003):
[`Library`].

Time and memory are linear in the length of the texts: a shingle that stands in many places
of a paper is followed up in the first of them only, and a run is chained
to one of a bounded number before it. Exact in what it reports as equal; what it finds
is heuristic, and measured by the lab.
*/

mod chains;
mod edits;
mod ends;
mod letters;
mod library;
mod paper;
mod passages;
mod runs;
mod shingles;

pub use edits::{EXACT_EDITS, edit_similarity};
pub use letters::{Aligner, Letters};
pub use library::{Library, MOST_OF_A_SHINGLE};
pub use paper::Paper;
pub use passages::{Passage, Piece};

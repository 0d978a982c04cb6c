/*! Numbers of 32 bits that must not be taken for each other.

A list of them lies in memory as a list of `u32`, so that either can be read as the other.
*/

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, transmute_ref};

macro_rules! ids {
    ($($(#[$what:meta])* $name:ident)+) => {$(
        $(#[$what])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
            FromBytes, IntoBytes, Immutable, KnownLayout,
        )]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Reads numbers as a list of these.
            #[inline]
            pub fn all(numbers: &[u32]) -> &[Self] {
                transmute_ref!(numbers)
            }

            /// Reads a list of these as numbers.
            #[inline]
            pub fn numbers(all: &[Self]) -> &[u32] {
                transmute_ref!(all)
            }
        }
    )+};
}

ids! {
    /// A document, by its place in its corpus.
    DocId
    /// A shingle by the leading half of its hash, as samples hold it.
    Hash
    /// A filed document, by its place in the order of filing.
    Place
    /// A shingle that a table of frequencies has: its place there, in the order of hashes.
    ShingleId
}

impl DocId {
    /// Documents, one after the other.
    pub fn range(places: std::ops::Range<usize>) -> impl DoubleEndedIterator<Item = DocId> + Clone {
        // A corpus has fewer than 2^32 documents.
        places.map(|place| DocId(place as u32))
    }
}

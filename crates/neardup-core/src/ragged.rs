/*! Lists of different lengths, one after the other: all values, and where each list begins.

The values are in memory ([`Ragged<Vec<T>>`]), or in a file beyond a budget ([`Ragged<Spilled<T>>`]).
A list costs 8 bytes besides its values.
*/

use std::ops::Range;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::error::{Error, Result};
use crate::spilled::Spilled;

/// Lists by number, in one place for all of their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ragged<V> {
    values: V,
    /// Where each list begins, followed by the end of the last one.
    offsets: Vec<usize>,
}

impl<V: Default> Default for Ragged<V> {
    fn default() -> Self {
        Ragged::new(V::default())
    }
}

impl<V> Ragged<V> {
    /// No lists yet; their values are added to `values`, which must be empty.
    pub fn new(values: V) -> Self {
        Ragged {
            values,
            offsets: vec![0],
        }
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values.
    pub fn values(&self) -> &V {
        &self.values
    }

    /// All values, without their lists.
    pub fn into_values(self) -> V {
        self.values
    }

    /// Where each list begins among all values, followed by the end of the last one.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Where the values of a list are.
    ///
    /// # Panics
    ///
    /// If there is no such list.
    #[inline]
    pub fn range(&self, list: usize) -> Range<usize> {
        self.offsets[list]..self.offsets[list + 1]
    }

    fn end(&self) -> usize {
        self.offsets[self.len()]
    }
}

impl<T: Copy> Ragged<Vec<T>> {
    /// The lists between these offsets.
    ///
    /// # Errors
    ///
    /// If the offsets do not ascend from 0 to the number of values.
    pub fn of(offsets: Vec<usize>, values: Vec<T>) -> Result<Self> {
        let ends = [offsets.first(), offsets.last()];
        if ends != [Some(&0), Some(&values.len())] || !offsets.is_sorted() {
            let expected = format!("ascending from 0 to {}", values.len());
            let found = format!(
                "{} offsets, from {:?} to {:?}",
                offsets.len(),
                ends[0],
                ends[1]
            );
            return Err(Error::input("the offsets of lists", expected, found));
        }
        Ok(Ragged { values, offsets })
    }

    /// A list.
    ///
    /// # Panics
    ///
    /// If there is no such list.
    #[inline]
    pub fn list(&self, list: usize) -> &[T] {
        &self.values[self.range(list)]
    }

    /// All lists, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> {
        let bounds = self.offsets.windows(2);
        bounds.map(|bounds| &self.values[bounds[0]..bounds[1]])
    }

    /// All lists, in order, to be changed.
    pub fn lists_mut(&mut self) -> Vec<&mut [T]> {
        let mut rest = self.values.as_mut_slice();
        let bounds = self.offsets.windows(2);
        let lists = bounds.map(|bounds| {
            let (list, later) = std::mem::take(&mut rest).split_at_mut(bounds[1] - bounds[0]);
            rest = later;
            list
        });
        lists.collect()
    }

    /// Lists as long as these of other values.
    ///
    /// # Panics
    ///
    /// If there is another number of them.
    pub fn with_values<U>(self, values: Vec<U>) -> Ragged<Vec<U>> {
        assert_eq!(values.len(), self.values.len());
        Ragged {
            values,
            offsets: self.offsets,
        }
    }

    /// Each of some owners of the lists with each value of its list.
    pub fn pairs<O: Copy>(&self, owners: &[O]) -> impl Iterator<Item = (O, T)> {
        let lists = owners.iter().zip(self.iter());
        lists.flat_map(|(&owner, list)| list.iter().map(move |&value| (owner, value)))
    }

    /// Adds a list.
    pub fn push(&mut self, list: &[T]) {
        self.push_with(|values| values.extend_from_slice(list));
    }

    /// Adds the list that `add` appends to all values.
    pub fn push_with(&mut self, add: impl FnOnce(&mut Vec<T>)) {
        add(&mut self.values);
        self.offsets.push(self.values.len());
    }

    /// Adds other lists.
    pub fn append(&mut self, others: &Self) {
        let end = self.end();
        self.values.extend_from_slice(&others.values);
        self.offsets
            .extend(others.offsets[1..].iter().map(|offset| end + offset));
    }

    /// Keeps the values for which `is_kept` is true, given the number of their list.
    pub fn retain(&mut self, is_kept: impl Fn(usize, T) -> bool) {
        let (mut begin, mut end) = (0, 0);
        for list in 0..self.len() {
            for at in std::mem::replace(&mut begin, self.offsets[list + 1])..begin {
                let value = self.values[at];
                self.values[end] = value;
                end += usize::from(is_kept(list, value));
            }
            self.offsets[list + 1] = end;
        }
        self.values.truncate(end);
    }
}

impl<T: Copy + FromBytes + IntoBytes + Immutable> Ragged<Spilled<T>> {
    /// Adds a list; after an error there are as many as before.
    ///
    /// # Errors
    ///
    /// If it cannot be written: usually a full disk.
    pub fn push(&mut self, list: &[T]) -> Result<()> {
        self.values.append(list)?;
        self.offsets.push(self.values.len());
        Ok(())
    }

    /// Keeps the first `len` lists.
    pub fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.values.truncate(self.end());
    }

    /// The values of a list, if they are in memory.
    ///
    /// # Panics
    ///
    /// If there is no such list.
    #[inline]
    pub fn get(&self, list: usize) -> Option<&[T]> {
        self.values.get(self.range(list))
    }

    /// The values of consecutive lists; `buffer` holds them if they do not lie together in memory.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    ///
    /// # Panics
    ///
    /// If there are no such lists.
    pub fn read<'a>(&'a self, lists: Range<usize>, buffer: &'a mut Vec<T>) -> Result<&'a [T]> {
        let range = self.offsets[lists.start]..self.offsets[lists.end];
        self.values.read(range, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> Vec<Vec<u32>> {
        (0..100).map(|at| vec![at; at as usize % 7]).collect()
    }

    #[test]
    fn lists_in_memory_come_back() {
        let lists = lists();
        let mut first = Ragged::<Vec<u32>>::default();
        let mut rest = first.clone();
        lists[..40].iter().for_each(|list| first.push(list));
        lists[40..].iter().for_each(|list| rest.push(list));
        first.append(&rest);
        assert!(first.iter().eq(&lists));
        assert!((0..100).all(|at| first.list(at) == lists[at]));
        assert_eq!(
            Ragged::of(first.offsets.clone(), lists.concat()).unwrap(),
            first
        );
        first.retain(|list, value| list.is_multiple_of(2) && value != 8);
        let kept = |at: usize| {
            if at.is_multiple_of(2) && at != 8 {
                lists[at].as_slice()
            } else {
                &[]
            }
        };
        assert!(first.iter().eq((0..100).map(kept)));
    }

    #[test]
    fn lists_beyond_a_budget_come_back() {
        let lists = lists();
        for budget in [0, 300, 1 << 20] {
            let mut ragged = Ragged::new(Spilled::new(budget, None));
            lists.iter().for_each(|list| ragged.push(list).unwrap());
            let mut buffer = Vec::new();
            for range in [0..0, 0..1, 8..20, 99..100, 0..100] {
                let read = ragged.read(range.clone(), &mut buffer).unwrap();
                assert_eq!(read, lists[range].concat());
            }
            ragged.truncate(50);
            assert_eq!(
                (ragged.len(), ragged.values().len()),
                (50, lists[..50].concat().len())
            );
            if budget > 300 {
                assert_eq!(ragged.get(20), Some(lists[20].as_slice()));
            }
        }
    }
}

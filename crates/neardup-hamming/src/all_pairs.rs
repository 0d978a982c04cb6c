/*! All pairs by block keys: partition, then scan each bucket.

Takes fingerprints and a radius; yields every pair within it. First, equal fingerprints are
grouped. Then the rows are partitioned by the key of one table after another ([the
plan](mod@super::plan) gives the number of tables), and each bucket is compared by SIMD. If a
pair is found in several tables, only the first of them keeps it. Source: Manku, Jain, Das
Sarma, *Detecting near-duplicates for web crawling*, WWW 2007, with short keys and a SIMD scan
in place of long keys.

Exact. Time is O(tables · n) plus the comparisons of the plan. Memory is one copy of the rows
with their numbers, and a scratch copy of each thread's share.

Skewed fingerprints make some buckets larger than planned. There are three remedies. Bits that
hardly vary are left out of the keys. A plan is checked on a sample before it is used. A large
bucket becomes a search of its own, over the bits that are not in its key; if no plan is cheaper
there, the bucket is scanned. So no input costs much more than a scan.
*/

use rayon::prelude::*;

use super::fingerprints::{Fingerprints, Rows, check_distance, length, with_words};
use super::groups::collapse;
use super::kernels::Kernel;
use super::layout::{Layout, Piece, Table, all_bits, count_bits, distinguishing_bits};
use super::lists::{Collapsed, Pair, Pairs};
use super::partition::{Partition, Source};
use super::plan::{Scheme, cheapest};
use super::scan;
use crate::error::{Error, Result};

/// A bucket of at least this many rows becomes a separate search.
const HOT_ROWS: usize = 1 << 14;
/// Rows sampled to check whether a plan suits the actual fingerprints.
const SAMPLE_ROWS: usize = 1 << 16;
/// The maximum depth of searches of large buckets inside each other.
const MAX_DEPTH: u32 = 8;

/// The maximum number of pairs that are listed. To sort them takes about 7 GB.
pub const MAX_PAIRS: u64 = 1 << 28;

/// All pairs of documents within `max_distance` bits, sorted by `(a, b)`.
///
/// Equal fingerprints are pairs at distance 0. Their number is quadratic in the number of
/// documents that share a fingerprint; [`collapsed`] does not list them.
///
/// # Errors
/// If `max_distance` exceeds the fingerprints' width, or there are more than
/// [`MAX_PAIRS`] pairs.
///
/// # Examples
/// ```
/// use neardup_hamming::{Fingerprints, pairs};
///
/// let fingerprints = Fingerprints::from_rows(64, &[0b1111, 0, 0b0111, !0])?;
/// let found: Vec<_> = pairs(&fingerprints, 3)?.iter().collect();
/// assert_eq!(found, [(0, 2, 1), (1, 2, 3)]);
/// # Ok::<(), neardup_hamming::Error>(())
/// ```
pub fn pairs(fingerprints: &Fingerprints, max_distance: u32) -> Result<Pairs> {
    let collapsed = collapsed(fingerprints, max_distance)?;
    let count = collapsed.count();
    if count > u128::from(MAX_PAIRS) {
        return Err(Error::input(
            "the pairs of these fingerprints",
            format!("at most {MAX_PAIRS}; collapse equal fingerprints first"),
            count,
        ));
    }
    Ok(collapsed.expand())
}

/// All pairs within `max_distance` bits, with equal fingerprints grouped.
///
/// The cheapest plan is used, or another one if the fingerprints are too skewed.
///
/// # Errors
/// If `max_distance` exceeds the fingerprints' width.
pub fn collapsed(fingerprints: &Fingerprints, max_distance: u32) -> Result<Collapsed> {
    check_distance(fingerprints.bits(), max_distance)?;
    Ok(search(fingerprints, max_distance, None))
}

/// As [`collapsed`], by a given scheme. The answer is the same for every scheme.
///
/// # Errors
/// If `max_distance` exceeds the fingerprints' width or `scheme` does not fit.
pub fn collapsed_with(
    fingerprints: &Fingerprints,
    max_distance: u32,
    scheme: &Scheme,
) -> Result<Collapsed> {
    check_distance(fingerprints.bits(), max_distance)?;
    scheme.check(fingerprints.bits(), max_distance)?;
    Ok(search(fingerprints, max_distance, Some(*scheme)))
}

fn search(fingerprints: &Fingerprints, max_distance: u32, scheme: Option<Scheme>) -> Collapsed {
    with_words!(fingerprints.words(), W => {
        let rows = fingerprints.rows::<W>();
        let mut buffer = Partition::<W>::default();
        let groups = collapse(rows, &mut buffer);
        let repeats = (!groups.is_empty()).then(|| {
            let mut repeats = vec![false; length(rows)];
            for &document in groups.all_repeats() {
                repeats[document as usize] = true;
            }
            repeats
        });
        let join = Join {
            kernel: Kernel::best(),
            bits: fingerprints.bits(),
            max_distance,
        };
        let source = Source::counted(rows, repeats.as_deref());
        let space = all_bits(fingerprints.bits());
        let found = join.run(source, &space, scheme, None, &mut buffer);
        drop(buffer);
        Collapsed {
            groups,
            pairs: Pairs::from_found(found),
        }
    })
}

/// The settings of a search; the searches of its large buckets have the same.
struct Join {
    kernel: Kernel,
    bits: u32,
    max_distance: u32,
}

/// The bucket that is being searched. It keeps a pair only if, at each level, the table is the
/// first in which the pair agrees.
#[derive(Clone, Copy)]
struct Step<'a> {
    layout: &'a Layout,
    table: &'a Table,
    up: Option<&'a Step<'a>>,
    depth: u32,
}

impl Step<'_> {
    fn owns<const W: usize>(&self, differing: &[u64; W]) -> bool {
        self.layout.owns(self.table, differing) && self.up.is_none_or(|up| up.owns(differing))
    }
}

impl Join {
    /// Finds the pairs of `source`, whose rows differ in `space` only. If no scheme is given,
    /// the cheapest one is chosen and checked on a sample.
    fn run<const W: usize>(
        &self,
        source: Source<'_, W>,
        space: &[Piece],
        scheme: Option<Scheme>,
        up: Option<&Step<'_>>,
        buffer: &mut Partition<W>,
    ) -> Vec<Pair> {
        let (scheme, keyed) = match scheme {
            Some(scheme) => (scheme, space.to_vec()),
            None => self.choose(source.rows(), space),
        };
        if let Scheme::Blocks { blocks, .. } = scheme {
            let layout = Layout::new(&keyed, blocks, self.max_distance);
            return self.blocks(source, space, &layout, up, buffer);
        }
        // One group of all rows, without the skipped ones.
        buffer.fill_parallel(source, 1, |_| 0);
        let (rows, ids) = buffer.all();
        scan::triangle(self.kernel, rows, ids, self.max_distance, |differing| {
            up.is_none_or(|up| up.owns(differing))
        })
    }

    /// The cheapest scheme for `rows`, and the bits of `space` that its keys
    /// are made of.
    fn choose<const W: usize>(&self, rows: Rows<'_, W>, space: &[Piece]) -> (Scheme, Vec<Piece>) {
        let keyed = distinguishing_bits(space, rows);
        let (count, free) = (length(rows) as u64, count_bits(&keyed));
        let plan = cheapest(count, self.bits, free, self.max_distance);
        match plan.scheme {
            Scheme::Blocks { blocks, .. }
                if is_worthwhile(&Layout::new(&keyed, blocks, self.max_distance), rows) =>
            {
                (plan.scheme, keyed)
            }
            _ => (Scheme::Scan, keyed),
        }
    }

    /// Partitions by each table of `layout` and searches the buckets.
    fn blocks<const W: usize>(
        &self,
        source: Source<'_, W>,
        space: &[Piece],
        layout: &Layout,
        up: Option<&Step<'_>>,
        buffer: &mut Partition<W>,
    ) -> Vec<Pair> {
        let mut found = Vec::new();
        for table in layout.tables(source.len()) {
            let step = Step {
                layout,
                table: &table,
                up,
                depth: up.map_or(0, |up| up.depth + 1),
            };
            // The first half of the key makes groups that fit a core's cache; the second half
            // partitions each group there.
            let low = table.bits / 2;
            buffer.fill_parallel(source, 1 << (table.bits - low), |row| table.key(row) >> low);
            let groups = &*buffer;
            let parts: Vec<Vec<Pair>> = (0..groups.len())
                .into_par_iter()
                .map_init(Partition::default, |scratch, digit| {
                    let (rows, ids) = groups.group(digit);
                    let mut found = Vec::new();
                    if low == 0 {
                        self.bucket(rows, ids, space, &step, &mut found);
                    } else if ids.len() > 1 {
                        let mask = (1 << low) - 1;
                        scratch.fill(Source::numbered(rows, ids), 1 << low, |row| {
                            table.key(row) & mask
                        });
                        for digit in 0..scratch.len() {
                            let (rows, ids) = scratch.group(digit);
                            self.bucket(rows, ids, space, &step, &mut found);
                        }
                    }
                    found
                })
                .collect();
            found.extend(parts.into_iter().flatten());
        }
        found
    }

    /// Compares the rows of one bucket.
    fn bucket<const W: usize>(
        &self,
        rows: Rows<'_, W>,
        ids: &[u32],
        space: &[Piece],
        step: &Step<'_>,
        found: &mut Vec<Pair>,
    ) {
        if ids.len() < HOT_ROWS {
            self.kernel
                .triangle(rows, self.max_distance, |one, other, distance| {
                    if step.owns(&scan::differing(rows, one, other)) {
                        found.push(Pair::new(ids[one], ids[other], distance));
                    }
                });
            return;
        }
        let scheme = (step.depth >= MAX_DEPTH).then_some(Scheme::Scan);
        found.extend(self.run(
            Source::numbered(rows, ids),
            &step.table.rest(space),
            scheme,
            Some(step),
            &mut Partition::default(),
        ));
    }
}

/// Whether the tables need fewer than half of the comparisons of a scan.
fn is_worthwhile<const W: usize>(layout: &Layout, rows: Rows<'_, W>) -> bool {
    let count = length(rows);
    let budget = count as f64 * count as f64 / 4.0;
    let stride = count.div_ceil(SAMPLE_ROWS).max(1);
    let mut comparisons = 0.0;
    for table in layout.tables(count) {
        comparisons += table.comparisons(rows, stride);
        if comparisons > budget {
            return false;
        }
    }
    true
}

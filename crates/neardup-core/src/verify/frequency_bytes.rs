/*! Serialized shingle counts, which merge the counts of many machines into one table.

Each machine counts the shingles of its own texts ([`ShingleFrequencies`]) and passes the
counts on as bytes, sorted by hash. The operations here work on these bytes and need no
lookup table: dropping the shingles that the merged table will not hold, and subtracting
texts that were counted twice.

A table's *level* rises when it would hold too many shingles, and the total number of
shingles is not known before all tables are merged. A *probe* of the hashes estimates it:
one in `ONE_IN`, chosen by their trailing bits, since the leading ones already select the
shingles by which a long text is counted.
*/

use super::shingle_frequencies::{DEFAULT_ENTRIES, ShingleFrequencies};
use crate::bytes::Bytes;
use crate::error::Result;
use crate::sketch::is_of;

/// Changes whenever the bytes or the choice of shingles change.
pub(crate) const FORMAT: u32 = 3;

/// One in `ONE_IN` shingles is in a probe.
const ONE_IN: u32 = 1024;

/// The estimate must exceed the capacity of a table by this much, in percent of the capacity:
/// a margin of ten standard deviations of a probe of the deciding size.
const MARGIN: u64 = 115;

/// Shingle counts, sorted by hash.
pub(crate) struct Table {
    level: u32,
    texts: u64,
    counts: Vec<(u32, u32)>,
}

impl Table {
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut rest = Bytes::new("a stored background", bytes);
        rest.format(FORMAT)?;
        let table = Table::read(&mut rest)?;
        rest.end()?;
        Ok(table)
    }

    pub(crate) fn read(rest: &mut Bytes<'_>) -> Result<Self> {
        let (level, texts) = (rest.u32()?, rest.u64()?);
        // A hash has 32 bits, so no table has a higher level.
        if level > u32::BITS {
            return Err(rest.damaged(format!("level {level}")));
        }
        let counts = (0..rest.count(8)?).map(|_| Ok((rest.u32()?, rest.u32()?)));
        Ok(Table {
            level,
            texts,
            counts: counts.collect::<Result<_>>()?,
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = FORMAT.to_le_bytes().to_vec();
        write(self.level, self.texts, &self.counts, &mut bytes);
        bytes
    }

    pub(crate) fn into_frequencies(self) -> ShingleFrequencies {
        ShingleFrequencies::from_counts(self.level, self.texts, self.counts)
    }
}

/// Serializes all shingle counts, to be merged with those of other machines.
pub fn shingles_to_bytes(counted: &ShingleFrequencies) -> Vec<u8> {
    let mut bytes = FORMAT.to_le_bytes().to_vec();
    write_shingles(counted, &counted.counts(), &mut bytes);
    bytes
}

/// Restores the counts that [`shingles_to_bytes`] serialized.
///
/// # Errors
///
/// If the bytes are of another format or damaged.
pub fn shingles_from_bytes(bytes: &[u8]) -> Result<ShingleFrequencies> {
    Ok(Table::from_bytes(bytes)?.into_frequencies())
}

/// The serialized counts at `level`, or unchanged if their own level is higher.
///
/// # Errors
///
/// As [`shingles_from_bytes`].
pub fn thin_shingles(bytes: &[u8], level: u32) -> Result<Vec<u8>> {
    let mut table = Table::from_bytes(bytes)?;
    table.level = table.level.max(level);
    table.counts.retain(|&(hash, _)| is_of(table.level, hash));
    Ok(table.to_bytes())
}

/// Subtracts the counts `less` of some texts from counts that include the same texts.
/// Shingles that are only in `less` are ignored, since its level may be lower.
///
/// # Errors
///
/// As [`shingles_from_bytes`].
pub fn subtract_shingles(bytes: &[u8], less: &[u8]) -> Result<Vec<u8>> {
    let (mut table, less) = (Table::from_bytes(bytes)?, Table::from_bytes(less)?);
    let mut own = table.counts.iter_mut().peekable();
    for (hash, count) in less.counts {
        while own.next_if(|own| own.0 < hash).is_some() {}
        if let Some(own) = own.next_if(|own| own.0 == hash) {
            own.1 = own.1.saturating_sub(count);
        }
    }
    table.texts = table.texts.saturating_sub(less.texts);
    Ok(table.to_bytes())
}

/// The level of a table, and those of its hashes that belong to the probe.
///
/// # Errors
///
/// As [`shingles_from_bytes`].
pub fn probe_shingles(bytes: &[u8]) -> Result<(u32, Vec<u32>)> {
    let table = Table::from_bytes(bytes)?;
    let hashes = table.counts.into_iter().map(|(hash, _)| hash);
    let probe = hashes.filter(|hash| hash.is_multiple_of(ONE_IN)).collect();
    Ok((table.level, probe))
}

/// A level that a table of all shingles will certainly reach, from the probes of all
/// parts.
///
/// A part with a smaller capacity may have a higher level and lack shingles of this one:
/// parts can be merged only if none of them has a higher level.
pub fn level_of_probes(mut probes: Vec<u32>) -> u32 {
    probes.sort_unstable();
    probes.dedup();
    let is_too_large = |level: &u32| {
        let held = probes.partition_point(|&hash| is_of(*level, hash)) as u64;
        held * u64::from(ONE_IN) * 100 > DEFAULT_ENTRIES as u64 * MARGIN
    };
    (0..u32::BITS).take_while(is_too_large).count() as u32
}

pub(crate) fn write_shingles(
    frequencies: &ShingleFrequencies,
    shingles: &[(u32, u32)],
    bytes: &mut Vec<u8>,
) {
    write(frequencies.level(), frequencies.texts(), shingles, bytes);
}

fn write(level: u32, texts: u64, shingles: &[(u32, u32)], bytes: &mut Vec<u8>) {
    bytes.extend(level.to_le_bytes());
    bytes.extend(texts.to_le_bytes());
    bytes.extend((shingles.len() as u64).to_le_bytes());
    for (hash, count) in shingles {
        bytes.extend(hash.to_le_bytes());
        bytes.extend(count.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(level: u32, texts: u64, counts: &[(u32, u32)]) -> Vec<u8> {
        let counts = counts.to_vec();
        let table = Table {
            level,
            texts,
            counts,
        };
        table.to_bytes()
    }

    #[test]
    fn a_thinner_table_has_the_shingles_of_its_level() {
        let bytes = table(0, 3, &[(7, 3), (1 << 30, 2), (1 << 31, 1)]);
        let thin = thin_shingles(&bytes, 1).unwrap();
        assert_eq!(thin, table(1, 3, &[(7, 3), (1 << 30, 2)]));
        assert_eq!(thin_shingles(&thin, 0).unwrap(), thin);
        assert!(thin_shingles(&bytes[1..], 1).is_err());
    }

    #[test]
    fn other_shingles_are_not_merged_with_these() {
        let bytes = table(0, 3, &[(7, 3)]);
        assert!(shingles_from_bytes(&bytes).is_ok());
        for format in [FORMAT - 1, FORMAT + 1] {
            let other = [&format.to_le_bytes(), &bytes[4..]].concat();
            let error = shingles_from_bytes(&other).unwrap_err().to_string();
            assert!(error.contains("of format 3"), "{error}");
            assert!(thin_shingles(&other, 1).is_err() && probe_shingles(&other).is_err());
        }
    }

    #[test]
    fn what_was_counted_once_more_is_taken_off() {
        let all = table(1, 5, &[(7, 3), (9, 1), (11, 4)]);
        // Its level is lower, so it has shingles that the other lacks.
        let again = table(0, 2, &[(7, 2), (8, 2), (11, 1), (1 << 31, 2)]);
        let left = subtract_shingles(&all, &again).unwrap();
        assert_eq!(left, table(1, 3, &[(7, 1), (9, 1), (11, 3)]));
    }

    #[test]
    fn probes_tell_the_level_of_all() {
        // One in ONE_IN of these shingles, spread over all levels.
        let probe = |shingles: u32| -> Vec<u32> {
            let count = shingles / ONE_IN;
            (0..count)
                .map(|at| (at * (u32::MAX / count)) & !(ONE_IN - 1))
                .collect()
        };
        let level = |shingles| level_of_probes(probe(shingles));
        let most = DEFAULT_ENTRIES as u32;
        assert_eq!([most, most * 11 / 10].map(level), [0, 0]);
        assert_eq!([most * 2, most * 3, most * 5].map(level), [1, 2, 3]);
        let twice = [probe(most), probe(most)].concat();
        assert_eq!(level_of_probes(twice), 0);
        let bytes = table(0, 1, &[(3, 1), (1024, 1), (4096, 1)]);
        assert_eq!(probe_shingles(&bytes).unwrap(), (0, vec![1024, 4096]));
    }

    #[test]
    fn small_tables_of_parts_make_up_a_whole_one() {
        let spread = |at: u32| {
            let mixed = (at + 1).wrapping_mul(0x9E37_79B9);
            (mixed ^ (mixed >> 16)).wrapping_mul(0x85EB_CA6B)
        };
        let part =
            |part: u32| -> Vec<u32> { (0..2_000_000).map(|at| spread(at * 8 + part)).collect() };
        let parts: Vec<Vec<u32>> = (0..8).map(part).collect();
        let mut whole = ShingleFrequencies::default();
        // Texts so short that all of their shingles are counted.
        let text = |hashes: &[u32]| {
            let mut hashes = hashes.to_vec();
            hashes.sort_unstable();
            hashes
        };
        let texts = |part: &'_ Vec<u32>| part.chunks(100).map(text).collect::<Vec<_>>();
        parts.iter().for_each(|part| whole.add(&texts(part)));
        let tables: Vec<Vec<u8>> = parts
            .iter()
            .map(|part| {
                let mut table = ShingleFrequencies::new(1_500_000);
                table.add(&texts(part));
                shingles_to_bytes(&table)
            })
            .collect();
        let probed = tables.iter().map(|table| probe_shingles(table).unwrap());
        let (levels, probes): (Vec<_>, Vec<_>) = probed.unzip();
        let level = level_of_probes(probes.concat());
        assert_eq!((level, levels), (2, vec![1; 8]));
        let mut merged = ShingleFrequencies::default();
        for table in &tables {
            let thin = thin_shingles(table, level).unwrap();
            merged.merge(shingles_from_bytes(&thin).unwrap());
        }
        assert_eq!(shingles_to_bytes(&merged), shingles_to_bytes(&whole));
        // Eight tables of the same part hold less than a full one would.
        assert_eq!(level_of_probes(probe_shingles(&tables[0]).unwrap().1), 0);
    }
}

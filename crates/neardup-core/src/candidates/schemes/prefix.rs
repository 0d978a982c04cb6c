//! Prefixes: similar samples must share at least one of these keys.

/// The prefix length for a set of `size` keys and a resemblance of `threshold`.
///
/// A similar enough set shares at least `threshold * size` of the keys, so it shares at
/// least one of any size - ceil(threshold * size) + 1 of them (Chaudhuri, Ganti and
/// Kaushik, ICDE 2006; Bayardo, Ma and Srikant, WWW 2007).
pub(in crate::candidates) fn prefix_length(size: usize, threshold: f64) -> usize {
    // Rounding must not shorten the prefix.
    let needed = (threshold * size as f64 - 1e-9).ceil().max(1.0) as usize;
    (size + 1 - needed.min(size)).min(size)
}

//! What two sequences have in common: long common subsequences, in nearly linear time.

use rustc_hash::FxHashMap;

/// Sequences whose lengths have a product up to this are compared item by item.
const SMALL: usize = 1 << 16;

/// The positions of items that are equal and in the same order. Items that occur once in both sequences are the fixed
/// points, between which the sequences are compared again; what is small is compared completely.
pub(super) fn common(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut parts = vec![((0, a.len()), (0, b.len()))];
    while let Some(((mut first, mut last), (mut low, mut high))) = parts.pop() {
        while first < last && low < high && a[first] == b[low] {
            found.push((first, low));
            (first, low) = (first + 1, low + 1);
        }
        while first < last && low < high && a[last - 1] == b[high - 1] {
            (last, high) = (last - 1, high - 1);
            found.push((last, high));
        }
        if first == last || low == high {
            continue;
        }
        let (of_a, of_b) = (&a[first..last], &b[low..high]);
        if of_a.len().saturating_mul(of_b.len()) <= SMALL {
            found.extend(longest(of_a, of_b).into_iter().map(|(i, j)| (first + i, low + j)));
            continue;
        }
        let fixed = fixed_points(of_a, of_b);
        if fixed.is_empty() {
            found.extend(first_fit(of_a, of_b).into_iter().map(|(i, j)| (first + i, low + j)));
            continue;
        }
        let mut before = (first, low);
        for (i, j) in fixed {
            let (i, j) = (first + i, low + j);
            found.push((i, j));
            parts.push(((before.0, i), (before.1, j)));
            before = (i + 1, j + 1);
        }
        parts.push(((before.0, last), (before.1, high)));
    }
    found.sort_unstable();
    found
}

/// A longest common subsequence.
fn longest(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut lengths = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = match a[i] == b[j] {
                true => lengths[(i + 1) * width + j + 1] + 1,
                false => lengths[(i + 1) * width + j].max(lengths[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

/// The items that occur once in both sequences, and of these a longest subsequence in the same order.
fn fixed_points(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut seen: FxHashMap<u64, [(u32, usize); 2]> = FxHashMap::default();
    for (side, items) in [a, b].into_iter().enumerate() {
        for (at, item) in items.iter().enumerate() {
            let one = &mut seen.entry(*item).or_default()[side];
            *one = (one.0 + 1, at);
        }
    }
    let single =
        |item: &u64| seen.get(item).filter(|one| one[0].0 == 1 && one[1].0 == 1).map(|one| (one[0].1, one[1].1));
    increasing(&a.iter().filter_map(single).collect::<Vec<_>>())
}

/// A longest subsequence whose second numbers increase, as the first ones do.
fn increasing(points: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last point of the best subsequence of each length, and the point before each one.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(points.len());
    for (at, point) in points.iter().enumerate() {
        let length = ends.partition_point(|end| points[*end].1 < point.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    let mut found: Vec<_> = std::iter::successors(last, |at| before[*at]).map(|at| points[at]).collect();
    found.reverse();
    found
}

/// A common subsequence of items that all occur several times: each item with the next equal one.
fn first_fit(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut places: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    b.iter().enumerate().rev().for_each(|(at, item)| places.entry(*item).or_default().push(at));
    let (mut next, mut found) = (0, Vec::new());
    for (i, item) in a.iter().enumerate() {
        let Some(of_item) = places.get_mut(item) else { continue };
        while of_item.last().is_some_and(|at| *at < next) {
            of_item.pop();
        }
        if let Some(j) = of_item.pop() {
            found.push((i, j));
            next = j + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_aligned() {
        for (a, b, wanted) in [
            (&[1, 2, 3][..], &[1, 3][..], &[(0, 0), (2, 1)][..]),
            (&[1, 2], &[3, 4], &[]),
            (&[1, 2, 3, 4], &[2, 1, 3, 9, 4], &[(1, 0), (2, 2), (3, 4)]),
            (&[], &[1], &[]),
        ] {
            assert_eq!(common(a, b), wanted);
        }
    }

    #[test]
    fn long_sequences_are_aligned_at_what_is_single() {
        let a: Vec<u64> = (0..5000).collect();
        let b: Vec<u64> = (0..5000).filter(|i| i % 7 != 3).map(|i| if i % 11 == 5 { 9000 + i } else { i }).collect();
        let found = common(&a, &b);
        assert_eq!(found.len(), a.iter().filter(|i| *i % 7 != 3 && *i % 11 != 5).count());
        assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        let alternating = |n: u64| (0..n).map(|i| i % 2).collect::<Vec<_>>();
        let mut other = alternating(3001);
        other.reverse();
        other.insert(0, 1);
        assert_eq!(common(&alternating(4000), &other).len(), 3001);
    }
}

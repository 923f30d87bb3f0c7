//! Lists of axes, which may be as long as the rank of a tensor.

use rustc_hash::FxHashSet;

/// As many axes are searched one by one.
const FEW: usize = 16;

/// A list of axes to look axes up in; none for axes that are not known.
pub(super) struct AxisSet<'a> {
    list: &'a [Option<i64>],
    /// All axes that are known; empty for a short list.
    many: FxHashSet<i64>,
}

impl<'a> AxisSet<'a> {
    pub(super) fn new(list: &'a [Option<i64>]) -> Self {
        let long = if list.len() > FEW { list } else { &[] };
        AxisSet { list, many: long.iter().flatten().copied().collect() }
    }

    /// Whether an axis is in the list.
    pub(super) fn contains(&self, axis: usize) -> bool {
        let axis = axis as i64;
        if self.many.is_empty() { self.list.contains(&Some(axis)) } else { self.many.contains(&axis) }
    }
}

/// The first axis that is in a list twice.
pub(super) fn twice(list: &[Option<i64>]) -> Option<i64> {
    if list.len() <= FEW {
        let before = |(i, axis): &(usize, &Option<i64>)| axis.is_some() && list[..*i].contains(axis);
        return list.iter().enumerate().find(before).and_then(|(_, axis)| *axis);
    }
    let mut seen = FxHashSet::default();
    list.iter().flatten().copied().find(|axis| !seen.insert(*axis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_like_short_ones() {
        for len in [3, 16, 17, 100] {
            let mut list: Vec<Option<i64>> = (0..len).map(|axis| (axis != 1).then_some(axis)).collect();
            let set = AxisSet::new(&list);
            assert_eq!([0, 1, 2, 200].map(|axis| set.contains(axis)), [true, false, true, false], "{len}");
            assert_eq!(twice(&list), None, "{len}");
            list[0] = Some(len - 1);
            assert_eq!(twice(&list), Some(len - 1), "{len}");
            list.iter_mut().for_each(|axis| *axis = None);
            assert_eq!((twice(&list), AxisSet::new(&list).contains(0)), (None, false), "{len}");
        }
    }
}

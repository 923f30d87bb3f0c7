//! Parts of groups with many items, so that a group can be seen as a whole.
//!
//! Loose operations between groups become parts first. If that is not enough, operations that repeat are divided where
//! the repetition starts again, others where few tensors cross.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::category::{self, Category};
use super::groups::{GroupCall, Groups, MIN_OPERATIONS};
use super::layout::ranks::{Adjacency, Level};
use super::quotient::Quotient;
use super::regroup::{GroupItem, NewGroup, regrouped};
use crate::graph::Graph;

/// The number of items from which on groups are divided, inner groups and the graph itself, and of their parts.
const MANY: usize = 64;
const MANY_AT_FIRST: usize = 24;
const PARTS: usize = 24;
/// The number of operations between groups from which on they become parts on the first screen.
const LOOSE: usize = 8;
/// The maximum number of items in which a repetition is searched.
const SEARCHED: usize = 4096;
/// The minimum length of what repeats, and how often it has to.
const REPEATED: usize = 4;
const TIMES: usize = 3;
/// The number of operators in the title of a part.
const NAMED: usize = 3;

/// Divides groups with many items.
pub(super) fn divided(graph: &Graph, drawn: &[usize], groups: Groups) -> Groups {
    let mut counts = vec![0usize; groups.calls.len()];
    groups.calls.iter().skip(1).for_each(|call| counts[call.parent as usize] += 1);
    drawn.iter().for_each(|operation| counts[groups.of(*operation) as usize] += 1);
    let ports = graph.inputs.len() + graph.outputs.len();
    let at_first = MANY_AT_FIRST.saturating_sub(ports).max(MANY_AT_FIRST / 2);
    // A group of nearly all operations is on the first screen, too.
    let is_first = |operations: usize| operations * 4 > drawn.len() * 3;
    let most = |operations: usize| if is_first(operations) { at_first } else { MANY };
    if counts.iter().all(|count| *count <= LOOSE) {
        return groups;
    }
    let mut quotient = Quotient::new(graph);
    regrouped(drawn, &groups, |call, inner| {
        let count: usize = inner.iter().map(|item| item.operations.len()).sum();
        let most = if call.run.is_some() { MANY } else { most(count) };
        let loose = inner.iter().filter(|item| item.group.is_none()).count();
        let is_scattered = is_first(count) && loose > LOOSE && inner.len() > loose + 1;
        if inner.len() <= most && !is_scattered {
            return Vec::new();
        }
        let mut numbered = 0;
        let part = |range: PartRange| {
            numbered += usize::from(range.is_numbered);
            let items = range.items.iter().map(|item| &inner[*item as usize]);
            let title = title(graph, items, range.is_numbered.then_some(numbered));
            NewGroup { call: GroupCall::part(title), items: range.items }
        };
        divide(graph, &mut quotient, inner, most.min(PARTS)).into_iter().map(part).collect()
    })
}

/// Items that become a part.
struct PartRange {
    items: Vec<u32>,
    is_numbered: bool,
}

/// Divides items into parts, or only the operations among groups. Items that are in no part stay as they are.
fn divide(graph: &Graph, quotient: &mut Quotient, items: &[GroupItem], most: usize) -> Vec<PartRange> {
    let operations = items.iter().enumerate();
    let operations = operations.flat_map(|(item, of)| of.operations.iter().map(move |at| (*at, item as u32)));
    let level = quotient.level(items.len(), operations);
    let (order, position) = Adjacency::new(&level).order(items.len());
    let loose = |at: &usize| items[order[*at] as usize].group.is_none();
    let runs = runs(items.len(), loose);
    let after = items.len() - runs.iter().map(Range::len).sum::<usize>() + runs.len();
    let has_groups = items.iter().filter(|item| item.group.is_some()).count() >= MIN_OPERATIONS as usize;
    // Inputs stay outside, where they are seen.
    let is_input = |item: &u32| {
        let GroupItem { group, operations } = &items[*item as usize];
        let name = |at: &usize| graph.operation_name(&graph.operations[*at]);
        group.is_none() && operations.iter().all(|at| category::of(name(at)) == Category::Port)
    };
    let of = |range: &Range<usize>, is_numbered| {
        let items: Vec<u32> = order[range.clone()].iter().copied().filter(|item| !is_input(item)).collect();
        Some(PartRange { items, is_numbered }).filter(|part| part.items.len() > 1)
    };
    if has_groups && after <= most {
        return runs.iter().filter_map(|range| of(range, false)).collect();
    }
    let crossing = crossings(&level, &position);
    let signature = |at: usize| match &items[order[at] as usize] {
        GroupItem { group: Some(_), operations } => (true, operations.len()),
        GroupItem { group: None, operations } => {
            (false, operations.first().map_or(0, |at| graph.kind_id(&graph.operations[*at]).index()))
        }
    };
    let signatures: Vec<(bool, usize)> = (0..items.len()).map(signature).collect();
    let ranges = repeated(&signatures, &crossing, most).unwrap_or_else(|| windows(&crossing, most));
    ranges.iter().filter_map(|range| of(range, true)).collect()
}

/// The longest sequences, of at least two, for which a condition holds.
fn runs(count: usize, holds: impl Fn(&usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..count).filter(holds) {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    runs.retain(|run| run.len() >= MIN_OPERATIONS as usize);
    runs
}

/// For each position in the order of a level, the number of nets from above it to it or below.
fn crossings(level: &Level, position: &[u32]) -> Vec<u32> {
    let mut change = vec![0i64; level.items.len() + 1];
    for net in &level.nets {
        let Some(source) = net.source.map(|source| position[source as usize]) else { continue };
        let last = net.targets.iter().map(|target| position[*target as usize]).max().unwrap_or(source);
        if last > source {
            change[source as usize + 1] += 1;
            change[last as usize + 1] -= 1;
        }
    }
    let mut now = 0;
    let sums = change.iter().map(|by| {
        now += by;
        now as u32
    });
    sums.collect()
}

/// Ranges that repeat, with what is before and after them; none if less than half of the items repeat.
fn repeated(signatures: &[(bool, usize)], crossing: &[u32], most: usize) -> Option<Vec<Range<usize>>> {
    let count = signatures.len();
    if count > SEARCHED {
        return None;
    }
    let (start, length, end) = (REPEATED..=count / TIMES).find_map(|length| {
        let same = runs(count - length, |at| signatures[*at] == signatures[at + length]);
        let longest = same.into_iter().max_by_key(Range::len)?;
        let covered = longest.len() + length;
        (covered * 2 >= count && covered >= TIMES * length).then_some((longest.start, length, longest.end + length))
    })?;
    let cuts = |shift: usize| (start + shift..=end).step_by(length);
    let mean = |shift: usize| {
        let all = cuts(shift);
        let number = all.clone().count() as u64;
        all.map(|at| u64::from(crossing[at])).sum::<u64>() * 1000 / number.max(1)
    };
    let shift = (0..length).min_by_key(|shift| mean(*shift))?;
    // So many repetitions are one part.
    let together = cuts(shift).count().saturating_sub(1).div_ceil(most.saturating_sub(2).max(1)).max(1);
    let mut bounds: Vec<usize> = cuts(shift).step_by(together).collect();
    bounds.insert(0, 0);
    bounds.push(count);
    bounds.dedup();
    Some(bounds.windows(2).map(|pair| pair[0]..pair[1]).collect())
}

/// Ranges of similar sizes, between which few tensors cross.
fn windows(crossing: &[u32], most: usize) -> Vec<Range<usize>> {
    let count = crossing.len() - 1;
    let least = count.div_ceil(most).max(2);
    let (mut ranges, mut start) = (Vec::new(), 0);
    while count - start >= 2 * least {
        let cut = (start + least..start + 2 * least).rev().min_by_key(|at| crossing[*at]).unwrap_or(start + least);
        ranges.push(start..cut);
        start = cut;
    }
    ranges.push(start..count);
    ranges
}

/// The title of a part: its number and its most frequent operators, without those that only move items.
fn title<'i>(graph: &Graph, items: impl Iterator<Item = &'i GroupItem>, number: Option<usize>) -> String {
    let mut counts: FxHashMap<&str, (usize, usize)> = FxHashMap::default();
    for (at, operation) in items.flat_map(|item| &item.operations).enumerate() {
        let name = graph.operation_name(&graph.operations[*operation]);
        counts.entry(name).or_insert((0, at)).0 += 1;
    }
    let tells = |name: &&str| !matches!(category::of(name), Category::Layout | Category::Port | Category::Data);
    let mut names: Vec<&str> = counts.keys().copied().collect();
    names.sort_by_key(|name| (!tells(name), std::cmp::Reverse(counts[name].0), counts[name].1));
    names.truncate(NAMED);
    let names = names.join(", ");
    number.map_or(names.clone(), |number| format!("{number}: {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_start_where_few_tensors_cross() {
        // Three times the same after something else; between the repetitions one tensor crosses.
        let kinds: Vec<(bool, usize)> =
            [9, 8, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 7].map(|k| (false, k)).into();
        let mut crossing = vec![2; kinds.len() + 1];
        [4, 9, 14].iter().for_each(|at| crossing[*at] = 1);
        assert_eq!(repeated(&kinds, &crossing, 24), Some(vec![0..4, 4..9, 9..14, 14..18]));
        assert_eq!(repeated(&kinds, &crossing, 3), Some(vec![0..4, 4..14, 14..18]));
        assert_eq!(repeated(&kinds[..9], &crossing[..10], 24), None);
    }

    #[test]
    fn windows_are_few_and_end_where_few_tensors_cross() {
        let mut crossing = vec![2; 101];
        [0, 7, 16, 30, 100].iter().for_each(|at| crossing[*at] = 1);
        let ranges = windows(&crossing, 20);
        assert_eq!(ranges[..2], [0..7, 7..16]);
        assert!(ranges.len() <= 20 && ranges.last().unwrap().end == 100);
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}

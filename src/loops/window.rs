//! Windows: which elements of sequences are needed, propagated from results to their operands.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

/// The elements of a sequence that are needed, counted from the end: element `n`, the one after the last trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TripWindow {
    /// The distance of the first element from the end; none if it is element 0.
    first: Option<u32>,
    /// The distance of the last element from the end.
    last: u32,
}

impl TripWindow {
    /// All elements but the one after the last trip.
    pub(crate) const TRIPS: TripWindow = TripWindow { first: None, last: 1 };
    /// All elements.
    pub(crate) const ALL: TripWindow = TripWindow { first: None, last: 0 };
    /// The element after the last trip.
    pub(crate) const END: TripWindow = TripWindow { first: Some(0), last: 0 };
    /// No element.
    const NONE: TripWindow = TripWindow { first: Some(0), last: u32::MAX };

    /// Whether it has element `i`; always true if the number of trips is not known.
    pub(crate) fn covers(self, i: u64, trips: Option<u64>) -> bool {
        let Some(n) = trips else { return true };
        i + u64::from(self.last) <= n && self.first.is_none_or(|first| i + u64::from(first) >= n)
    }

    fn join(self, other: TripWindow) -> TripWindow {
        let first = self.first.zip(other.first).map(|(a, b)| a.max(b));
        TripWindow { first, last: self.last.min(other.last) }
    }
}

/// A needed sequence, or a whole loop.
struct WindowNode {
    /// The nodes that it uses, each with whether it uses them one trip earlier.
    uses: Vec<(usize, bool)>,
    /// The number of uses of it that have not been processed.
    users: u32,
    window: TripWindow,
}

/// Propagates windows from needed nodes to all nodes that they use; `uses` returns the nodes that a node uses, each
/// with whether it uses them one trip earlier. The time for `n` uses is O(n log n).
pub(crate) fn spread(
    asked: &[(usize, TripWindow)],
    uses: impl Fn(usize) -> Vec<(usize, bool)>,
) -> impl Iterator<Item = (usize, TripWindow)> {
    let mut nodes: FxHashMap<usize, WindowNode> = FxHashMap::default();
    let mut waiting: Vec<usize> = asked.iter().map(|(node, _)| *node).collect();
    while let Some(at) = waiting.pop() {
        nodes.entry(at).or_insert_with(|| {
            let uses = uses(at);
            waiting.extend(uses.iter().map(|(used, _)| *used));
            WindowNode { uses, users: 0, window: TripWindow::NONE }
        });
    }
    let used: Vec<usize> = nodes.values().flat_map(|node| node.uses.iter().map(|(used, _)| *used)).collect();
    for at in used {
        nodes.entry(at).and_modify(|node| node.users += 1);
    }
    for (node, window) in asked {
        nodes.entry(*node).and_modify(|node| node.window = node.window.join(*window));
    }
    find_first(&mut nodes);
    find_last(&mut nodes);
    nodes.into_iter().map(|(at, node)| (at, node.window))
}

/// Finds the largest distance of each node from the end, in topological order. Nodes that this does not reach are on
/// a cycle or used by one: their windows begin at element 0.
fn find_first(nodes: &mut FxHashMap<usize, WindowNode>) {
    let mut ready: Vec<usize> = nodes.iter().filter(|(_, node)| node.users == 0).map(|(at, _)| *at).collect();
    let mut open = nodes.len();
    while let Some(at) = ready.pop() {
        open -= 1;
        let Some(node) = nodes.get(&at) else { continue };
        let (first, uses) = (node.window.first, node.uses.clone());
        for (used, earlier) in uses {
            let Some(node) = nodes.get_mut(&used) else { continue };
            let first = first.map(|first| first + u32::from(earlier));
            node.window = node.window.join(TripWindow { first, last: u32::MAX });
            node.users -= 1;
            if node.users == 0 {
                ready.push(used);
            }
        }
    }
    if open > 0 {
        nodes.values_mut().filter(|node| node.users > 0).for_each(|node| node.window.first = None);
    }
}

/// Finds the smallest distance of each node from the end, by shortest paths.
fn find_last(nodes: &mut FxHashMap<usize, WindowNode>) {
    let asked = nodes.iter().filter(|(_, node)| node.window.last < u32::MAX);
    let mut waiting: BinaryHeap<Reverse<(u32, usize)>> =
        asked.map(|(at, node)| Reverse((node.window.last, *at))).collect();
    while let Some(Reverse((last, at))) = waiting.pop() {
        let Some(node) = nodes.get(&at).filter(|node| node.window.last == last) else { continue };
        for (used, earlier) in node.uses.clone() {
            let last = last + u32::from(earlier);
            if let Some(node) = nodes.get_mut(&used)
                && last < node.window.last
            {
                node.window.last = last;
                waiting.push(Reverse((last, used)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(asked: &[(usize, TripWindow)], uses: &[(usize, usize, bool)]) -> Vec<(usize, Option<u32>, u32)> {
        let of = |at: usize| uses.iter().filter(|(from, ..)| *from == at).map(|(_, to, e)| (*to, *e)).collect();
        let mut found: Vec<_> = spread(asked, of).map(|(at, window)| (at, window.first, window.last)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn windows_reach_as_far_back_as_the_longest_way_and_end_with_the_shortest() {
        // 0 uses 1 now and 2 one trip earlier, which uses 1 one trip earlier.
        let uses = [(0, 1, false), (0, 2, true), (2, 1, true)];
        assert_eq!(windows(&[(0, TripWindow::END)], &uses), [(0, Some(0), 0), (1, Some(2), 0), (2, Some(1), 1)]);
        assert_eq!(windows(&[(0, TripWindow::TRIPS)], &uses), [(0, None, 1), (1, None, 1), (2, None, 2)]);
        assert_eq!(windows(&[(2, TripWindow::END), (1, TripWindow::ALL)], &uses), [(1, None, 0), (2, Some(0), 0)]);
    }

    #[test]
    fn what_comes_back_to_itself_starts_at_the_beginning() {
        let uses = [(0, 1, true), (1, 0, false), (1, 2, false), (3, 2, true)];
        let found = windows(&[(0, TripWindow::END), (3, TripWindow::END)], &uses);
        assert_eq!(found, [(0, None, 0), (1, None, 1), (2, None, 1), (3, Some(0), 0)]);
    }
}

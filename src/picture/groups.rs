//! Groups: calls of fragments that are drawn as boxes around operations.
//!
//! A group is a call that several operations come from. If a fragment calls itself first or last in its body, the inner
//! call is drawn next to the outer one: an unrolled recursion is a row of groups instead of nested groups. Calls that
//! are nested deeper than [`MAX_DEPTH`] belong to the group around them. Modules in names are groups, too ([`paths`]),
//! and groups with too many items are divided ([`parts`]).

use super::{parts, paths};
use crate::graph::{Graph, OriginId};

/// The maximum nesting depth of groups.
pub(crate) const MAX_DEPTH: u32 = 12;
/// Calls with fewer operations are not drawn as groups.
pub(super) const MIN_OPERATIONS: u32 = 2;

/// The graph itself, which is around all groups.
pub(crate) const ROOT: u32 = 0;

/// A group, without its contents.
#[derive(Clone, Debug)]
pub(crate) struct GroupCall {
    /// The group around it.
    pub(crate) parent: u32,
    /// The call; none for a group that is derived from names alone.
    pub(crate) origin: OriginId,
    /// The common part of names, if the group is derived from names, or the title of a part.
    pub(crate) path: Option<String>,
    /// Whether it is a part of a large group, which neither a call nor a name tells.
    pub(crate) is_part: bool,
}

impl GroupCall {
    /// The graph itself.
    pub(super) fn root() -> Self {
        GroupCall { parent: ROOT, origin: OriginId::NONE, path: None, is_part: false }
    }

    /// The group of a module.
    pub(super) fn module(parent: u32, name: String) -> Self {
        GroupCall { parent, path: Some(name), ..GroupCall::root() }
    }
}

/// The groups of a graph; number 0 is the graph itself.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The groups, each after the one around it.
    pub(crate) calls: Vec<GroupCall>,
    /// The group of each operation.
    pub(super) of: Vec<u32>,
}

impl Groups {
    /// The group of an operation.
    pub(crate) fn of(&self, operation: usize) -> u32 {
        self.of.get(operation).copied().unwrap_or(ROOT)
    }

    /// Finds the groups for the operations that are drawn: calls, modules, and parts of large groups.
    pub(crate) fn new(graph: &Graph, drawn: &[usize]) -> Self {
        parts::divided(graph, drawn, Groups::undivided(graph, drawn))
    }

    /// The groups of calls and modules.
    pub(crate) fn undivided(graph: &Graph, drawn: &[usize]) -> Self {
        let calls = Groups::of_calls(graph, drawn);
        paths::grouped(graph, drawn, &calls).unwrap_or(calls)
    }

    /// Adds a group.
    pub(super) fn add(&mut self, call: GroupCall) -> u32 {
        self.calls.push(call);
        self.calls.len() as u32 - 1
    }

    fn of_calls(graph: &Graph, drawn: &[usize]) -> Self {
        let spans = Spans::new(graph, drawn.iter().copied());
        let count = spans.parent.len();
        // For each call, the call that it is drawn in.
        let mut within = spans.parent.clone();
        for call in 0..count {
            let parent = spans.parent[call];
            if parent != NONE && spans.repeats(graph, call, parent) {
                within[call] = within[parent as usize];
            }
        }
        let mut total = spans.own.clone();
        for call in (0..count).rev().filter(|call| within[*call] != NONE) {
            total[within[call] as usize] += total[call];
        }
        let mut groups = Groups { calls: vec![GroupCall::root()], of: vec![ROOT; graph.operations.len()] };
        let mut depths = vec![0];
        let mut numbers = vec![ROOT; count];
        for call in 0..count {
            let around = numbers.get(within[call] as usize).copied().unwrap_or(ROOT);
            numbers[call] = around;
            if total[call] >= MIN_OPERATIONS && depths[around as usize] < MAX_DEPTH {
                numbers[call] =
                    groups.add(GroupCall { parent: around, origin: OriginId(call as u32), ..GroupCall::root() });
                depths.push(depths[around as usize] + 1);
            }
        }
        for &at in drawn {
            groups.of[at] = numbers.get(graph.operations[at].origin.index()).copied().unwrap_or(ROOT);
        }
        groups
    }
}

const NONE: u32 = u32::MAX;

/// The number and the range of the operations that come from each call.
struct Spans {
    parent: Vec<u32>,
    /// The number of operations in the body of the call itself.
    own: Vec<u32>,
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Spans {
    fn new(graph: &Graph, drawn: impl Iterator<Item = usize>) -> Self {
        let count = graph.origin_count();
        let parent = |call: usize| {
            let parent = graph.origin(OriginId(call as u32)).map_or(NONE, |origin| origin.parent.0);
            if (parent as usize) < call { parent } else { NONE }
        };
        let mut spans = Spans {
            parent: (0..count).map(parent).collect(),
            own: vec![0; count],
            first: vec![u32::MAX; count],
            last: vec![0; count],
        };
        for operation in drawn {
            let call = graph.operations[operation].origin.index();
            if call < count {
                spans.own[call] += 1;
                spans.cover(call, (operation as u32, operation as u32));
            }
        }
        for call in (0..count).rev() {
            if spans.parent[call] != NONE {
                spans.cover(spans.parent[call] as usize, (spans.first[call], spans.last[call]));
            }
        }
        spans
    }

    fn cover(&mut self, call: usize, span: (u32, u32)) {
        self.first[call] = self.first[call].min(span.0);
        self.last[call] = self.last[call].max(span.1);
    }

    /// Whether a call starts or ends a call of the same fragment.
    fn repeats(&self, graph: &Graph, call: usize, parent: u32) -> bool {
        let fragment = |call: u32| graph.origin(OriginId(call)).map(|origin| origin.fragment);
        let at_an_end =
            self.first[call] == self.first[parent as usize] || self.last[call] == self.last[parent as usize];
        at_an_end && fragment(call as u32) == fragment(parent)
    }
}

//! Groups: calls of fragments that are drawn as boxes around operations.
//!
//! A group is a call that several operations come from. If a fragment calls itself first or last in its body, the inner
//! call is drawn next to the outer one: an unrolled recursion is a row of groups instead of nested groups. Calls that
//! are nested deeper than [`MAX_DEPTH`] belong to the group around them.

use crate::graph::{Graph, OriginId};

/// The maximum nesting depth of groups.
pub(crate) const MAX_DEPTH: u32 = 12;
/// Calls with fewer operations are not drawn as groups.
pub(super) const MIN_OPERATIONS: u32 = 2;

/// The graph itself, which is around all groups.
pub(crate) const ROOT: u32 = 0;

/// Equal modules that follow each other.
#[derive(Clone, Debug)]
pub(crate) struct RunOf {
    /// How many they are.
    pub(crate) count: u32,
    /// What each is called.
    pub(crate) name: String,
}

/// A group, without its contents.
#[derive(Clone, Debug)]
pub(crate) struct GroupCall {
    /// The group around it.
    pub(crate) parent: u32,
    /// The call; none for a group that is derived from names alone.
    pub(crate) origin: OriginId,
    /// The path of modules, if it is a module, or the title of a part.
    pub(crate) path: Option<String>,
    /// The class of the module; empty if it is not known.
    pub(crate) class: String,
    /// Whether it is a part of a large group, which neither a call nor a name tells.
    pub(crate) is_part: bool,
    /// The equal modules that it consists of, if it does.
    pub(crate) run: Option<RunOf>,
}

impl GroupCall {
    /// The graph itself.
    pub(super) fn root() -> Self {
        GroupCall { parent: ROOT, origin: OriginId::NONE, path: None, class: String::new(), is_part: false, run: None }
    }

    /// The group of equal modules, in whatever group.
    pub(super) fn run(of: RunOf) -> Self {
        GroupCall { run: Some(of), ..GroupCall::root() }
    }

    /// Whether it is the graph itself.
    pub(super) fn is_root(&self) -> bool {
        self.path.is_none() && self.origin == OriginId::NONE && self.run.is_none()
    }

    /// The name of the module, fragment or part; none for the graph and for a run without a name of its own.
    pub(super) fn name(&self, graph: &Graph) -> Option<String> {
        let of_call = || graph.origin(self.origin).map(|call| graph.text_of(call.fragment).to_owned());
        self.path.clone().or_else(of_call)
    }

    /// The name of what it is one of: the class of a module if that is known, else its name.
    pub(super) fn kind_name(&self, graph: &Graph) -> Option<String> {
        if self.class.is_empty() { self.name(graph) } else { Some(self.class.clone()) }
    }

    /// The group of a module, with its name and its class.
    pub(super) fn module(parent: u32, name: String, class: String) -> Self {
        GroupCall { parent, path: Some(name), class, ..GroupCall::root() }
    }

    /// A part of a large group.
    pub(super) fn part(title: String) -> Self {
        GroupCall { path: Some(title), is_part: true, ..GroupCall::root() }
    }
}

/// What a group is called.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupTitle {
    /// What is written on it.
    pub(crate) text: String,
    /// Its own name, which is a step of a path of modules; empty for runs and parts.
    pub(crate) step: String,
    /// The name of the innermost module around what is in it, or its own, without those around that.
    module: String,
}

impl GroupTitle {
    fn of_graph(graph: &Graph) -> Self {
        GroupTitle { text: graph.text_of(graph.name).to_owned(), ..GroupTitle::default() }
    }

    /// The title of a group with a name; `around` is that of the module around it.
    fn new(call: &GroupCall, name: Option<String>, around: &str) -> Self {
        let full = match &name {
            Some(name) if !around.is_empty() && !name.chars().any(char::is_alphabetic) => format!("{around}/{name}"),
            Some(name) => name.clone(),
            None => String::new(),
        };
        let run = call.run.as_ref().map(|run| format!("{} × {}", run.count, run.name));
        let after = run.or_else(|| Some(call.class.clone()).filter(|class| !class.is_empty()));
        let text = match after {
            Some(after) if full.is_empty() => after,
            Some(after) => format!("{full}: {after}"),
            None => full.clone(),
        };
        let step = name.filter(|_| !call.is_part).unwrap_or_default();
        let module = match full.rsplit_once('/') {
            _ if step.is_empty() => around.to_owned(),
            Some((_, last)) if last.chars().any(char::is_alphabetic) => last.to_owned(),
            _ => full,
        };
        GroupTitle { text, step, module }
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

    /// The title of each group. A name without letters is that of a module in the one around it, and one that repeats has
    /// the number of equal modules.
    pub(crate) fn titles(&self, graph: &Graph) -> Vec<GroupTitle> {
        let mut titles: Vec<GroupTitle> = vec![GroupTitle::of_graph(graph)];
        for call in self.calls.iter().skip(1) {
            let around = &titles[call.parent as usize].module;
            let title = GroupTitle::new(call, call.name(graph), around);
            titles.push(title);
        }
        titles
    }

    /// Adds a group.
    pub(super) fn add(&mut self, call: GroupCall) -> u32 {
        self.calls.push(call);
        self.calls.len() as u32 - 1
    }

    /// The groups of calls.
    pub(super) fn of_calls(graph: &Graph, drawn: &[usize]) -> Self {
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

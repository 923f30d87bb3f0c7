//! Statistics of the modules of a graph: those that a model tells, or the calls that operations come from.

use rustc_hash::FxHashMap;

use super::counts::Counts;
use crate::graph::{Graph, Note, Operation, OperationId};
use crate::source::names::Name;

/// The most modules around a module: those inside of more are counted with it.
const MOST_LEVELS: u16 = 64;

/// The index of the whole graph among the modules.
const WHOLE: u32 = 0;

/// A module with the modules in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleStats {
    /// Its name in the module around it.
    pub(crate) name: String,
    /// The module around it, by its index, which is less; the whole graph is around itself.
    pub(crate) around: u32,
    /// The number of modules around it.
    pub(crate) level: u16,
    /// The number of calls, of a fragment or function.
    pub(crate) calls: u64,
    /// What is counted in it.
    pub(crate) counts: Counts,
}

/// The modules of a graph; the first one is the whole graph.
pub(super) struct Modules<'g> {
    graph: &'g Graph,
    modules: Vec<ModuleStats>,
    /// The modules in modules, by their names.
    inner: FxHashMap<(u32, &'g str), u32>,
    /// The modules of the fragments that are called in modules.
    called: FxHashMap<(u32, Name), u32>,
    /// The modules of calls.
    of_calls: Vec<u32>,
    /// The modules of paths.
    of_paths: FxHashMap<&'g str, u32>,
    /// The modules of operations; none if there are no modules.
    places: Option<Vec<u32>>,
}

impl<'g> Modules<'g> {
    /// The modules around each operation. Weights outside all modules belong to the innermost module around all their
    /// users.
    pub(super) fn of_operations(graph: &'g Graph, is_weight: impl Fn(&Operation) -> bool) -> Self {
        let mut modules = Modules {
            graph,
            modules: vec![ModuleStats::default()],
            inner: FxHashMap::default(),
            called: FxHashMap::default(),
            of_calls: Vec::with_capacity(graph.origin_count()),
            of_paths: FxHashMap::default(),
            places: None,
        };
        modules.calls();
        if modules.modules.len() > 1 || graph.has_notes() {
            modules.places = Some(modules.places(is_weight));
        }
        modules
    }

    /// Adds what is counted for an operation, by its number.
    pub(super) fn add(&mut self, operation: usize, counts: &Counts) {
        if let Some(place) = self.places.as_ref().and_then(|places| places.get(operation).copied()) {
            self.at(place, |module| module.counts.add(counts));
        }
    }

    /// The modules with what was counted, the whole graph first; empty if there are none.
    pub(super) fn counted(mut self) -> Vec<ModuleStats> {
        if self.places.is_none() {
            return Vec::new();
        }
        self.sums();
        self.modules
    }

    fn at(&mut self, module: u32, change: impl FnOnce(&mut ModuleStats)) {
        if let Some(module) = self.modules.get_mut(module as usize) {
            change(module);
        }
    }

    fn get(&self, module: u32) -> (u32, u16) {
        self.modules.get(module as usize).map_or((WHOLE, 0), |module| (module.around, module.level))
    }

    /// A module in another one.
    fn inner(&mut self, around: u32, name: &'g str) -> u32 {
        let level = self.get(around).1.saturating_add(1);
        if level > MOST_LEVELS {
            return around;
        }
        let next = self.modules.len() as u32;
        let found = *self.inner.entry((around, name)).or_insert(next);
        if found == next {
            self.modules.push(ModuleStats { name: name.to_owned(), around, level, ..ModuleStats::default() });
        }
        found
    }

    /// The module of a call inside another call of the same fragment, which it belongs to.
    fn recursive(&self, around: u32, name: &str) -> Option<u32> {
        let mut next = Some(around).filter(|module| *module != WHOLE);
        while let Some(module) = next.and_then(|next| self.modules.get(next as usize)) {
            if module.name == name {
                return next;
            }
            next = Some(module.around).filter(|module| *module != WHOLE);
        }
        None
    }

    /// Makes the modules of all calls, which follow those around them.
    fn calls(&mut self) {
        let graph = self.graph;
        for call in graph.origins() {
            let around = self.of_calls.get(call.parent.index()).copied().unwrap_or(WHOLE);
            let module = self.called(around, call.fragment);
            self.of_calls.push(module);
            // What is too deep belongs to a module, but is not one.
            if self.modules.get(module as usize).is_some_and(|module| module.name == graph.text_of(call.fragment)) {
                self.at(module, |module| module.calls = module.calls.saturating_add(1));
            }
        }
    }

    /// The module of a fragment that is called in another module.
    fn called(&mut self, around: u32, fragment: Name) -> u32 {
        if let Some(known) = self.called.get(&(around, fragment)) {
            return *known;
        }
        let name = self.graph.text_of(fragment);
        let module = self.recursive(around, name).unwrap_or_else(|| self.inner(around, name));
        self.called.insert((around, fragment), module);
        module
    }

    /// The module of an operation: the one that the model tells, or that of its call.
    fn of(&mut self, id: OperationId, operation: &Operation) -> u32 {
        let graph = self.graph;
        let Some(path) = graph.note(id).and_then(Note::module_path) else {
            return self.of_calls.get(operation.origin.index()).copied().unwrap_or(WHOLE);
        };
        if let Some(known) = self.of_paths.get(path) {
            return *known;
        }
        let module = path.split('.').fold(WHOLE, |around, name| self.inner(around, name));
        self.of_paths.insert(path, module);
        module
    }

    /// The modules of all operations.
    fn places(&mut self, is_weight: impl Fn(&Operation) -> bool) -> Vec<u32> {
        let graph = self.graph;
        let mut places: Vec<u32> = Vec::with_capacity(graph.operations.len());
        // The users of weights outside all modules.
        let mut weights: FxHashMap<OperationId, Option<u32>> = FxHashMap::default();
        for (i, operation) in graph.operations.iter().enumerate() {
            let place = self.of(OperationId::at(i), operation);
            places.push(place);
            if place == WHOLE && is_weight(operation) {
                weights.insert(OperationId::at(i), None);
                continue;
            }
            graph.each_operand_tensor(operation, |tensor| {
                let producer = graph.tensors.get(tensor.index()).and_then(|tensor| tensor.producer);
                if let Some(user) = producer.and_then(|producer| weights.get_mut(&producer)) {
                    *user = Some(user.map_or(place, |other| self.common(other, place)));
                }
            });
        }
        for (id, user) in weights {
            if let Some(place) = places.get_mut(id.index()) {
                *place = user.unwrap_or(WHOLE);
            }
        }
        places
    }

    /// The innermost module around two modules.
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let ((above, of_a), (over, of_b)) = (self.get(a), self.get(b));
            if of_a >= of_b {
                a = above;
            }
            if of_b >= of_a {
                b = over;
            }
        }
        a
    }

    /// Adds what is counted in modules to those around them.
    fn sums(&mut self) {
        for i in (1..self.modules.len()).rev() {
            if let Some((around, counts)) = self.modules.get(i).map(|module| (module.around, module.counts.clone())) {
                self.at(around, |module| module.counts.add(&counts));
            }
        }
    }
}

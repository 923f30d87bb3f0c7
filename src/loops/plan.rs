//! What is computed in which trip: the demand of lazy sequences, found out beforehand.
//!
//! Which elements of a sequence are asked for does not depend on values. Where `n` is the number
//! of trips, a loop output asks for the elements `0` to `n-1` or for element `n`; an operation
//! asks its operands for the elements that are asked of it; a recurrence asks for those one trip
//! earlier. So every sequence is asked for a window that ends at `n-k` for some `k`, and starts at
//! 0 or, behind a chain of recurrences that does not come back to itself, at `n-j`. Elements
//! outside of its window are never computed where `n` is known.

use rustc_hash::FxHashSet;

use super::network::{LayerId, LayerKind, Limit, LoopId, Network, Origin, Output, TensorId};
use super::order::{Item, Order};
use super::scope::Scopes;
use super::window::{self, Window};

/// An item with the trips it is computed in.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What is computed.
    pub(crate) item: Item,
    /// When.
    pub(crate) window: Window,
    /// What nothing asks for afterwards.
    pub(crate) frees: Vec<TensorId>,
}

/// A recurrence that is needed.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The sequence.
    pub(crate) output: TensorId,
    /// Its element 0.
    pub(crate) initial: TensorId,
    /// What its later elements are.
    pub(crate) next: TensorId,
    /// Which of its elements are asked for.
    pub(crate) window: Window,
}

/// A loop output that is needed.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    /// Its layer.
    pub(crate) layer: LayerId,
    /// What it gives.
    pub(crate) output: TensorId,
    /// The value inside.
    pub(crate) input: TensorId,
    /// How the value is brought out.
    pub(crate) kind: Output,
    /// The place of the new axis, and the tensor that says how long that is.
    pub(crate) axis: usize,
    pub(crate) length: Option<TensorId>,
}

/// What a loop does.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopPlan {
    /// The layer that messages about the trips are for: the condition, if there is one.
    pub(crate) limit: LayerId,
    /// The number of trips.
    pub(crate) count: Option<TensorId>,
    /// What must be true before each trip.
    pub(crate) condition: Option<TensorId>,
    /// What the condition is computed by.
    pub(crate) test: Vec<Step>,
    /// What else is computed in a trip.
    pub(crate) body: Vec<Step>,
    /// What is carried from trip to trip.
    pub(crate) states: Vec<State>,
    /// The loop outputs that are needed.
    pub(crate) outputs: Vec<Outlet>,
    /// What is inside, to be forgotten when the loop is done.
    pub(crate) interior: Vec<TensorId>,
}

/// What a network does.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Outside of all loops.
    pub(crate) top: Vec<Step>,
    /// In each loop.
    pub(crate) loops: Vec<LoopPlan>,
    /// By tensor, how many loops it is inside.
    pub(crate) depths: Vec<usize>,
}

struct Planner<'n> {
    net: &'n Network,
    scopes: &'n Scopes,
    order: &'n Order,
    /// Whether anything asks for a tensor.
    needed: Vec<bool>,
    /// By loop: what is read in it or in loops within it, from just outside of it.
    reads: Vec<Vec<TensorId>>,
    windows: Vec<Option<Window>>,
    loop_windows: Vec<Option<Window>>,
}

impl Plan {
    /// Plans a network that keeps the rules.
    pub(crate) fn new(net: &Network, scopes: &Scopes, order: &Order) -> Plan {
        let mut planner = Planner {
            net,
            scopes,
            order,
            needed: vec![false; net.tensors.len()],
            reads: vec![Vec::new(); net.loops.len()],
            windows: vec![None; net.tensors.len()],
            loop_windows: vec![None; net.loops.len()],
        };
        planner.find_needed();
        planner.find_reads();
        let kept: Vec<TensorId> = net.outputs.iter().map(|output| output.tensor).collect();
        planner.spread(None, kept.iter().map(|&output| (output, Window::ALL)).collect());
        let top = planner.steps(None, &kept);
        let mut loops: Vec<LoopPlan> = (0..net.loops.len()).map(|i| planner.plan(LoopId::at(i))).collect();
        for tensor in (0..net.tensors.len()).map(TensorId::at) {
            if let Some(of) = scopes.home(tensor).filter(|of| !loops[of.index()].outputs.is_empty()) {
                loops[of.index()].interior.push(tensor);
            }
        }
        let depth = |i| scopes.home(TensorId::at(i)).map_or(0, |of| scopes.depth(of) + 1);
        Plan { top, loops, depths: (0..net.tensors.len()).map(depth).collect() }
    }
}

impl Planner<'_> {
    fn find_needed(&mut self) {
        let mut waiting: Vec<TensorId> = self.net.outputs.iter().map(|output| output.tensor).collect();
        let mut entered = vec![false; self.net.loops.len()];
        while let Some(tensor) = waiting.pop() {
            if std::mem::replace(&mut self.needed[tensor.index()], true) {
                continue;
            }
            let Some(layer) = self.net.producer(tensor) else { continue };
            waiting.extend(layer.kind.inputs().map(|input| input.tensor));
            if let Some(of) = layer.kind.boundary()
                && !std::mem::replace(&mut entered[of.index()], true)
            {
                let limits = self.net.loops[of.index()].layers.iter().map(|&id| &self.net.layer(id).kind);
                waiting.extend(limits.filter_map(|kind| match kind {
                    LayerKind::TripLimit { input, .. } => Some(input.tensor),
                    _ => None,
                }));
            }
        }
    }

    fn is_needed(&self, id: LayerId) -> bool {
        let layer = self.net.layer(id);
        layer.output.is_none_or(|output| self.needed[output.index()])
    }

    fn find_reads(&mut self) {
        for id in (0..self.net.layers.len()).map(LayerId::at) {
            if !self.is_needed(id) {
                continue;
            }
            let Some(reader) = self.scopes.reads_in(self.net, id) else { continue };
            for input in self.net.layer(id).kind.inputs() {
                let home = self.scopes.home(input.tensor);
                if home != Some(reader)
                    && let Some(child) = self.scopes.below(reader, home)
                {
                    self.reads[child.index()].push(input.tensor);
                }
            }
        }
        for reads in &mut self.reads {
            reads.sort_unstable();
            reads.dedup();
        }
    }

    fn plan(&mut self, of: LoopId) -> LoopPlan {
        let mut plan = LoopPlan::default();
        let mut kept = Vec::new();
        let mut waiting = Vec::new();
        let layers = &self.net.loops[of.index()].layers;
        for &id in layers.iter().filter(|&&id| self.is_needed(id)) {
            let layer = self.net.layer(id);
            let (input, window) = match (&layer.kind, layer.output) {
                (LayerKind::TripLimit { limit: Limit::Count, input, .. }, _) => {
                    plan.count = Some(input.tensor);
                    if plan.condition.is_none() {
                        plan.limit = id;
                    }
                    continue;
                }
                (LayerKind::TripLimit { limit: Limit::While, input, .. }, _) => {
                    (plan.condition, plan.limit) = (Some(input.tensor), id);
                    (input.tensor, Window::ALL)
                }
                (&LayerKind::LoopOutput { kind, input, axis, length, .. }, Some(output)) => {
                    let (input, length) = (input.tensor, length.map(|length| length.tensor));
                    plan.outputs.push(Outlet { layer: id, output, input, kind, axis: axis as usize, length });
                    (input, if kind == Output::LastValue { Window::END } else { Window::TRIPS })
                }
                _ => continue,
            };
            waiting.push((input, window));
            kept.push(input);
        }
        if plan.outputs.is_empty() {
            return LoopPlan::default();
        }
        self.spread(Some(of), waiting);
        for &id in layers.iter().filter(|&&id| self.is_needed(id)) {
            let layer = self.net.layer(id);
            if let (LayerKind::Recurrence { initial: Some(initial), next: Some(next), .. }, Some(output)) =
                (&layer.kind, layer.output)
                && let Some(window) = self.windows[output.index()]
            {
                plan.states.push(State { output, initial: initial.tensor, next: next.tensor, window });
                kept.extend([output, next.tensor]);
            }
        }
        let tested = self.tested(of, plan.condition);
        let all = self.steps(Some(of), &kept);
        let is_tested = |step: &Step| matches!(step.item, Item::Layer(layer) if tested.contains(&layer));
        (plan.test, plan.body) = all.into_iter().partition(is_tested);
        plan
    }

    /// Finds the windows of what is inside a loop, or outside of all.
    fn spread(&mut self, of: Option<LoopId>, asked: Vec<(TensorId, Window)>) {
        // Loops have numbers after those of tensors.
        let loops = self.net.tensors.len();
        let inside = |tensor: &TensorId| self.scopes.home(*tensor) == of;
        let uses = |at: usize| -> Vec<(usize, bool)> {
            let now = |tensor: TensorId| inside(&tensor).then_some((tensor.index(), false));
            if let Some(inner) = at.checked_sub(loops) {
                return self.reads[inner].iter().filter_map(|&read| now(read)).collect();
            }
            match self.net.producer(TensorId::at(at)).map(|layer| &layer.kind) {
                Some(LayerKind::Operation { inputs, .. }) => {
                    inputs.iter().filter_map(|input| now(input.tensor)).collect()
                }
                Some(LayerKind::Recurrence { next: Some(next), .. }) if inside(&next.tensor) => {
                    vec![(next.tensor.index(), true)]
                }
                Some(LayerKind::LoopOutput { of: inner, .. }) => vec![(loops + inner.index(), false)],
                _ => Vec::new(),
            }
        };
        let asked = asked.iter().filter(|(tensor, _)| inside(tensor));
        let asked: Vec<(usize, Window)> = asked.map(|(tensor, window)| (tensor.index(), *window)).collect();
        for (at, window) in window::spread(&asked, uses) {
            match at.checked_sub(loops) {
                Some(inner) => self.loop_windows[inner] = Some(window),
                None => self.windows[at] = Some(window),
            }
        }
    }

    /// The layers of a trip that the condition is computed by.
    fn tested(&self, of: LoopId, condition: Option<TensorId>) -> FxHashSet<LayerId> {
        let mut found = FxHashSet::default();
        let Some(condition) = condition else { return found };
        self.net.walk_back(condition, |tensor| {
            let inside = self.scopes.home(tensor) == Some(of);
            if let Origin::Layer(id) = self.net.tensors[tensor.index()].origin
                && inside
                && self.net.layer(id).kind.boundary().is_none()
            {
                found.insert(id);
            }
            inside
        });
        found
    }

    /// The items of a block that are needed, with what each is the last to use.
    fn steps(&self, of: Option<LoopId>, kept: &[TensorId]) -> Vec<Step> {
        let step = |&item: &Item| {
            let window = match item {
                Item::Layer(id) => self.windows[self.net.layer(id).output?.index()],
                Item::Loop(inner) => self.loop_windows[inner.index()],
            };
            Some(Step { item, window: window?, frees: Vec::new() })
        };
        let mut steps: Vec<Step> = self.order.items(of).iter().filter_map(step).collect();
        let mut seen: FxHashSet<TensorId> = kept.iter().copied().collect();
        for step in steps.iter_mut().rev() {
            let uses: Vec<TensorId> = match step.item {
                Item::Layer(id) => self.net.layer(id).kind.inputs().map(|input| input.tensor).collect(),
                Item::Loop(inner) => self.reads[inner.index()].clone(),
            };
            step.frees = uses.into_iter().filter(|&used| self.scopes.home(used) == of && seen.insert(used)).collect();
        }
        steps
    }
}

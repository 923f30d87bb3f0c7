//! Which values are computed in which trip: demand analysis of lazy sequences before a run.
//!
//! Which elements of a sequence are needed does not depend on values. If `n` is the number of trips, a loop output
//! needs the elements `0` to `n-1` of its input, or element `n`; an operation needs the elements of its operands at
//! the indices at which its result is needed; a recurrence needs elements of its next value one trip earlier. So the
//! needed elements of each sequence are a window that ends at `n-k` for some `k`, and starts at 0 or, behind a chain
//! of recurrences without a cycle, at `n-j`. Elements outside the window are never computed if `n` is known.

use rustc_hash::FxHashSet;

use super::network::{LayerId, LayerKind, LimitKind, LoopId, Network, OutputKind, TensorId, TensorSource};
use super::order::{ComputationUnit, Order};
use super::scope::Scopes;
use super::window::{self, TripWindow};

/// An item with the trips in which it is computed.
#[derive(Clone, Debug)]
pub(crate) struct PlannedUnit {
    /// The item.
    pub(crate) item: ComputationUnit,
    /// The elements that are computed.
    pub(crate) window: TripWindow,
    /// The tensors that nothing needs afterwards.
    pub(crate) frees: Vec<TensorId>,
}

/// A recurrence that is needed.
#[derive(Clone, Debug)]
pub(crate) struct NeededRecurrence {
    /// The sequence.
    pub(crate) output: TensorId,
    /// Its element 0.
    pub(crate) initial: TensorId,
    /// The sequence of its later elements.
    pub(crate) next: TensorId,
    /// Which of its elements are needed.
    pub(crate) window: TripWindow,
}

/// A loop output that is needed.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    /// Its layer.
    pub(crate) layer: LayerId,
    /// Its result.
    pub(crate) output: TensorId,
    /// The value inside.
    pub(crate) input: TensorId,
    /// Which values it takes.
    pub(crate) kind: OutputKind,
    /// The position of the new axis, and the tensor with its extent.
    pub(crate) axis: usize,
    pub(crate) length: Option<TensorId>,
}

/// The plan of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopPlan {
    /// The layer that messages about the trips refer to: the condition, if there is one.
    pub(crate) limit: LayerId,
    /// The trip count.
    pub(crate) count: Option<TensorId>,
    /// The condition, tested before each trip.
    pub(crate) condition: Option<TensorId>,
    /// The steps that compute the condition.
    pub(crate) test: Vec<PlannedUnit>,
    /// The other steps of a trip.
    pub(crate) body: Vec<PlannedUnit>,
    /// The recurrences that are needed.
    pub(crate) states: Vec<NeededRecurrence>,
    /// The loop outputs that are needed.
    pub(crate) outputs: Vec<Outlet>,
    /// The tensors inside, freed when the loop ends.
    pub(crate) interior: Vec<TensorId>,
}

/// The plan of a network.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The steps outside of all loops.
    pub(crate) top: Vec<PlannedUnit>,
    /// The plan of each loop.
    pub(crate) loops: Vec<LoopPlan>,
    /// By tensor, the number of loops around it.
    pub(crate) depths: Vec<usize>,
}

struct Planner<'n> {
    net: &'n Network,
    scopes: &'n Scopes,
    order: &'n Order,
    /// By tensor, whether it is needed.
    needed: Vec<bool>,
    /// By loop, the tensors of the enclosing block that are read inside.
    reads: Vec<Vec<TensorId>>,
    windows: Vec<Option<TripWindow>>,
    loop_windows: Vec<Option<TripWindow>>,
}

impl Plan {
    /// Plans a network that breaks no rule.
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
        planner.spread(None, kept.iter().map(|&output| (output, TripWindow::ALL)).collect());
        let top = planner.steps(None, &kept, &FxHashSet::default());
        let mut loops: Vec<LoopPlan> = (0..net.loops.len()).map(|i| planner.plan(LoopId(i as u32))).collect();
        for tensor in (0..net.tensors.len()).map(|at| TensorId(at as u32)) {
            if let Some(of) = scopes.home(tensor).filter(|of| !loops[of.index()].outputs.is_empty()) {
                loops[of.index()].interior.push(tensor);
            }
        }
        let depth = |i| scopes.home(TensorId(i as u32)).map_or(0, |of| scopes.depth(of) + 1);
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
        for id in (0..self.net.layers.len()).map(|at| LayerId(at as u32)) {
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
                (LayerKind::TripLimit { limit: LimitKind::Count, input, .. }, _) => {
                    plan.count = Some(input.tensor);
                    if plan.condition.is_none() {
                        plan.limit = id;
                    }
                    continue;
                }
                (LayerKind::TripLimit { limit: LimitKind::While, input, .. }, _) => {
                    (plan.condition, plan.limit) = (Some(input.tensor), id);
                    (input.tensor, TripWindow::ALL)
                }
                (&LayerKind::LoopOutput { kind, input, axis, length, .. }, Some(output)) => {
                    let (input, length) = (input.tensor, length.map(|length| length.tensor));
                    plan.outputs.push(Outlet { layer: id, output, input, kind, axis: axis as usize, length });
                    (input, if kind == OutputKind::LastValue { TripWindow::END } else { TripWindow::TRIPS })
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
                plan.states.push(NeededRecurrence { output, initial: initial.tensor, next: next.tensor, window });
                kept.extend([output, next.tensor]);
            }
        }
        let tested = self.tested(of, plan.condition);
        plan.test = self.steps(Some(of), &kept, &tested);
        let is_tested =
            |step: &PlannedUnit| matches!(step.item, ComputationUnit::Layer(layer) if tested.contains(&layer));
        plan.body = plan.test.split_off(plan.test.partition_point(is_tested));
        plan
    }

    /// Finds the windows of the tensors and inner loops of a block: a loop, or the network itself.
    fn spread(&mut self, of: Option<LoopId>, asked: Vec<(TensorId, TripWindow)>) {
        // Nodes are tensors, followed by loops.
        let loops = self.net.tensors.len();
        let inside = |tensor: &TensorId| self.scopes.home(*tensor) == of;
        let uses = |at: usize| -> Vec<(usize, bool)> {
            let now = |tensor: TensorId| inside(&tensor).then_some((tensor.index(), false));
            if let Some(inner) = at.checked_sub(loops) {
                return self.reads[inner].iter().filter_map(|&read| now(read)).collect();
            }
            match self.net.producer(TensorId(at as u32)).map(|layer| &layer.kind) {
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
        let asked: Vec<(usize, TripWindow)> = asked.map(|(tensor, window)| (tensor.index(), *window)).collect();
        for (at, window) in window::spread(&asked, uses) {
            match at.checked_sub(loops) {
                Some(inner) => self.loop_windows[inner] = Some(window),
                None => self.windows[at] = Some(window),
            }
        }
    }

    /// The layers inside the loop that compute the condition in a trip.
    fn tested(&self, of: LoopId, condition: Option<TensorId>) -> FxHashSet<LayerId> {
        let mut found = FxHashSet::default();
        let Some(condition) = condition else { return found };
        self.net.walk_back(condition, |tensor| {
            let inside = self.scopes.home(tensor) == Some(of);
            if let TensorSource::Layer(id) = self.net.tensors[tensor.index()].origin
                && inside
                && self.net.layer(id).kind.boundary().is_none()
            {
                found.insert(id);
            }
            inside
        });
        found
    }

    /// The needed items of a block in the order in which they run, those of `first` before the others, each with the
    /// tensors that it is the last to use.
    fn steps(&self, of: Option<LoopId>, kept: &[TensorId], first: &FxHashSet<LayerId>) -> Vec<PlannedUnit> {
        let step = |&item: &ComputationUnit| {
            let window = match item {
                ComputationUnit::Layer(id) => self.windows[self.net.layer(id).output?.index()],
                ComputationUnit::Loop(inner) => self.loop_windows[inner.index()],
            };
            Some(PlannedUnit { item, window: window?, frees: Vec::new() })
        };
        let mut steps: Vec<PlannedUnit> = self.order.items(of).iter().filter_map(step).collect();
        steps.sort_by_key(|step| !matches!(step.item, ComputationUnit::Layer(layer) if first.contains(&layer)));
        let mut seen: FxHashSet<TensorId> = kept.iter().copied().collect();
        for step in steps.iter_mut().rev() {
            let uses: Vec<TensorId> = match step.item {
                ComputationUnit::Layer(id) => self.net.layer(id).kind.inputs().map(|input| input.tensor).collect(),
                ComputationUnit::Loop(inner) => self.reads[inner.index()].clone(),
            };
            step.frees = uses.into_iter().filter(|&used| self.scopes.home(used) == of && seen.insert(used)).collect();
        }
        steps
    }
}

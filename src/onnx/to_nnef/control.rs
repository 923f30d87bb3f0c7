//! Control flow and sequences, which are known before the model runs: bodies are added for each trip, and of branches
//! whose condition is not known, both are added and one is selected.

use std::rc::Rc;

use super::emit::Emitter;
use super::import::Import;
use super::item::{FlatTensor, KnownItems, NnefItem};
use super::refusal::{Lowered, NodeRefusal};
use super::shape::axis_of;
use crate::graph::names::NameId;
use crate::graph::trips::{Condition, LoopStart, TripChoice, TripDomain, TripResults, walk};
use crate::library::assembly::Assembly;
use crate::onnx::model::{AttributeValue, GraphProto, NodeProto};
use crate::onnx::run::NodeAttributes;
use crate::onnx::scan_form::{ScanForm, ScanSide, ScannedOperand, TripFeed, WITHOUT_BATCHES};
use crate::onnx::walk::own_names;
use crate::room::with_stack;
use crate::tensor::{DType, Tensor, TensorError};

/// Operators whose graphs are added.
pub(super) const CONTROL: &[&str] = &["If", "Loop", "Scan", "SequenceMap"];

fn operand(operands: &[Option<NnefItem>], i: usize) -> Lowered<NnefItem> {
    operands.get(i).cloned().flatten().ok_or_else(|| NodeRefusal::from(format!("it has no operand {i}")))
}

/// The trips of a loop, whose operations are added for each.
struct AddedTrips<'i, 'm> {
    import: &'i mut Import<'m>,
    node: &'m NodeProto,
    body: &'m GraphProto,
    feed: TripFeed<FlatTensor>,
    most: Option<i64>,
    /// The axes of what is collected.
    sides: Vec<ScanSide>,
    collected: Vec<Vec<FlatTensor>>,
}

impl TripDomain for AddedTrips<'_, '_> {
    type Value = NnefItem;
    type Failure = NodeRefusal;

    fn begin(&mut self, trip: i64, active: Option<NnefItem>) -> Lowered<Option<NnefItem>> {
        self.import.within(trip, self.most, active.is_some())?;
        Ok(active)
    }

    fn body(&mut self, trip: i64, states: Vec<NnefItem>) -> Lowered<TripResults<NnefItem>> {
        let (import, count) = (&mut *self.import, states.len());
        let known = |tensor: Result<Tensor, TensorError>| {
            Ok::<_, NodeRefusal>(NnefItem::Loose(KnownItems::Held(tensor.map_err(|_| NodeRefusal::UNFIT)?.into())))
        };
        let mut given = states;
        match &self.feed {
            TripFeed::Numbers => {
                let numbers = [known(Tensor::integers(&[], vec![trip]))?, known(Tensor::logicals(&[], vec![true]))?];
                given.splice(0..0, numbers);
            }
            TripFeed::Items(inputs, trips) => {
                import.begin(self.node);
                for input in inputs {
                    let at = input.side.item(trip, *trips);
                    let section = import.emit.item_of(input.tensor, input.axis as i64, at)?;
                    given.push(NnefItem::FlatTensor(import.emit.squeeze(section, &[input.axis])?));
                }
            }
        }
        let mut results = import.copy(self.body, given)?;
        let condition = match self.feed {
            TripFeed::Items(..) => Condition::Known(true),
            TripFeed::Numbers if results.is_empty() => return Err(NodeRefusal::UNFIT),
            TripFeed::Numbers => {
                import.begin(self.node);
                import.condition(&results.remove(0))?
            }
        };
        let results = TripResults::new(condition, results, count);
        if results.states.len() == count { Ok(results) } else { Err(NodeRefusal::UNFIT) }
    }

    fn collect(&mut self, items: Vec<NnefItem>, active: Option<&NnefItem>) -> Lowered<()> {
        if active.is_some() && !self.collected.is_empty() {
            return Err(NodeRefusal::because("how often it collects items is not known before the model runs"));
        }
        let emit = &mut self.import.emit;
        for ((list, item), side) in self.collected.iter_mut().zip(items).zip(&self.sides) {
            let flat = emit.flat(&item)?;
            let axis = axis_of(side.axis, emit.rank(flat)?.saturating_add(1))?;
            list.push(emit.with_axes(flat, [axis as i64])?);
        }
        Ok(())
    }

    fn choose(&mut self, of: TripChoice<NnefItem>) -> Lowered<NnefItem> {
        self.import.emit.chosen(of.active, &of.new, &of.old)
    }

    fn both(&mut self, active: Option<NnefItem>, more: NnefItem) -> Lowered<NnefItem> {
        let Some(active) = active else { return Ok(more) };
        let emit = &mut self.import.emit;
        let operands = [emit.flat(&active)?, emit.flat(&more)?];
        emit.formula("and(@0,@1)", &operands).map(NnefItem::FlatTensor)
    }
}

impl<'m> Import<'m> {
    /// The results of a node with graphs.
    pub(super) fn control(
        &mut self,
        node: &'m NodeProto,
        operator: &str,
        operands: &[Option<NnefItem>],
    ) -> Lowered<Vec<NnefItem>> {
        with_stack(|| match operator {
            "If" => self.branches(node, operands),
            "Loop" => self.repeated(node, operands),
            "Scan" => self.scanned(node, operands),
            _ => self.mapped(node, operands),
        })
    }

    fn attributes(&self, node: &'m NodeProto) -> NodeAttributes<'_, 'm> {
        NodeAttributes { names: self.names_of_model(), node, bound: None }
    }

    fn body(&self, node: &'m NodeProto, name: &str) -> Lowered<&'m GraphProto> {
        match self.attributes(node).find(name).map(|attribute| &attribute.value) {
            Some(AttributeValue::Graph(graph)) => Ok(graph),
            _ => Err(NodeRefusal::from(format!("it has no graph `{name}`"))),
        }
    }

    /// Adds a copy of a graph for values of its inputs, and returns those of its outputs.
    fn copy(&mut self, graph: &'m GraphProto, inputs: Vec<NnefItem>) -> Lowered<Vec<NnefItem>> {
        let names = own_names(graph);
        let outer = self.hide(&names);
        for (input, item) in graph.inputs.iter().zip(inputs) {
            if let Some(name) = input.name {
                self.hold_item(name, item);
            }
        }
        self.constants(graph);
        graph.nodes.iter().for_each(|node| self.node(node));
        let outputs = graph.outputs.iter().map(|output| self.item(output.name.unwrap_or(NameId::ROOT)));
        let outputs: Lowered<Vec<NnefItem>> = outputs.collect();
        self.restore(&names, outer);
        let outputs = outputs?;
        if outputs.iter().any(|item| matches!(item, NnefItem::Refused)) {
            Err(NodeRefusal::Operand)
        } else {
            Ok(outputs)
        }
    }

    fn condition(&mut self, item: &NnefItem) -> Lowered<Condition<NnefItem>> {
        match item.known().map(KnownItems::single) {
            Some(Some(tensor)) => Ok(Condition::Known(tensor.data().float(0) != 0.0)),
            Some(None) => Err(NodeRefusal::UNFIT),
            None => {
                let flat = self.emit.flat(item)?;
                Ok(Condition::Open(NnefItem::FlatTensor(self.emit.reshaped(flat, &[])?)))
            }
        }
    }

    fn branches(&mut self, node: &'m NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Vec<NnefItem>> {
        let (yes, no) = (self.body(node, "then_branch")?, self.body(node, "else_branch")?);
        let condition = operand(operands, 0)?;
        match self.condition(&condition)? {
            Condition::Known(true) => self.copy(yes, Vec::new()),
            Condition::Known(false) => self.copy(no, Vec::new()),
            Condition::Open(condition) => {
                let (yes, no) = (self.copy(yes, Vec::new())?, self.copy(no, Vec::new())?);
                self.begin(node);
                let chosen = yes.iter().zip(&no).map(|(yes, no)| self.emit.chosen(&condition, yes, no));
                chosen.collect()
            }
        }
    }

    /// The most trips that a loop has.
    fn trips(&self, node: &NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Option<i64>> {
        let Some(item) = operands.first().and_then(Option::as_ref) else { return Ok(None) };
        let count = item.known().and_then(KnownItems::single);
        let open = || self.endless(node.inputs.first().copied());
        Ok(Some(count.ok_or_else(open)?.data().integer(0)))
    }

    /// The refusal of a loop whose trips are not known, or have no bound.
    fn endless(&self, trips: Option<NameId>) -> NodeRefusal {
        let reason = match trips.filter(|name| *name != NameId::ROOT) {
            Some(name) => {
                let name = self.names_of_model().spelled(name);
                format!("its number of trips, `{name}`, is not known before the model runs")
            }
            None => "its number of trips has no bound before the model runs".to_owned(),
        };
        let help = if self.emit.options.max_trips.is_none() { "; --max-trips bounds it" } else { "" };
        NodeRefusal::from(reason + help)
    }

    fn repeated(&mut self, node: &'m NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Vec<NnefItem>> {
        let body = self.body(node, "body")?;
        let most = self.trips(node, operands)?;
        let condition = match operands.get(1).and_then(Option::as_ref) {
            Some(item) => self.condition(item)?,
            None => Condition::Known(true),
        };
        let states = operands.get(2..).unwrap_or_default().iter();
        let states = states.map(|item| item.clone().ok_or(NodeRefusal::UNFIT)).collect::<Lowered<Vec<NnefItem>>>()?;
        let sides = vec![ScanSide::default(); node.outputs.len().saturating_sub(states.len())];
        self.walked(node, body, TripFeed::Numbers, sides, LoopStart { most, condition, states })
    }

    /// Refuses more trips than the options allow.
    fn within(&self, trip: i64, trips: Option<i64>, predicated: bool) -> Lowered<()> {
        let options = self.emit.options;
        if predicated && trips.is_none() {
            return Err(self.endless(None));
        }
        if u64::try_from(trip).is_ok_and(|trip| trip < options.max_ops) {
            Ok(())
        } else {
            Err(NodeRefusal::because("it has more trips than the graph may have operations"))
        }
    }

    fn scanned(&mut self, node: &'m NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Vec<NnefItem>> {
        if self.version(node) < WITHOUT_BATCHES {
            return Err(NodeRefusal::because("its first version scans batches of sequences"));
        }
        let body = self.body(node, "body")?;
        let scanned = self.attributes(node).read("num_scan_inputs")?;
        let scanned = scanned.ok_or(NodeRefusal::because("its number of scanned operands is missing"))?;
        let form = ScanForm::read(scanned, operands.len(), |name| self.attributes(node).read(name))?;
        let form = form.ok_or(NodeRefusal::UNFIT)?;
        let mut inputs = Vec::new();
        for (i, side) in (form.states..).zip(&form.inputs) {
            let tensor = self.emit.flat(&operand(operands, i)?)?;
            inputs.push(ScannedOperand { tensor, axis: axis_of(side.axis, self.emit.rank(tensor)?)?, side: *side });
        }
        let extent = |of: &ScannedOperand<FlatTensor>| Ok(self.emit.extents(of.tensor)?[of.axis]);
        let extents = inputs.iter().map(extent).collect::<Lowered<Vec<i64>>>()?;
        let trips = extents.first().copied().filter(|first| extents.iter().all(|extent| extent == first));
        let trips = trips.ok_or(NodeRefusal::UNFIT)?;
        let states = (0..form.states).map(|i| operand(operands, i)).collect::<Lowered<Vec<NnefItem>>>()?;
        let sides = (0..node.outputs.len().saturating_sub(form.states)).map(|i| form.output(i)).collect();
        self.walked(node, body, TripFeed::Items(inputs, trips), sides, LoopStart::counted(trips, states))
    }

    /// The results of a loop: its states, and what was collected along the axes of `sides`.
    fn walked(
        &mut self,
        node: &'m NodeProto,
        body: &'m GraphProto,
        feed: TripFeed<FlatTensor>,
        sides: Vec<ScanSide>,
        start: LoopStart<NnefItem>,
    ) -> Lowered<Vec<NnefItem>> {
        let collected = vec![Vec::new(); sides.len()];
        let mut trips = AddedTrips { import: self, node, body, feed, most: start.most, sides, collected };
        let mut results = walk(&mut trips, start)?;
        let AddedTrips { sides, collected, .. } = trips;
        self.begin(node);
        for (mut list, side) in collected.into_iter().zip(sides) {
            if side.reverse {
                list.reverse();
            }
            let first = *list.first().ok_or(NodeRefusal::because("it collects no items"))?;
            let axis = axis_of(side.axis, self.emit.rank(first)?)?;
            results.push(NnefItem::FlatTensor(self.emit.concatenated(&list, axis as i64)?));
        }
        Ok(results)
    }

    /// Applies a graph to the items of sequences; other operands are the same each time.
    fn mapped(&mut self, node: &'m NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Vec<NnefItem>> {
        let body = self.body(node, "body")?;
        let items: Vec<NnefItem> = (0..operands.len()).map(|i| operand(operands, i)).collect::<Lowered<_>>()?;
        let Some(NnefItem::Sequence(first)) = items.first() else { return Err(NodeRefusal::UNFIT) };
        let mut results: Vec<Vec<NnefItem>> = vec![Vec::new(); node.outputs.len()];
        for i in 0..first.len() {
            let at = |item: &NnefItem| match item {
                NnefItem::Sequence(items) => items.get(i).cloned().ok_or(NodeRefusal::UNFIT),
                other => Ok(other.clone()),
            };
            let given = items.iter().map(at).collect::<Lowered<Vec<NnefItem>>>()?;
            for (list, item) in results.iter_mut().zip(self.copy(body, given)?) {
                list.push(item);
            }
        }
        Ok(results.into_iter().map(|list| NnefItem::Sequence(Rc::from(list))).collect())
    }
}

impl Emitter<'_> {
    /// The first value where a condition holds, else the second one.
    fn chosen(&mut self, condition: &NnefItem, yes: &NnefItem, no: &NnefItem) -> Lowered<NnefItem> {
        let (condition, yes, no) = (self.flat(condition)?, self.flat(yes)?, self.flat(no)?);
        if yes == no {
            return Ok(NnefItem::FlatTensor(yes));
        }
        if self.extents(yes)? != self.extents(no)? {
            return Err(NodeRefusal::because("its results have different shapes"));
        }
        debug_assert!(condition.dtype == DType::Bool);
        self.formula("select(@0,@1,@2)", &[condition, yes, no]).map(NnefItem::FlatTensor)
    }
}

//! Control flow and sequences, which are known before the model runs: bodies are added for each trip, and of branches
//! whose condition is not known, both are added and one is selected.

use std::rc::Rc;
use std::sync::Arc;

use super::emit::Emitter;
use super::import::Import;
use super::item::{FlatTensor, NnefItem};
use super::refusal::{Lowered, NodeRefusal};
use super::shape::axis_of;
use crate::graph::names::NameId;
use crate::onnx::inline::own_names;
use crate::onnx::model::{AttributeValue, GraphProto, NodeProto};
use crate::onnx::run::NodeAttributes;
use crate::room::with_stack;
use crate::tensor::{DType, Tensor};

/// Operators whose graphs are added.
pub(super) const CONTROL: &[&str] = &["If", "Loop", "Scan", "SequenceMap"];

/// What a condition is.
enum Condition {
    Known(bool),
    Open(FlatTensor),
}

fn known(tensor: Tensor) -> Lowered<NnefItem> {
    Ok(NnefItem::Loose(Arc::new(tensor)))
}

fn slice_of(operands: &[Option<NnefItem>], i: usize) -> Lowered<NnefItem> {
    operands.get(i).cloned().flatten().ok_or_else(|| NodeRefusal::from(format!("it has no operand {i}")))
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
        let names: Vec<NameId> = own_names(graph);
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

    fn condition(&mut self, item: &NnefItem) -> Lowered<Condition> {
        match item.tensor() {
            Some(tensor) if tensor.len() == 1 => Ok(Condition::Known(tensor.data().float(0) != 0.0)),
            Some(_) => Err(NodeRefusal::UNFIT),
            None => {
                let flat = self.emit.flat(item)?;
                Ok(Condition::Open(self.emit.reshape(flat, &[])?))
            }
        }
    }

    fn branches(&mut self, node: &'m NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Vec<NnefItem>> {
        let (yes, no) = (self.body(node, "then_branch")?, self.body(node, "else_branch")?);
        let condition = slice_of(operands, 0)?;
        match self.condition(&condition)? {
            Condition::Known(true) => self.copy(yes, Vec::new()),
            Condition::Known(false) => self.copy(no, Vec::new()),
            Condition::Open(condition) => {
                let (yes, no) = (self.copy(yes, Vec::new())?, self.copy(no, Vec::new())?);
                self.begin(node);
                let chosen = yes.iter().zip(&no).map(|(yes, no)| self.emit.chosen(condition, yes, no));
                chosen.collect()
            }
        }
    }

    /// The most trips that a loop has.
    fn trips(&self, node: &NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Option<i64>> {
        let Some(item) = operands.first().and_then(Option::as_ref) else { return Ok(None) };
        let count = item.tensor().filter(|tensor| tensor.len() == 1);
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
        let trips = self.trips(node, operands)?;
        let mut condition = match operands.get(1).and_then(Option::as_ref) {
            Some(item) => self.condition(&item.clone())?,
            None => Condition::Known(true),
        };
        let carried = operands.get(2..).unwrap_or_default();
        let mut carried =
            carried.iter().map(|item| item.clone().ok_or(NodeRefusal::UNFIT)).collect::<Lowered<Vec<NnefItem>>>()?;
        let mut collected: Vec<Vec<FlatTensor>> = vec![Vec::new(); node.outputs.len().saturating_sub(carried.len())];
        let mut trip = 0;
        while trips.is_none_or(|trips| trip < trips) {
            let active = match condition {
                Condition::Known(false) => break,
                Condition::Known(true) => None,
                Condition::Open(active) => Some(active),
            };
            self.within(trip, trips, active.is_some())?;
            let number = known(Tensor::integers(&[], vec![trip]).map_err(|_| NodeRefusal::UNFIT)?)?;
            let holds = known(Tensor::logicals(&[], vec![true]).map_err(|_| NodeRefusal::UNFIT)?)?;
            let results = self.copy(body, [number, holds].into_iter().chain(carried.iter().cloned()).collect())?;
            let (again, results) = results.split_first().ok_or(NodeRefusal::UNFIT)?;
            let (next, items) = results.split_at_checked(carried.len()).ok_or(NodeRefusal::UNFIT)?;
            self.begin(node);
            condition = self.condition(again)?;
            let Some(active) = active else {
                carried = next.to_vec();
                self.collect(&mut collected, items)?;
                trip += 1;
                continue;
            };
            if !collected.is_empty() {
                return Err(NodeRefusal::because("how often it collects items is not known before the model runs"));
            }
            let pairs = next.iter().zip(&carried).map(|(next, last)| self.emit.chosen(active, next, last));
            carried = pairs.collect::<Lowered<_>>()?;
            condition = match condition {
                Condition::Known(false) => Condition::Known(false),
                Condition::Known(true) => Condition::Open(active),
                Condition::Open(more) => Condition::Open(self.emit.formula("and(@0,@1)", &[active, more])?),
            };
            trip += 1;
        }
        self.gathered(carried, collected)
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

    fn collect(&mut self, collected: &mut [Vec<FlatTensor>], items: &[NnefItem]) -> Lowered<()> {
        for (list, item) in collected.iter_mut().zip(items) {
            let flat = self.emit.flat(item)?;
            list.push(self.emit.unsqueeze(flat, vec![0])?);
        }
        Ok(())
    }

    /// The results of a loop: what was carried, and what was collected, along a new first axis.
    fn gathered(&mut self, carried: Vec<NnefItem>, collected: Vec<Vec<FlatTensor>>) -> Lowered<Vec<NnefItem>> {
        let mut results = carried;
        for list in collected {
            if list.is_empty() {
                return Err(NodeRefusal::because("it collects no items"));
            }
            results.push(NnefItem::FlatTensor(self.emit.concat(&list, 0)?));
        }
        Ok(results)
    }

    fn scanned(&mut self, node: &'m NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Vec<NnefItem>> {
        if self.version(node) < 9 {
            return Err(NodeRefusal::because("its first version scans batches of sequences"));
        }
        let body = self.body(node, "body")?;
        let scanned = self.attributes(node).int("num_scan_inputs")?.and_then(|count| usize::try_from(count).ok());
        let scanned = scanned.ok_or(NodeRefusal::because("its number of scanned operands is missing"))?;
        let states = operands.len().checked_sub(scanned).ok_or(NodeRefusal::UNFIT)?;
        let list = |name: &str, count: usize| -> Lowered<Vec<i64>> {
            Ok(self.attributes(node).ints(name)?.unwrap_or_else(|| vec![0; count]))
        };
        let count = node.outputs.len().saturating_sub(states);
        let (in_axes, in_turns) = (list("scan_input_axes", scanned)?, list("scan_input_directions", scanned)?);
        let (out_axes, out_turns) = (list("scan_output_axes", count)?, list("scan_output_directions", count)?);
        let mut carried = (0..states).map(|i| slice_of(operands, i)).collect::<Lowered<Vec<NnefItem>>>()?;
        let mut inputs = Vec::new();
        for (i, axis) in (states..operands.len()).zip(&in_axes) {
            let flat = self.emit.flat(&slice_of(operands, i)?)?;
            inputs.push((flat, axis_of(*axis, self.emit.rank(flat)?)?));
        }
        let extents =
            inputs.iter().map(|(flat, axis)| Ok(self.emit.extents(*flat)?[*axis])).collect::<Lowered<Vec<i64>>>()?;
        let trips = extents.first().copied().filter(|first| extents.iter().all(|extent| extent == first));
        let trips = trips.ok_or(NodeRefusal::UNFIT)?;
        let mut collected: Vec<Vec<FlatTensor>> = vec![Vec::new(); count];
        for trip in 0..trips {
            self.within(trip, Some(trips), false)?;
            self.begin(node);
            let mut given = carried.clone();
            for ((flat, axis), turn) in inputs.iter().zip(&in_turns) {
                let at = if *turn == 0 { trip } else { trips - 1 - trip };
                let section = self.emit.section(*flat, *axis, (at, at + 1))?;
                given.push(NnefItem::FlatTensor(self.emit.squeeze(section, &[*axis])?));
            }
            let results = self.copy(body, given)?;
            let (next, items) = results.split_at_checked(states).ok_or(NodeRefusal::UNFIT)?;
            carried = next.to_vec();
            for ((list, item), axis) in collected.iter_mut().zip(items).zip(&out_axes) {
                let flat = self.emit.flat(item)?;
                let axis = axis_of(*axis, self.emit.rank(flat)?.saturating_add(1))?;
                list.push(self.emit.unsqueeze(flat, vec![axis as i64])?);
            }
        }
        self.begin(node);
        let mut results = carried;
        for ((mut list, axis), turn) in collected.into_iter().zip(&out_axes).zip(&out_turns) {
            if *turn != 0 {
                list.reverse();
            }
            let first = *list.first().ok_or(NodeRefusal::because("it collects no items"))?;
            let axis = axis_of(*axis, self.emit.rank(first)?)?;
            results.push(NnefItem::FlatTensor(self.emit.concat(&list, axis)?));
        }
        Ok(results)
    }

    /// Applies a graph to the items of sequences; other operands are the same each time.
    fn mapped(&mut self, node: &'m NodeProto, operands: &[Option<NnefItem>]) -> Lowered<Vec<NnefItem>> {
        let body = self.body(node, "body")?;
        let items: Vec<NnefItem> = (0..operands.len()).map(|i| slice_of(operands, i)).collect::<Lowered<_>>()?;
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
    fn chosen(&mut self, condition: FlatTensor, yes: &NnefItem, no: &NnefItem) -> Lowered<NnefItem> {
        let (yes, no) = (self.flat(yes)?, self.flat(no)?);
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

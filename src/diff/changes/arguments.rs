//! The arguments of operations that belong together.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::{Finder, Told};
use crate::Graph;
use crate::diff::difference::What;
use crate::diff::hashes::OperandPlace;
use crate::diff::report;
use crate::graph::{Operand, TensorId};

/// How many tensors are looked at to find whether an operand only skips operations that were removed.
const MOST_SKIPPED: usize = 64;

impl<'g> Finder<'_, 'g> {
    /// Whether the tensors among the arguments are the same in the same places.
    pub(super) fn has_same_operands(&mut self, i: usize, j: usize) -> bool {
        self.fill_slots(i, j);
        let [x, y] = &self.slots;
        let is_same = |((one, x), (other, y)): (&OperandPlace, &OperandPlace)| {
            one == other && self.matching.is_same(self.hashes, *x, *y)
        };
        x.len() == y.len() && x.iter().zip(y).all(is_same)
    }

    /// Reports the arguments that differ. Returns whether there are any, those that follow from others included.
    pub(super) fn arguments(&mut self, i: usize, j: usize, same_label: bool) -> bool {
        let (a, b) = (self.graph(0), self.graph(1));
        let all = |graph: &'g Graph, at: usize| {
            let operation = &graph.operations[at];
            let mut all = graph.inputs_of(operation);
            all.extend(graph.attributes_of(operation));
            all
        };
        let mut others: FxHashMap<Cow<str>, Operand> = all(b, j).into_iter().collect();
        let mut differ = false;
        for (name, old) in all(a, i) {
            let new = others.remove(&name);
            differ |= self.argument(i, j, &name, Some(old), new, same_label);
        }
        if !others.is_empty() {
            for (name, new) in all(b, j).into_iter().filter(|(name, _)| others.contains_key(name)) {
                differ |= self.argument(i, j, &name, None, Some(new), same_label);
            }
        }
        differ
    }

    fn argument(
        &mut self,
        i: usize,
        j: usize,
        name: &str,
        old: Option<Operand>,
        new: Option<Operand>,
        same_label: bool,
    ) -> bool {
        let (a, b) = (self.graph(0), self.graph(1));
        let mut pairs: Vec<(String, Option<Operand>, Option<Operand>)> = Vec::new();
        match (old, new) {
            (Some(Operand::Tensor(x)), Some(Operand::Tensor(y))) if self.matching.is_same(self.hashes, x, y) => {}
            (Some(Operand::Tensors(x)), Some(Operand::Tensors(y))) if x.len() == y.len() => {
                let differ = x.iter().zip(y).enumerate();
                let differ = differ.filter(|(_, (x, y))| !self.matching.is_same(self.hashes, **x, **y));
                let named = |(at, (x, y)): (usize, (&TensorId, &TensorId))| {
                    (format!("{name}[{at}]"), Some(Operand::Tensor(*x)), Some(Operand::Tensor(*y)))
                };
                pairs.extend(differ.map(named));
            }
            // What is left of lists without the results of operations that were removed or added.
            (Some(Operand::Tensors(x)), Some(Operand::Tensors(y))) if self.same_without_alone(x, y) => return true,
            (Some(Operand::Value(x)), Some(Operand::Value(y))) => {
                let is_plain = same_label && !x.has_tensor();
                let same = is_plain
                    || match (self.hashes[0].known(x), self.hashes[1].known(y)) {
                        (Some(x), Some(y)) => x == y,
                        _ => x.is_same(y, &|x, y| self.matching.is_same(self.hashes, x, y)),
                    };
                if !same {
                    pairs.push((name.to_owned(), old, new));
                }
            }
            _ => pairs.push((name.to_owned(), old, new)),
        }
        let found = !pairs.is_empty();
        for (part, old, new) in pairs {
            if let (Some(Operand::Tensor(x)), Some(Operand::Tensor(y))) = (old, new)
                && self.is_implied(x, y)
            {
                continue;
            }
            let is_value = |operand: Option<Operand>| operand.is_none_or(|operand| operand.value().is_some());
            let what = if is_value(old) && is_value(new) { What::Attribute } else { What::Operand };
            let old = old.map(|operand| report::operand(a, operand));
            let new = new.map(|operand| report::operand(b, operand));
            self.report(1, i, 0, [Some(i), Some(j)], Told::new(what, part, old, new));
        }
        found
    }

    /// Whether the operation that produces a tensor has no counterpart.
    fn is_alone(&self, side: usize, tensor: TensorId) -> bool {
        let producer = self.hashes[side].producer(tensor);
        producer.is_some_and(|producer| self.matching.counterpart(side, producer).is_none())
    }

    /// Whether two lists are equal but for results of operations without a counterpart.
    fn same_without_alone(&self, x: &[TensorId], y: &[TensorId]) -> bool {
        let mut x = x.iter().filter(|tensor| !self.is_alone(0, **tensor));
        let mut y = y.iter().filter(|tensor| !self.is_alone(1, **tensor));
        loop {
            match (x.next(), y.next()) {
                (None, None) => return true,
                (Some(x), Some(y)) if self.matching.is_same(self.hashes, *x, *y) => {}
                _ => return false,
            }
        }
    }

    /// Whether a tensor is replaced by another one because operations between were removed or added, which is reported.
    pub(super) fn is_implied(&self, x: TensorId, y: TensorId) -> bool {
        let alone = |side: usize, tensor: TensorId| self.is_alone(side, tensor);
        match (alone(0, x), alone(1, y)) {
            (true, true) => true,
            (true, false) => self.skips(0, x, &|old| self.matching.is_same(self.hashes, old, y), &alone),
            (false, true) => self.skips(1, y, &|new| self.matching.is_same(self.hashes, x, new), &alone),
            (false, false) => false,
        }
    }

    /// Whether operations without a counterpart compute a tensor from one that is wanted.
    fn skips(
        &self,
        side: usize,
        from: TensorId,
        wanted: &dyn Fn(TensorId) -> bool,
        alone: &dyn Fn(usize, TensorId) -> bool,
    ) -> bool {
        let graph = self.graph(side);
        let (mut open, mut next) = (vec![from], 0);
        while let Some(tensor) = open.get(next).copied() {
            next += 1;
            let Some(operation) = graph.maker(tensor) else { continue };
            let mut found = false;
            for (_, operand) in graph.named_arguments(operation).take(MOST_SKIPPED) {
                operand.each_tensor(&mut |operand| {
                    if open.len() < MOST_SKIPPED {
                        found |= wanted(operand);
                        if alone(side, operand) {
                            open.push(operand);
                        }
                    }
                });
            }
            if found {
                return true;
            }
        }
        false
    }
}

//! What was found, in the order in which it is written.

use std::ops::Range;

use super::listing::ValueId;
use super::text::{NOWHERE, OutlineText, TextStep};

/// What a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An operation of the listing with other operands and results.
    Operation(usize),
    /// The call of a body, which stands before this one.
    Call(usize),
}

/// An operation or a call.
#[derive(Clone, Debug)]
pub(crate) struct PlannedStep {
    pub(crate) source: Source,
    operands: Range<u32>,
    results: Range<u32>,
}

/// The body of a fragment or function.
#[derive(Clone, Debug)]
pub(crate) struct PlannedBody {
    pub(crate) params: Vec<ValueId>,
    pub(crate) results: Vec<ValueId>,
    pub(crate) steps: Vec<PlannedStep>,
}

/// The graph with calls, and the bodies that are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutlinePlan {
    pub(crate) steps: Vec<PlannedStep>,
    /// Each after those that it calls.
    pub(crate) bodies: Vec<PlannedBody>,
    /// For each value the values of the listing that it stands for in the first and in the last occurrence; those of the
    /// graph stand for themselves.
    pub(crate) values: Vec<[ValueId; 2]>,
    links: Vec<ValueId>,
}

impl OutlinePlan {
    /// The values that a step uses.
    pub(crate) fn operands(&self, step: &PlannedStep) -> &[ValueId] {
        &self.links[step.operands.start as usize..step.operands.end as usize]
    }

    /// The values that a step computes.
    pub(crate) fn results(&self, step: &PlannedStep) -> &[ValueId] {
        &self.links[step.results.start as usize..step.results.end as usize]
    }

    pub(super) fn of(text: &OutlineText) -> OutlinePlan {
        let mut calls = vec![0u32; text.bodies.len()];
        text.steps.iter().filter_map(|step| text.called(step)).for_each(|body| calls[body] += 1);
        let mut writer = PlanWriter {
            text,
            calls,
            numbers: vec![None; text.bodies.len()],
            alias: (0..text.values.len() as ValueId).collect(),
            written: vec![false; text.listing.items.len()],
            plan: OutlinePlan {
                values: text.values.iter().map(|value| [value.original, value.twin]).collect(),
                ..OutlinePlan::default()
            },
        };
        writer.plan.steps = writer.graph();
        writer.plan
    }
}

struct PlanWriter<'t, 'l> {
    text: &'t OutlineText<'l>,
    /// The number of calls of each body. A body with one call, or that only calls another one, is written in its place.
    calls: Vec<u32>,
    /// The bodies that were written.
    numbers: Vec<Option<usize>>,
    /// The value that stands for each value of a body that is written in place of its call.
    alias: Vec<ValueId>,
    /// The operations without operands that were written in the graph.
    written: Vec<bool>,
    plan: OutlinePlan,
}

impl PlanWriter<'_, '_> {
    /// The steps of the graph. Operations without operands precede their first use, as far as they do not precede
    /// everything.
    fn graph(&mut self) -> Vec<PlannedStep> {
        let listing = self.text.listing;
        let mut steps = Vec::with_capacity(self.text.steps.len());
        let first = (0..listing.items.len()).take_while(|item| listing.is_leaf(*item));
        first.for_each(|item| self.leaf(item, &mut steps));
        self.scope(0, &mut steps);
        (0..listing.items.len()).filter(|item| listing.is_leaf(*item)).for_each(|item| self.leaf(item, &mut steps));
        steps
    }

    /// Writes an operation of the graph without operands, unless it was written or moved to a body.
    fn leaf(&mut self, item: usize, steps: &mut Vec<PlannedStep>) {
        let results = self.text.listing.results(item);
        let sunk = results.iter().any(|value| self.text.values[*value as usize].sunk);
        if !std::mem::replace(&mut self.written[item], true) && !sunk {
            self.push(Source::Operation(item), &[], results, steps);
        }
    }

    fn push(&mut self, source: Source, operands: &[ValueId], results: &[ValueId], steps: &mut Vec<PlannedStep>) {
        let links = &mut self.plan.links;
        let mut add = |values: &[ValueId]| {
            let start = links.len() as u32;
            links.extend(values.iter().map(|value| self.alias[*value as usize]));
            start..links.len() as u32
        };
        let (operands, results) = (add(operands), add(results));
        steps.push(PlannedStep { source, operands, results });
    }

    /// Writes the steps of the graph or of a body.
    fn scope(&mut self, scope: usize, steps: &mut Vec<PlannedStep>) {
        let text = self.text;
        for step in &text.steps[text.scopes[scope].clone()] {
            for value in text.operands(step) {
                let own = self.alias[*value as usize];
                match text.values[*value as usize].leaf {
                    Some(leaf) if scope == 0 => self.leaf(leaf as usize, steps),
                    Some(leaf) if own == *value && self.is_first(own) => {
                        self.push(Source::Operation(leaf as usize), &[], &[own], steps);
                    }
                    _ => {}
                }
            }
            self.step(step, steps);
        }
    }

    /// Whether a value of a body without operands was not written yet.
    fn is_first(&mut self, value: ValueId) -> bool {
        let at = self.text.listing.items.len() + value as usize;
        if self.written.len() <= at {
            self.written.resize(at + 1, false);
        }
        !std::mem::replace(&mut self.written[at], true)
    }

    fn step(&mut self, step: &TextStep, steps: &mut Vec<PlannedStep>) {
        let text = self.text;
        let (operands, results) = (text.operands(step), text.results(step));
        let Some(body) = text.called(step) else {
            debug_assert_ne!(step.source, NOWHERE);
            self.push(Source::Operation(step.source as usize), operands, results, steps);
            return;
        };
        if self.calls[body] == 1 || self.only_calls(body) {
            let found = &text.bodies[body];
            let pairs = found.params.iter().zip(operands).chain(found.results.iter().zip(results));
            pairs.for_each(|(inner, outer)| self.alias[*inner as usize] = self.alias[*outer as usize]);
            self.scope(body + 1, steps);
            return;
        }
        let number = match self.numbers[body] {
            Some(number) => number,
            None => self.body(body),
        };
        self.push(Source::Call(number), operands, results, steps);
    }

    /// Whether a body does nothing but call another one, which has more calls: repeats that were found apart have a
    /// common body in the end.
    fn only_calls(&self, body: usize) -> bool {
        let (text, found) = (self.text, &self.text.bodies[body]);
        let [step] = &text.steps[text.scopes[body + 1].clone()] else { return false };
        text.called(step).is_some_and(|callee| self.calls[callee] > 1)
            && text.operands(step).iter().all(|value| found.params.contains(value))
            && text.results(step).iter().all(|value| found.results.contains(value))
    }

    /// Writes a body, after those that it calls.
    fn body(&mut self, body: usize) -> usize {
        let mut steps = Vec::new();
        self.scope(body + 1, &mut steps);
        let found = &self.text.bodies[body];
        let (params, results) = (found.params.clone(), found.results.clone());
        self.plan.bodies.push(PlannedBody { params, results, steps });
        let number = self.plan.bodies.len() - 1;
        self.numbers[body] = Some(number);
        number
    }
}

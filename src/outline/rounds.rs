//! Replaces repeated windows by calls, those that save most first, until nothing saves more.

use super::interface::{BodyOperand, Interface, is_sequence};
use super::listing::{Listing, ValueId};
use super::order;
use super::plan::OutlinePlan;
use super::repeats::repeats;
use super::text::{FoundBody, OutlineText, TextStep, ValueFacts};

/// The most repeats that are compared in a round, and how often a round may look at each step for that.
const COMPARED: usize = 24;
const LOOKS: usize = 4;

/// All rounds together look at so many steps, and so many for each operation of the graph.
const STEPS: usize = 1 << 20;
const STEPS_EACH: usize = 1;

/// For graphs of more operations, only one order is tried.
const ORDERED_TWICE: usize = 1 << 17;

/// The repeated structure of a listing; none if calls do not save anything.
pub(crate) fn find(listing: &Listing) -> Option<OutlinePlan> {
    let late = order::late(listing);
    let listed = order::listed(listing);
    let twice = listed.len() <= ORDERED_TWICE && late != listed;
    let text = reduced(listing, &late);
    let text = match twice.then(|| reduced(listing, &listed)) {
        Some(other) if other.total() <= text.total() => other,
        _ => text,
    };
    (!text.bodies.is_empty()).then(|| OutlinePlan::of(&text))
}

/// The text of a listing, with calls.
fn reduced<'l>(listing: &'l Listing, order: &[u32]) -> OutlineText<'l> {
    let mut text = OutlineText::new(listing, order);
    let mut left = STEPS + STEPS_EACH * text.steps.len();
    while let Some(rest) = left.checked_sub(text.steps.len()) {
        left = rest;
        if !round(&mut text) {
            break;
        }
    }
    text
}

/// Replaces the repeats that save most and do not overlap. Returns whether there are any.
fn round(text: &mut OutlineText) -> bool {
    let mut looks = LOOKS * text.steps.len();
    let mut compared = Vec::new();
    for repeat in repeats(text).into_iter().take(COMPARED) {
        // Of many equal parts, the longer sequences of them come first here; one window is enough to leave each out.
        let is_sequence = repeat.positions.first().is_some_and(|first| is_sequence(text, *first, repeat.length));
        let windows = if is_sequence { 1 } else { repeat.positions.len() };
        let Some(rest) = looks.checked_sub(windows * repeat.length as usize) else { break };
        looks = rest;
        if is_sequence {
            continue;
        }
        compared.extend(Interface::of(text, &repeat.positions, repeat.length).filter(|found| found.saved > 0));
    }
    compared.sort_unstable_by(|a, b| (b.saved, &a.positions).cmp(&(a.saved, &b.positions)));
    let mut taken = vec![false; text.steps.len()];
    let mut chosen = Vec::new();
    for found in compared {
        if let Some(found) = free(text, found, &taken) {
            for position in &found.positions {
                taken[*position as usize..][..found.length as usize].fill(true);
            }
            chosen.push(found);
        }
    }
    let any = !chosen.is_empty();
    if any {
        Replacement::new(text).replace(chosen);
    }
    any
}

/// Windows without those that others have taken, if they still save something.
fn free(text: &OutlineText, found: Interface, taken: &[bool]) -> Option<Interface> {
    let is_free = |position: &&u32| !taken[**position as usize..][..found.length as usize].contains(&true);
    let positions: Vec<u32> = found.positions.iter().filter(is_free).copied().collect();
    if positions.len() == found.positions.len() {
        return Some(found);
    }
    Interface::of(text, &positions, found.length).filter(|found| found.saved > 0)
}

/// The steps of a text with some windows replaced.
struct Replacement<'t, 'l> {
    text: &'t mut OutlineText<'l>,
    /// The calls by their position, with the number of steps that each one replaces.
    calls: Vec<(u32, u32, TextStep)>,
    /// The steps of new bodies.
    bodies: Vec<Vec<TextStep>>,
}

impl<'t, 'l> Replacement<'t, 'l> {
    fn new(text: &'t mut OutlineText<'l>) -> Self {
        Replacement { text, calls: Vec::new(), bodies: Vec::new() }
    }

    fn replace(mut self, chosen: Vec<Interface>) {
        for found in &chosen {
            let body = self.text.bodies.len();
            self.body(found);
            for position in &found.positions {
                self.call(found, body, *position);
            }
        }
        self.calls.sort_unstable_by_key(|(position, ..)| *position);
        self.rebuild();
    }

    /// A value of a body that stands for one in the first occurrence and another one in the last.
    fn fresh(&mut self, first: ValueId, last: ValueId, fixed: bool, keeps_leaf: bool) -> ValueId {
        let values = &mut self.text.values;
        let (ValueFacts { original, leaf, .. }, twin) = (values[first as usize], values[last as usize].twin);
        values.push(ValueFacts { original, twin, leaf: leaf.filter(|_| keeps_leaf), fixed, sunk: false });
        values.len() as ValueId - 1
    }

    /// The operand of a window at a place.
    fn operand(&self, position: u32, (step, operand): (u32, u32)) -> ValueId {
        self.text.operands(&self.text.steps[(position + step) as usize])[operand as usize]
    }

    /// Adds the body of windows.
    fn body(&mut self, found: &Interface) {
        let [first, last] = [found.positions.first(), found.positions.last()].map(|position| *position.unwrap_or(&0));
        let outer = |this: &mut Self, places: &[(u32, u32)], keeps_leaf: bool| -> Vec<ValueId> {
            let fresh = |place: &(u32, u32)| {
                let (a, b) = (this.operand(first, *place), this.operand(last, *place));
                this.fresh(a, b, false, keeps_leaf)
            };
            places.iter().map(fresh).collect()
        };
        let params = outer(self, &found.params, false);
        let sunk = outer(self, &found.sunk, true);
        for (position, place) in found.positions.iter().flat_map(|at| found.sunk.iter().map(move |place| (*at, *place)))
        {
            let value = self.operand(position, place);
            self.text.values[value as usize].sunk = true;
        }
        let mut made: Vec<Vec<ValueId>> = Vec::with_capacity(found.length as usize);
        let mut steps = Vec::with_capacity(found.length as usize);
        let mut operands = found.operands.iter();
        for at in 0..found.length {
            let step = found.steps(self.text, first)[at as usize];
            let other = found.steps(self.text, last)[at as usize];
            let operands = operands.by_ref().take(step.operands as usize).map(|from| match *from {
                BodyOperand::Step(step, slot) => made[step as usize][slot as usize],
                BodyOperand::Param(param) => params[param as usize],
                BodyOperand::Sunk(leaf) => sunk[leaf as usize],
            });
            let operands: Vec<ValueId> = operands.collect();
            let pairs = self.text.results(&step).iter().copied().zip(self.text.results(&other).iter().copied());
            let pairs: Vec<(ValueId, ValueId)> = pairs.collect();
            let results: Vec<ValueId> = pairs
                .into_iter()
                .enumerate()
                .map(|(slot, (a, b))| self.fresh(a, b, found.results.binary_search(&(at, slot as u32)).is_ok(), false))
                .collect();
            let (start, operands, count) = self.text.link(&operands, &results);
            made.push(results);
            steps.push(TextStep { start, operands, results: count, ..step });
        }
        let results = found.results.iter().map(|(step, slot)| made[*step as usize][*slot as usize]).collect();
        self.text.bodies.push(FoundBody { params, results });
        self.bodies.push(steps);
    }

    /// Notes the call that replaces a window.
    fn call(&mut self, found: &Interface, body: usize, position: u32) {
        let operands: Vec<ValueId> = found.params.iter().map(|place| self.operand(position, *place)).collect();
        let result =
            |(step, slot): &(u32, u32)| self.text.results(&self.text.steps[(position + step) as usize])[*slot as usize];
        let results: Vec<ValueId> = found.results.iter().map(result).collect();
        let (start, operands, results) = self.text.link(&operands, &results);
        let token = self.text.token_of(body);
        self.calls.push((position, found.length, TextStep { token, source: body as u32, start, operands, results }));
    }

    /// Makes the new text.
    fn rebuild(self) {
        let Replacement { text, calls, bodies } = self;
        let old = std::mem::take(&mut text.steps);
        let scopes = std::mem::take(&mut text.scopes);
        let mut calls = calls.into_iter().peekable();
        for scope in scopes {
            let start = text.steps.len();
            let mut at = scope.start;
            while at < scope.end {
                match calls.next_if(|(position, ..)| *position as usize == at) {
                    Some((_, length, call)) => {
                        text.steps.push(call);
                        at += length as usize;
                    }
                    None => {
                        text.steps.push(old[at]);
                        at += 1;
                    }
                }
            }
            text.scopes.push(start..text.steps.len());
            text.end_scope();
        }
        for steps in bodies {
            let start = text.steps.len();
            text.steps.extend(steps);
            text.scopes.push(start..text.steps.len());
            text.end_scope();
        }
        text.count();
    }
}

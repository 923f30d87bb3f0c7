//! The graph and the bodies that were found, as one text of tokens in which repeats are searched.

use std::ops::Range;

use super::listing::{ClassId, Leaf, Listing, ValueId};

/// What a step stands for: an operation of a class, the call of a body, or the end of a graph or body. Steps with equal
/// tokens are equal but for the values that they use.
pub(super) type Token = u32;

/// No position.
pub(super) const NOWHERE: u32 = u32::MAX;

/// An operation or a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextStep {
    pub(super) token: Token,
    /// The operation of the listing or the body.
    pub(super) source: u32,
    /// The start and the number of its operands in the links; its results follow.
    pub(super) start: u32,
    pub(super) operands: u32,
    pub(super) results: u32,
}

/// What is known of a value. Each value belongs to the graph, or to one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueFacts {
    /// The value of the listing that it stands for; of a body, in its first occurrence.
    pub(super) original: ValueId,
    /// That in the last occurrence.
    pub(super) twin: ValueId,
    /// The operation of the listing without operands that computes it, if there is one.
    pub(super) leaf: Option<u32>,
    /// Whether the graph or body that it belongs to has to have it: outputs.
    pub(super) fixed: bool,
    /// Whether it moved to a body.
    pub(super) sunk: bool,
}

/// A body that was found.
#[derive(Clone, Debug)]
pub(super) struct FoundBody {
    pub(super) params: Vec<ValueId>,
    pub(super) results: Vec<ValueId>,
}

/// The graph and its bodies, one after the other.
#[derive(Debug)]
pub(super) struct OutlineText<'l> {
    pub(super) listing: &'l Listing,
    pub(super) steps: Vec<TextStep>,
    pub(super) links: Vec<ValueId>,
    pub(super) values: Vec<ValueFacts>,
    /// The steps of the graph, and of each body.
    pub(super) scopes: Vec<Range<usize>>,
    pub(super) bodies: Vec<FoundBody>,
    /// The number of uses of each value.
    pub(super) uses: Vec<u32>,
    /// The step that computes each value, and which of its results it is.
    pub(super) made: Vec<(u32, u32)>,
}

impl<'l> OutlineText<'l> {
    /// The operations of a listing in an order.
    pub(super) fn new(listing: &'l Listing, order: &[u32]) -> Self {
        let values = (0..listing.values).map(|original| ValueFacts {
            original,
            twin: original,
            leaf: None,
            fixed: false,
            sunk: false,
        });
        let mut values: Vec<ValueFacts> = values.collect();
        listing.fixed.iter().for_each(|value| values[*value as usize].fixed = true);
        for item in (0..listing.items.len()).filter(|item| listing.is_leaf(*item)) {
            listing.results(item).iter().for_each(|value| values[*value as usize].leaf = Some(item as u32));
        }
        let step = |source: &u32| {
            let item = *source as usize;
            let (operands, results) = (listing.operands(item).len() as u32, listing.results(item).len() as u32);
            let start = listing.items[item].operands;
            TextStep { token: listing.items[item].class, source: *source, start, operands, results }
        };
        let mut text = OutlineText {
            listing,
            steps: order.iter().map(step).collect(),
            links: listing.links.clone(),
            values,
            scopes: std::iter::once(0..order.len()).collect(),
            bodies: Vec::new(),
            uses: Vec::new(),
            made: Vec::new(),
        };
        text.end_scope();
        text.count();
        text
    }

    /// Adds the step that separates a graph or body from the next one. It is equal to no other one.
    pub(super) fn end_scope(&mut self) {
        let token = NOWHERE - self.scopes.len() as u32;
        self.steps.push(TextStep { token, source: NOWHERE, start: 0, operands: 0, results: 0 });
    }

    /// The token of the calls of a body.
    pub(super) fn token_of(&self, body: usize) -> Token {
        (self.listing.classes.len() + body) as Token
    }

    /// The body that a step calls.
    pub(super) fn called(&self, step: &TextStep) -> Option<usize> {
        let body = (step.token as usize).checked_sub(self.listing.classes.len())?;
        (body < self.bodies.len()).then_some(body)
    }

    /// The values that a step uses.
    pub(super) fn operands(&self, step: &TextStep) -> &[ValueId] {
        &self.links[step.start as usize..][..step.operands as usize]
    }

    /// The values that a step computes.
    pub(super) fn results(&self, step: &TextStep) -> &[ValueId] {
        &self.links[(step.start + step.operands) as usize..][..step.results as usize]
    }

    /// Adds the values of a new step.
    pub(super) fn link(&mut self, operands: &[ValueId], results: &[ValueId]) -> (u32, u32, u32) {
        let start = self.links.len() as u32;
        self.links.extend_from_slice(operands);
        self.links.extend_from_slice(results);
        (start, operands.len() as u32, results.len() as u32)
    }

    /// Counts uses and notes where values are computed.
    pub(super) fn count(&mut self) {
        let (mut uses, mut made) = (vec![0; self.values.len()], vec![(NOWHERE, 0); self.values.len()]);
        for (at, step) in self.steps.iter().enumerate() {
            self.operands(step).iter().for_each(|value| uses[*value as usize] += 1);
            let results = self.results(step).iter().enumerate();
            results.for_each(|(slot, value)| made[*value as usize] = (at as u32, slot as u32));
        }
        (self.uses, self.made) = (uses, made);
    }

    /// The bytes of a step when it is written.
    pub(super) fn bytes(&self, step: &TextStep) -> u64 {
        let own = self.listing.classes.get(step.token as usize).map_or(CALL, |class| u64::from(class.bytes));
        own + NAME * u64::from(step.operands + step.results)
    }

    /// The bytes of all steps and declarations.
    pub(super) fn total(&self) -> u64 {
        let steps = self.steps.iter().map(|step| self.bytes(step));
        let bodies = self.bodies.iter().map(|body| declaration((body.params.len() + body.results.len()) as u64));
        steps.chain(bodies).sum()
    }

    /// The class of the operation without operands that computes a value; none if it stays in the graph.
    pub(super) fn sinking(&self, value: ValueId) -> Option<ClassId> {
        let ValueFacts { leaf, fixed, .. } = self.values[value as usize];
        let item = leaf.filter(|_| !fixed)? as usize;
        let class = self.listing.items[item].class;
        let sinks = self.listing.classes[class as usize].leaf == Leaf::Sinks;
        (sinks && self.listing.results(item).len() == 1).then_some(class)
    }
}

/// The bytes of a name with what separates it from the next one.
pub(super) const NAME: u64 = 14;
/// The bytes of a call without its operands and results.
pub(super) const CALL: u64 = 20;
/// The bytes of a declaration without its parameters and results.
const DECLARATION: u64 = 40;
/// The bytes of the type of a parameter or result.
const TYPE: u64 = 16;

/// The bytes of a declaration with a number of parameters and results.
pub(super) fn declaration(ends: u64) -> u64 {
    DECLARATION + (NAME + TYPE) * ends
}

//! The calls of functions that inference has looked at.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;

use super::engine::ResultTypes;
use super::infer_call::{Bindings, Known};

/// What a call gives an input of its function.
#[derive(Clone, Debug)]
pub(super) enum GivenOperand<'m> {
    Omitted,
    /// A value of which nothing is known.
    Unknown,
    Known(Known<'m>),
}

impl GivenOperand<'_> {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Omitted, Self::Omitted) | (Self::Unknown, Self::Unknown) => true,
            (Self::Known(a), Self::Known(b)) => {
                let place = |of: &Known| of.constant.map(|constant| std::ptr::from_ref(constant).addr());
                place(a) == place(b) && a.ty == b.ty
            }
            _ => false,
        }
    }

    fn hash(&self, state: &mut FxHasher) {
        let Self::Known(known) = self else { return };
        known.ty.element().hash(state);
        known.ty.shape().into_iter().flat_map(|shape| shape.iter()).for_each(|extent| extent.known().hash(state));
    }
}

/// What a call gives its function.
#[derive(Debug)]
pub(super) struct GivenCall<'m> {
    pub(super) function: usize,
    pub(super) operands: Vec<GivenOperand<'m>>,
    pub(super) bindings: Bindings<'m>,
}

impl GivenCall<'_> {
    fn is_same(&self, other: &Self) -> bool {
        self.function == other.function
            && self.operands.len() == other.operands.len()
            && self.operands.iter().zip(&other.operands).all(|(a, b)| a.is_same(b))
            && self.bindings.len() == other.bindings.len()
            && self.bindings.iter().all(|(name, a)| other.bindings.get(name).is_some_and(|b| std::ptr::eq(*a, *b)))
    }

    /// A number that equal calls have in common.
    fn key(&self) -> u64 {
        let mut state = FxHasher::default();
        self.function.hash(&mut state);
        self.operands.iter().for_each(|operand| operand.hash(&mut state));
        state.finish()
    }
}

/// The results of calls by what they were given: layers of a network often call a function with the same types.
#[derive(Debug, Default)]
pub(super) struct SeenCalls<'m> {
    /// The functions with a call: those with a single one keep nothing.
    functions: FxHashSet<usize>,
    calls: Vec<(GivenCall<'m>, ResultTypes)>,
    by_key: FxHashMap<u64, SmallVec<[u32; 4]>>,
}

impl<'m> SeenCalls<'m> {
    /// The most different calls of one key that are kept.
    const ALIKE: usize = 4;

    /// The key of a call; none for the first call of a function.
    pub(super) fn key(&mut self, call: &GivenCall) -> Option<u64> {
        if self.functions.insert(call.function) { None } else { Some(call.key()) }
    }

    /// The results of an equal call.
    pub(super) fn get(&self, key: u64, call: &GivenCall<'m>) -> Option<&ResultTypes> {
        let mut alike = self.by_key.get(&key)?.iter().filter_map(|i| self.calls.get(*i as usize));
        alike.find(|(seen, _)| seen.is_same(call)).map(|(_, results)| results)
    }

    pub(super) fn add(&mut self, key: u64, call: GivenCall<'m>, results: &ResultTypes) {
        let alike = self.by_key.entry(key).or_default();
        if alike.len() < Self::ALIKE {
            alike.push(self.calls.len() as u32);
            self.calls.push((call, results.clone()));
        }
    }
}

//! Networks with loops: TensorRT's boundary layers, their rules, their evaluation and unrolling.
//!
//! A [`Network`] is read from JSON ([`Network::read`]). [`Network::check`] knows the rules,
//! [`Network::evaluate`] the formal semantics of lazy sequences, and [`Network::unroll`] makes a
//! flat graph by partial evaluation of the same sequences. `docs/loops.md` says what means what.

mod domain;
mod emit;
mod infer;
mod lower;
mod machine;
mod network;
mod ops;
mod order;
mod plan;
mod read;
mod rules;
mod scope;
mod symbols;
#[cfg(test)]
mod tests;
mod unroll;

pub use network::Network;
use network::{LoopId, Origin, Type};

use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::Sources;
use crate::tensor::Tensor;
use crate::{Expansion, Options};
use domain::Failure;
use infer::Types;
use machine::Machine;
use order::{Cycle, Order};
use plan::Plan;
use rules::Context;
use scope::Scopes;
use symbols::{Sym, Symbols};

/// What [`Network::evaluate`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// The outputs of the network in order.
    pub outputs: Vec<(String, Tensor)>,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// A network that was looked at.
struct Checked {
    scopes: Scopes,
    order: Result<Order, Vec<Cycle>>,
    types: Option<Types>,
    diagnostics: Diagnostics,
}

impl Checked {
    fn new(net: &Network, bound: &[Option<Type>], strict: bool) -> Checked {
        let mut diagnostics = Diagnostics::new(strict);
        let scopes = Scopes::new(net);
        let clean = !scopes.too_deep && scopes.mutual().next().is_none() && scopes.torn_loops().next().is_none();
        let order = if clean { Order::new(net, &scopes) } else { Err(Vec::new()) };
        let types = order.as_ref().ok().map(|order| Types::new(net, order, bound));
        let context = Context { net, scopes: &scopes, order: &order, types: types.as_ref() };
        rules::check(&context, &mut diagnostics);
        Checked { scopes, order, types, diagnostics }
    }

    /// The plan and what it is made from, unless a rule is broken.
    fn plan(self, net: &Network) -> Result<(Plan, Types, Diagnostics), Diagnostics> {
        let (Ok(order), Some(types)) = (&self.order, self.types) else { return Err(self.diagnostics) };
        if self.diagnostics.has_errors() {
            return Err(self.diagnostics);
        }
        Ok((Plan::new(net, &self.scopes, order), types, self.diagnostics))
    }
}

impl Network {
    /// Reads a network from JSON. `name` is what messages call the text; `sources` keeps it for them.
    pub fn read(name: &str, text: String, sources: &mut Sources, strict: bool) -> (Option<Network>, Diagnostics) {
        let mut diagnostics = Diagnostics::new(strict);
        let file = sources.add(name, text);
        let net = read::network(sources.file(file).text(), file, &mut diagnostics);
        (net, diagnostics)
    }

    /// Reads the values of the network's inputs from JSON: an object, name to nested arrays.
    ///
    /// # Errors
    ///
    /// What is no value of an input.
    pub fn read_inputs(
        &self,
        name: &str,
        text: String,
        sources: &mut Sources,
    ) -> Result<Vec<(String, Tensor)>, Diagnostics> {
        let mut diagnostics = Diagnostics::new(false);
        let file = sources.add(name, text);
        let found = read::inputs(sources.file(file).text(), file, self, &mut diagnostics);
        found.ok_or(diagnostics)
    }

    /// Checks the network against the rules; see `docs/rules.md`.
    pub fn check(&self, strict: bool) -> Diagnostics {
        Checked::new(self, &[], strict).diagnostics
    }

    /// Evaluates the network.
    ///
    /// # Errors
    ///
    /// The rules that it breaks, inputs that are missing or of another type, or what cannot be computed.
    pub fn evaluate(
        &self,
        inputs: impl IntoIterator<Item = (String, Tensor)>,
        options: &Options,
    ) -> Result<Evaluation, Diagnostics> {
        let given: rustc_hash::FxHashMap<String, Tensor> = inputs.into_iter().collect();
        let mut bound: Vec<Option<Type>> = vec![None; self.tensors.len()];
        let mut start = Vec::new();
        let mut wrong = Vec::new();
        for &input in &self.inputs {
            let info = &self.tensors[input.index()];
            let Origin::Input(declared) = &info.origin else { continue };
            match given.get(&info.name) {
                Some(value) if declared.admits(&Type::of(value)) => {
                    bound[input.index()] = Some(Type::of(value));
                    start.push((input, Sym::Known(Arc::new(value.clone()))));
                }
                Some(value) => {
                    let message = format!("input `{}` is {declared}, and its value is {}", info.name, Type::of(value));
                    wrong.push(Diagnostic::new(Code::LoopInput, self.location(info.at), message));
                }
                None => {
                    let message = format!("input `{}` has no value", info.name);
                    wrong.push(Diagnostic::new(Code::LoopInput, self.location(info.at), message));
                }
            }
        }
        let mut checked = Checked::new(self, &bound, options.strict);
        wrong.into_iter().for_each(|diagnostic| checked.diagnostics.report(diagnostic));
        let (plan, types, mut diagnostics) = checked.plan(self)?;
        let mut machine = Machine::new(self, &plan, &types, options, Symbols::default(), start);
        let mut failures = machine.run().err().into_iter().collect::<Vec<_>>();
        let mut outputs = Vec::new();
        let wanted = if failures.is_empty() { self.outputs.as_slice() } else { &[] };
        for output in wanted {
            match machine.value(output.tensor) {
                Ok(value) => {
                    let name = || self.name_of(output.tensor).to_owned();
                    outputs.extend(value.known().map(|value| (name(), Tensor::clone(value))));
                }
                Err(failure) => failures.push(failure),
            }
        }
        if failures.is_empty() {
            return Ok(Evaluation { outputs, diagnostics });
        }
        report(self, failures, &mut diagnostics);
        Err(diagnostics)
    }

    /// Unrolls the loops of the network into a flat graph of NNEF 1.0 operations.
    ///
    /// # Errors
    ///
    /// The rules that the network breaks, or why it cannot be flat.
    pub fn unroll(&self, options: &Options) -> Result<Expansion, Diagnostics> {
        let (plan, types, mut diagnostics) = Checked::new(self, &[], options.strict).plan(self)?;
        match unroll::unroll(self, &plan, &types, options, &mut diagnostics) {
            Ok(graph) if !diagnostics.has_errors() => Ok(Expansion { graph, diagnostics }),
            Ok(_) => Err(diagnostics),
            Err(failures) => {
                report(self, failures, &mut diagnostics);
                Err(diagnostics)
            }
        }
    }
}

/// Tells each failure once.
fn report(net: &Network, failures: Vec<Arc<Failure>>, diagnostics: &mut Diagnostics) {
    let mut told: Vec<*const Failure> = Vec::new();
    for failure in failures {
        if told.contains(&Arc::as_ptr(&failure)) {
            continue;
        }
        told.push(Arc::as_ptr(&failure));
        let trip = |(of, trip): &(LoopId, u64)| format!("trip {trip} of `{}`", net.loops[of.index()].name);
        let trips: Vec<String> = failure.trips.iter().rev().map(trip).collect();
        let place = if trips.is_empty() { String::new() } else { format!(", in {}", trips.join(", ")) };
        let message = format!("{}{place}", failure.message);
        diagnostics.report(Diagnostic::new(failure.code, net.location(failure.at), message));
    }
}

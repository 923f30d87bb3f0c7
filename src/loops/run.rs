//! What can be done with a network: it is read, checked, evaluated and unrolled.

use std::sync::Arc;

use super::infer::Types;
use super::network::{LoopId, Network, StaticType};
use super::plan::Plan;
use super::rules::CheckContext;
use super::site::ComputationError;
use super::symbols::Sym;
use super::unroll::Runnable;
use super::{read, rules, unroll};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Policy};
use crate::nnef::expand::compounds::expand_compounds;
use crate::source::{Sources, Span};
use crate::tensor::Tensor;
use crate::{Expansion, Lower, Options};

/// The result of [`Network::evaluate`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation {
    /// The outputs of the network in order.
    pub outputs: Vec<(String, Tensor)>,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// Checks a network; `bound` has the types of inputs whose values are known.
fn check<'n>(net: &'n Network, bound: &[Option<StaticType>], policy: Policy) -> (CheckContext<'n>, Diagnostics) {
    let mut diagnostics = Diagnostics::of(policy);
    let context = CheckContext::new(net, bound);
    rules::check(&context, &mut diagnostics);
    (context, diagnostics)
}

/// The plan of a network and its types, unless a rule is broken.
pub(super) fn plan(context: CheckContext, found: Diagnostics) -> Result<(Plan, Types, Diagnostics), Diagnostics> {
    match (context.order, context.types) {
        (Ok(order), Some(types)) if !found.has_errors() => {
            Ok((Plan::new(context.net, &context.scopes, &order), types, found))
        }
        _ => Err(found),
    }
}

impl Network {
    /// Reads a network from JSON. Messages refer to the text by `name`; it is added to `sources`.
    pub fn read(name: &str, text: String, sources: &mut Sources, strict: bool) -> (Option<Network>, Diagnostics) {
        Network::read_under(name, text, sources, strict.into())
    }

    pub(crate) fn read_under(
        name: &str,
        text: String,
        sources: &mut Sources,
        policy: Policy,
    ) -> (Option<Network>, Diagnostics) {
        let mut diagnostics = Diagnostics::of(policy);
        let file = sources.add(name, text);
        let net = read::network(sources.file(file).text(), file, &mut diagnostics);
        (net, diagnostics)
    }

    /// Reads the values of the network's inputs from JSON: an object that maps names to nested arrays.
    ///
    /// # Errors
    ///
    /// Members that are not values of an input.
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
        self.check_under(strict.into())
    }

    pub(crate) fn check_under(&self, policy: Policy) -> Diagnostics {
        check(self, &[], policy).1
    }

    /// Evaluates the network.
    ///
    /// # Errors
    ///
    /// Broken rules, options that do not apply to networks with loops, missing inputs or inputs of another type, or
    /// failed computations.
    pub fn evaluate(
        &self,
        inputs: impl IntoIterator<Item = (String, Tensor)>,
        options: &Options,
    ) -> Result<Evaluation, Diagnostics> {
        let (start, wrong) = unroll::given(self, &inputs.into_iter().collect());
        let mut bound: Vec<Option<StaticType>> = vec![None; self.tensors.len()];
        start.iter().for_each(|(input, value)| bound[input.index()] = Some(StaticType::of(value)));
        let (context, mut found) = check(self, &bound, options.policy());
        wrong.into_iter().for_each(|diagnostic| found.report(diagnostic));
        refuse_without_effect(self, options, &mut found);
        let (plan, types, diagnostics) = plan(context, found)?;
        let start = start.into_iter().map(|(input, value)| (input, Sym::Known(value))).collect();
        match (Runnable { net: self, plan: &plan, types: &types, options }).evaluate(start) {
            Ok(outputs) => Ok(Evaluation { outputs, diagnostics }),
            Err(failures) => Err(report(self, failures, diagnostics)),
        }
    }

    /// Unrolls the loops of the network into a flat graph of NNEF 1.0 operations.
    ///
    /// # Errors
    ///
    /// Broken rules, options that do not apply to networks with loops, or why the network cannot be unrolled.
    pub fn unroll(&self, options: &Options) -> Result<Expansion, Diagnostics> {
        let (context, mut found) = check(self, &[], options.policy());
        // Loops are unrolled to compounds, too, which are lowered behind them.
        let unrolled = match options.lower {
            Lower::All => &options.clone().with(|options| options.lower = Lower::Custom),
            _ => options,
        };
        refuse_without_effect(self, unrolled, &mut found);
        let (plan, types, mut diagnostics) = plan(context, found)?;
        match (Runnable { net: self, plan: &plan, types: &types, options }).unroll(&mut diagnostics) {
            Ok(graph) if !diagnostics.has_errors() => match diagnostics.take(expand_compounds(graph, options)) {
                Some(graph) => Ok(Expansion { graph, diagnostics }),
                None => Err(diagnostics),
            },
            Ok(_) => Err(diagnostics),
            Err(failures) => Err(report(self, failures, diagnostics)),
        }
    }
}

/// Reports options that apply only to NNEF documents.
fn refuse_without_effect(net: &Network, options: &Options, diagnostics: &mut Diagnostics) {
    let given = [
        ("lower", options.lower != Lower::Custom),
        ("keep", !options.keep.is_empty()),
        ("libraries", !options.libraries.is_empty()),
        ("input_shapes", !options.shapes.inputs.is_empty()),
        ("keep_unused", options.keep_unused),
        ("migrate", options.migrate),
        ("dialect", options.dialect.is_some()),
    ];
    for (name, _) in given.iter().filter(|(_, given)| *given) {
        let message = format!("`Options::{name}` does not apply to networks with loops");
        diagnostics.report(Diagnostic::new(Code::OptionOfDocuments, net.location(Span::default()), message));
    }
}

/// Reports each failure once.
fn report(net: &Network, failures: Vec<Arc<ComputationError>>, mut diagnostics: Diagnostics) -> Diagnostics {
    let is_first = |i: usize| !failures[..i].iter().any(|before| Arc::ptr_eq(before, &failures[i]));
    for failure in (0..failures.len()).filter(|&i| is_first(i)).map(|i| &failures[i]) {
        let trip = |(of, trip): &(LoopId, u64)| format!("trip {trip} of `{}`", net.loops[of.index()].name);
        let trips: Vec<String> = failure.trips.iter().rev().map(trip).collect();
        let place = if trips.is_empty() { String::new() } else { format!(", in {}", trips.join(", ")) };
        let message = format!("{}{place}", failure.message);
        diagnostics.report(Diagnostic::new(failure.code, net.location(failure.at), message));
    }
    diagnostics
}

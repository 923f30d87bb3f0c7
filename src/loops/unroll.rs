//! Evaluation, and unrolling, which is partial evaluation of the same lazy sequences: known values become numbers,
//! the others operations of a flat graph.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::emit::{Emitter, LayerPlace};
use super::infer::Types;
use super::machine::Machine;
use super::network::{LoopId, Network, StaticType, TensorId};
use super::plan::Plan;
use super::site::{ComputationError, Computed};
use super::symbols::{Sym, Symbols};
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Graph;
use crate::graph::names::NameId;
use crate::source::Span;
use crate::tensor::Tensor;
use crate::tensor::usage::Usage;

/// The failure that ended a run, or the failures of outputs.
type Failures = Vec<Arc<ComputationError>>;

/// A network that breaks no rule, with all that a run needs.
pub(crate) struct Runnable<'n> {
    pub(crate) net: &'n Network,
    pub(crate) plan: &'n Plan,
    pub(crate) types: &'n Types,
    pub(crate) options: &'n Options,
}

impl<'n> Runnable<'n> {
    /// Runs the network with these values of its inputs. Returns the symbols and the values of the outputs.
    fn run(
        &self,
        emitter: Option<Emitter<'n>>,
        start: Vec<(TensorId, Sym)>,
    ) -> Result<(Symbols<'n>, Vec<Computed<Sym>>), Failures> {
        let Runnable { net, plan, types, options } = *self;
        let symbols = Symbols::new(emitter, Usage::new(options.max_steps, options.max_bytes, 1));
        let mut machine = Machine::new(net, plan, types, symbols, options.max_trips, start);
        machine.run().map_err(|failure| vec![failure])?;
        let values = net.outputs.iter().map(|output| machine.value(output.tensor)).collect();
        Ok((machine.symbols, values))
    }

    /// Evaluates a network; the values of its inputs are known.
    pub(crate) fn evaluate(&self, start: Vec<(TensorId, Sym)>) -> Result<Vec<(String, Tensor)>, Failures> {
        let (_, values) = self.run(None, start)?;
        let (mut outputs, mut failures) = (Vec::new(), Vec::new());
        for (output, value) in self.net.outputs.iter().zip(values) {
            let name = || self.net.name_of(output.tensor).to_owned();
            match value {
                Ok(value) => outputs.extend(value.known().map(|value| (name(), Tensor::clone(value)))),
                Err(failure) => failures.push(failure),
            }
        }
        if failures.is_empty() { Ok(outputs) } else { Err(failures) }
    }

    /// Unrolls a network.
    pub(crate) fn unroll(&self, diagnostics: &mut Diagnostics) -> Result<Graph, Failures> {
        let Runnable { net, plan, options, .. } = *self;
        let looped = plan.loops.iter().position(|of| !of.outputs.is_empty()).map(|at| LoopId(at as u32));
        if let Some(of) = looped.filter(|_| !options.unroll) {
            let name = &net.loops[of.index()].name;
            let message = format!("NNEF 1.0 has no loops; --unroll expands the loop `{name}`");
            return Err(vec![ComputationError::new(Code::NotFlattenable, net.place(of), message)]);
        }
        let mut emitter = Emitter::new(net, options.max_ops, diagnostics);
        let start = externals(net, &mut emitter).map_err(|failure| vec![failure])?;
        let (symbols, values) = self.run(Some(emitter), start)?;
        let (Some(mut emitter), finished) = symbols.into_parts() else { return Err(Vec::new()) };
        let mut failures = Vec::new();
        for (output, value) in net.outputs.iter().zip(values) {
            let info = &net.tensors[output.tensor.index()];
            let name = emitter.root(output.tensor);
            failures.extend(value.and_then(|value| give(&mut emitter, (info.at, &info.name), name, &value)).err());
        }
        if let Some(finished) = finished {
            let name = emitter.under(NameId::ROOT, "finished");
            failures.extend(give(&mut emitter, (Span::default(), "finished"), name, &finished).err());
        }
        if !failures.is_empty() {
            return Err(failures);
        }
        emitter.finish().map_err(|failure| vec![failure])
    }
}

/// The values of inputs, and diagnostics for missing or mismatched values.
pub(crate) fn given(
    net: &Network,
    values: &FxHashMap<String, Tensor>,
) -> (Vec<(TensorId, Arc<Tensor>)>, Vec<Diagnostic>) {
    let (mut start, mut wrong) = (Vec::new(), Vec::new());
    for (input, declared) in net.declared() {
        let info = &net.tensors[input.index()];
        let message = match values.get(&info.name) {
            Some(value) if declared.admits(&StaticType::of(value)) => {
                start.push((input, Arc::new(value.clone())));
                continue;
            }
            Some(value) => format!("input `{}` is {declared}, and its value is {}", info.name, StaticType::of(value)),
            None => format!("input `{}` has no value", info.name),
        };
        wrong.push(Diagnostic::new(Code::LoopInput, net.location(info.at), message));
    }
    (start, wrong)
}

/// The inputs of the network as inputs of a graph.
fn externals(net: &Network, emitter: &mut Emitter) -> Computed<Vec<(TensorId, Sym)>> {
    let external = |(input, ty): (TensorId, &StaticType)| {
        let (dtype, shape) = ty.closed().ok_or_else(|| {
            let info = &net.tensors[input.index()];
            let message = format!("an extent of input `{}` is known only at run time", info.name);
            ComputationError::new(Code::NotFlattenable, info.at, message)
        })?;
        Ok((input, Sym::Flat(emitter.external(input, dtype, &shape)?)))
    };
    net.declared().map(external).collect()
}

/// Makes a value an output of the graph.
fn give(emitter: &mut Emitter, place: LayerPlace, name: NameId, value: &Sym) -> Computed<()> {
    let flat = match value {
        Sym::Known(value) => emitter.constant(place, value, value.shape(), Some(name))?,
        Sym::Flat(flat) => flat.clone(),
    };
    emitter.output(place, &flat, name)
}

//! Unrolling: partial evaluation of lazy sequences. What is known becomes numbers, the rest
//! operations of a flat graph.

use std::sync::Arc;

use super::domain::{Failure, Slot};
use super::emit::Emitter;
use super::infer::Types;
use super::machine::Machine;
use super::network::{Network, Origin, TensorId};
use super::plan::Plan;
use super::symbols::{Sym, Symbols};
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::graph::Graph;
use crate::nnef::migrate::target::Target;
use crate::source::Span;
use crate::tensor::Dims;

/// Unrolls a network that keeps the rules.
pub(crate) fn unroll(
    net: &Network,
    plan: &Plan,
    types: &Types,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Graph, Vec<Arc<Failure>>> {
    let looped = plan.loops.iter().position(|of| !of.outputs.is_empty());
    if let Some(of) = looped.filter(|_| !options.unroll) {
        let at = net.loops[of].layers.first().map_or(Span::default(), |&layer| net.layer(layer).at);
        let message = format!("NNEF 1.0 has no loops, and `{}` is one; --unroll makes it flat", net.loops[of].name);
        return Err(vec![Arc::new(Failure { code: Code::NotFlattenable, at, message, trips: Vec::new() })]);
    }
    let target = Target::new();
    let mut emitter = Emitter::new(net, &target, options.max_ops, diagnostics);
    let start = inputs(net, &mut emitter).map_err(|failure| vec![failure])?;
    let symbols = Symbols::unrolling(emitter, depths(net), options.max_trips);
    let mut machine = Machine::new(net, plan, types, options, symbols, start);
    machine.run().map_err(|failure| vec![failure])?;
    let values: Vec<(TensorId, Slot<Sym>)> =
        net.outputs.iter().map(|output| (output.tensor, machine.value(output.tensor))).collect();
    let (Some(mut emitter), finished) = machine.symbols.into_parts() else { return Err(Vec::new()) };
    let mut failures = Vec::new();
    for (tensor, value) in values {
        failures.extend(value.and_then(|value| give(net, &mut emitter, tensor, &value)).err());
    }
    if let Some(finished) = finished {
        let name = emitter.fresh("finished");
        let site = (Span::default(), "finished");
        let given = match &finished {
            Sym::Known(value) => emitter.constant(site, value, Some(name)),
            Sym::Flat(flat) => Ok(flat.clone()),
        };
        failures.extend(given.and_then(|flat| emitter.output(site, &flat, name)).err());
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    emitter.finish().map_err(|failure| vec![failure])
}

fn inputs(net: &Network, emitter: &mut Emitter) -> Slot<Vec<(TensorId, Sym)>> {
    let mut start = Vec::new();
    for &input in &net.inputs {
        let info = &net.tensors[input.index()];
        let Origin::Input(ty) = &info.origin else { continue };
        let shape: Option<Dims> = ty.dims.iter().copied().collect();
        let shape = shape.ok_or_else(|| {
            let message = format!("an extent of input `{}` is known only when the network runs", info.name);
            Arc::new(Failure { code: Code::NotFlattenable, at: info.at, message, trips: Vec::new() })
        })?;
        start.push((input, Sym::Flat(emitter.external(input, ty.dtype, &shape)?)));
    }
    Ok(start)
}

/// How many loops each tensor is inside.
fn depths(net: &Network) -> Vec<usize> {
    let scopes = super::scope::Scopes::new(net);
    let depth = |i: usize| scopes.home(TensorId::at(i)).map_or(0, |of| scopes.depth(of) + 1);
    (0..net.tensors.len()).map(depth).collect()
}

/// Makes a value an output.
fn give(net: &Network, emitter: &mut Emitter, tensor: TensorId, value: &Sym) -> Slot<()> {
    let info = &net.tensors[tensor.index()];
    let (site, name) = ((info.at, info.name.as_str()), emitter.root(tensor));
    let flat = match value {
        Sym::Known(value) => emitter.constant(site, value, Some(name))?,
        Sym::Flat(flat) => flat.clone(),
    };
    emitter.output(site, &flat, name)
}

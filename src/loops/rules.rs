//! The rules on networks with loops: one table, from code to check.
//!
//! What holds only when a network runs (E-ITEROOB, E-CATSHORT, E-CATSHAPE, E-NONTERM) is told by
//! the machine.

use super::infer::{Types, is_condition, is_number};
use super::network::{LayerId, LayerKind, Limit, LoopId, Network, Origin, Output, TensorId, Type, Use};
use super::order::{Cycle, Order};
use super::scope::{MAX_NESTING, Scopes};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::source::Span;

/// What checks look at. Order and types are there only when loops are cleanly nested.
pub(crate) struct Context<'n> {
    pub(crate) net: &'n Network,
    pub(crate) scopes: &'n Scopes,
    pub(crate) order: &'n Result<Order, Vec<Cycle>>,
    pub(crate) types: Option<&'n Types>,
}

/// Takes what a check finds.
type Found<'f> = &'f mut dyn FnMut(Span, String);

/// A check of a whole network.
type Check = fn(&Context, Found);

/// The checks, by the code of what they find.
const CHECKS: &[(Code, Check)] = &[
    (Code::LoopUndefined, undefined),
    (Code::LoopDuplicate, duplicate),
    (Code::NoTripLimit, no_limit),
    (Code::TwoTripLimits, two_limits),
    (Code::CountType, count_type),
    (Code::CountInside, count_inside),
    (Code::WhileType, while_type),
    (Code::WhileBoundary, |context, found| condition(context, Part::Boundary, found)),
    (Code::WhileRecurrence, |context, found| condition(context, Part::Recurrence, found)),
    (Code::IteratorInside, iterator_inside),
    (Code::IteratorRank, iterator_rank),
    (Code::IteratorAxis, iterator_axis),
    (Code::ReverseWithoutCount, reverse_without_count),
    (Code::RecurrenceInputs, recurrence_inputs),
    (Code::RecurrenceInitial, recurrence_initial),
    (Code::RecurrenceShape, |context, found| recurrence_types(context, false, found)),
    (Code::RecurrenceType, |context, found| recurrence_types(context, true, found)),
    (Code::LastValueInput, last_value_input),
    (Code::LastValueLength, last_value_length),
    (Code::OutputOutside, output_outside),
    (Code::OutputWithoutLength, output_without_length),
    (Code::OutputLengthType, output_length_type),
    (Code::OutputLengthInside, output_length_inside),
    (Code::OutputLengthOpen, output_length_open),
    (Code::OutputAxis, output_axis),
    (Code::InteriorOutput, interior_output),
    (Code::LoopNesting, nesting),
    (Code::TooDeep, too_deep),
    (Code::DataFlowCycle, cycle),
    (Code::LayerOperands, operands),
];

/// Makes all checks.
pub(crate) fn check(context: &Context, diagnostics: &mut Diagnostics) {
    for (code, check) in CHECKS {
        let mut found = |at: Span, message: String| {
            diagnostics.report(Diagnostic::new(*code, context.net.location(at), message));
        };
        check(context, &mut found);
    }
}

impl Context<'_> {
    fn name(&self, tensor: TensorId) -> &str {
        self.net.name_of(tensor)
    }

    fn name_of(&self, of: LoopId) -> &str {
        &self.net.loops[of.index()].name
    }

    fn ty(&self, tensor: TensorId) -> Option<&Type> {
        self.types?.get(tensor)
    }

    fn layers(&self) -> impl Iterator<Item = (&LayerKind, Span, &str)> {
        let name = |output: Option<TensorId>| output.map_or("", |output| self.name(output));
        self.net.layers.iter().map(move |layer| (&layer.kind, layer.at, name(layer.output)))
    }

    /// The trip limits of a loop.
    fn limits(&self, of: LoopId) -> impl Iterator<Item = (Limit, Span)> {
        self.net.loops[of.index()].layers.iter().filter_map(|&layer| match &self.net.layer(layer).kind {
            LayerKind::TripLimit { limit, .. } => Some((*limit, self.net.layer(layer).at)),
            _ => None,
        })
    }

    /// The inputs of limits of a kind.
    fn limited(&self, wanted: Limit) -> impl Iterator<Item = (LoopId, Use)> {
        self.net.layers.iter().filter_map(move |layer| match &layer.kind {
            LayerKind::TripLimit { of, limit, input } if *limit == wanted => Some((*of, *input)),
            _ => None,
        })
    }

    fn loops(&self) -> impl Iterator<Item = LoopId> {
        (0..self.net.loops.len()).map(LoopId::at)
    }

    /// The loop outputs that have a new axis.
    fn gathered(&self) -> impl Iterator<Item = (LoopId, Use, i64, Option<Use>, Span, &str)> {
        self.layers().filter_map(|(kind, at, name)| match kind {
            LayerKind::LoopOutput { of, kind, input, axis, length } if *kind != Output::LastValue => {
                Some((*of, *input, *axis, *length, at, name))
            }
            _ => None,
        })
    }
}

/// For how many names that nothing defines the nearest name is looked for.
const MAX_HINTS: usize = 200;

fn undefined(context: &Context, found: Found) {
    let defined = |i: &usize| !matches!(context.net.tensors[*i].origin, Origin::Undefined);
    let known: Vec<&str> =
        (0..context.net.tensors.len()).filter(defined).map(|i| context.net.tensors[i].name.as_str()).collect();
    let uses =
        context.net.layers.iter().flat_map(|layer| layer.kind.inputs(true)).chain(context.net.outputs.iter().copied());
    for (i, input) in uses.filter(|input| !defined(&input.tensor.index())).enumerate() {
        let name = context.name(input.tensor);
        let near = if i < MAX_HINTS { suggest::nearest(name, known.iter().copied()) } else { None };
        let hint = near.map(|near| format!("; did you mean `{near}`?"));
        found(input.at, format!("nothing defines the tensor `{name}`{}", hint.unwrap_or_default()));
    }
}

fn duplicate(context: &Context, found: Found) {
    for &(at, tensor) in &context.net.duplicates {
        found(at, format!("the tensor `{}` is defined already", context.name(tensor)));
    }
}

fn no_limit(context: &Context, found: Found) {
    for of in context.loops().filter(|&of| context.limits(of).next().is_none()) {
        let at = context.net.loops[of.index()].layers.first().map_or(Span::default(), |&id| context.net.layer(id).at);
        found(at, format!("loop `{}` has no trip limit", context.name_of(of)));
    }
}

fn two_limits(context: &Context, found: Found) {
    for of in context.loops() {
        for (limit, word) in [(Limit::Count, "counts"), (Limit::While, "conditions")] {
            if let Some((_, at)) = context.limits(of).filter(|(kind, _)| *kind == limit).nth(1) {
                found(at, format!("loop `{}` has two {word}", context.name_of(of)));
            }
        }
    }
}

fn count_type(context: &Context, found: Found) {
    for (of, input) in context.limited(Limit::Count) {
        if let Some(ty) = context.ty(input.tensor).filter(|ty| !is_number(ty)) {
            found(input.at, format!("the count of `{}` is {ty}, not one int32 or int64", context.name_of(of)));
        }
    }
}

fn count_inside(context: &Context, found: Found) {
    for (of, input) in context.limited(Limit::Count).filter(|(of, input)| context.scopes.is_inside(input.tensor, *of)) {
        let (name, tensor) = (context.name_of(of), context.name(input.tensor));
        found(input.at, format!("the count of `{name}` is `{tensor}`, which is not known before the loop starts"));
    }
}

fn while_type(context: &Context, found: Found) {
    for (of, input) in context.limited(Limit::While) {
        if let Some(ty) = context.ty(input.tensor).filter(|ty| !is_condition(ty)) {
            found(input.at, format!("the condition of `{}` is {ty}, not one bool", context.name_of(of)));
        }
    }
}

/// What may not be part of a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Boundary,
    Recurrence,
}

/// Walks from each condition to the recurrences it is computed from. What is outside the loop does
/// not change while it runs, so it is no part of the condition: recurrences of outer loops are
/// only TensorRT's concern, and so are their iterators.
fn condition(context: &Context, part: Part, found: Found) {
    let net = context.net;
    for (of, input) in context.limited(Limit::While) {
        let mut seen = vec![false; net.tensors.len()];
        let mut waiting = vec![input.tensor];
        while let Some(tensor) = waiting.pop() {
            if std::mem::replace(&mut seen[tensor.index()], true) {
                continue;
            }
            let Some(layer) = net.producer(tensor) else { continue };
            let (name, tensor_name) = (context.name_of(of), context.name(tensor));
            match &layer.kind {
                LayerKind::Operation { inputs, .. } => waiting.extend(inputs.iter().map(|input| input.tensor)),
                LayerKind::Recurrence { of: other, .. } => {
                    if part == Part::Recurrence && *other != of {
                        let other = context.name_of(*other);
                        found(
                            input.at,
                            format!("the condition of `{name}` uses the recurrence `{tensor_name}` of loop `{other}`"),
                        );
                    }
                }
                LayerKind::Iterator { of: other, .. } => {
                    let own = *other == of || context.scopes.is_nested(*other, of);
                    if own && part == Part::Boundary {
                        found(input.at, format!("the condition of `{name}` uses the iterator `{tensor_name}`"));
                    } else if !own && part == Part::Recurrence {
                        let message =
                            format!("the condition of `{name}` uses the iterator `{tensor_name}` of another loop");
                        found(input.at, message);
                    }
                }
                LayerKind::LoopOutput { of: other, .. } | LayerKind::TripLimit { of: other, .. } => {
                    let own = *other == of || context.scopes.is_nested(*other, of);
                    if own && part == Part::Boundary {
                        let other = context.name_of(*other);
                        found(
                            input.at,
                            format!("the condition of `{name}` uses `{tensor_name}`, an output of loop `{other}`"),
                        );
                    }
                }
            }
        }
    }
}

fn iterator_inside(context: &Context, found: Found) {
    for (kind, _, name) in context.layers() {
        if let LayerKind::Iterator { of, input, .. } = kind
            && context.scopes.is_inside(input.tensor, *of)
        {
            let (tensor, of) = (context.name(input.tensor), context.name_of(*of));
            found(input.at, format!("iterator `{name}` runs over `{tensor}`, which is inside its loop `{of}`"));
        }
    }
}

fn iterator_rank(context: &Context, found: Found) {
    for (kind, _, name) in context.layers() {
        if let LayerKind::Iterator { input, .. } = kind
            && context.ty(input.tensor).is_some_and(|ty| ty.dims.is_empty())
        {
            found(input.at, format!("iterator `{name}` runs over `{}`, which has no axes", context.name(input.tensor)));
        }
    }
}

fn iterator_axis(context: &Context, found: Found) {
    for (kind, at, name) in context.layers() {
        if let LayerKind::Iterator { input, axis, .. } = kind
            && let Some(rank) = context.ty(input.tensor).map(|ty| ty.dims.len())
            && rank > 0
            && !(0..rank as i64).contains(axis)
        {
            let tensor = context.name(input.tensor);
            found(at, format!("iterator `{name}` runs along axis {axis} of `{tensor}`, which has {rank}"));
        }
    }
}

fn reverse_without_count(context: &Context, found: Found) {
    for (kind, at, name) in context.layers() {
        if let LayerKind::Iterator { of, reverse: true, .. } = kind
            && !context.limits(*of).any(|(limit, _)| limit == Limit::Count)
        {
            let of = context.name_of(*of);
            found(at, format!("iterator `{name}` runs backwards from the count, which loop `{of}` has none of"));
        }
    }
}

fn recurrence_inputs(context: &Context, found: Found) {
    for (kind, at, name) in context.layers() {
        if let LayerKind::Recurrence { initial, next, .. } = kind {
            for (input, what) in [(initial, "initial value"), (next, "second input")] {
                if input.is_none() {
                    found(at, format!("recurrence `{name}` has no {what}"));
                }
            }
        }
    }
}

fn recurrence_initial(context: &Context, found: Found) {
    for (kind, _, name) in context.layers() {
        if let LayerKind::Recurrence { of, initial: Some(initial), .. } = kind
            && context.scopes.is_inside(initial.tensor, *of)
        {
            let (tensor, of) = (context.name(initial.tensor), context.name_of(*of));
            found(initial.at, format!("recurrence `{name}` starts with `{tensor}`, which is inside its loop `{of}`"));
        }
    }
}

fn recurrence_types(context: &Context, elements: bool, found: Found) {
    for (kind, _, name) in context.layers() {
        if let LayerKind::Recurrence { initial: Some(initial), next: Some(next), .. } = kind
            && let (Some(first), Some(then)) = (context.ty(initial.tensor), context.ty(next.tensor))
        {
            let wrong = if elements { first.dtype != then.dtype } else { !first.fits(then) };
            if wrong {
                found(next.at, format!("recurrence `{name}` starts with {first} and goes on with {then}"));
            }
        }
    }
}

fn last_value_input(context: &Context, found: Found) {
    for (kind, _, name) in context.layers() {
        if let LayerKind::LoopOutput { of, kind: Output::LastValue, input, .. } = kind {
            let producer = context.net.producer(input.tensor).map(|layer| &layer.kind);
            let fits = matches!(producer, Some(LayerKind::Recurrence { of: other, .. }) if other == of);
            if !fits && is_defined(context, input.tensor) {
                let (tensor, of) = (context.name(input.tensor), context.name_of(*of));
                found(
                    input.at,
                    format!("`{name}` is the last value of `{tensor}`, which is no recurrence of loop `{of}`"),
                );
            }
        }
    }
}

fn is_defined(context: &Context, tensor: TensorId) -> bool {
    !matches!(context.net.tensors[tensor.index()].origin, Origin::Undefined)
}

fn last_value_length(context: &Context, found: Found) {
    for (kind, _, name) in context.layers() {
        if let LayerKind::LoopOutput { kind: Output::LastValue, length: Some(length), .. } = kind {
            found(length.at, format!("`{name}` is a last value, which has no length"));
        }
    }
}

fn output_outside(context: &Context, found: Found) {
    for (of, input, _, _, _, name) in context.gathered() {
        if is_defined(context, input.tensor) && !context.scopes.is_inside(input.tensor, of) {
            let (tensor, of) = (context.name(input.tensor), context.name_of(of));
            found(input.at, format!("`{name}` collects `{tensor}`, which is not inside loop `{of}`"));
        }
    }
}

fn output_without_length(context: &Context, found: Found) {
    for (_, _, _, length, at, name) in context.gathered() {
        if length.is_none() {
            found(at, format!("loop output `{name}` has no length"));
        }
    }
}

fn output_length_type(context: &Context, found: Found) {
    for (_, _, _, length, _, name) in context.gathered() {
        if let Some(length) = length
            && let Some(ty) = context.ty(length.tensor).filter(|ty| !is_number(ty))
        {
            found(length.at, format!("the length of `{name}` is {ty}, not one int32 or int64"));
        }
    }
}

fn output_length_inside(context: &Context, found: Found) {
    for (of, _, _, length, _, name) in context.gathered() {
        if let Some(length) = length
            && context.scopes.is_inside(length.tensor, of)
        {
            let tensor = context.name(length.tensor);
            found(
                length.at,
                format!("the length of `{name}` is `{tensor}`, which is inside loop `{}`", context.name_of(of)),
            );
        }
    }
}

/// A length that is neither a constant nor computed from such is known only when the network runs.
fn output_length_open(context: &Context, found: Found) {
    for (of, _, _, length, _, name) in context.gathered() {
        let Some(length) = length else { continue };
        if context.scopes.is_inside(length.tensor, of) || context.ty(length.tensor).is_none_or(|ty| !is_number(ty)) {
            continue;
        }
        let mut seen = vec![false; context.net.tensors.len()];
        let mut waiting = vec![length.tensor];
        let mut open = false;
        while let Some(tensor) = waiting.pop() {
            if std::mem::replace(&mut seen[tensor.index()], true) {
                continue;
            }
            match (&context.net.tensors[tensor.index()].origin, context.net.producer(tensor).map(|layer| &layer.kind)) {
                (_, Some(LayerKind::Operation { inputs, .. })) => {
                    waiting.extend(inputs.iter().map(|input| input.tensor))
                }
                (Origin::Constant(_), _) => {}
                _ => open = true,
            }
        }
        if open {
            let tensor = context.name(length.tensor);
            found(
                length.at,
                format!("the length of `{name}` is `{tensor}`, which is not known when the network is built"),
            );
        }
    }
}

fn output_axis(context: &Context, found: Found) {
    for (_, input, axis, _, at, name) in context.gathered() {
        if let Some(rank) = context.ty(input.tensor).map(|ty| ty.dims.len())
            && !(0..=rank as i64).contains(&axis)
        {
            found(at, format!("the new axis of `{name}` is {axis}, not one of 0 to {rank}"));
        }
    }
}

fn interior_output(context: &Context, found: Found) {
    // Loops that are not cleanly nested have no inside to speak of.
    if context.scopes.mutual().next().is_some() || context.scopes.torn_loops().next().is_some() {
        return;
    }
    for output in &context.net.outputs {
        if let Some(of) = context.scopes.home(output.tensor) {
            let (tensor, of) = (context.name(output.tensor), context.name_of(of));
            found(output.at, format!("`{tensor}` is inside loop `{of}`: only a loop output brings it out"));
        }
    }
}

fn nesting(context: &Context, found: Found) {
    let place = |of: LoopId| {
        let first: Option<&LayerId> = context.net.loops[of.index()].layers.first();
        first.map_or(Span::default(), |&layer| context.net.layer(layer).at)
    };
    let mut told = false;
    for (a, b) in context.scopes.mutual() {
        let (first, second) = (context.name_of(a), context.name_of(b));
        found(place(b), format!("loops `{first}` and `{second}` use values from inside each other"));
        told = true;
    }
    for (of, a, b) in context.scopes.torn_loops() {
        let (name, first, second) = (context.name_of(of), context.name_of(a), context.name_of(b));
        let message =
            format!("loop `{name}` uses values of `{first}` and `{second}`, neither of which is nested in the other");
        found(place(of), message);
        told = true;
    }
    if told {
        return;
    }
    for (tensor, a, b) in context.scopes.torn_tensors() {
        let (name, first, second) = (context.name(tensor), context.name_of(a), context.name_of(b));
        let message =
            format!("`{name}` uses values of `{first}` and `{second}`, neither of which is nested in the other");
        found(context.net.tensors[tensor.index()].at, message);
    }
}

fn too_deep(context: &Context, found: Found) {
    if context.scopes.too_deep {
        found(Span::default(), format!("loops are nested more than {MAX_NESTING} deep"));
    }
}

fn cycle(context: &Context, found: Found) {
    let Err(cycles) = context.order else { return };
    for cycle in cycles {
        let names: Vec<&str> = cycle.tensors.iter().take(8).map(|&tensor| context.name(tensor)).collect();
        let more = if cycle.tensors.len() > names.len() { ", …" } else { "" };
        let at = cycle.tensors.first().map_or(Span::default(), |tensor| context.net.tensors[tensor.index()].at);
        found(at, format!("`{}`{more} depend on themselves, and not by a recurrence", names.join("`, `")));
    }
}

fn operands(context: &Context, found: Found) {
    for (at, message) in context.types.iter().flat_map(|types| &types.wrong) {
        found(*at, message.clone());
    }
}

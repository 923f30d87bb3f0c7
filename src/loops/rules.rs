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
    pub(crate) scopes: Scopes,
    pub(crate) order: Result<Order, Vec<Cycle>>,
    pub(crate) types: Option<Types>,
}

/// What an input at the boundary of a loop is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Count,
    Condition,
    Iterated,
    Initial,
    Length,
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
    (Code::CountType, |context, found| wrong_type(context, Input::Count, found)),
    (Code::CountInside, |context, found| inside(context, Input::Count, found)),
    (Code::WhileType, |context, found| wrong_type(context, Input::Condition, found)),
    (Code::WhileBoundary, |context, found| condition(context, Part::Boundary, found)),
    (Code::WhileRecurrence, |context, found| condition(context, Part::Recurrence, found)),
    (Code::IteratorInside, |context, found| inside(context, Input::Iterated, found)),
    (Code::IteratorRank, iterator_rank),
    (Code::IteratorAxis, iterator_axis),
    (Code::ReverseWithoutCount, reverse_without_count),
    (Code::RecurrenceInputs, recurrence_inputs),
    (Code::RecurrenceInitial, |context, found| inside(context, Input::Initial, found)),
    (Code::RecurrenceShape, |context, found| recurrence_types(context, false, found)),
    (Code::RecurrenceType, |context, found| recurrence_types(context, true, found)),
    (Code::LastValueInput, last_value_input),
    (Code::LastValueLength, last_value_length),
    (Code::OutputOutside, output_outside),
    (Code::OutputWithoutLength, output_without_length),
    (Code::OutputLengthType, |context, found| wrong_type(context, Input::Length, found)),
    (Code::OutputLengthInside, |context, found| inside(context, Input::Length, found)),
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

impl<'n> Context<'n> {
    /// Finds out about a network; `bound` has the types of inputs whose values are known.
    pub(crate) fn new(net: &'n Network, bound: &[Option<Type>]) -> Self {
        let scopes = Scopes::new(net);
        let clean = !scopes.too_deep && scopes.mutual().next().is_none() && scopes.torn_loops().next().is_none();
        let order = if clean { Order::new(net, &scopes) } else { Err(Vec::new()) };
        let types = order.as_ref().ok().map(|order| Types::new(net, order, bound));
        Context { net, scopes, order, types }
    }

    fn name(&self, tensor: TensorId) -> &str {
        self.net.name_of(tensor)
    }

    fn name_of(&self, of: LoopId) -> &str {
        &self.net.loops[of.index()].name
    }

    fn ty(&self, tensor: TensorId) -> Option<&Type> {
        self.types.as_ref()?.get(tensor)
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

    /// The inputs of boundary layers that are for something, with the loops and the names of the layers.
    fn inputs(&self, wanted: Input) -> impl Iterator<Item = (LoopId, Use, &str)> {
        self.layers().filter_map(move |(kind, _, name)| {
            let (input, of, tensor) = match kind {
                LayerKind::TripLimit { of, limit: Limit::Count, input } => (Input::Count, of, Some(*input)),
                LayerKind::TripLimit { of, limit: Limit::While, input } => (Input::Condition, of, Some(*input)),
                LayerKind::Iterator { of, input, .. } => (Input::Iterated, of, Some(*input)),
                LayerKind::Recurrence { of, initial, .. } => (Input::Initial, of, *initial),
                LayerKind::LoopOutput { of, kind, length, .. } if *kind != Output::LastValue => {
                    (Input::Length, of, *length)
                }
                _ => return None,
            };
            tensor.filter(|_| input == wanted).map(|tensor| (*of, tensor, name))
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

/// Numbers and conditions have one element of a type.
fn wrong_type(context: &Context, input: Input, found: Found) {
    for (of, tensor, name) in context.inputs(input) {
        let (fits, wanted): (fn(&Type) -> bool, _) = match input {
            Input::Condition => (is_condition, "bool"),
            _ => (is_number, "int32 or int64"),
        };
        if let Some(ty) = context.ty(tensor.tensor).filter(|ty| !fits(ty)) {
            let (what, whose) = match input {
                Input::Condition => ("condition", context.name_of(of)),
                Input::Length => ("length", name),
                _ => ("count", context.name_of(of)),
            };
            found(tensor.at, format!("the {what} of `{whose}` is {ty}, not one {wanted}"));
        }
    }
}

/// What a loop starts with is not inside of it.
fn inside(context: &Context, input: Input, found: Found) {
    for (of, tensor, name) in context.inputs(input).filter(|(of, input, _)| context.scopes.is_inside(input.tensor, *of))
    {
        let (given, of) = (context.name(tensor.tensor), context.name_of(of));
        let message = match input {
            Input::Count => format!("the count of `{of}` is `{given}`, which is not known before the loop starts"),
            Input::Iterated => format!("iterator `{name}` runs over `{given}`, which is inside its loop `{of}`"),
            Input::Initial => format!("recurrence `{name}` starts with `{given}`, which is inside its loop `{of}`"),
            _ => format!("the length of `{name}` is `{given}`, which is inside loop `{of}`"),
        };
        found(tensor.at, message);
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
    for (of, input, _) in context.inputs(Input::Condition) {
        let name = context.name_of(of);
        net.walk_back(input.tensor, |tensor| {
            let Some(layer) = net.producer(tensor) else { return false };
            let used = context.name(tensor);
            let own = |other: LoopId| other == of || context.scopes.is_nested(other, of);
            let what = match (&layer.kind, part) {
                (LayerKind::Recurrence { of: other, .. }, Part::Recurrence) if *other != of => {
                    format!("the recurrence `{used}` of loop `{}`", context.name_of(*other))
                }
                (LayerKind::Iterator { of: other, .. }, Part::Boundary) if own(*other) => {
                    format!("the iterator `{used}`")
                }
                (LayerKind::Iterator { of: other, .. }, Part::Recurrence) if !own(*other) => {
                    format!("the iterator `{used}` of another loop")
                }
                (LayerKind::LoopOutput { of: other, .. }, Part::Boundary) if own(*other) => {
                    format!("`{used}`, an output of loop `{}`", context.name_of(*other))
                }
                _ => return true,
            };
            found(input.at, format!("the condition of `{name}` uses {what}"));
            false
        });
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

/// A length that is neither a constant nor computed from such is known only when the network runs.
fn output_length_open(context: &Context, found: Found) {
    for (of, _, _, length, _, name) in context.gathered() {
        let Some(length) = length else { continue };
        if context.scopes.is_inside(length.tensor, of) || context.ty(length.tensor).is_none_or(|ty| !is_number(ty)) {
            continue;
        }
        let mut open = false;
        context.net.walk_back(length.tensor, |tensor| {
            let operation = context.net.producer(tensor).is_some_and(|layer| layer.kind.boundary().is_none());
            open |= !operation && !matches!(context.net.tensors[tensor.index()].origin, Origin::Constant(_));
            true
        });
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
    let Err(cycles) = &context.order else { return };
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

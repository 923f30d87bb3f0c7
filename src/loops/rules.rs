//! The rules on networks with loops: a table that maps codes to checks.
//!
//! Rules that can be checked only in a run (E-ITEROOB, E-CATSHORT, E-CATSHAPE, E-NONTERM) are checked by the machine.

use super::infer::{Types, is_condition, is_number};
use super::network::{LayerKind, LimitKind, LoopId, Network, OutputKind, StaticType, TensorId, TensorSource, Use};
use super::order::{Cycle, Order};
use super::scope::{MAX_NESTING, Scopes};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::source::Span;

/// The input of checks. Order and types exist only if loops are properly nested.
pub(crate) struct CheckContext<'n> {
    pub(crate) net: &'n Network,
    pub(crate) scopes: Scopes,
    pub(crate) order: Result<Order, Vec<Cycle>>,
    pub(crate) types: Option<Types>,
}

/// The role of an input of a boundary layer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InputRole {
    Count,
    Condition,
    Iterated,
    Initial,
    Length,
}

/// Receives the findings of a check: location and message.
type FindingSink<'f> = &'f mut dyn FnMut(Span, String);

/// The location and message of a finding about a layer.
type Finding = Option<(Span, String)>;

/// A check of a whole network or of each of its layers.
enum NetworkCheck {
    Whole(fn(&CheckContext, FindingSink)),
    Layer(fn(&CheckContext, &NamedLayer) -> Finding),
}

use NetworkCheck::{Layer, Whole};

/// The checks, each with the code of its findings.
const CHECKS: &[(Code, NetworkCheck)] = &[
    (Code::LoopUndefined, Whole(undefined)),
    (Code::LoopDuplicate, Whole(duplicate)),
    (Code::NoTripLimit, Whole(no_limit)),
    (Code::TwoTripLimits, Whole(two_limits)),
    (Code::CountType, Layer(|context, layer| wrong_type(context, layer, InputRole::Count))),
    (Code::CountInside, Layer(|context, layer| inside(context, layer, InputRole::Count))),
    (Code::WhileType, Layer(|context, layer| wrong_type(context, layer, InputRole::Condition))),
    (Code::WhileBoundary, Whole(|context, found| condition(context, Code::WhileBoundary, found))),
    (Code::WhileRecurrence, Whole(|context, found| condition(context, Code::WhileRecurrence, found))),
    (Code::IteratorInside, Layer(|context, layer| inside(context, layer, InputRole::Iterated))),
    (Code::IteratorRank, Layer(iterator_rank)),
    (Code::IteratorAxis, Layer(iterator_axis)),
    (Code::ReverseWithoutCount, Layer(reverse_without_count)),
    (Code::RecurrenceInputs, Whole(recurrence_inputs)),
    (Code::RecurrenceInitial, Layer(|context, layer| inside(context, layer, InputRole::Initial))),
    (Code::RecurrenceShape, Layer(|context, layer| recurrence_type(context, layer, |a, b| a.fits(b)))),
    (Code::RecurrenceType, Layer(|context, layer| recurrence_type(context, layer, |a, b| a.dtype == b.dtype))),
    (Code::LastValueInput, Layer(last_value_input)),
    (Code::LastValueLength, Layer(last_value_length)),
    (Code::OutputOutside, Layer(output_outside)),
    (Code::OutputWithoutLength, Layer(output_without_length)),
    (Code::OutputLengthType, Layer(|context, layer| wrong_type(context, layer, InputRole::Length))),
    (Code::OutputLengthInside, Layer(|context, layer| inside(context, layer, InputRole::Length))),
    (Code::OutputLengthOpen, Layer(output_length_open)),
    (Code::OutputAxis, Layer(output_axis)),
    (Code::InteriorOutput, Whole(interior_output)),
    (Code::LoopNesting, Whole(nesting)),
    (Code::TooDeep, Whole(too_deep)),
    (Code::DataFlowCycle, Whole(cycle)),
    (Code::LayerOperands, Whole(operands)),
];

/// Runs all checks.
pub(crate) fn check(context: &CheckContext, diagnostics: &mut Diagnostics) {
    for (code, check) in CHECKS {
        let mut found = |at: Span, message: String| {
            diagnostics.report(Diagnostic::new(*code, context.net.location(at), message));
        };
        match check {
            Whole(check) => check(context, &mut found),
            Layer(check) => {
                let findings = context.layers().filter_map(|layer| check(context, &layer));
                findings.for_each(|(at, message)| found(at, message));
            }
        }
    }
}

/// A layer with the name of its result.
struct NamedLayer<'n> {
    kind: &'n LayerKind,
    at: Span,
    name: &'n str,
}

impl NamedLayer<'_> {
    /// The loop and the input of a boundary layer that has an input with this role.
    fn input(&self, wanted: InputRole) -> Option<(LoopId, Use)> {
        let (input, of, tensor) = match *self.kind {
            LayerKind::TripLimit { of, limit: LimitKind::Count, input } => (InputRole::Count, of, Some(input)),
            LayerKind::TripLimit { of, limit: LimitKind::While, input } => (InputRole::Condition, of, Some(input)),
            LayerKind::Iterator { of, input, .. } => (InputRole::Iterated, of, Some(input)),
            LayerKind::Recurrence { of, initial, .. } => (InputRole::Initial, of, initial),
            _ => self.gathered().map(|(of, .., length)| (InputRole::Length, of, length))?,
        };
        tensor.filter(|_| input == wanted).map(|tensor| (of, tensor))
    }

    /// The loop, the input, and the position and length of the new axis of a loop output that collects elements.
    fn gathered(&self) -> Option<(LoopId, Use, i64, Option<Use>)> {
        match *self.kind {
            LayerKind::LoopOutput { of, kind, input, axis, length } if kind != OutputKind::LastValue => {
                Some((of, input, axis, length))
            }
            _ => None,
        }
    }
}

impl<'n> CheckContext<'n> {
    /// Analyses a network; `bound` has the types of inputs whose values are known.
    pub(crate) fn new(net: &'n Network, bound: &[Option<StaticType>]) -> Self {
        let scopes = Scopes::new(net);
        let order = if !scopes.too_deep && scopes.are_clean() { Order::new(net, &scopes) } else { Err(Vec::new()) };
        let types = order.as_ref().ok().map(|order| Types::new(net, order, bound));
        CheckContext { net, scopes, order, types }
    }

    fn name(&self, tensor: TensorId) -> &str {
        self.net.name_of(tensor)
    }

    fn name_of(&self, of: LoopId) -> &str {
        &self.net.loops[of.index()].name
    }

    fn ty(&self, tensor: TensorId) -> Option<&StaticType> {
        self.types.as_ref()?.get(tensor)
    }

    fn is_defined(&self, tensor: TensorId) -> bool {
        !matches!(self.net.tensors[tensor.index()].origin, TensorSource::Undefined)
    }

    fn layers(&self) -> impl Iterator<Item = NamedLayer<'_>> {
        let name = |output: Option<TensorId>| output.map_or("", |output| self.name(output));
        self.net.layers.iter().map(move |layer| NamedLayer {
            kind: &layer.kind,
            at: layer.at,
            name: name(layer.output),
        })
    }

    /// The trip limits of a loop.
    fn limits(&self, of: LoopId) -> impl Iterator<Item = (LimitKind, Span)> {
        self.net.loops[of.index()].layers.iter().filter_map(|&layer| match &self.net.layer(layer).kind {
            LayerKind::TripLimit { limit, .. } => Some((*limit, self.net.layer(layer).at)),
            _ => None,
        })
    }

    fn loops(&self) -> impl Iterator<Item = LoopId> {
        (0..self.net.loops.len()).map(|at| LoopId(at as u32))
    }
}

/// The maximum number of undefined names for which a similar name is searched.
const MAX_HINTS: usize = 200;

fn undefined(context: &CheckContext, found: FindingSink) {
    let tensors = (0..context.net.tensors.len()).map(|at| TensorId(at as u32));
    let known: Vec<&str> = tensors.filter(|&id| context.is_defined(id)).map(|id| context.name(id)).collect();
    let uses =
        context.net.layers.iter().flat_map(|layer| layer.kind.inputs()).chain(context.net.outputs.iter().copied());
    for (i, input) in uses.filter(|input| !context.is_defined(input.tensor)).enumerate() {
        let name = context.name(input.tensor);
        let near = if i < MAX_HINTS { suggest::nearest(name, known.iter().copied()) } else { None };
        let hint = near.map(|near| format!("; did you mean `{near}`?"));
        found(input.at, format!("the tensor `{name}` is not defined{}", hint.unwrap_or_default()));
    }
}

fn duplicate(context: &CheckContext, found: FindingSink) {
    for &(at, tensor) in &context.net.duplicates {
        found(at, format!("the tensor `{}` is already defined", context.name(tensor)));
    }
}

fn no_limit(context: &CheckContext, found: FindingSink) {
    for of in context.loops().filter(|&of| context.limits(of).next().is_none()) {
        found(context.net.place(of), format!("loop `{}` has no trip limit", context.name_of(of)));
    }
}

fn two_limits(context: &CheckContext, found: FindingSink) {
    for of in context.loops() {
        for (limit, word) in [(LimitKind::Count, "counts"), (LimitKind::While, "conditions")] {
            if let Some((_, at)) = context.limits(of).filter(|(kind, _)| *kind == limit).nth(1) {
                found(at, format!("loop `{}` has two {word}", context.name_of(of)));
            }
        }
    }
}

/// Counts, lengths and conditions have one element of a certain type.
fn wrong_type(context: &CheckContext, layer: &NamedLayer, input: InputRole) -> Finding {
    let (of, tensor) = layer.input(input)?;
    let ty = context.ty(tensor.tensor)?;
    let of = context.name_of(of);
    let (fits, what, whose, wanted) = match input {
        InputRole::Condition => (is_condition(ty), "condition", of, "bool"),
        InputRole::Length => (is_number(ty), "length", layer.name, "int32 or int64"),
        _ => (is_number(ty), "count", of, "int32 or int64"),
    };
    (!fits).then(|| (tensor.at, format!("the {what} of `{whose}` is {ty}, not a single {wanted}")))
}

/// Inputs that are read before a loop starts must not be inside the loop.
fn inside(context: &CheckContext, layer: &NamedLayer, input: InputRole) -> Finding {
    let (of, tensor) = layer.input(input).filter(|(of, input)| context.scopes.is_inside(input.tensor, *of))?;
    let (name, given, of) = (layer.name, context.name(tensor.tensor), context.name_of(of));
    let message = match input {
        InputRole::Count => format!("the count of `{of}` is `{given}`, which is not known before the loop starts"),
        InputRole::Iterated => format!("iterator `{name}` runs over `{given}`, which is inside its loop `{of}`"),
        InputRole::Initial => format!("recurrence `{name}` starts with `{given}`, which is inside its loop `{of}`"),
        _ => format!("the length of `{name}` is `{given}`, which is inside loop `{of}`"),
    };
    Some((tensor.at, message))
}

/// Finds the boundary layers that a condition is computed from. Values outside the loop do not change while it
/// runs, so they are not part of the condition; only TensorRT restricts recurrences and iterators of outer loops.
fn condition(context: &CheckContext, rule: Code, found: FindingSink) {
    let net = context.net;
    for (of, input) in context.layers().filter_map(|layer| layer.input(InputRole::Condition)) {
        let name = context.name_of(of);
        net.walk_back(input.tensor, |tensor| {
            let Some(layer) = net.producer(tensor) else { return false };
            let used = context.name(tensor);
            let own = |other: LoopId| other == of || context.scopes.is_nested(other, of);
            let what = match (&layer.kind, rule) {
                (LayerKind::Recurrence { of: other, .. }, Code::WhileRecurrence) if *other != of => {
                    format!("the recurrence `{used}` of loop `{}`", context.name_of(*other))
                }
                (LayerKind::Iterator { of: other, .. }, Code::WhileBoundary) if own(*other) => {
                    format!("the iterator `{used}`")
                }
                (LayerKind::Iterator { of: other, .. }, Code::WhileRecurrence) if !own(*other) => {
                    format!("the iterator `{used}` of another loop")
                }
                (LayerKind::LoopOutput { of: other, .. }, Code::WhileBoundary) if own(*other) => {
                    format!("`{used}`, an output of loop `{}`", context.name_of(*other))
                }
                _ => return true,
            };
            found(input.at, format!("the condition of `{name}` uses {what}"));
            false
        });
    }
}

fn iterator_rank(context: &CheckContext, layer: &NamedLayer) -> Finding {
    let (_, input) = layer.input(InputRole::Iterated)?;
    let (name, tensor) = (layer.name, context.name(input.tensor));
    let scalar = context.ty(input.tensor)?.dims.is_empty();
    scalar.then(|| (input.at, format!("iterator `{name}` runs over `{tensor}`, which has no axes")))
}

fn iterator_axis(context: &CheckContext, layer: &NamedLayer) -> Finding {
    let LayerKind::Iterator { input, axis, .. } = layer.kind else { return None };
    let (name, tensor) = (layer.name, context.name(input.tensor));
    let rank = context.ty(input.tensor)?.dims.len();
    let wrong = rank > 0 && !(0..rank as i64).contains(axis);
    wrong.then(|| (layer.at, format!("iterator `{name}` runs along axis {axis} of `{tensor}`, which has {rank}")))
}

fn reverse_without_count(context: &CheckContext, layer: &NamedLayer) -> Finding {
    let LayerKind::Iterator { of, reverse: true, .. } = layer.kind else { return None };
    let (name, loop_name) = (layer.name, context.name_of(*of));
    let counted = context.limits(*of).any(|(limit, _)| limit == LimitKind::Count);
    let message = || format!("iterator `{name}` runs backwards from the count, but loop `{loop_name}` has no count");
    (!counted).then(|| (layer.at, message()))
}

fn recurrence_inputs(context: &CheckContext, found: FindingSink) {
    for NamedLayer { kind, at, name } in context.layers() {
        if let LayerKind::Recurrence { initial, next, .. } = kind {
            for (input, what) in [(initial, "initial value"), (next, "second input")] {
                if input.is_none() {
                    found(at, format!("recurrence `{name}` has no {what}"));
                }
            }
        }
    }
}

fn recurrence_type(context: &CheckContext, layer: &NamedLayer, fits: fn(&StaticType, &StaticType) -> bool) -> Finding {
    let LayerKind::Recurrence { initial: Some(initial), next: Some(next), .. } = layer.kind else { return None };
    let (first, then) = (context.ty(initial.tensor)?, context.ty(next.tensor)?);
    let message = || format!("recurrence `{}` starts with {first} and goes on with {then}", layer.name);
    (!fits(first, then)).then(|| (next.at, message()))
}

fn last_value_input(context: &CheckContext, layer: &NamedLayer) -> Finding {
    let LayerKind::LoopOutput { of, kind: OutputKind::LastValue, input, .. } = layer.kind else { return None };
    let producer = context.net.producer(input.tensor).map(|layer| &layer.kind);
    let fits = matches!(producer, Some(LayerKind::Recurrence { of: other, .. }) if other == of);
    let (name, tensor, of) = (layer.name, context.name(input.tensor), context.name_of(*of));
    let message = || format!("`{name}` is the last value of `{tensor}`, which is not a recurrence of loop `{of}`");
    (!fits && context.is_defined(input.tensor)).then(|| (input.at, message()))
}

fn last_value_length(_: &CheckContext, layer: &NamedLayer) -> Finding {
    let LayerKind::LoopOutput { kind: OutputKind::LastValue, length, .. } = layer.kind else { return None };
    Some(((*length)?.at, format!("`{}` is a last value, which has no length", layer.name)))
}

fn output_outside(context: &CheckContext, layer: &NamedLayer) -> Finding {
    let (of, input, ..) = layer.gathered()?;
    let outside = context.is_defined(input.tensor) && !context.scopes.is_inside(input.tensor, of);
    let (name, tensor, of) = (layer.name, context.name(input.tensor), context.name_of(of));
    outside.then(|| (input.at, format!("`{name}` collects `{tensor}`, which is not inside loop `{of}`")))
}

fn output_without_length(_: &CheckContext, layer: &NamedLayer) -> Finding {
    let (.., length) = layer.gathered()?;
    length.is_none().then(|| (layer.at, format!("loop output `{}` has no length", layer.name)))
}

/// A length that is neither a constant nor computed from constants is known only at run time.
fn output_length_open(context: &CheckContext, layer: &NamedLayer) -> Finding {
    let (of, length) = layer.input(InputRole::Length)?;
    if context.scopes.is_inside(length.tensor, of) || !is_number(context.ty(length.tensor)?) {
        return None;
    }
    let mut open = false;
    context.net.walk_back(length.tensor, |tensor| {
        let operation = context.net.producer(tensor).is_some_and(|layer| layer.kind.boundary().is_none());
        open |= !operation && !matches!(context.net.tensors[tensor.index()].origin, TensorSource::Constant(_));
        true
    });
    let (name, tensor) = (layer.name, context.name(length.tensor));
    let message = || format!("the length of `{name}` is `{tensor}`, which is not known when the network is built");
    open.then(|| (length.at, message()))
}

fn output_axis(context: &CheckContext, layer: &NamedLayer) -> Finding {
    let (_, input, axis, _) = layer.gathered()?;
    let rank = context.ty(input.tensor)?.dims.len();
    let message = || format!("the new axis of `{}` is {axis}, not one of 0 to {rank}", layer.name);
    (!(0..=rank as i64).contains(&axis)).then(|| (layer.at, message()))
}

fn interior_output(context: &CheckContext, found: FindingSink) {
    // Without proper nesting it is not defined which tensors are inside a loop.
    if !context.scopes.are_clean() {
        return;
    }
    for output in &context.net.outputs {
        if let Some(of) = context.scopes.home(output.tensor) {
            let (tensor, of) = (context.name(output.tensor), context.name_of(of));
            found(output.at, format!("`{tensor}` is inside loop `{of}`: only a loop output passes it out of the loop"));
        }
    }
}

fn nesting(context: &CheckContext, found: FindingSink) {
    for (a, b) in context.scopes.mutual() {
        let (first, second) = (context.name_of(a), context.name_of(b));
        found(context.net.place(b), format!("loops `{first}` and `{second}` use values from inside each other"));
    }
    let torn = |what: String, a: LoopId, b: LoopId| {
        let (first, second) = (context.name_of(a), context.name_of(b));
        format!("{what} uses values of `{first}` and `{second}`, neither of which is nested in the other")
    };
    for (of, a, b) in context.scopes.torn_loops() {
        found(context.net.place(of), torn(format!("loop `{}`", context.name_of(of)), a, b));
    }
    if context.scopes.are_clean() {
        for (tensor, a, b) in context.scopes.torn_tensors() {
            let at = context.net.tensors[tensor.index()].at;
            found(at, torn(format!("`{}`", context.name(tensor)), a, b));
        }
    }
}

fn too_deep(context: &CheckContext, found: FindingSink) {
    if context.scopes.too_deep {
        found(Span::default(), format!("loops are nested more than {MAX_NESTING} deep"));
    }
}

fn cycle(context: &CheckContext, found: FindingSink) {
    let Err(cycles) = &context.order else { return };
    for cycle in cycles {
        let names: Vec<&str> = cycle.iter().take(8).map(|&tensor| context.name(tensor)).collect();
        let more = if cycle.len() > names.len() { ", …" } else { "" };
        let at = cycle.first().map_or(Span::default(), |tensor| context.net.tensors[tensor.index()].at);
        found(at, format!("`{}`{more} depend on themselves without a recurrence", names.join("`, `")));
    }
}

fn operands(context: &CheckContext, found: FindingSink) {
    for (at, message) in context.types.iter().flat_map(|types| &types.wrong) {
        found(*at, message.clone());
    }
}

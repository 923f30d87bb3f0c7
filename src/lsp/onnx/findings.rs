//! The words of a text that findings are about. The checks know where a node begins, and which part of it they mean.

use crate::diagnostics::{Diagnostics, NodePlace, PlacePart};
use crate::onnx::text::{Marked, TextMarks};
use crate::source::{Location, Span};

/// Gives the places of findings the words that they are about, where the text has them.
pub(super) fn placed(marks: &TextMarks, found: &mut Diagnostics) {
    for finding in found.iter_mut() {
        let place = finding.node.as_deref();
        locate(marks, &mut finding.at, place);
        let labels = finding.labels.iter_mut().map(|label| &mut label.at);
        let calls = finding.expansion.iter_mut().map(|call| &mut call.at);
        labels.chain(calls).for_each(|at| locate(marks, at, None));
    }
}

/// What has no characters is the start of something.
fn locate(marks: &TextMarks, at: &mut Location, place: Option<&NodePlace>) {
    if at.span.start == at.span.end
        && let Some(span) = words(marks, at.span.start, place)
    {
        at.span = span;
    }
}

fn words(marks: &TextMarks, at: u32, place: Option<&NodePlace>) -> Option<Span> {
    use PlacePart::{Attribute, Operand, Reference, Result};
    let node = marks.nodes.binary_search_by_key(&at, |node| node.span.start).ok();
    let is_node = |place: &NodePlace| place.path.rsplit('.').next().is_some_and(|last| last.starts_with("node["));
    match (place, place.and_then(|place| place.part)) {
        (_, Some(part @ (Operand(_) | Result(_) | Attribute(_) | Reference(_)))) => part_of_node(marks, node?, part),
        (Some(place), Some(part)) => part_of_head(marks, scope(marks, &place.path)?, part),
        (Some(place), None) if !is_node(place) => Some(marks.scopes.get(scope(marks, &place.path)?)?.name),
        _ => node.map_or_else(|| function_at(marks, at), |node| Some(marks.operator(node)?.span)),
    }
}

/// A part of a node; the operator for an operand that is left out.
fn part_of_node(marks: &TextMarks, node: usize, part: PlacePart) -> Option<Span> {
    let is_part = |mark: &&Marked| mark.node == Some(node) && mark.part == Some(part);
    let found = marks.within(marks.nodes.get(node)?.span).iter().find(is_part);
    found.or_else(|| marks.operator(node)).map(|mark| mark.span)
}

/// A part of the head of a graph or a function; its name if it has no such part.
fn part_of_head(marks: &TextMarks, scope: usize, part: PlacePart) -> Option<Span> {
    let head = marks.scopes.get(scope)?;
    let is_part = |mark: &&Marked| mark.scope == scope && mark.node.is_none() && mark.part == Some(part);
    Some(marks.within(head.span).iter().find(is_part).map_or(head.name, |mark| mark.span))
}

/// The name of the function that starts at an offset.
fn function_at(marks: &TextMarks, at: u32) -> Option<Span> {
    let found = marks.scopes.iter().find(|scope| scope.function.is_some() && scope.span.start == at);
    found.map(|scope| scope.name)
}

/// The innermost graph or function on a path of fields, such as `graph.node[3].attribute[0].g.output[1]`.
fn scope(marks: &TextMarks, path: &str) -> Option<usize> {
    let mut around = None;
    let (mut node, mut attribute) = (0, 0);
    for step in path.split('.') {
        let (field, item) = step.trim_end_matches(']').split_once('[').unwrap_or((step, "0"));
        let item: usize = item.parse().ok()?;
        let place = (node, attribute, item);
        let found = |wanted: &dyn Fn(usize) -> bool| (0..marks.scopes.len()).find(|at| wanted(*at));
        let of = |at: usize| marks.scopes.get(at);
        match field {
            "graph" => around = found(&|at| of(at).is_some_and(|one| one.around.is_none() && one.function.is_none())),
            "functions" => around = found(&|at| of(at).is_some_and(|one| one.function == Some(item))),
            "node" => node = item,
            "attribute" => attribute = item,
            "g" | "graphs" => {
                around = found(&|at| of(at).is_some_and(|one| one.around == around && one.place == place))
            }
            _ => {}
        }
    }
    around
}

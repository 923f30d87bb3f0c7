//! Converts a single expression to a flat graph.

use super::expand::{ExpansionContext, expand};
use super::item::ExpandedItem;
use super::tokens::Literal;
use super::tree::{Expression, Term};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::names::NameId;
use crate::graph::standard::CONSTANT;
use crate::graph::{Graph, Primitive, Shape, TensorId, Value};
use crate::library::build::Builder;
use crate::source::{FileId, Location, Span};

/// The default shape of inputs.
const SHAPE: [i64; 1] = [1];

/// The maximum number of unused inputs, for operands that do not occur but have smaller numbers than others.
const MAX_UNUSED: u64 = 10_000;

/// Options of the conversion.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConversionOptions {
    /// The number of operands; by default, it is determined by those that occur.
    pub(crate) arity: Option<u64>,
    /// The shapes of the first operands.
    pub(crate) shapes: Vec<Vec<i64>>,
    /// Whether equal operations are shared.
    pub(crate) share: bool,
    /// Whether formulas are written where operations of NNEF differ for some operands.
    pub(crate) strict: bool,
    /// The maximum number of operations.
    pub(crate) max_ops: u64,
    /// Whether operations that NNEF only approximates are kept by their meaning.
    pub(crate) exact: bool,
}

impl Graph {
    /// The graph of an expression. Its inputs are the operands `x0`, `x1` and so on, its output is `y`, or `y0`,
    /// `y1` and so on for the items of a list.
    ///
    /// # Errors
    ///
    /// Parts of the expression have no counterpart in NNEF, or the shapes are incompatible.
    pub(crate) fn of_expression(
        expression: &Expression,
        file: FileId,
        form: &ConversionOptions,
    ) -> Result<Graph, Diagnostics> {
        let mut found = Diagnostics::new(false);
        let mut builder = Builder::new("expression");
        builder.be_exact(form.exact);
        let Some(operands) = inputs(&mut builder, expression, file, form, &mut found) else { return Err(found) };
        let name = builder.name("y");
        let shaped = form.shapes.len();
        let ConversionOptions { share, strict, max_ops, .. } = *form;
        let context = ExpansionContext { file, at: None, operands: &operands, shaped, name, share, strict, max_ops };
        let item = expand(&mut builder, expression, context, &mut found);
        let span = expression.root().map_or(Span::default(), |root| root.span);
        match &item {
            ExpandedItem::List(items) if items.is_empty() => {
                refuse(&mut found, Location::new(file, span), "a list without items");
            }
            ExpandedItem::List(items) => {
                for (i, item) in (0..).zip(items.iter()) {
                    let name = builder.numbered(name, "item", i);
                    output(&mut builder, item, name, Location::new(file, span), &mut found);
                }
            }
            item => output(&mut builder, item, name, Location::new(file, span), &mut found),
        }
        if found.has_errors() {
            return Err(found);
        }
        builder.finish().map_err(|_| found)
    }
}

fn refuse(found: &mut Diagnostics, at: Location, what: &str) {
    let message = format!("{what} has no counterpart in NNEF");
    found.report(Diagnostic::new(Code::ExpressionCounterpart, at, message));
}

/// Adds the inputs; none if their number is not valid.
fn inputs(
    builder: &mut Builder,
    expression: &Expression,
    file: FileId,
    form: &ConversionOptions,
    found: &mut Diagnostics,
) -> Option<Vec<TensorId>> {
    let order = expression.argument_order();
    let most = order.iter().max().map_or(0, |most| most.saturating_add(1));
    let count = form.arity.unwrap_or(most).max(most);
    if count - (order.len() as u64).min(count) > MAX_UNUSED {
        let wide = expression.nodes().find(|(_, node)| node.term == Term::Argument(most - 1));
        let span = wide.map_or(Span::default(), |(_, node)| node.span);
        let message = format!("the graph would have {count} inputs, of which {} are used", order.len());
        found.report(Diagnostic::new(Code::ExpressionArgument, Location::new(file, span), message));
        return None;
    }
    let mut add = |text: &str, shape: &[i64]| {
        let name = builder.name(text);
        builder.input(Primitive::Scalar, name, shape).ok()
    };
    let shape = |number: u64| form.shapes.get(number as usize).map_or(&SHAPE[..], Vec::as_slice);
    (0..count).map(|number| add(&format!("x{number}"), shape(number))).collect()
}

/// Adds a constant whose items are a literal; none if the literal is not a finite number.
pub(super) fn constant(builder: &mut Builder, literal: Literal, shape: &[i64], name: NameId) -> Option<TensorId> {
    let value = literal.number()?.float();
    let arguments = [Value::Integers(shape.into()), Value::Scalars([value].into())];
    value.is_finite().then(|| builder.emit(CONSTANT, arguments, name, Some(Shape::of(shape))).ok())?
}

/// Makes an item an output.
fn output(builder: &mut Builder, item: &ExpandedItem, name: NameId, at: Location, found: &mut Diagnostics) {
    let added = match item {
        ExpandedItem::Tensor(tensor) => Ok(*tensor),
        ExpandedItem::Literal(literal) => match constant(builder, *literal, &SHAPE, name) {
            Some(tensor) => Ok(tensor),
            None => return refuse(found, at, "the literal that the expression is"),
        },
        ExpandedItem::List(_) => return refuse(found, at, "a list in a list"),
        ExpandedItem::Text(_) => return refuse(found, at, "a text"),
        ExpandedItem::Refused => return,
    };
    if added.and_then(|tensor| builder.output(tensor, name, false)).is_err() {
        refuse(found, at, "the expression");
    }
}

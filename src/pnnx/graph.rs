//! An expression by itself as a flat graph.

use super::expand::{Context, Item, expand};
use super::tree::{Expression, Term};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::standard::CONSTANT;
use crate::graph::{Graph, Primitive, Shape, TensorId, Value};
use crate::nnef::build::Builder;
use crate::nnef::migrate::target::Target;
use crate::source::{FileId, Location, Span};

/// The shape of inputs of which no shape is given.
const SHAPE: [i64; 1] = [1];

/// The most inputs that nothing uses, because the operands in front of others do not occur.
const MAX_UNUSED: u64 = 10_000;

/// How an expression becomes a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    /// How many operands there are; none for those that occur.
    pub(crate) arity: Option<u64>,
    /// The shapes of the first operands.
    pub(crate) shapes: Vec<Vec<i64>>,
    /// Whether equal operations become one.
    pub(crate) share: bool,
    /// The most operations.
    pub(crate) max_ops: u64,
}

impl Graph {
    /// The graph of an expression, with its operands as inputs `x0`, `x1` and so on, and the result `y`, or
    /// the items of a list `y0`, `y1`.
    ///
    /// # Errors
    ///
    /// Parts of the expression have no counterpart in NNEF, or the shapes do not fit.
    pub(crate) fn of_expression(expression: &Expression, file: FileId, form: &Form) -> Result<Graph, Diagnostics> {
        let mut found = Diagnostics::new(false);
        let target = Target::new();
        let mut builder = Builder::new("expression", target.declarations());
        let Some(operands) = inputs(&mut builder, expression, file, form, &mut found) else { return Err(found) };
        let name = builder.name("y");
        let shaped = form.shapes.len();
        let (share, max_ops) = (form.share, form.max_ops);
        let context = Context { file, at: None, operands: &operands, shaped, name, share, max_ops };
        let item = expand(&mut builder, expression, context, &mut found);
        let span = expression.root().map_or(Span::default(), |root| root.span);
        match &item {
            Item::List(items) if items.is_empty() => {
                refuse(&mut found, Location::new(file, span), "a list without items");
            }
            Item::List(items) => {
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

/// The inputs; none where their number is a mistake.
fn inputs(
    builder: &mut Builder,
    expression: &Expression,
    file: FileId,
    form: &Form,
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

/// Makes an item an output.
fn output(
    builder: &mut Builder,
    item: &Item,
    name: crate::graph::names::NameId,
    at: Location,
    found: &mut Diagnostics,
) {
    let added = match item {
        Item::Tensor(tensor) => Ok(*tensor),
        Item::Literal(literal) => match literal.number().map(|number| number.float()).filter(|x| x.is_finite()) {
            Some(value) => {
                let arguments = [Value::Integers(SHAPE.into()), Value::Scalars([value].into())];
                builder.emit(CONSTANT, arguments, name, Some(Shape::of(&SHAPE)))
            }
            None => return refuse(found, at, "the literal that the expression is"),
        },
        Item::List(_) => return refuse(found, at, "a list in a list"),
        Item::Refused => return,
    };
    if added.and_then(|tensor| builder.output(tensor, name, false)).is_err() {
        refuse(found, at, "the expression");
    }
}

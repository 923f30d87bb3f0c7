//! Expansion: an expression as operations of a flat graph.
//!
//! An operation without a counterpart becomes the operations of its template, which is an expression itself.
//! Operands of PNNX are broadcast along their last axes and those of NNEF along their first ones, so that
//! operands of lower ranks get further axes in front.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::parse::{Reading, parse};
use super::table::{Counterpart, Op};
use super::tokens::Literal;
use super::tree::{Expression, Node, NodeId, Term, push_leaf};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::names::NameId;
use crate::graph::{Extent, Shape, TensorId, Value};
use crate::nnef::build::Builder;
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};

/// What a node of an expression becomes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A tensor.
    Tensor(TensorId),
    /// A literal.
    Literal(Literal),
    /// The items of a list.
    List(Arc<[Item]>),
    /// Nothing: why is reported.
    Refused,
}

/// What an expression is expanded with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The file of its text.
    pub(crate) file: FileId,
    /// The place that stands for all of the expression, where its text is not in the file.
    pub(crate) at: Option<Location>,
    /// The operands.
    pub(crate) operands: &'a [TensorId],
    /// How many of the operands have the shapes that they have in the source, so that their sizes mean something.
    pub(crate) shaped: usize,
    /// The name of the result.
    pub(crate) name: NameId,
    /// Whether equal operations become one.
    pub(crate) share: bool,
    /// The most operations of the graph.
    pub(crate) max_ops: u64,
}

/// Adds an expression to a graph. Operations on literals are folded before.
pub(crate) fn expand(
    builder: &mut Builder,
    expression: &Expression,
    context: Context,
    found: &mut Diagnostics,
) -> Item {
    let extents = |number: u64| {
        let operand = context.operands.iter().take(context.shaped).nth(usize::try_from(number).ok()?)?;
        let shape = builder.graph.shape(*operand)?;
        Some(shape.extents().iter().map(|extent| extent.known()).collect())
    };
    let folded = expression.folded(&extents);
    let mut expander =
        Expander { builder, context, found, counts: FxHashMap::default(), aligned: FxHashMap::default() };
    expander.expression(&folded)
}

struct Expander<'a, 'd> {
    builder: &'a mut Builder<'d>,
    context: Context<'a>,
    found: &'a mut Diagnostics,
    /// The part of names for each operation, and how many results have it.
    counts: FxHashMap<&'static str, (Name, u32)>,
    /// Operands with axes in front.
    aligned: FxHashMap<(TensorId, usize), TensorId>,
}

/// The operands of an operation.
type Operands = SmallVec<[Item; 3]>;

/// An operation of the text: what messages are about.
#[derive(Clone, Copy)]
struct Place {
    op: Op,
    span: Span,
}

impl Expander<'_, '_> {
    fn expression(&mut self, expression: &Expression) -> Item {
        if self.context.share {
            return self.shared(expression);
        }
        // The nodes are in the order of reverse Polish notation.
        let mut stack: Vec<Item> = Vec::new();
        for (id, node) in expression.nodes() {
            let first = stack.len().saturating_sub(expression.operands(node).len());
            let operands: Operands = stack.drain(first..).collect();
            let item = self.node(node, &operands, id.index() + 1 == expression.len());
            stack.push(item);
        }
        stack.pop().unwrap_or(Item::Refused)
    }

    /// The same with one item for all nodes of a class.
    fn shared(&mut self, expression: &Expression) -> Item {
        let (classes, _) = expression.classes();
        let slot = |id: NodeId| classes[id.index()] as usize;
        let mut items: Vec<Option<Item>> = vec![None; expression.len()];
        for (id, node) in expression.nodes() {
            if items[slot(id)].is_none() {
                let operands = expression.operands(node).iter();
                let operands: Operands = operands.filter_map(|operand| items[slot(*operand)].clone()).collect();
                items[slot(id)] = Some(self.node(node, &operands, id.index() + 1 == expression.len()));
            }
        }
        let root = expression.len().checked_sub(1).map(|last| slot(NodeId::at(last)));
        root.and_then(|root| items.swap_remove(root)).unwrap_or(Item::Refused)
    }

    fn node(&mut self, node: &Node, operands: &[Item], last: bool) -> Item {
        match node.term {
            Term::Literal(literal) => Item::Literal(literal),
            Term::List => Item::List(operands.into()),
            Term::Argument(number) => {
                let tensor = usize::try_from(number).ok().and_then(|number| self.context.operands.get(number));
                match tensor {
                    Some(tensor) => Item::Tensor(*tensor),
                    None => self.refuse(Code::ExpressionArgument, node.span, format!("there is no operand @{number}")),
                }
            }
            Term::Call(op) => {
                let at = self.at(node.span);
                self.builder.come_from(at);
                let place = Place { op, span: node.span };
                self.call(op, operands, place, last.then_some(self.context.name))
            }
        }
    }

    fn refuse(&mut self, code: Code, span: Span, message: String) -> Item {
        let at = self.at(span);
        self.found.report(Diagnostic::new(code, at, message));
        Item::Refused
    }

    fn at(&self, span: Span) -> Location {
        self.context.at.unwrap_or(Location::new(self.context.file, span))
    }

    /// Adds an operation; a result that is not named gets a name after the operation.
    fn call(&mut self, op: Op, operands: &[Item], place: Place, name: Option<NameId>) -> Item {
        let text = op.row().name;
        if operands.iter().any(|operand| matches!(operand, Item::Refused)) {
            return Item::Refused;
        }
        let none = |what: &str| format!("{what} has no counterpart in NNEF");
        let refused = match op.row().nnef {
            Counterpart::Missing => Some(none(&format!("`{text}`"))),
            Counterpart::CompileTime => Some(match text {
                "size" => "the size of an operand has to be known while expanding".to_owned(),
                text => format!("`{text}` needs a number that is known while expanding"),
            }),
            _ if operands.iter().any(|operand| matches!(operand, Item::List(_))) => {
                Some(none(&format!("a list as an operand of `{text}`")))
            }
            _ if !operands.iter().any(|operand| matches!(operand, Item::Tensor(_))) && name_is_outer(place, op) => {
                Some(format!("`{text}` has no value for these literals"))
            }
            _ => operands.iter().find_map(|operand| match operand {
                Item::Literal(literal) if scalar(*literal).is_none() => {
                    let mut literal_text = String::new();
                    push_leaf(&mut literal_text, Term::Literal(*literal));
                    Some(none(&format!("the literal `{literal_text}`")))
                }
                _ => None,
            }),
        };
        if let Some(message) = refused {
            return self.refuse(Code::ExpressionCounterpart, place.span, message);
        }
        let Some((aligned, shape)) = self.align(operands, place) else { return Item::Refused };
        let operands = aligned.as_deref().unwrap_or(operands);
        match op.row().nnef {
            Counterpart::Same(nnef) => self.emit(nnef, operands, shape, place, name),
            Counterpart::Template(_) => match template(op) {
                Some(template) => self.template(template, operands, place, name),
                None => Item::Refused,
            },
            Counterpart::CompileTime | Counterpart::Missing => Item::Refused,
        }
    }

    fn emit(
        &mut self,
        nnef: &'static str,
        operands: &[Item],
        shape: Option<Shape>,
        place: Place,
        name: Option<NameId>,
    ) -> Item {
        if self.builder.graph.operations().len() as u64 >= self.context.max_ops {
            if self.found.has_errors() {
                return Item::Refused;
            }
            let message = format!("the expression has more than {} operations", self.context.max_ops);
            return self.refuse(Code::OperationBudget, place.span, message);
        }
        let name = name.unwrap_or_else(|| self.fresh(nnef));
        let values = operands.iter().filter_map(value);
        match self.builder.emit(nnef, values, name, shape) {
            Ok(tensor) => Item::Tensor(tensor),
            Err(unknown) => {
                let message = format!("NNEF has no operation `{}`", unknown.0);
                self.refuse(Code::ExpressionCounterpart, place.span, message)
            }
        }
    }

    fn fresh(&mut self, nnef: &'static str) -> NameId {
        let builder = &mut *self.builder;
        let (segment, count) = self.counts.entry(nnef).or_insert_with(|| (builder.segment(nnef), 0));
        *count += 1;
        self.builder.part(self.context.name, *segment, *count)
    }

    /// Adds the operations of a template. Templates use others, but not themselves.
    fn template(&mut self, template: &Expression, operands: &[Item], place: Place, name: Option<NameId>) -> Item {
        let mut items: Vec<Item> = Vec::with_capacity(template.len());
        for (id, node) in template.nodes() {
            let item = match node.term {
                Term::Argument(number) => operands.get(number as usize).cloned().unwrap_or(Item::Refused),
                Term::Literal(literal) => Item::Literal(literal),
                Term::List => Item::Refused,
                Term::Call(op) => {
                    let operands: Vec<Item> =
                        template.operands(node).iter().map(|operand| items[operand.index()].clone()).collect();
                    let name = name.filter(|_| id.index() + 1 == template.len());
                    self.call(op, &operands, place, name)
                }
            };
            items.push(item);
        }
        items.pop().unwrap_or(Item::Refused)
    }

    /// The operands, if those of lower ranks get axes in front, and the shape of the result.
    fn align(&mut self, operands: &[Item], place: Place) -> Option<(Option<Operands>, Option<Shape>)> {
        let tensors = || {
            operands.iter().filter_map(|operand| match operand {
                Item::Tensor(tensor) => Some(*tensor),
                _ => None,
            })
        };
        let first = tensors().next();
        let shape_of = |tensor: TensorId| self.builder.graph.shape(tensor);
        if tensors()
            .all(|tensor| first.is_some_and(|first| shape_of(first) == shape_of(tensor)) && shape_of(tensor).is_some())
            || tensors().all(|tensor| Some(tensor) == first)
        {
            return Some((None, first.and_then(shape_of).cloned()));
        }
        let Some(shapes) = tensors().map(|tensor| shape_of(tensor).cloned()).collect::<Option<Vec<Shape>>>() else {
            let message = format!("the shapes of the operands of `{}` are not known", place.op.row().name);
            self.refuse(Code::ExpressionShapes, place.span, message);
            return None;
        };
        let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
        let Some(shape) = common(&shapes, rank) else {
            let message =
                format!("the shapes {shapes:?} of the operands of `{}` do not fit together", place.op.row().name);
            self.refuse(Code::ExpressionShapes, place.span, message);
            return None;
        };
        let mut aligned = SmallVec::new();
        for operand in operands {
            aligned.push(match operand {
                Item::Tensor(tensor) => Item::Tensor(self.raise(*tensor, rank)),
                other => other.clone(),
            });
        }
        Some((Some(aligned), Some(shape)))
    }

    /// A tensor with axes in front, up to a rank. Tensors without axes fit everything as they are.
    fn raise(&mut self, tensor: TensorId, rank: usize) -> TensorId {
        let Some(shape) = self.builder.graph.shape(tensor).filter(|shape| (1..rank).contains(&shape.rank())) else {
            return tensor;
        };
        if let Some(known) = self.aligned.get(&(tensor, rank)) {
            return *known;
        }
        let more = rank - shape.rank();
        let extents = [vec![Extent::ONE; more], shape.extents().to_vec()].concat();
        let axes = Value::Integers((0..more as i64).collect());
        let name = self.fresh("unsqueeze");
        let raised = self.builder.emit("unsqueeze", [Value::Tensor(tensor), axes], name, Some(Shape::new(&extents)));
        let raised = raised.unwrap_or(tensor);
        self.aligned.insert((tensor, rank), raised);
        raised
    }
}

/// Whether an operation stands in the text, not only in the template of one.
fn name_is_outer(place: Place, op: Op) -> bool {
    place.op == op
}

/// The shape that shapes are broadcast to, from their last axes on.
fn common(shapes: &[Shape], rank: usize) -> Option<Shape> {
    let mut extents = vec![Extent::ONE; rank];
    for shape in shapes {
        for (to, extent) in extents[rank - shape.rank()..].iter_mut().zip(shape.extents()) {
            *to = to.broadcast(extent)?;
        }
    }
    Some(Shape::new(&extents))
}

/// A literal as a scalar; none for what is no finite number.
fn scalar(literal: Literal) -> Option<f64> {
    literal.number().map(|number| number.float()).filter(|value| value.is_finite())
}

/// An item as an argument.
fn value(item: &Item) -> Option<Value> {
    match item {
        Item::Tensor(tensor) => Some(Value::Tensor(*tensor)),
        Item::Literal(literal) => scalar(*literal).map(Value::Scalar),
        Item::List(_) | Item::Refused => None,
    }
}

/// The template of an operation.
fn template(op: Op) -> Option<&'static Expression> {
    static KNOWN: OnceLock<FxHashMap<Op, Expression>> = OnceLock::new();
    let read = |op: Op| {
        let Counterpart::Template(text) = op.row().nnef else { return None };
        let reading = Reading { template: true, ..Reading::default() };
        parse(text, (FileId::default(), 0), reading).ok().map(|(parsed, _)| (op, parsed.expression))
    };
    KNOWN.get_or_init(|| Op::all().filter_map(read).collect()).get(&op)
}

#[cfg(test)]
mod tests;

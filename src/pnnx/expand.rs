//! Expands expressions to operations of a flat graph.
//!
//! An operation without a counterpart becomes the operations of its template, which is an expression too. PNNX
//! broadcasts with the last axes aligned, NNEF with the first, so that operands of lower rank get leading axes of
//! extent 1.

mod align;
mod items;
mod template;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(super) use self::items::expand_items;
use super::elements;
use super::expression_table::{Counterpart, Op};
use super::item::{ExpandedItem, List, MAX_DEPTH};
use super::number::{self, Meaning, Number};
use super::tokens::Literal;
use super::tree::{Expression, NodeId, Term, TreeNode, push_leaf};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, too_many};
use crate::graph::names::NameId;
use crate::graph::{Primitive, Shape, TensorId, Value};
use crate::library::build::{Builder, CAST, Results};
use crate::source::names::Name;
use crate::source::{FileId, Location, Span};

/// The context of an expansion.
#[derive(Clone, Copy)]
pub(crate) struct ExpansionContext<'a> {
    /// The file of its text.
    pub(crate) file: FileId,
    /// The location of all operations, if the text of the expression is not in the file.
    pub(crate) at: Option<Location>,
    /// The operands.
    pub(crate) operands: &'a [TensorId],
    /// The number of operands, from the first on, with the shapes of the source, so that their sizes are valid.
    pub(crate) shaped: usize,
    /// The name of the result.
    pub(crate) name: NameId,
    /// Whether equal operations are shared.
    pub(crate) share: bool,
    /// Whether an operation is written by its formula where the one of NNEF differs for some operands.
    pub(crate) strict: bool,
    /// The maximum number of operations of the graph.
    pub(crate) max_ops: u64,
}

/// Adds an expression to a graph, after folding operations on literals.
pub(crate) fn expand(
    builder: &mut Builder,
    expression: &Expression,
    context: ExpansionContext,
    found: &mut Diagnostics,
) -> ExpandedItem {
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

struct Expander<'a> {
    builder: &'a mut Builder,
    context: ExpansionContext<'a>,
    found: &'a mut Diagnostics,
    /// For each operation, the word for the names of its results, and the number of these names.
    counts: FxHashMap<&'static str, (Name, u32)>,
    /// Operands with added leading axes, by tensor and rank.
    aligned: FxHashMap<(TensorId, usize), TensorId>,
}

/// The operands of an operation.
type OperandList = SmallVec<[ExpandedItem; 3]>;

/// How an operation is applied to operands of its types.
enum Typed {
    /// As it is.
    Same,
    /// The result is the operand.
    Identity,
    /// To scalars; the result is converted to integers if `whole` is set.
    Scalars { whole: bool },
}

/// An operation of the text, for messages.
#[derive(Clone, Copy)]
struct OperationPlace {
    op: Op,
    span: Span,
}

impl Expander<'_> {
    fn expression(&mut self, expression: &Expression) -> ExpandedItem {
        if self.context.share {
            return self.shared(expression);
        }
        // The nodes are in reverse Polish notation.
        let mut stack: Vec<ExpandedItem> = Vec::new();
        for (id, node) in expression.nodes() {
            let first = stack.len().saturating_sub(expression.operands(node).len());
            let operands: OperandList = stack.drain(first..).collect();
            let item = self.node(node, &operands, id.index() + 1 == expression.len());
            stack.push(item);
        }
        stack.pop().unwrap_or(ExpandedItem::Refused)
    }

    /// Like `expression`, with one item for all nodes of a class.
    fn shared(&mut self, expression: &Expression) -> ExpandedItem {
        let (classes, _) = expression.classes();
        let slot = |id: NodeId| classes[id.index()] as usize;
        let mut items: Vec<Option<ExpandedItem>> = vec![None; expression.len()];
        for (id, node) in expression.nodes() {
            if items[slot(id)].is_none() {
                let operands = expression.operands(node).iter();
                let operands: OperandList = operands.filter_map(|operand| items[slot(*operand)].clone()).collect();
                items[slot(id)] = Some(self.node(node, &operands, id.index() + 1 == expression.len()));
            }
        }
        let root = expression.len().checked_sub(1).map(|last| slot(NodeId::at(last)));
        root.and_then(|root| items.swap_remove(root)).unwrap_or(ExpandedItem::Refused)
    }

    fn node(&mut self, node: &TreeNode, operands: &[ExpandedItem], last: bool) -> ExpandedItem {
        match node.term {
            Term::Literal(literal) => ExpandedItem::Literal(literal),
            Term::List if operands.contains(&ExpandedItem::Refused) => ExpandedItem::Refused,
            Term::List => match List::new(operands) {
                Some(list) => ExpandedItem::List(list),
                None => self.refuse(Code::TooDeep, node.span, format!("lists are nested deeper than {MAX_DEPTH}")),
            },
            Term::Argument(number) => {
                let tensor = usize::try_from(number).ok().and_then(|number| self.context.operands.get(number));
                match tensor {
                    Some(tensor) => ExpandedItem::Tensor(*tensor),
                    None => self.refuse(Code::ExpressionArgument, node.span, format!("unknown operand @{number}")),
                }
            }
            Term::Call(op) => {
                let at = self.at(node.span);
                self.builder.come_from(at);
                let place = OperationPlace { op, span: node.span };
                self.call(op, operands, place, last.then_some(self.context.name))
            }
        }
    }

    fn refuse(&mut self, code: Code, span: Span, message: String) -> ExpandedItem {
        let at = self.at(span);
        self.found.report(Diagnostic::new(code, at, message));
        ExpandedItem::Refused
    }

    fn at(&self, span: Span) -> Location {
        self.context.at.unwrap_or(Location::new(self.context.file, span))
    }

    /// Adds an operation; without `name`, the result is named after the operation.
    fn call(&mut self, op: Op, operands: &[ExpandedItem], place: OperationPlace, name: Option<NameId>) -> ExpandedItem {
        let text = op.row().name;
        if operands.iter().any(|operand| matches!(operand, ExpandedItem::Refused)) {
            return ExpandedItem::Refused;
        }
        if let Some(literal) = known(op, operands) {
            return ExpandedItem::Literal(literal);
        }
        let none = |what: &str| format!("{what} has no counterpart in NNEF");
        let refused = match op.row().nnef {
            Counterpart::Missing => Some(none(&format!("`{text}`"))),
            Counterpart::Logical(_) if !operands.iter().all(|operand| self.is_logical(operand)) => {
                Some(none(&format!("`{text}` of operands that are not truth values")))
            }
            Counterpart::CompileTime => Some(match text {
                "size" => "the size of an operand has to be known while expanding".to_owned(),
                text => format!("`{text}` needs a number that is known while expanding"),
            }),
            _ if operands.iter().any(|operand| matches!(operand, ExpandedItem::List(_))) => {
                Some(none(&format!("a list as an operand of `{text}`")))
            }
            _ if !operands.iter().any(|operand| matches!(operand, ExpandedItem::Tensor(_)))
                && name_is_outer(place, op) =>
            {
                Some(format!("`{text}` has no value for these literals"))
            }
            _ => operands.iter().find_map(|operand| match operand {
                ExpandedItem::Literal(literal) if scalar(*literal).is_none() => {
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
        if let (true, [number @ ExpandedItem::Literal(_), tensor @ ExpandedItem::Tensor(_)]) =
            (is_extreme(op), operands)
        {
            // A number as the second operand is not NaN, so that one operation is sufficient.
            return self.call(op, &[tensor.clone(), number.clone()], place, name);
        }
        let Some((aligned, shape)) = self.align(operands, place) else { return ExpandedItem::Refused };
        let operands = aligned.as_deref().unwrap_or(operands);
        match self.typed(op, operands) {
            Typed::Same => self.counterpart(op, operands, shape, place, name),
            Typed::Identity => operands.first().cloned().unwrap_or(ExpandedItem::Refused),
            Typed::Scalars { whole } => {
                let operands: OperandList = operands.iter().map(|operand| self.cast(operand, place)).collect();
                match self.counterpart(op, &operands, shape, place, if whole { None } else { name }) {
                    ExpandedItem::Tensor(tensor) if whole => self.cast_to(Primitive::Integer, tensor, place, name),
                    item => item,
                }
            }
        }
    }

    /// Adds the counterpart of an operation for operands of its types.
    fn counterpart(
        &mut self,
        op: Op,
        operands: &[ExpandedItem],
        shape: Option<Shape>,
        place: OperationPlace,
        name: Option<NameId>,
    ) -> ExpandedItem {
        if let (Some(nnef), [ExpandedItem::Tensor(radicand)]) = (root(op), operands)
            && self.builder.graph.never_negative(*radicand)
        {
            return self.emit(nnef, operands, shape, place, name);
        }
        if let Some(near) = self.near(op, operands, place) {
            return self.emit(near, operands, shape, place, name);
        }
        if let (Some(exact), true) = (op.row().exact(), self.builder.is_exact()) {
            return self.emit(exact, operands, shape, place, name);
        }
        match op.row().nnef {
            Counterpart::Same(nnef) => self.emit(nnef, operands, shape, place, name),
            // The formula is for NaN, which no integer is.
            Counterpart::Template(_) if self.is_whole(op, operands) => {
                self.emit(op.row().name, operands, shape, place, name)
            }
            Counterpart::Template(_) => match template::of(op) {
                Some(template) => self.template(template, operands, place, name),
                None => ExpandedItem::Refused,
            },
            Counterpart::Logical(row) => match Op::of_formula(row.name) {
                Some(op) => self.counterpart(op, operands, shape, place, name),
                None => ExpandedItem::Refused,
            },
            Counterpart::CompileTime | Counterpart::Missing => ExpandedItem::Refused,
        }
    }

    /// The operation that one would write for an operation of the text, which differs where its row says.
    fn near(&self, op: Op, operands: &[ExpandedItem], place: OperationPlace) -> Option<&'static str> {
        let row = op.row().row?;
        // The smaller or larger one of a tensor and a number is exact as one operation.
        let is_short = row.is_extreme() && operands.iter().any(|operand| matches!(operand, ExpandedItem::Literal(_)));
        let near = row.near.filter(|_| !self.context.strict && name_is_outer(place, op) && !is_short)?;
        Some(near.name)
    }

    /// The element type of an operand.
    fn element(&self, operand: &ExpandedItem) -> Option<Primitive> {
        match operand {
            ExpandedItem::Tensor(tensor) => self.builder.graph.dtype(*tensor),
            ExpandedItem::Literal(Literal::Int(_)) => Some(Primitive::Integer),
            ExpandedItem::Literal(Literal::Float(_)) => Some(Primitive::Scalar),
            ExpandedItem::Literal(Literal::Bool(_)) => Some(Primitive::Logical),
            _ => None,
        }
    }

    fn is_logical(&self, operand: &ExpandedItem) -> bool {
        self.element(operand) == Some(Primitive::Logical)
    }

    /// Whether an operation of numbers with a sign has integers as operands.
    fn is_whole(&self, op: Op, operands: &[ExpandedItem]) -> bool {
        let whole = |operand: &ExpandedItem| self.element(operand) == Some(Primitive::Integer);
        matches!(op.meaning(), Meaning::Signed(..)) && !op.row().inner && operands.iter().all(whole)
    }

    /// How an operation is applied to operands of its types: NNEF divides integers without a fraction, and does not
    /// round them.
    fn typed(&self, op: Op, operands: &[ExpandedItem]) -> Typed {
        let integer = |operand: &ExpandedItem| self.element(operand) == Some(Primitive::Integer);
        let tensor = |operand: &ExpandedItem| matches!(operand, ExpandedItem::Tensor(_)) && integer(operand);
        let has_template = matches!(op.row().nnef, Counterpart::Template(_));
        match op.meaning() {
            _ if op.row().inner || !operands.iter().any(tensor) => Typed::Same,
            Meaning::Rounded(_) => Typed::Identity,
            Meaning::Float(_) | Meaning::Floats(_) => Typed::Scalars { whole: false },
            // The largest and the least of integers are compared as such.
            Meaning::Arithmetic(_) if has_template && !is_extreme(op) => {
                Typed::Scalars { whole: operands.iter().all(integer) }
            }
            _ => Typed::Same,
        }
    }

    /// An operand with integers converted to scalars.
    fn cast(&mut self, operand: &ExpandedItem, place: OperationPlace) -> ExpandedItem {
        match operand {
            ExpandedItem::Tensor(tensor) if self.element(operand) == Some(Primitive::Integer) => {
                self.cast_to(Primitive::Scalar, *tensor, place, None)
            }
            ExpandedItem::Literal(literal) => {
                ExpandedItem::Literal(literal.number().map_or(*literal, |it| Literal::Float(it.float())))
            }
            other => other.clone(),
        }
    }

    fn cast_to(
        &mut self,
        of: Primitive,
        tensor: TensorId,
        place: OperationPlace,
        name: Option<NameId>,
    ) -> ExpandedItem {
        let name = name.unwrap_or_else(|| self.fresh("cast"));
        let shape = self.builder.graph.shape(tensor).cloned();
        self.add(CAST, Some(of), vec![Value::Tensor(tensor)], (name, shape), place)
    }

    fn add(
        &mut self,
        nnef: &'static str,
        of: Option<Primitive>,
        values: Vec<Value>,
        result: (NameId, Option<Shape>),
        place: OperationPlace,
    ) -> ExpandedItem {
        match self.builder.add(nnef, of, values, Results::Each(&[result])) {
            Ok(tensors) => ExpandedItem::Tensor(tensors[0]),
            Err(unknown) => {
                let message = format!("NNEF has no operation `{}`", unknown.0);
                self.refuse(Code::ExpressionCounterpart, place.span, message)
            }
        }
    }

    fn emit(
        &mut self,
        nnef: &'static str,
        operands: &[ExpandedItem],
        shape: Option<Shape>,
        place: OperationPlace,
        name: Option<NameId>,
    ) -> ExpandedItem {
        if self.builder.graph.operations.len() as u64 >= self.context.max_ops {
            if self.found.has_errors() {
                return ExpandedItem::Refused;
            }
            let message = too_many("the expression", self.context.max_ops, "operations");
            return self.refuse(Code::OperationBudget, place.span, message);
        }
        let name = name.unwrap_or_else(|| self.fresh(nnef));
        let logic = ["and", "or", "not"].contains(&nnef);
        let is_integer = |operand: &ExpandedItem| {
            matches!(operand, ExpandedItem::Tensor(_)) && self.element(operand) == Some(Primitive::Integer)
        };
        let whole = operands.iter().any(is_integer);
        let values = operands.iter().filter_map(|operand| match operand {
            ExpandedItem::Literal(Literal::Bool(truth)) if logic => Some(Value::Logical(*truth)),
            ExpandedItem::Literal(Literal::Int(number)) if whole => Some(Value::Int(*number)),
            operand => value(operand),
        });
        let values: Vec<Value> = values.collect();
        let of = elements::of_result(&self.builder.graph, nnef, &values);
        self.add(nnef, of, values, (name, shape), place)
    }

    fn fresh(&mut self, nnef: &'static str) -> NameId {
        let builder = &mut *self.builder;
        let (segment, count) = self.counts.entry(nnef).or_insert_with(|| (builder.segment(nnef), 0));
        *count += 1;
        self.builder.part(self.context.name, *segment, *count)
    }
}

/// The result of an operation whose operands are literals, which a template may have.
fn known(op: Op, operands: &[ExpandedItem]) -> Option<Literal> {
    let number = |operand: &ExpandedItem| match operand {
        ExpandedItem::Literal(literal) => literal.number(),
        _ => None,
    };
    let numbers: SmallVec<[Number; 3]> = operands.iter().map(number).collect::<Option<_>>()?;
    number::apply(op.meaning(), &numbers).map(Literal::from)
}

/// Whether an operation gives the larger or the smaller operand.
fn is_extreme(op: Op) -> bool {
    op.row().row.is_some_and(|row| row.is_extreme())
}

/// The operation of NNEF that an operation is for all numbers that are not negative or -0.
fn root(op: Op) -> Option<&'static str> {
    op.row().row.and_then(|row| row.if_positive())
}

/// Whether an operation is in the text itself, not in a template.
fn name_is_outer(place: OperationPlace, op: Op) -> bool {
    place.op == op
}

/// A literal as a scalar; none if it is not a finite number.
fn scalar(literal: Literal) -> Option<f64> {
    literal.number().map(|number| number.float()).filter(|value| value.is_finite())
}

/// An item as an argument.
fn value(item: &ExpandedItem) -> Option<Value> {
    match item {
        ExpandedItem::Tensor(tensor) => Some(Value::Tensor(*tensor)),
        ExpandedItem::Literal(literal) => scalar(*literal).map(Value::Scalar),
        ExpandedItem::List(_) | ExpandedItem::Text(_) | ExpandedItem::Refused => None,
    }
}

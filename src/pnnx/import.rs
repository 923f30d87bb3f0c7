//! Imports PNNX files as flat graphs: expressions are expanded, and every other operator becomes one operation, or
//! operations of NNEF if the options select that.

mod operators;

use rustc_hash::{FxHashMap, FxHashSet};

use super::data::Members;
use super::expand::expand_items;
use super::given::{given_shape, report_unknown_inputs};
use super::graph::constant;
use super::item::{ExpandedItem, List, MAX_DEPTH};
use super::lower::{self, Operand, Refusal};
use super::model::{
    ATTRIBUTE, CONSTRUCTS, EXPR, EXPRESSION, FLOATS, INPUT, OUTPUT, Operator, OperatorParam, PnnxModel, Role, Typed,
    UNKNOWN,
};
use super::parse::{Reading, is_text, parse};
use super::tree::Expression;
use crate::diagnostics::suggest::UnknownNames;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, too_many};
use crate::graph::names::NameId;
use crate::graph::standard::VARIABLE;
use crate::graph::{Element, Extent, Graph, Primitive, Shape, TensorId, Value};
use crate::library::build::{Builder, Results};
use crate::library::distinct::Distinct;
use crate::library::identifier::identifier;
use crate::library::label::label;
use crate::parts::TRANSLATION;
use crate::source::{FileId, Location, Span};
use crate::{Lower, Options};

/// Operators that unpack lists and tuples.
const UNPACKS: &[&str] = &["prim::TupleUnpack", "prim::ListUnpack"];

/// A graph with its variables and warnings.
pub(crate) type Imported = (Graph, Members, Diagnostics);

impl PnnxModel {
    /// Converts the model to a flat graph.
    ///
    /// # Errors
    ///
    /// Expressions cannot be read or expanded, shapes are contradictory, extents of inputs are unknown, or operators are to
    /// be lowered in a build that does not translate.
    pub(crate) fn graph(&self, file: FileId, options: &Options) -> Result<Imported, Diagnostics> {
        if let Some(part) = TRANSLATION.missing().filter(|_| options.lower == Lower::All) {
            return Err(part.at(Location::new(file, Span::default())));
        }
        let mut builder = Builder::new("model");
        builder.be_exact(options.internal.exact);
        builder.graph.conventions.keeps_operators = options.lower != Lower::All;
        let mut import = Import {
            builder,
            file,
            options,
            held: FxHashMap::default(),
            names: Distinct::default(),
            operand_names: FxHashMap::default(),
            given: FxHashSet::default(),
            labels: Distinct::default(),
            members: Members::default(),
            complex: FxHashSet::default(),
            unknown: UnknownNames::default(),
            read: self.operators.iter().flat_map(|operator| &operator.inputs).map(String::as_str).collect(),
            items: 0,
            found: Diagnostics::of(options.policy()),
        };
        import.name_operands(self);
        for operator in &self.operators {
            if !CONSTRUCTS.contains(&operator.kind.as_str()) && !import.counts(operator) {
                break;
            }
            import.operator(operator);
            if import.builder.graph.operations.len() as u64 > options.max_ops {
                let message = too_many("the graph", options.max_ops, "operations");
                import.report(Code::OperationBudget, operator.span, message);
                break;
            }
        }
        report_unknown_inputs(&import.builder.graph, options, file, &mut import.found);
        if import.builder.graph.outputs.is_empty() && !import.found.has_errors() {
            let message = format!("the file has no outputs: it has no `{OUTPUT}` with an operand");
            import.report(Code::PnnxOperand, Span::default(), message);
        }
        if import.found.has_errors() {
            return Err(import.found);
        }
        match import.builder.finish() {
            Ok(graph) => Ok((graph, import.members, import.found)),
            Err(_) => Err(import.found),
        }
    }
}

struct Import<'a> {
    builder: Builder,
    file: FileId,
    options: &'a Options,
    /// The item of each operand.
    held: FxHashMap<&'a str, ExpandedItem>,
    /// The names of tensors.
    names: Distinct,
    /// Those of the tensors of operands.
    operand_names: FxHashMap<&'a str, NameId>,
    /// The operands that are outputs.
    given: FxHashSet<String>,
    /// The labels of variables.
    labels: Distinct,
    members: Members,
    /// Tensors of complex numbers, which NNEF does not have.
    complex: FxHashSet<TensorId>,
    /// The kinds of operators without a rule.
    unknown: UnknownNames<'a>,
    /// The operands that operators read.
    read: FxHashSet<&'a str>,
    /// The number of items of lists that operators have had as operands.
    items: u64,
    found: Diagnostics,
}

impl<'a> Import<'a> {
    fn report(&mut self, code: Code, span: Span, message: String) {
        self.found.report(Diagnostic::new(code, Location::new(self.file, span), message));
    }

    fn operator(&mut self, operator: &'a Operator) {
        self.builder.come_from(Location::new(self.file, operator.span));
        match operator.kind.as_str() {
            INPUT => self.input(operator),
            OUTPUT => self.output(operator),
            ATTRIBUTE => self.attribute(operator),
            EXPRESSION if self.options.lower != Lower::None => self.expression(operator),
            kind if CONSTRUCTS.contains(&kind) => {
                let item = self.list(operator);
                self.hold(operator, vec![item]);
            }
            kind if UNPACKS.contains(&kind) && self.unpacked(operator).is_some() => {
                let items = self.unpacked(operator).unwrap_or_default();
                self.hold(operator, items);
            }
            _ => self.other(operator),
        }
    }

    /// The list of an operator's operands.
    fn list(&mut self, operator: &Operator) -> ExpandedItem {
        let operands = self.operands(operator);
        if operands.contains(&ExpandedItem::Refused) {
            return ExpandedItem::Refused;
        }
        let list = List::new(&operands).map(ExpandedItem::List);
        if list.is_none() {
            self.report(Code::TooDeep, operator.span, format!("lists are nested deeper than {MAX_DEPTH}"));
        }
        list.unwrap_or(ExpandedItem::Refused)
    }

    /// The items of the list that an operator unpacks.
    fn unpacked(&self, operator: &Operator) -> Option<Vec<ExpandedItem>> {
        match self.held.get(operator.inputs.first()?.as_str())? {
            ExpandedItem::List(items) if items.len() == operator.outputs.len() => Some(items.to_vec()),
            _ => None,
        }
    }

    fn operands(&self, operator: &Operator) -> Vec<ExpandedItem> {
        let item = |name: &String| self.held.get(name.as_str()).cloned().unwrap_or(ExpandedItem::Refused);
        operator.inputs.iter().map(item).collect()
    }

    /// Counts the items of lists that an operator has as operands, since its arguments are copies of them. Returns
    /// whether they are allowed.
    fn counts(&mut self, operator: &Operator) -> bool {
        let items = operator.inputs.iter().filter_map(|name| self.held.get(name.as_str())).map(ExpandedItem::count);
        self.items = items.fold(self.items, u64::saturating_add);
        let allowed = self.items <= self.options.max_length as u64;
        if !allowed {
            let message = format!("operators have more than {} items of lists as operands", self.options.max_length);
            self.report(Code::LengthBudget, operator.span, message);
        }
        allowed
    }

    fn hold(&mut self, operator: &'a Operator, items: Vec<ExpandedItem>) {
        for (name, item) in operator.outputs.iter().zip(items) {
            self.held.insert(name, item);
        }
    }

    /// Names the tensors of all operands, so that no other name takes one of theirs.
    fn name_operands(&mut self, model: &'a PnnxModel) {
        for output in model.operators.iter().flat_map(|operator| &operator.outputs) {
            let name = self.distinct(operand_name(output));
            self.operand_names.insert(output, name);
        }
    }

    /// The name of an operand's tensor.
    fn name(&mut self, operand: &str) -> NameId {
        match self.operand_names.get(operand) {
            Some(name) => *name,
            None => self.distinct(operand_name(operand)),
        }
    }

    fn distinct(&mut self, text: String) -> NameId {
        let text = self.names.add(&text, false);
        self.builder.name(&text)
    }

    fn input(&mut self, operator: &'a Operator) {
        let Some(output) = operator.outputs.first() else { return };
        let name = self.name(output);
        let mut text = String::new();
        self.builder.graph.names.write(&self.builder.graph.symbols, name, &mut text);
        let given = given_shape(self.options, &text);
        let param = operator.param(Role::Shape, output);
        let (typed, span) = (param.and_then(OperatorParam::typed), param.map_or(operator.span, |param| param.span));
        if given == Some(None) {
            let message = format!("the extents of the input {} must be integers", operator.name);
            self.report(Code::OpenExtent, span, message);
            return self.hold(operator, vec![ExpandedItem::Refused]);
        }
        let known = || typed.as_ref()?.extents.iter().copied().collect::<Option<Vec<i64>>>();
        let Some(shape) = given.flatten().or_else(known) else {
            let message = format!("the shape of the input {} is not known", operator.name);
            let diagnostic = Diagnostic::new(Code::OpenExtent, Location::new(self.file, span), message);
            self.found.report(diagnostic.help(format!("give it: `--input-shape {text}=…`")));
            return self.hold(operator, vec![ExpandedItem::Refused]);
        };
        // NNEF's own default stands for a type that is not known.
        let told = typed.as_ref().filter(|typed| typed.element != UNKNOWN);
        let complex = told.is_some_and(|typed| is_complex(&typed.element));
        let of = told.map_or(Some(Primitive::Scalar), |typed| primitive(&typed.element));
        let of = of.or(complex.then_some(Primitive::Scalar));
        let Some(of) = of else {
            let element = typed.map(|typed| typed.element).unwrap_or_default();
            self.report(Code::PnnxShape, span, format!("elements of type `{element}` have no counterpart in NNEF"));
            return self.hold(operator, vec![ExpandedItem::Refused]);
        };
        let fits = typed.as_ref().is_none_or(|typed| fits(&Shape::of(&shape), typed));
        if !fits {
            self.report(
                Code::PnnxShape,
                span,
                format!("the input {} does not have the shape {shape:?}", operator.name),
            );
        }
        let shape = if complex && self.pairs() { [&shape[..], &[2]].concat() } else { shape };
        if let Ok(tensor) = self.builder.input(of, name, &shape) {
            self.note_element(tensor, told);
            if complex {
                let (code, what) = match self.pairs() {
                    true => (Code::PnnxComplex, "they are pairs of real numbers along a new last axis"),
                    false => (Code::PnnxPassed, "operators on them are passed through"),
                };
                let message =
                    format!("the input {} has complex numbers, which NNEF does not have; {what}", operator.name);
                self.report(code, span, message);
                self.complex.insert(tensor);
            }
            self.hold(operator, vec![ExpandedItem::Tensor(tensor)]);
        }
    }

    /// Whether complex numbers are pairs of real numbers, since operators on them are lowered.
    fn pairs(&self) -> bool {
        self.options.lower == Lower::All
    }

    fn output(&mut self, operator: &'a Operator) {
        let mut open: Vec<(&String, ExpandedItem)> =
            operator.inputs.iter().zip(self.operands(operator)).rev().collect();
        while let Some((operand, item)) = open.pop() {
            match item {
                ExpandedItem::Tensor(tensor) => {
                    if self.pairs() && self.complex.contains(&tensor) {
                        let message = format!(
                            "the output {operand} has complex numbers, which NNEF does not have; they are pairs of \
                             real numbers along a new last axis"
                        );
                        self.report(Code::PnnxComplex, operator.span, message);
                    }
                    if !self.give(operand, tensor) {
                        self.report(
                            Code::ExpressionCounterpart,
                            operator.span,
                            "NNEF has no copy operation".to_owned(),
                        );
                    }
                }
                ExpandedItem::List(items) => open.extend(items.iter().rev().map(|item| (operand, item.clone()))),
                ExpandedItem::Literal(literal) => {
                    // Each output is a constant of its own.
                    let mut name = self.name(operand);
                    if !self.given.insert(operand.to_owned()) {
                        name = self.distinct(operand_name(operand));
                    }
                    let tensor = constant(&mut self.builder, literal, &[], name);
                    if tensor.and_then(|tensor| self.builder.output(tensor, name, false).ok()).is_none() {
                        let message = format!("the output {operand} is a literal that is not a finite number");
                        self.report(Code::ExpressionCounterpart, operator.span, message);
                    }
                }
                ExpandedItem::Text(_) => {
                    let message = format!("the output {operand} is a text, not a tensor");
                    self.report(Code::ExpressionCounterpart, operator.span, message);
                }
                ExpandedItem::Refused => {}
            }
        }
    }

    /// Makes a tensor an output under the name of an operand, unless it is one of its items. A tensor that another operand
    /// is, too, has the name of that one. Returns whether NNEF has what that needs.
    fn give(&mut self, operand: &str, tensor: TensorId) -> bool {
        let is_item = !matches!(self.held.get(operand), Some(ExpandedItem::Tensor(_)));
        let graph = &mut self.builder.graph;
        let own = graph.tensors[tensor.index()].name;
        let wanted = self.operand_names.get(operand).copied().filter(|name| !is_item && *name != own);
        let given = self.given.contains(operand);
        self.given.extend((!is_item).then(|| operand.to_owned()));
        match wanted.filter(|_| !given) {
            Some(wanted) if graph.names.is_user(own) => self.builder.output(tensor, wanted, true).is_ok(),
            wanted => {
                graph.tensors[tensor.index()].name = wanted.unwrap_or(own);
                let name = self.builder.under(wanted.unwrap_or(own), "out");
                self.builder.output(tensor, name, false).is_ok()
            }
        }
    }

    fn attribute(&mut self, operator: &'a Operator) {
        let Some(output) = operator.outputs.first() else { return };
        let data: Vec<&OperatorParam> = operator.params(Role::Data).collect();
        let &[param] = &data[..] else {
            let message = format!("{} has the data of {} tensors instead of 1", operator.name, data.len());
            self.report(Code::PnnxData, operator.span, message);
            return self.hold(operator, vec![ExpandedItem::Refused]);
        };
        let name = self.name(output);
        let item = self.variable(operator, param, name).map_or(ExpandedItem::Refused, ExpandedItem::Tensor);
        self.check(operator, operator.param(Role::Shape, output), &item);
        self.hold(operator, vec![item]);
    }

    /// Adds a variable for stored data of an operator.
    fn variable(&mut self, operator: &Operator, param: &OperatorParam, name: NameId) -> Option<TensorId> {
        let typed = param.typed()?;
        let Some(shape) = typed.extents.iter().copied().collect::<Option<Vec<i64>>>() else {
            self.report(Code::PnnxData, param.span, "the extents of data are known".to_owned());
            return None;
        };
        let member = format!("{}.{}", operator.name, param.key);
        // Labels are compared without regard to case, as file names are.
        let label = self.labels.add(&label(&member), true);
        let complex = is_complex(&typed.element);
        let shape = if complex && self.pairs() { [&shape[..], &[2]].concat() } else { shape };
        let arguments = [Value::Integers(shape.as_slice().into()), Value::String(label.as_str().into())];
        let Some(of) = primitive(&typed.element).or(complex.then_some(Primitive::Scalar)) else {
            self.report(Code::PnnxData, param.span, format!("data of type `{}` are not supported", typed.element));
            return None;
        };
        let told = typed.clone();
        let typed = if complex && self.pairs() { typed.parts() } else { typed };
        self.members.insert(label, (member, typed));
        let results = [(name, Some(Shape::of(&shape)))];
        let tensors = self.builder.add(VARIABLE, Some(of), arguments, Results::Each(&results)).ok()?;
        let tensor = tensors.first().copied()?;
        self.note_element(tensor, Some(&told));
        if complex {
            self.complex.insert(tensor);
        }
        Some(tensor)
    }

    /// Notes the element type that the file tells of a tensor.
    fn note_element(&mut self, tensor: TensorId, typed: Option<&Typed>) {
        let parts = typed.filter(|typed| self.pairs() && is_complex(&typed.element)).map(Typed::parts);
        let typed = parts.as_ref().or(typed);
        self.builder.graph.set_element(tensor, typed.and_then(|typed| Element::of_short(&typed.element)));
    }

    fn expression(&mut self, operator: &'a Operator) {
        let Some(output) = operator.outputs.first() else { return };
        let Some(param) = operator.param(Role::Value, EXPR) else {
            return self.report(Code::PnnxSyntax, operator.span, "an expression has the parameter `expr`".to_owned());
        };
        let reading = Reading {
            arity: Some(operator.inputs.len() as u64),
            compat: true,
            template: false,
            strict: self.options.strict,
        };
        let parsed = match parse(&param.text, self.file, param.span.start, reading) {
            Ok((parsed, warnings)) => {
                self.found.extend(warnings);
                parsed
            }
            // A text is a value, not an operation.
            Err(_) if operator.inputs.is_empty() && is_text(&param.text) => {
                return self.hold(operator, vec![ExpandedItem::Text(param.text.as_str().into())]);
            }
            Err(errors) => return self.found.extend(errors),
        };
        let name = self.name(output);
        let operands = self.operands(operator);
        let told = operator.param(Role::Shape, output);
        let complex = parsed.expression.operations() > 0
            && (self.is_complex(operator, &operands) || parsed.expression.has_complex());
        let mark = self.builder.graph.mark();
        let mut found = Diagnostics::of(self.options.policy());
        let item = match complex && self.pairs() {
            true => ExpandedItem::Refused,
            false => expand_items(
                &mut self.builder,
                &parsed.expression,
                &operands,
                name,
                (self.file, None),
                self.options,
                &mut found,
            ),
        };
        let unknown = found.iter().find(|found| found.code == Code::ExpressionCounterpart);
        let only = found.iter().all(|found| found.code == Code::ExpressionCounterpart);
        let reason = match unknown {
            _ if complex => Some("it computes with complex numbers, which NNEF does not have".to_owned()),
            Some(unknown) if only => Some(unknown.message.clone()),
            _ => None,
        };
        if let Some(reason) = reason
            && !operands.contains(&ExpandedItem::Refused)
        {
            self.builder.graph.rewind(mark);
            if let Some(item) = self.in_pairs(operator, name, &parsed.expression, &operands) {
                self.check(operator, told, &item);
                return self.hold(operator, vec![item]);
            }
            self.passed(operator, &Refusal::Because(reason.into()));
            return self.pass(operator, vec![name], Vec::new(), &operands);
        }
        self.found.extend(found);
        self.check(operator, told, &item);
        self.hold(operator, vec![item]);
    }

    /// The result of an expression on complex numbers, as operations on pairs of real numbers, if these are wanted and
    /// express it.
    fn in_pairs(
        &mut self,
        operator: &'a Operator,
        name: NameId,
        expression: &Expression,
        operands: &[ExpandedItem],
    ) -> Option<ExpandedItem> {
        if !self.pairs() {
            return None;
        }
        let numbers: Vec<String> = (0..operands.len()).map(|at| at.to_string()).collect();
        let named = numbers.iter().zip(operands).map(|(key, item)| Operand::new(key, item)).collect();
        let folded = expression.folded(&|_| None);
        let before = self.builder.graph.tensors.len();
        let item = self.attempt(operator, &[name], named, &[], |line| lower::computed(line, &folded)).ok();
        if let Some(ExpandedItem::Tensor(tensor)) = item
            && tensor.index() >= before
        {
            self.builder.graph.tensors[tensor.index()].name = name;
        }
        item
    }

    /// Whether an operator computes with complex numbers, as far as the file says.
    fn is_complex(&self, operator: &Operator, operands: &[ExpandedItem]) -> bool {
        let told = |param: &OperatorParam| param.typed().is_some_and(|typed| is_complex(&typed.element));
        operands.iter().any(|item| matches!(item, ExpandedItem::Tensor(tensor) if self.complex.contains(tensor)))
            || operator.params(Role::Shape).any(told)
    }

    /// Compares the shape of a result with the shape in the file; sets extents that are unknown.
    fn check(&mut self, operator: &Operator, told: Option<&OperatorParam>, item: &ExpandedItem) {
        let (ExpandedItem::Tensor(tensor), Some(param)) = (item, told) else { return };
        let Some(typed) = param.typed() else { return };
        let typed = if self.pairs() && self.complex.contains(tensor) { typed.parts() } else { typed };
        let graph = &mut self.builder.graph;
        match graph.shape(*tensor) {
            None => graph.set_shape(*tensor, Some(shape_of(&typed))),
            Some(shape) if !fits(shape, &typed) => {
                let message = format!("the result {} of {} has the shape {shape:?}", param.key, operator.name);
                self.report(Code::PnnxShape, param.span, message);
            }
            Some(_) => {}
        }
    }
}

/// The name of a tensor for that of an operand or a blob: numbers get a prefix.
pub(crate) fn operand_name(operand: &str) -> String {
    let is_number = operand.starts_with(|c: char| c.is_ascii_digit());
    if is_number { identifier(&format!("v_{operand}")) } else { identifier(operand) }
}

/// The primitive type of an element type, if it is known and there is one.
fn primitive(element: &str) -> Option<Primitive> {
    match element {
        "bool" => Some(Primitive::Logical),
        "i8" | "i16" | "i32" | "i64" | "u8" => Some(Primitive::Integer),
        element => FLOATS.contains(&element).then_some(Primitive::Scalar),
    }
}

/// Whether elements of a type are complex numbers.
pub(super) fn is_complex(element: &str) -> bool {
    matches!(element, "c32" | "c64" | "c128")
}

/// Converts a shape to one of a graph.
pub(super) fn shape_of(typed: &Typed) -> Shape {
    let extents: Vec<Extent> = typed.extents.iter().map(|extent| Extent::from(*extent)).collect();
    Shape::new(&extents)
}

/// Whether a shape is compatible with the shape in the file.
fn fits(shape: &Shape, typed: &Typed) -> bool {
    let told = shape_of(typed);
    let same = shape.extents().iter().zip(told.extents()).all(|(a, b)| a.unify(b).is_some());
    shape.rank() == told.rank() && same
}

#[cfg(test)]
mod tests;

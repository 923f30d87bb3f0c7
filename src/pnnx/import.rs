//! Imports PNNX files as flat graphs: expressions are expanded, and every other operator becomes one operation, or
//! operations of NNEF if the options select that.

use rustc_hash::{FxHashMap, FxHashSet};

use super::data::Archive;
use super::expand::{self, Context, Item};
use super::graph::constant;
use super::lower::{self, Line, Operand};
use super::model::{ATTRIBUTE, EXPR, EXPRESSION, INPUT, Model, OUTPUT, Operator, Param, Role, Setting, Typed};
use super::parse::{Reading, parse};
use super::tokens::Literal;
use super::tree::{Term, push_leaf};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::names::NameId;
use crate::graph::standard::VARIABLE;
use crate::graph::{Extent, Graph, Primitive, Shape, TensorId, Value};
use crate::nnef::build::{Builder, Results};
use crate::nnef::migrate::target::{Target, identifier};
use crate::source::{FileId, Location, Span};
use crate::{Lower, Options};

/// Operators that combine operands to a list or tuple, and operators that unpack these.
const CONSTRUCTS: &[&str] = &["prim::TupleConstruct", "prim::ListConstruct"];
const UNPACKS: &[&str] = &["prim::TupleUnpack", "prim::ListUnpack"];

/// The variables of a graph by their labels: member of the archive, shape and type.
pub(crate) type Members = FxHashMap<String, (String, Typed)>;

/// A graph with its variables and warnings.
pub(crate) type Imported = (Graph, Members, Diagnostics);

impl Model {
    /// Converts the model to a flat graph.
    ///
    /// # Errors
    ///
    /// Expressions cannot be read or expanded, shapes are contradictory, or extents of inputs are unknown.
    pub(crate) fn graph(&self, file: FileId, options: &Options) -> Result<Imported, Diagnostics> {
        let target = Target::new();
        let builder = Builder::new("model", target.declarations());
        let mut import = Import {
            builder,
            file,
            options,
            held: FxHashMap::default(),
            names: FxHashSet::default(),
            members: Members::default(),
            renamed: 0,
            found: Diagnostics::new(options.strict),
        };
        for operator in &self.operators {
            import.operator(operator);
            if import.builder.graph.operations().len() as u64 > options.max_ops {
                let message = format!("the graph has more than {} operations", options.max_ops);
                import.report(Code::OperationBudget, operator.span, message);
                break;
            }
        }
        let given = options.shapes.inputs.iter().map(|(name, _)| name);
        let graph = &import.builder.graph;
        let known: Vec<String> = graph.inputs.iter().map(|input| graph.tensor_name(*input)).collect();
        let unknown: Vec<&String> = given.filter(|name| !known.contains(name)).collect();
        for name in unknown {
            let message = format!("the graph has no input `{name}`; its inputs are {}", known.join(", "));
            import.report(Code::OptionInput, Span::default(), message);
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

struct Import<'a, 'd> {
    builder: Builder<'d>,
    file: FileId,
    options: &'a Options,
    /// The item of each operand.
    held: FxHashMap<&'a str, Item>,
    /// The names of tensors.
    names: FxHashSet<String>,
    members: Members,
    /// The number of labels that were made unique.
    renamed: usize,
    found: Diagnostics,
}

impl<'a> Import<'a, '_> {
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
                let items = self.operands(operator);
                self.hold(operator, vec![Item::List(items.into())]);
            }
            kind if UNPACKS.contains(&kind) && self.unpacked(operator).is_some() => {
                let items = self.unpacked(operator).unwrap_or_default();
                self.hold(operator, items);
            }
            _ => self.other(operator),
        }
    }

    /// The items of the list that an operator unpacks.
    fn unpacked(&self, operator: &Operator) -> Option<Vec<Item>> {
        match self.held.get(operator.inputs.first()?.as_str())? {
            Item::List(items) if items.len() == operator.outputs.len() => Some(items.to_vec()),
            _ => None,
        }
    }

    fn operands(&self, operator: &Operator) -> Vec<Item> {
        let item = |name: &String| self.held.get(name.as_str()).cloned().unwrap_or(Item::Refused);
        operator.inputs.iter().map(item).collect()
    }

    fn hold(&mut self, operator: &'a Operator, items: Vec<Item>) {
        for (name, item) in operator.outputs.iter().zip(items) {
            self.held.insert(name, item);
        }
    }

    /// The name of an operand's tensor.
    fn name(&mut self, operand: &str) -> NameId {
        let text = identifier(&format!("v_{operand}"));
        self.distinct(text)
    }

    fn distinct(&mut self, mut text: String) -> NameId {
        while !self.names.insert(text.clone()) {
            text.push('_');
        }
        self.builder.name(&text)
    }

    fn input(&mut self, operator: &'a Operator) {
        let Some(output) = operator.outputs.first() else { return };
        let name = self.name(output);
        let mut text = String::new();
        self.builder.graph.names.write(&self.builder.graph.symbols, name, &mut text);
        let given = self.options.shapes.inputs.iter().find(|(input, _)| *input == text);
        let given =
            given.map(|(_, shape)| shape.iter().map(|extent| extent.known().unwrap_or(-1)).collect::<Vec<i64>>());
        let typed = operator.shape_of(output);
        let span = operator.param(Role::Shape, output).map_or(operator.span, |param| param.span);
        let known = || typed.as_ref()?.extents.iter().copied().collect::<Option<Vec<i64>>>();
        let Some(shape) = given.or_else(known) else {
            let message = format!("the shape of the input {} is not known", operator.name);
            let diagnostic = Diagnostic::new(Code::OpenExtent, Location::new(self.file, span), message);
            self.found.report(diagnostic.help(format!("give it: `--input-shape {text}=…`")));
            return self.hold(operator, vec![Item::Refused]);
        };
        let of = typed.as_ref().map_or(Primitive::Scalar, |typed| primitive(&typed.element));
        let fits = typed.is_none_or(|typed| fits(&Shape::of(&shape), &typed));
        if !fits {
            self.report(
                Code::PnnxShape,
                span,
                format!("the input {} does not have the shape {shape:?}", operator.name),
            );
        }
        if let Ok(tensor) = self.builder.input(of, name, &shape) {
            self.hold(operator, vec![Item::Tensor(tensor)]);
        }
    }

    fn output(&mut self, operator: &'a Operator) {
        let mut open: Vec<(&String, Item)> = operator.inputs.iter().zip(self.operands(operator)).rev().collect();
        while let Some((operand, item)) = open.pop() {
            match item {
                Item::Tensor(tensor) => {
                    let name = self.builder.graph.tensors[tensor.index()].name;
                    let name = self.builder.under(name, "out");
                    if self.builder.output(tensor, name, false).is_err() {
                        self.report(Code::ExpressionCounterpart, operator.span, "NNEF has no copy".to_owned());
                    }
                }
                Item::List(items) => open.extend(items.iter().rev().map(|item| (operand, item.clone()))),
                Item::Literal(literal) => {
                    let name = self.name(operand);
                    let tensor = constant(&mut self.builder, literal, &[], name);
                    if tensor.and_then(|tensor| self.builder.output(tensor, name, false).ok()).is_none() {
                        let message = format!("the output {operand} is a literal, but no finite number");
                        self.report(Code::ExpressionCounterpart, operator.span, message);
                    }
                }
                Item::Refused => {}
            }
        }
    }

    fn attribute(&mut self, operator: &'a Operator) {
        let Some((param, output)) = operator.params(Role::Data).next().zip(operator.outputs.first()) else {
            return self.report(Code::PnnxData, operator.span, format!("{} has no data", operator.name));
        };
        let name = self.name(output);
        let item = self.variable(operator, param, name).map_or(Item::Refused, Item::Tensor);
        self.check(operator, output, &item);
        self.hold(operator, vec![item]);
    }

    /// Adds a variable for stored data of an operator.
    fn variable(&mut self, operator: &Operator, param: &Param, name: NameId) -> Option<TensorId> {
        let typed = param.typed()?;
        let Some(shape) = typed.extents.iter().copied().collect::<Option<Vec<i64>>>() else {
            self.report(Code::PnnxData, param.span, "the extents of data are known".to_owned());
            return None;
        };
        let member = format!("{}.{}", operator.name, param.key);
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let mut plain: String = member.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
        // Readers of models ignore files whose names begin with a dot.
        if plain.starts_with('.') {
            plain.replace_range(..1, "_");
        }
        let mut label = plain.clone();
        while self.members.contains_key(&label) {
            self.renamed += 1;
            label = format!("{plain}_{}", self.renamed);
        }
        let arguments = [Value::Integers(shape.as_slice().into()), Value::String(label.as_str().into())];
        let of = primitive(&typed.element);
        self.members.insert(label, (member, typed));
        let results = [(name, Some(Shape::of(&shape)))];
        let tensors = self.builder.add(VARIABLE, Some(of), arguments, Results::Each(&results)).ok()?;
        tensors.first().copied()
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
        let parsed = match parse(&param.text, (self.file, param.span.start), reading) {
            Ok((parsed, warnings)) => {
                self.found.extend(warnings);
                parsed
            }
            Err(errors) => return self.found.extend(errors),
        };
        let name = self.name(output);
        let operands = self.operands(operator);
        let item = expand_items(
            &mut self.builder,
            &parsed.expression,
            &operands,
            name,
            (self.file, None),
            self.options,
            &mut self.found,
        );
        self.check(operator, output, &item);
        self.hold(operator, vec![item]);
    }

    /// Compares the shape of a result with the shape in the file; sets extents that are unknown.
    fn check(&mut self, operator: &Operator, output: &str, item: &Item) {
        let (Item::Tensor(tensor), Some(typed)) = (item, operator.shape_of(output)) else { return };
        let graph = &mut self.builder.graph;
        match graph.shape(*tensor) {
            None => graph.set_shape(*tensor, Some(shape_of(&typed))),
            Some(shape) if !fits(shape, &typed) => {
                let message = format!("the result {output} of {} has the shape {shape:?}", operator.name);
                let span = operator.param(Role::Shape, output).map_or(operator.span, |param| param.span);
                self.report(Code::PnnxShape, span, message);
            }
            Some(_) => {}
        }
    }

    /// Adds an operation for an operator, or equivalent operations of NNEF.
    fn other(&mut self, operator: &'a Operator) {
        let operands = self.operands(operator);
        if operands.contains(&Item::Refused) {
            return self.hold(operator, vec![Item::Refused; operator.outputs.len()]);
        }
        let names: Vec<NameId> = operator.outputs.iter().map(|output| self.name(output)).collect();
        let mut data = Vec::new();
        for param in operator.params(Role::Data) {
            let text = identifier(&format!("{}_{}", operator.name, param.key));
            let name = self.distinct(text);
            if let Some(tensor) = self.variable(operator, param, name) {
                data.push((param.key.clone(), tensor));
            }
        }
        let keys = operator.argument_names();
        if self.options.lower == Lower::All {
            let named = keys.iter().zip(&operands).map(|(key, item)| Operand::new(key, item)).collect();
            if let Some(results) = self.lowered(operator, &names, named, &data) {
                return self.hold(operator, results.into_iter().map(Item::Tensor).collect());
            }
            let message = format!("`{}` is passed through: it has no counterpart in NNEF here", operator.kind);
            self.report(Code::PnnxPassed, operator.span, message);
        }
        let arguments = arguments(operator, &keys, &operands, &data);
        let shapes = operator.outputs.iter().map(|output| operator.shape_of(output).map(|typed| shape_of(&typed)));
        let results: Vec<(NameId, Option<Shape>)> = names.into_iter().zip(shapes).collect();
        let tensors = self.builder.pass(&identifier(&operator.kind), arguments, Results::Each(&results));
        self.hold(operator, tensors.into_iter().map(Item::Tensor).collect());
    }

    /// Lowers an operator to operations of NNEF and returns their results; none, without adding operations, if
    /// that is not possible.
    fn lowered(
        &mut self,
        operator: &Operator,
        names: &[NameId],
        operands: Vec<Operand>,
        data: &[(String, TensorId)],
    ) -> Option<Vec<TensorId>> {
        let mark = self.builder.graph.mark();
        let before = self.builder.graph.tensors.len();
        let mut found = Diagnostics::new(self.options.strict);
        let mut line = Line {
            builder: &mut self.builder,
            operator,
            operands,
            data,
            name: names.first().copied().unwrap_or(NameId::ROOT),
            file: self.file,
            options: self.options,
            found: &mut found,
            counts: FxHashMap::default(),
        };
        let Some(results) = lower::lower(&mut line) else {
            // The findings of the attempt are dropped with its operations.
            self.builder.graph.rewind(mark);
            return None;
        };
        self.found.extend(found);
        for ((output, name), tensor) in operator.outputs.iter().zip(names).zip(&results) {
            // The result of some operators is an operand.
            if tensor.index() >= before {
                self.builder.graph.tensors[tensor.index()].name = *name;
            }
            self.check(operator, output, &Item::Tensor(*tensor));
        }
        Some(results)
    }
}

/// Expands an expression whose operands may be literals.
pub(super) fn expand_items(
    builder: &mut Builder,
    expression: &super::tree::Expression,
    operands: &[Item],
    name: NameId,
    (file, at): (FileId, Option<Location>),
    options: &Options,
    found: &mut Diagnostics,
) -> Item {
    let mut tensors = Vec::new();
    // Literals are substituted for operands in the expression.
    let mut places: Vec<Term> = Vec::new();
    for item in operands {
        places.push(match item {
            Item::Tensor(tensor) => {
                tensors.push(*tensor);
                Term::Argument(tensors.len() as u64 - 1)
            }
            Item::Literal(literal) => Term::Literal(*literal),
            Item::List(_) => Term::Literal(Literal::None),
            Item::Refused => return Item::Refused,
        });
    }
    let expression = expression.with_operands(&places);
    let (shaped, max_ops) = (tensors.len(), options.max_ops);
    let context = Context { file, at, operands: &tensors, shaped, name, share: false, max_ops };
    expand::expand(builder, &expression, context, found)
}

/// The arguments of an operator that is not lowered: operands, data, then parameters.
fn arguments(
    operator: &Operator,
    keys: &[String],
    operands: &[Item],
    data: &[(String, TensorId)],
) -> Vec<(String, Value)> {
    let mut arguments: Vec<(String, Value)> = Vec::new();
    let mut add = |key: &str, value: Value| {
        let key = identifier(key);
        // Stored data take precedence over a flag with the same key that indicates whether there are data.
        if arguments.iter().all(|(known, _)| *known != key) {
            arguments.push((key, value));
        }
    };
    keys.iter().zip(operands).for_each(|(key, item)| add(key, value(item)));
    data.iter().for_each(|(key, tensor)| add(key, Value::Tensor(*tensor)));
    operator.params(Role::Value).for_each(|param| add(&param.key, setting(&param.setting())));
    arguments
}

fn value(item: &Item) -> Value {
    match item {
        Item::Tensor(tensor) => Value::Tensor(*tensor),
        Item::Literal(found) => literal(*found),
        Item::List(items) => items_of(items.iter().map(value).collect()),
        Item::Refused => Value::String("None".into()),
    }
}

fn setting(setting: &Setting) -> Value {
    match setting {
        Setting::Literal(found) => literal(*found),
        Setting::Word(word) => Value::String(word.as_str().into()),
        Setting::List(items) => items_of(items.iter().map(self::setting).collect()),
    }
}

fn literal(literal: Literal) -> Value {
    match literal {
        Literal::Int(int) => Value::Int(int),
        Literal::Float(float) if float.is_finite() => Value::Scalar(float),
        Literal::Bool(truth) => Value::Logical(truth),
        Literal::Float(_) | Literal::Complex(..) | Literal::None => {
            let mut text = String::new();
            push_leaf(&mut text, Term::Literal(literal));
            Value::String(text.as_str().into())
        }
    }
}

/// An array value of a graph; arrays of integers are packed.
fn items_of(items: Vec<Value>) -> Value {
    let integers: Option<Vec<i64>> = items
        .iter()
        .map(|item| match item {
            Value::Int(int) => Some(*int),
            _ => None,
        })
        .collect();
    if let Some(integers) = integers {
        return Value::Integers(integers.into());
    }
    let number = |item: &Value| match item {
        Value::Int(int) => Some(*int as f64),
        Value::Scalar(scalar) => Some(*scalar),
        _ => None,
    };
    match items.iter().map(number).collect::<Option<Vec<f64>>>() {
        Some(scalars) => Value::Scalars(scalars.into()),
        None => Value::Array(items.into()),
    }
}

/// The primitive type of an element type.
fn primitive(element: &str) -> Primitive {
    match element {
        "bool" => Primitive::Logical,
        element if element.starts_with(['i', 'u']) => Primitive::Integer,
        _ => Primitive::Scalar,
    }
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

/// The data of a graph's variables.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    /// The archive, if there is one.
    pub(crate) archive: Option<Archive>,
    /// The variables.
    pub(crate) members: Members,
}

impl crate::eval::Variables for Weights {
    fn load(
        &self,
        label: &str,
        _: &[usize],
        _: Option<crate::tensor::DType>,
    ) -> Result<Option<crate::tensor::Tensor>, crate::tensor::TensorError> {
        let Some(archive) = &self.archive else { return Ok(None) };
        match self.members.get(label) {
            Some((member, typed)) => archive.tensor(member, typed).map(|tensor| Some(tensor.widened())),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;

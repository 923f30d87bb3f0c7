//! Flattens PNNX files: expressions become operators of torch, all other operators are kept.

use rustc_hash::{FxHashMap, FxHashSet};

use super::model::{EXPR, EXPRESSION, FLOATS, Model, Operator, Param, Role, Typed, UNKNOWN};
use super::parse::{Reading, parse};
use super::table::{Counterpart, Op};
use super::tokens::Literal;
use super::tree::{Expression, Node, Term, push_leaf};
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::{Extent, Shape};
use crate::source::{FileId, Location, Span};

/// The operations whose torch function has another name.
const NAMES: &[(&str, &str)] = &[
    ("and", "bitwise_and"),
    ("lshift", "bitwise_left_shift"),
    ("or", "bitwise_or"),
    ("rshift", "bitwise_right_shift"),
    ("xor", "bitwise_xor"),
];

/// The expansion of a node of an expression.
#[derive(Clone, Debug)]
enum Made {
    /// An operand of the file.
    Operand(String),
    Literal(Literal),
    /// None: the error has been reported.
    Refused,
}

impl Model {
    /// The model with its expressions expanded.
    ///
    /// # Errors
    ///
    /// Expressions cannot be read, or torch has no function for a part of them.
    pub(crate) fn flattened(&self, file: FileId, options: &Options) -> Result<(Model, Diagnostics), Diagnostics> {
        let outputs = || self.operators.iter().flat_map(|operator| &operator.outputs);
        let next = outputs().filter_map(|name| name.parse::<u64>().ok()).max().map_or(0, |most| most.saturating_add(1));
        let mut flattening = Flattening {
            file,
            options,
            model: Model::default(),
            next,
            names: self.operators.iter().map(|operator| operator.name.clone()).collect(),
            shapes: FxHashMap::default(),
            became: FxHashMap::default(),
            found: Diagnostics::new(options.strict),
        };
        for operator in &self.operators {
            for param in operator.params(Role::Shape) {
                if let Some(typed) = param.typed() {
                    flattening.shapes.entry(param.key.clone()).or_insert(typed);
                }
            }
            if operator.kind == EXPRESSION { flattening.expression(operator) } else { flattening.other(operator) }
        }
        if flattening.found.has_errors() { Err(flattening.found) } else { Ok((flattening.model, flattening.found)) }
    }
}

struct Flattening<'a> {
    file: FileId,
    options: &'a Options,
    model: Model,
    /// The number of the next new operand.
    next: u64,
    /// The names of operators.
    names: FxHashSet<String>,
    shapes: FxHashMap<String, Typed>,
    /// The expansions of expressions whose results are not results of an operator.
    became: FxHashMap<String, Made>,
    found: Diagnostics,
}

impl Flattening<'_> {
    fn refuse(&mut self, span: Span, message: String) -> Made {
        let at = Location::new(self.file, span);
        self.found.report(Diagnostic::new(Code::ExpressionCounterpart, at, message));
        Made::Refused
    }

    /// Adds an operator that is kept, with its operands replaced by their expansions.
    fn other(&mut self, operator: &Operator) {
        let mut changed = operator.clone();
        changed.inputs.clear();
        // The operands that are literals and have no name.
        let mut unnamed: FxHashMap<&str, usize> = FxHashMap::default();
        for input in &operator.inputs {
            match self.became.get(input) {
                None => changed.inputs.push(input.clone()),
                Some(Made::Refused) => return,
                Some(Made::Operand(name)) => changed.inputs.push(name.clone()),
                Some(Made::Literal(_)) => *unnamed.entry(input).or_default() += 1,
            }
        }
        for param in operator.params(Role::Argument) {
            unnamed.entry(&param.text).and_modify(|count| *count = count.saturating_sub(1));
        }
        if unnamed.values().any(|count| *count > 0) {
            let message = format!("an operand of {} is a number, and nothing says what it is for", operator.name);
            self.refuse(operator.span, message);
            return;
        }
        changed.params = operator.params.iter().filter_map(|param| self.param(param)).collect();
        self.model.operators.push(changed);
    }

    /// A parameter with its operand replaced by its expansion; none if it is the shape of a literal.
    fn param(&self, param: &Param) -> Option<Param> {
        let operand = match param.role {
            Role::Argument => &param.text,
            Role::Shape => &param.key,
            Role::Value | Role::Data => return Some(param.clone()),
        };
        match (param.role, self.became.get(operand)) {
            (Role::Argument, Some(Made::Operand(name))) => Some(Param { text: name.clone(), ..param.clone() }),
            (Role::Argument, Some(Made::Literal(literal))) => {
                Some(Param { role: Role::Value, text: text(*literal), ..param.clone() })
            }
            (_, Some(Made::Operand(name))) => Some(Param { key: name.clone(), ..param.clone() }),
            (_, Some(Made::Literal(_))) => None,
            _ => Some(param.clone()),
        }
    }

    fn expression(&mut self, operator: &Operator) {
        let Some((output, param)) = operator.outputs.first().zip(operator.param(Role::Value, EXPR)) else {
            self.refuse(operator.span, "an expression has the parameter `expr` and a result".to_owned());
            return;
        };
        let arity = Some(operator.inputs.len() as u64);
        let reading = Reading { arity, compat: true, template: false, strict: self.options.strict };
        let expression = match parse(&param.text, (self.file, param.span.start), reading) {
            Ok((parsed, warnings)) => {
                self.found.extend(warnings);
                parsed.expression
            }
            Err(errors) => return self.found.extend(errors),
        };
        let extents = |number: u64| {
            let name = operator.inputs.get(usize::try_from(number).ok()?)?;
            self.shapes.get(name).map(|typed| typed.extents.clone())
        };
        let expression = expression.folded(&extents);
        let mut results: Vec<Made> = Vec::with_capacity(expression.len());
        for (id, node) in expression.nodes() {
            let operands: Vec<Made> =
                expression.operands(node).iter().map(|operand| results[operand.index()].clone()).collect();
            let last = (id.index() + 1 == expression.len()).then_some(output.as_str());
            results.push(self.node(node, operands, (operator, &expression), last));
        }
        match results.pop() {
            Some(Made::Operand(name)) if name == *output => {}
            Some(result) => drop(self.became.insert(output.clone(), result)),
            None => {}
        }
    }

    fn node(
        &mut self,
        node: &Node,
        operands: Vec<Made>,
        (operator, _): (&Operator, &Expression),
        output: Option<&str>,
    ) -> Made {
        if operands.iter().any(|operand| matches!(operand, Made::Refused)) {
            return Made::Refused;
        }
        match node.term {
            Term::Literal(literal) => Made::Literal(literal),
            Term::Argument(number) => {
                let name = usize::try_from(number).ok().and_then(|number| operator.inputs.get(number)).cloned();
                let Some(name) = name else { return Made::Refused };
                self.became.get(&name).cloned().unwrap_or(Made::Operand(name))
            }
            Term::List if operands.iter().all(|operand| matches!(operand, Made::Operand(_))) => {
                self.add("prim::ListConstruct", &[], operands, operator, output)
            }
            Term::List => self.refuse(node.span, "a list of numbers is no operator".to_owned()),
            Term::Call(op) => self.call(op, node, operands, operator, output),
        }
    }

    fn call(&mut self, op: Op, node: &Node, operands: Vec<Made>, operator: &Operator, output: Option<&str>) -> Made {
        let name = op.row().name;
        match (op.row().nnef, operands.as_slice()) {
            (Counterpart::CompileTime, [Made::Operand(_), Made::Literal(Literal::Int(_))]) => {
                self.add("Tensor.size", &["input", "dim"], operands, operator, output)
            }
            (Counterpart::CompileTime, _) => {
                self.refuse(node.span, format!("`{name}` needs a number that is known while expanding"))
            }
            (_, operands) if !operands.iter().any(|operand| matches!(operand, Made::Operand(_))) => {
                self.refuse(node.span, format!("`{name}` has no value for these literals"))
            }
            _ => {
                let function = NAMES.iter().find(|(known, _)| *known == name).map_or(name, |(_, torch)| torch);
                let second = if name == "pow" { "exponent" } else { "other" };
                self.add(&format!("torch.{function}"), &["input", second], operands, operator, output)
            }
        }
    }

    /// Adds an operator; its result is `output`, that of the expression, or a new operand.
    fn add(
        &mut self,
        kind: &str,
        keys: &[&str],
        operands: Vec<Made>,
        operator: &Operator,
        output: Option<&str>,
    ) -> Made {
        if self.model.operators.len() as u64 >= self.options.max_ops {
            let at = Location::new(self.file, operator.span);
            let message = format!("the model has more than {} operators", self.options.max_ops);
            self.found.report(Diagnostic::new(Code::OperationBudget, at, message));
            return Made::Refused;
        }
        let result = match output {
            Some(output) => output.to_owned(),
            None => {
                self.next += 1;
                (self.next - 1).to_string()
            }
        };
        let mut added = Operator { kind: kind.to_owned(), outputs: vec![result.clone()], ..Operator::default() };
        // The last operator has the name of the expression.
        added.name = operator.name.clone();
        for number in 1.. {
            if output.is_some() || self.names.insert(added.name.clone()) {
                break;
            }
            added.name = format!("{}_{number}", operator.name);
        }
        for (i, operand) in operands.into_iter().enumerate() {
            let key = keys.get(i).copied();
            match operand {
                Made::Operand(name) => {
                    added.params.extend(key.map(|key| Param::new(Role::Argument, key, name.clone())));
                    added.inputs.push(name);
                }
                Made::Literal(literal) => {
                    added.params.extend(key.map(|key| Param::new(Role::Value, key, text(literal))));
                }
                Made::Refused => {}
            }
        }
        // In the order of pnnx: values, then arguments, then shapes.
        added.params.sort_by_key(|param| param.role == Role::Argument);
        if output.is_none() && kind.starts_with("torch.") {
            self.infer(&added.inputs, &result);
        }
        for name in added.inputs.iter().chain(&added.outputs) {
            let known = added.params.iter().any(|param| param.role == Role::Shape && param.key == *name);
            if let Some(typed) = self.shapes.get(name).filter(|_| !known) {
                added.params.push(Param::new(Role::Shape, name, typed.to_string()));
            }
        }
        self.model.operators.push(added);
        Made::Operand(result)
    }

    /// Records the shape that operands are broadcast to, with the last axes aligned. The type is known only if all
    /// operands have the same type of floats: other types depend on the operation and on its literals.
    fn infer(&mut self, operands: &[String], result: &str) {
        let typed: Option<Vec<&Typed>> = operands.iter().map(|name| self.shapes.get(name)).collect();
        let Some(typed) = typed else { return };
        let Some(first) = typed.first() else { return };
        let rank = typed.iter().map(|typed| typed.extents.len()).max().unwrap_or(0);
        let mut extents = vec![Extent::ONE; rank];
        for typed in &typed {
            let shape: Shape = super::import::shape_of(typed);
            for (to, extent) in extents[rank - shape.rank()..].iter_mut().zip(shape.extents()) {
                let Some(both) = to.broadcast(extent) else { return };
                *to = both;
            }
        }
        let extents = extents.iter().map(Extent::known).collect();
        let same = FLOATS.contains(&first.element.as_str()) && typed.iter().all(|typed| typed.element == first.element);
        let element = if same { first.element.clone() } else { UNKNOWN.to_owned() };
        self.shapes.insert(result.to_owned(), Typed { extents, element });
    }
}

/// A literal as the value of a parameter.
fn text(literal: Literal) -> String {
    let mut text = String::new();
    push_leaf(&mut text, Term::Literal(literal));
    text
}

impl std::fmt::Display for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let extent = |extent: &Option<i64>| extent.map_or("?".to_owned(), |extent| extent.to_string());
        let extents: Vec<String> = self.extents.iter().map(extent).collect();
        write!(f, "({}){}", extents.join(","), self.element)
    }
}

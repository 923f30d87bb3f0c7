//! Flattens PNNX files: expressions become expressions of one operation each, all other operators are kept.
//!
//! Operators of torch would lose operands and literals: the parameters of pnnx have no complex numbers, and its loader
//! finds an operand by its name, so that an operand that is used twice would have one key only.

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::expression_table::Counterpart;
use super::import::is_complex;
use super::model::{EXPR, EXPRESSION, FLOATS, Operator, OperatorParam, PnnxModel, Role, Typed, UNKNOWN};
use super::parse::{Reading, is_text, parse};
use super::tokens::Literal;
use super::tree::{Term, TreeNode, push_leaf};
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, too_many};
use crate::graph::{Extent, Shape};
use crate::library::distinct::Distinct;
use crate::source::{FileId, Location, Span};

/// The expansion of a node of an expression.
#[derive(Clone, Debug)]
enum NodeExpansion {
    /// An operand of the file.
    Operand(String),
    Literal(Literal),
    /// None: the error has been reported.
    Refused,
}

impl PnnxModel {
    /// The model with its expressions expanded.
    ///
    /// # Errors
    ///
    /// Expressions cannot be read.
    pub(crate) fn flattened(&self, file: FileId, options: &Options) -> Result<(PnnxModel, Diagnostics), Diagnostics> {
        let outputs = || self.operators.iter().flat_map(|operator| &operator.outputs);
        let next = outputs().filter_map(|name| name.parse::<u64>().ok()).max().map_or(0, |most| most.saturating_add(1));
        let mut flattening = Flattening {
            file,
            options,
            model: PnnxModel::default(),
            next,
            names: Distinct::default(),
            shapes: FxHashMap::default(),
            became: FxHashMap::default(),
            found: Diagnostics::of(options.policy()),
        };
        for operator in &self.operators {
            flattening.names.add(&operator.name, false);
        }
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
    model: PnnxModel,
    /// The number of the next new operand.
    next: u64,
    /// The names of operators.
    names: Distinct,
    shapes: FxHashMap<String, Typed>,
    /// The operands that expressions stand for that are only an operand.
    became: FxHashMap<String, String>,
    found: Diagnostics,
}

impl Flattening<'_> {
    fn refuse(&mut self, code: Code, span: Span, message: String) -> NodeExpansion {
        self.found.report(Diagnostic::new(code, Location::new(self.file, span), message));
        NodeExpansion::Refused
    }

    /// The operand that stands for an operand of the file.
    fn renamed(&self, operand: &str) -> String {
        self.became.get(operand).map_or(operand, String::as_str).to_owned()
    }

    /// Adds an operator that is kept, with its operands replaced by those that stand for them.
    fn other(&mut self, operator: &Operator) {
        let mut kept = operator.clone();
        kept.inputs.iter_mut().for_each(|input| *input = self.renamed(input));
        for param in &mut kept.params {
            match param.role {
                Role::Argument => param.text = self.renamed(&param.text),
                Role::Shape => param.key = self.renamed(&param.key),
                Role::Value | Role::Data => {}
            }
        }
        self.model.operators.push(kept);
    }

    fn expression(&mut self, operator: &Operator) {
        let Some((output, param)) = operator.outputs.first().zip(operator.param(Role::Value, EXPR)) else {
            let message = "an expression has the parameter `expr` and a result".to_owned();
            self.refuse(Code::PnnxSyntax, operator.span, message);
            return;
        };
        let arity = Some(operator.inputs.len() as u64);
        let reading = Reading { arity, compat: true, template: false, strict: self.options.strict };
        let expression = match parse(&param.text, self.file, param.span.start, reading) {
            Ok((parsed, warnings)) => {
                self.found.extend(warnings);
                parsed.expression
            }
            // A text is a value, not an operation.
            Err(_) if operator.inputs.is_empty() && is_text(&param.text) => {
                return self.model.operators.push(operator.clone());
            }
            Err(errors) => return self.found.extend(errors),
        };
        // NNEF has no complex numbers: such an expression is an operation of its own.
        let is_complex = |name: &String| self.shapes.get(name).is_some_and(|typed| is_complex(&typed.element));
        if expression.operations() > 0 && (expression.has_complex() || operator.inputs.iter().any(is_complex)) {
            return self.other(operator);
        }
        let extents = |number: u64| {
            let name = operator.inputs.get(usize::try_from(number).ok()?)?;
            self.shapes.get(name).map(|typed| typed.extents.clone())
        };
        let expression = expression.folded(&extents);
        let mut results: Vec<NodeExpansion> = Vec::with_capacity(expression.len());
        for (id, node) in expression.nodes() {
            let operands: Vec<NodeExpansion> =
                expression.operands(node).iter().map(|operand| results[operand.index()].clone()).collect();
            let last = (id.index() + 1 == expression.len()).then_some(output.as_str());
            let made = self.node(node, operands, operator, last);
            if matches!(made, NodeExpansion::Refused) {
                return;
            }
            results.push(made);
        }
        match results.pop() {
            Some(NodeExpansion::Operand(name)) if name == *output => {}
            Some(NodeExpansion::Operand(name)) => drop(self.became.insert(output.clone(), name)),
            Some(NodeExpansion::Literal(literal)) => {
                let (expr, none) = (text(literal), Vec::new());
                self.add(expr, false, none, operator, Some(output));
            }
            Some(NodeExpansion::Refused) | None => {}
        }
    }

    fn node(
        &mut self,
        node: &TreeNode,
        operands: Vec<NodeExpansion>,
        operator: &Operator,
        output: Option<&str>,
    ) -> NodeExpansion {
        match node.term {
            Term::Literal(literal) => NodeExpansion::Literal(literal),
            Term::Argument(number) => {
                let name = usize::try_from(number).ok().and_then(|number| operator.inputs.get(number)).cloned();
                name.map_or(NodeExpansion::Refused, |name| NodeExpansion::Operand(self.renamed(&name)))
            }
            Term::List if operands.iter().all(|operand| matches!(operand, NodeExpansion::Operand(_))) => {
                self.list(operands, operator, output)
            }
            Term::List => self.single("[", "]", false, operands, operator, output),
            Term::Call(op) => {
                let by_item = op.row().nnef != Counterpart::CompileTime;
                self.single(&format!("{}(", op.row().name), ")", by_item, operands, operator, output)
            }
        }
    }

    /// Adds a list of operands.
    fn list(&mut self, operands: Vec<NodeExpansion>, operator: &Operator, output: Option<&str>) -> NodeExpansion {
        let name = |operand| if let NodeExpansion::Operand(name) = operand { Some(name) } else { None };
        self.add_operator(
            "prim::ListConstruct",
            false,
            operands.into_iter().filter_map(name).collect(),
            operator,
            output,
        )
    }

    /// Adds an expression of one operation, or a list, between two words. `by_item` is whether its result has the shape
    /// that the operands are broadcast to.
    fn single(
        &mut self,
        before: &str,
        after: &str,
        by_item: bool,
        operands: Vec<NodeExpansion>,
        operator: &Operator,
        output: Option<&str>,
    ) -> NodeExpansion {
        let mut inputs: IndexSet<String> = IndexSet::new();
        let mut expr = before.to_owned();
        for (i, operand) in operands.into_iter().enumerate() {
            expr.push_str(if i > 0 { "," } else { "" });
            match operand {
                NodeExpansion::Operand(name) => push_leaf(&mut expr, Term::Argument(inputs.insert_full(name).0 as u64)),
                NodeExpansion::Literal(literal) => push_leaf(&mut expr, Term::Literal(literal)),
                NodeExpansion::Refused => return NodeExpansion::Refused,
            }
        }
        expr.push_str(after);
        self.add(expr, by_item, inputs.into_iter().collect(), operator, output)
    }

    /// Adds an expression.
    fn add(
        &mut self,
        expr: String,
        by_item: bool,
        inputs: Vec<String>,
        operator: &Operator,
        output: Option<&str>,
    ) -> NodeExpansion {
        let made = self.add_operator(EXPRESSION, by_item, inputs, operator, output);
        if let (NodeExpansion::Operand(_), Some(added)) = (&made, self.model.operators.last_mut()) {
            added.params.insert(0, OperatorParam::new(Role::Value, EXPR, expr));
        }
        made
    }

    /// Adds an operator; its result is `output`, that of the expression, or a new operand.
    fn add_operator(
        &mut self,
        kind: &str,
        by_item: bool,
        inputs: Vec<String>,
        operator: &Operator,
        output: Option<&str>,
    ) -> NodeExpansion {
        if self.model.operators.len() as u64 >= self.options.max_ops {
            let message = too_many("the model", self.options.max_ops, "operators");
            return self.refuse(Code::OperationBudget, operator.span, message);
        }
        let result = match output {
            Some(output) => output.to_owned(),
            None => {
                self.next += 1;
                (self.next - 1).to_string()
            }
        };
        // The last operator has the name of the expression.
        let name = if output.is_some() { operator.name.clone() } else { self.names.add(&operator.name, false) };
        let mut added = Operator { kind: kind.to_owned(), name, inputs, ..Operator::default() };
        if output.is_none() && by_item {
            self.infer(&added.inputs, &result);
        }
        added.outputs.push(result.clone());
        let mut known: FxHashSet<&str> = FxHashSet::default();
        for name in added.inputs.iter().chain(&added.outputs).filter(|name| known.insert(name.as_str())) {
            if let Some(typed) = self.shapes.get(name) {
                added.params.push(OperatorParam::new(Role::Shape, name, typed.to_string()));
            }
        }
        self.model.operators.push(added);
        NodeExpansion::Operand(result)
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

/// The text of a literal.
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

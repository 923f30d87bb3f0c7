//! Laws of compile-time expressions: the program and the naive model agree on values and on
//! failures, with as few and with as many parentheses as possible.

use std::collections::HashMap;
use std::fmt;

use crate::common::{HEADER, error_codes, flat_text, run, tell};
use crate::expr::{Expr, Generator, Parentheses, Ty};
use crate::model::{self, Fault, Scope, Value};
use crate::tape::{Tape, cases, generated};
use nnef_flatten::{Graph, Options};
use proptest::prelude::*;

/// An expression and its environment.
struct Case {
    ty: Ty,
    /// Attributes of the fragment: name, type, literal.
    params: Vec<(String, Ty, Expr)>,
    /// Locals of the fragment, each of which may use those before it.
    locals: Vec<(String, Expr)>,
    expr: Expr,
}

impl Case {
    fn scope(&self) -> Scope {
        let literal = |expr: &Expr| model::evaluate(expr, &Scope::default()).expect("a literal");
        let values: HashMap<String, Value> =
            self.params.iter().map(|(name, _, value)| (name.clone(), literal(value))).collect();
        Scope { values, locals: self.locals.iter().cloned().collect() }
    }

    /// A document whose operation `pi` gets the value.
    fn document(&self, parentheses: Parentheses) -> String {
        let ty = self.ty.text();
        let head = format!("{HEADER}fragment pi( x: tensor<scalar>, a: {ty} ) -> ( y: tensor<scalar> );\n");
        let call = format!("y = pi(x, a = {});", self.expr.print(parentheses));
        let graph = |body: &str| format!("graph G( x ) -> ( y )\n{{\n    x = external(shape = [2]);\n    {body}\n}}\n");
        if self.params.is_empty() && self.locals.is_empty() {
            return head + &graph(&call);
        }
        let params: String = self.params.iter().map(|(name, ty, _)| format!(", {name}: {}", ty.text())).collect();
        let args: String = self
            .params
            .iter()
            .map(|(name, _, value)| format!(", {name} = {}", value.print(Parentheses::Minimal)))
            .collect();
        let locals: String =
            self.locals.iter().map(|(name, value)| format!("    {name} = {};\n", value.print(parentheses))).collect();
        let body = format!("{{\n{locals}    {call}\n}}\n");
        format!(
            "{head}fragment f( x: tensor<scalar>{params} ) -> ( y: tensor<scalar> )\n{body}{}",
            graph(&format!("y = f(x{args});"))
        )
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "\n{}", self.document(Parentheses::Minimal))
    }
}

fn alone(tape: &mut Tape) -> Case {
    let mut generator = Generator::new(tape, Vec::new());
    let ty = generator.ty(2);
    Case { expr: generator.expr(&ty, 5), ty, params: Vec::new(), locals: Vec::new() }
}

fn in_fragment(tape: &mut Tape) -> Case {
    let mut generator = Generator::new(tape, Vec::new());
    let ty = generator.ty(2);
    let mut params = Vec::new();
    for i in 0..1 + generator.tape.below(3) {
        let of = generator.ty(1);
        params.push((format!("p{i}"), of.clone(), generator.literal(&of)));
    }
    generator.scope = params.iter().map(|(name, ty, _)| (name.clone(), ty.clone())).collect();
    let mut locals = Vec::new();
    for i in 0..generator.tape.below(3) {
        let of = if generator.tape.below(2) == 0 { ty.clone() } else { generator.ty(1) };
        let value = generator.expr(&of, 3);
        locals.push((format!("l{i}"), value));
        generator.scope.push((format!("l{i}"), of));
    }
    let expr = generator.expr(&ty, 4);
    Case { ty, params, locals, expr }
}

/// Arithmetic on the iterators and the parameter of [`long_comprehension`].
fn arithmetic(tape: &mut Tape, ty: &Ty, names: &[&str], depth: usize) -> Expr {
    match tape.below(if depth == 0 { 4 } else { 8 }) {
        0 | 1 => Expr::Var((*tape.pick(names)).to_string()),
        2 => Expr::Var("p0".to_string()),
        3 => Generator::new(tape, Vec::new()).literal(ty),
        4 => Expr::Unary("-", Box::new(arithmetic(tape, ty, names, depth - 1))),
        _ => {
            let op = *tape.pick(&["+", "-", "*", "/", "^"]);
            let mut side = || Box::new(arithmetic(tape, ty, names, depth - 1));
            Expr::Binary(op, side(), side())
        }
    }
}

/// A comprehension with many items, each of which is computed by arithmetic only.
fn long_comprehension(tape: &mut Tape) -> Case {
    let ty = if tape.below(2) == 0 { Ty::Int } else { Ty::Scalar };
    let turns = 14 + tape.below(4) + 505 * tape.below(3);
    let names = ["v", "w"];
    let iterators = names.iter().map(|name| {
        let (step, spread, from) = (1 + tape.below(40), 1 + tape.below(60), tape.below(10) as i64);
        let item = |turn: usize| match ((turn * step % spread) as i64 - from, &ty) {
            (number, Ty::Int) => (number < 0, Expr::Int(number.abs())),
            (number, _) => (number < 0, Expr::Scalar(number.abs() as f64 / 4.0)),
        };
        let signed = |(negative, item)| if negative { Expr::Unary("-", Box::new(item)) } else { item };
        (name.to_string(), Expr::Array((0..turns).map(|turn| signed(item(turn))).collect()))
    });
    let iterators: Vec<_> = iterators.collect();
    let params = vec![("p0".to_string(), ty.clone(), Generator::new(tape, Vec::new()).literal(&ty))];
    let item = arithmetic(tape, &ty, &names, 3);
    let expr = Expr::Comprehension(iterators, None, Box::new(item));
    Case { ty: Ty::array(ty), params, locals: Vec::new(), expr }
}

/// The value of the attribute of `pi`.
fn attribute(graph: &Graph) -> nnef_flatten::graph::Value {
    let operation = graph.operations().find(|operation| operation.name() == "pi").expect("pi");
    operation.argument("a").expect("its attribute").to_value()
}

/// Evaluates a document with the program and compares. Locals that are needed in any case are
/// evaluated before the expression, so which of two failures comes first is not compared then.
fn compare(case: &Case, parentheses: Parentheses, expected: &Result<Value, Fault>) -> Result<(), TestCaseError> {
    let text = case.document(parentheses);
    match (run(&text, &Options::default()), expected) {
        (Ok(expansion), Ok(value)) => {
            let found = attribute(&expansion.graph);
            prop_assert!(model::agrees(value, &found), "{value:?} is expected, {found:?} found in\n{text}");
            let flat = flat_text(&expansion.graph);
            let again = run(&flat, &Options::default());
            let again =
                again.map_err(|errors| TestCaseError::fail(format!("{}\nin the flat text\n{flat}", tell(&errors))))?;
            prop_assert_eq!(flat_text(&again.graph), flat);
        }
        (Ok(expansion), Err(fault)) => {
            let found = attribute(&expansion.graph);
            prop_assert!(false, "{fault:?} is expected, {found:?} found in\n{text}");
        }
        (Err(errors), Ok(value)) => prop_assert!(false, "{value:?} is expected, found\n{}\nin\n{text}", tell(&errors)),
        (Err(errors), Err(fault)) => {
            let codes = error_codes(&errors);
            let evaluation =
                |code: &str| ["E0802", "E0803", "E0804", "E0715", "E0714", "E0712", "E0812", "E0813"].contains(&code);
            let agrees = match case.locals.is_empty() {
                true => codes.iter().all(|code| fault.codes().contains(code)),
                false => codes.iter().all(|code| evaluation(code)),
            };
            prop_assert!(agrees, "{fault:?} is expected, found\n{}\nin\n{text}", tell(&errors));
        }
    }
    Ok(())
}

fn agree(case: &Case) -> Result<(), TestCaseError> {
    let expected = model::evaluate(&case.expr, &case.scope());
    prop_assume!(!matches!(expected, Err(Fault::Unwieldy)));
    compare(case, Parentheses::Minimal, &expected)?;
    compare(case, Parentheses::Full, &expected)
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn expressions_of_the_graph_have_the_value_of_the_model(case in generated(60, alone)) {
        agree(&case)?;
    }

    #[test]
    fn long_comprehensions_have_the_value_of_the_model(case in generated(40, long_comprehension)) {
        agree(&case)?;
    }

    #[test]
    fn expressions_of_fragments_have_the_value_of_the_model(case in generated(80, in_fragment)) {
        agree(&case)?;
    }
}

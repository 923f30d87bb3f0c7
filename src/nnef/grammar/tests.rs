use proptest::prelude::*;

use super::*;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::nnef::ast::{Assignment, Ast, BinaryOp, Body, Expr, ExprId, Module, UnaryOp};
use crate::nnef::print::{print_expr, print_module};
use crate::source::Sources;
use crate::source::names::Names;
use crate::tests::{RealDocument, matching, models};

struct Parsed {
    sources: Sources,
    names: Names,
    module: Module,
    diagnostics: Diagnostics,
}

fn parse_as(text: &str, dialect: Dialect) -> Parsed {
    let mut sources = Sources::new();
    let file = sources.add("test", text.to_string());
    let (mut names, mut diagnostics) = (Names::new(), Diagnostics::new(false));
    let module = parse_module(file, text, dialect, ModuleKind::Document, &mut names, &mut diagnostics);
    Parsed { sources, names, module, diagnostics }
}

fn findings(parsed: &Parsed) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let at = parsed.sources.start(d.at);
        format!("{:?} {}:{} {}", d.code, at.line, at.column, d.message)
    };
    parsed.diagnostics.iter().map(line).collect()
}

/// The codes and locations of the diagnostics.
fn places(text: &str, dialect: Dialect) -> Vec<(Code, u32, u32)> {
    let parsed = parse_as(text, dialect);
    let place = |d: &Diagnostic| {
        let at = parsed.sources.start(d.at);
        (d.code, at.line, at.column)
    };
    parsed.diagnostics.iter().map(place).collect()
}

fn body(text: &str) -> String {
    format!("version 1.0;\ngraph g( x ) -> ( y )\n{{\n{text}\n}}\n")
}

fn draft_body(text: &str) -> String {
    format!(
        "version 1.0\nfragment f( x: tensor ) -> ( y: tensor )\n{{\n{text}\n}}\ngraph g( x ) -> ( y ) {{ y = f(x) }}\n"
    )
}

/// An expression as text that shows its tree.
fn tree(ast: &Ast, names: &Names, id: ExprId) -> String {
    let sub = |id| tree(ast, names, id);
    let all = |ids: &[ExprId]| ids.iter().map(|id| sub(*id)).collect::<Vec<_>>().join(" ");
    match ast.expr(id) {
        Expr::Error => "error".into(),
        Expr::Name(name) => names.text(name).into(),
        Expr::Int(value) => format!("{value}"),
        Expr::Scalar(value) => format!("{value:?}"),
        Expr::Logical(value) => format!("{value}"),
        Expr::String(name) => format!("{:?}", names.text(name)),
        Expr::Array(list) => format!("[{}]", all(ast.items(list))),
        Expr::IntArray(list) => format!("ints{:?}", &ast.ints[list.range()]),
        Expr::ScalarArray(list) => format!("scalars{:?}", &ast.scalars[list.range()]),
        Expr::Numbers(numbers) => format!("{:?}", ast.numbers[numbers.index()]),
        Expr::Tuple(list) => format!("(, {})", all(ast.items(list))),
        Expr::Unary { op, operand } => format!("({op:?} {})", sub(operand)),
        Expr::Binary { op, lhs, rhs, .. } => format!("({op:?} {} {})", sub(lhs), sub(rhs)),
        Expr::Select { condition, yes, no } => format!("(select {} {} {})", sub(condition), sub(yes), sub(no)),
        Expr::Index { base, index } => format!("(at {} {})", sub(base), sub(index)),
        Expr::Slice { base, begin, end } => {
            format!("(slice {} {} {})", sub(base), begin.map_or("-".into(), sub), end.map_or("-".into(), sub))
        }
        Expr::Comprehension(id) => {
            let loops = ast.comprehensions[id.index()];
            let iterators = &ast.iterators[loops.iterators.range()];
            let each = |i: &crate::nnef::ast::Iterator| format!("{}:{}", names.text(i.name.name), sub(i.iterable));
            let iterators: Vec<_> = iterators.iter().map(each).collect();
            format!("(for {} {} {})", iterators.join(" "), loops.filter.map_or("-".into(), sub), sub(loops.item))
        }
        Expr::Loop(id) => {
            let of = ast.loops[id.index()];
            let name = |ident: crate::nnef::ast::Ident| names.text(ident.name);
            let recurrences = &ast.recurrences[of.recurrences.range()];
            let with: Vec<_> =
                recurrences.iter().map(|r| format!("{}:{:?}={}", name(r.name), r.ty, sub(r.initial))).collect();
            let iterators = &ast.iterators[of.iterators.range()];
            let each: Vec<_> = iterators.iter().map(|i| format!("{}:{}", name(i.name), sub(i.iterable))).collect();
            let maybe = |id: Option<ExprId>| id.map_or("-".into(), sub);
            let conditions = [of.before, of.count, of.after].map(maybe).join(" ");
            let index = of.index.map_or("-", name);
            let (words, body) = ((of.unroll, of.block), [ast.items(of.statements), ast.items(of.results)].map(all));
            format!("(loop {with:?} {each:?} {words:?} {index} {conditions} {body:?})")
        }
        Expr::Builtin { function, argument } => format!("({function:?} {})", sub(argument)),
        Expr::Call(id) => {
            let call = ast.call(id);
            let argument = |arg: crate::nnef::ast::Arg| match arg.name {
                Some(name) => format!("{}={}", names.text(name.name), sub(arg.value)),
                None => sub(arg.value),
            };
            let args: Vec<_> = ast.arguments(&call).iter().map(argument).collect();
            let generic = call.generic.map_or(String::new(), |g| format!("<{:?}>", g.0));
            format!("{}{generic}({})", names.text(call.name.name), args.join(" "))
        }
    }
}

/// The statements of the graph, with their nodes.
fn statements(module: &Module) -> (&Ast, &[Assignment]) {
    (&module.ast, &module.graphs[0].body.assignments)
}

fn value(expr: &str) -> String {
    let parsed = parse_as(&body(&format!("y = {expr};")), Dialect::V1);
    assert!(!parsed.diagnostics.has_errors(), "{expr}: {:?}", findings(&parsed));
    let (ast, statements) = statements(&parsed.module);
    tree(ast, &parsed.names, statements[0].value)
}

fn draft_value(expr: &str) -> String {
    let parsed = parse_as(&draft_body(&format!("y = {expr}")), Dialect::Draft);
    assert!(!parsed.diagnostics.has_errors(), "{expr}: {:?}", findings(&parsed));
    let body = parsed.module.fragments[0].body.as_ref().expect("a body");
    tree(&parsed.module.ast, &parsed.names, body.assignments[0].value)
}

#[test]
fn precedence_follows_the_table() {
    let table = [
        ("a in b && c", "(In a (And b c))"),
        ("1 + 1 in [2]", "(In (Add 1 1) ints[2])"),
        ("a || b && c", "(And (Or a b) c)"),
        ("a && b || c", "(Or (And a b) c)"),
        ("a && b < c", "(And a (Lt b c))"),
        ("a < b == c", "(Eq (Lt a b) c)"),
        ("a <= b + c", "(Le a (Add b c))"),
        ("a - b + c", "(Add (Sub a b) c)"),
        ("a - b * c", "(Sub a (Mul b c))"),
        ("a / b * c", "(Mul (Div a b) c)"),
        ("a * b ^ c", "(Mul a (Pow b c))"),
        ("2 ^ 3 ^ 2", "(Pow (Pow 2 3) 2)"),
        ("-x ^ 2", "(Pow (Minus x) 2)"),
        ("2 ^ -x", "(Pow 2 (Minus x))"),
        ("-a + b", "(Add (Minus a) b)"),
        ("!a && b", "(And (Not a) b)"),
        ("- - +a", "(Minus (Minus (Plus a)))"),
        ("-a[0]", "(Minus (at a 0))"),
        ("a if b else c if d else e", "(select b a (select d c e))"),
        ("1 if true if false else true else 3", "(select (select false true true) 1 3)"),
        ("a + b if c || d else e * f", "(select (Or c d) (Add a b) (Mul e f))"),
        ("a in b if c else d", "(select c (In a b) d)"),
        ("min < x", "(Lt min x)"),
        ("a < integer(b)", "(Lt a (Integer b))"),
        ("f<integer>(b)", "f<Integer>(b)"),
        ("f<?>(b)", "f<Generic>(b)"),
        ("t[1][0][:2][1:][:]", "(slice (slice (slice (at (at t 1) 0) - 2) 1 -) - -)"),
        ("[1,2][0]", "(at ints[1, 2] 0)"),
        ("'ab'[1:]", "(slice \"ab\" 1 -)"),
        ("(a,b)[0]", "(at (, a b) 0)"),
        ("f(a)[0]", "(at f(a) 0)"),
        ("(a)", "a"),
        ("f(x, a = [1,-2], b = (1, 2.0))", "f(x a=ints[1, -2] b=(, 1 2.0))"),
        ("[for i in a, j in b if i < j yield i + j]", "(for i:a j:b (Lt i j) (Add i j))"),
        ("[for i in a if b if c else d yield i]", "(for i:a (select c b d) i)"),
        ("length_of(x)", "(LengthOf x)"),
        ("string(1.5) + 'a'", "(Add (String 1.5) \"a\")"),
    ];
    for (text, wanted) in table {
        assert_eq!(value(text), wanted, "{text}");
    }
}

#[test]
fn numbers_are_packed_where_they_stand_alone() {
    assert_eq!(value("[1]"), "ints[1]");
    assert_eq!(value("[-1, 2, - 3]"), "ints[-1, 2, -3]");
    assert_eq!(value("[(1), -(2)]"), "ints[1, -2]");
    assert_eq!(value("[1.0, -2e3]"), "scalars[1.0, -2000.0]");
    assert_eq!(value("[1, 2.0]"), "[1 2.0]");
    assert_eq!(value("[1, x, 2]"), "[1 x 2]");
    assert_eq!(value("[[1], [2, 3]]"), "[ints[1] ints[2, 3]]");
    assert_eq!(value("[1, 2 + 3]"), "[1 (Add 2 3)]");
    assert_eq!(value("[+1]"), "[(Plus 1)]");
    assert_eq!(value("[]"), "[]");
    assert_eq!(value("[-9223372036854775808]"), "ints[-9223372036854775808]");
    assert_eq!(value("-9223372036854775808"), "-9223372036854775808");
    assert_eq!(value("9223372036854775807"), "9223372036854775807");
    let too_large = places(&body("y = [9223372036854775808];"), Dialect::V1);
    assert_eq!(too_large, [(Code::IntegerTooLarge, 4, 6)]);
    let binary = places(&body("y = x - 9223372036854775808;"), Dialect::V1);
    assert_eq!(binary, [(Code::IntegerTooLarge, 4, 9)]);
}

#[test]
fn strings_are_unescaped() {
    assert_eq!(value(r"'a'"), r#""a""#);
    assert_eq!(value(r#"'it\'s "x"'"#), r#""it's \"x\"""#);
    assert_eq!(value(r"'a\\b'"), r#""a\\b""#);
    assert_eq!(value(r"'a\nb'"), r#""a\\nb""#);
}

#[test]
fn draft_forms() {
    assert_eq!(draft_value("[e for i in a if c]"), "(for i:a c e)");
    assert_eq!(draft_value("[a if b else c for i in d]"), "(for i:d - (select b a c))");
    assert_eq!(draft_value("a, f(b)"), "(, a f(b))");
    assert_eq!(draft_value("extent(1.5)"), "(Integer 1.5)");
    assert_eq!(draft_value("yield + version"), "(Add yield version)");
    let text = draft_body("t = x\n(a, b) = g(t)\n[c] = split(a)\nd, e = h(c) s = d y = e;");
    let parsed = parse_as(&text, Dialect::Draft);
    assert!(parsed.diagnostics.is_empty(), "{:?}", findings(&parsed));
    let body = parsed.module.fragments[0].body.as_ref().expect("a body");
    assert_eq!(body.assignments.len(), 6);
    let call = parse_as(&draft_body("t = g\n(x)\ny = t"), Dialect::Draft);
    assert_eq!(call.module.fragments[0].body.as_ref().map(|b| b.assignments.len()), Some(2));
}

#[test]
fn every_rule_points_at_its_token() {
    use Code::*;
    let cases: &[(&str, Code, u32)] = &[
        ("y = exp(x", BadAssignment, 5),
        ("y = exp((x + 1.0);", BadAssignment, 4),
        ("t = y = exp(x);", BadAssignment, 4),
        ("y = exp(x) z;", BadAssignment, 4),
        ("-t = x;", BadTarget, 4),
        ("1.0 = x;", BadTarget, 4),
        ("t[0] = x;", BadTarget, 4),
        ("f(x) = x;", BadTarget, 4),
        ("a, y = exp(x), log(x);", BareTuple, 4),
        ("y = [length_of([1], [2])];", BadBuiltinCall, 4),
        ("y = length_of();", BadBuiltinCall, 4),
        ("y = length_of(x = 1);", BadBuiltinCall, 4),
        ("y = [i for i in x];", BadComprehension, 4),
        ("y = [for i in x yield i if i > 1];", BadComprehension, 4),
        ("y = [for in x yield i];", BadComprehension, 4),
        ("y = x if true;", SelectWithoutElse, 4),
        ("y = f(x if true);", SelectWithoutElse, 4),
        ("y = x[];", BadExpression, 4),
        ("y = x[0:2:1];", BadExpression, 4),
        ("y = x * / x;", BadExpression, 4),
        ("y = x +;", BadExpression, 4),
        ("y = f(x,);", BadList, 4),
        ("y = [x,];", BadList, 4),
        ("y = f(x x);", BadList, 4),
        ("for = x;", KeywordAsName, 4),
        ("y = string;", KeywordAsName, 4),
        ("y = f();", EmptyList, 4),
        ("", EmptyBody, 5),
    ];
    for (text, code, line) in cases {
        let found = places(&body(text), Dialect::V1);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!((found[0].0, found[0].1), (*code, *line), "{text}");
    }
    let heads: &[(&str, Code, u32)] = &[
        ("fragment f( x ) -> ( y: tensor<scalar> );", BadType, 14),
        ("fragment f( x: tensor ) -> ( y: tensor<scalar> );", BadType, 22),
        ("fragment f( x: extent ) -> ( y: tensor<scalar> );", BadType, 16),
        ("fragment f( x: (integer) ) -> ( y: tensor<scalar> );", BadType, 24),
        ("fragment f( x: integer[2] ) -> ( y: tensor<scalar> );", BadType, 24),
        ("fragment f( x: integer = y ) -> ( y: tensor<scalar> );", BadDefault, 26),
        ("fragment f( x: integer = 1 + 2 ) -> ( y: tensor<scalar> );", BadDefault, 28),
        ("fragment f( x: integer, ) -> ( y: tensor<scalar> );", BadList, 25),
        ("fragment f( if: integer ) -> ( y: tensor<scalar> );", KeywordAsName, 13),
        ("fragment f() -> ( y: tensor<scalar> );", EmptyList, 12),
    ];
    for (text, code, column) in heads {
        let text = format!("version 1.0;\n{text}\ngraph g( x ) -> ( y ) {{ y = x; }}");
        assert_eq!(places(&text, Dialect::V1), [(*code, 2, *column)], "{text}");
    }
}

#[test]
fn all_independent_errors_are_found_in_one_run() {
    let text = body("a = ;\nb = f((x);\nc = x[];\nd = x\ne = f(c;\n1 = a;\ny = d;");
    let found = places(&text, Dialect::V1);
    let lines: Vec<u32> = found.iter().map(|place| place.1).collect();
    assert_eq!(lines, [4, 5, 6, 8, 8, 9], "{found:?}");
}

#[test]
fn where_a_semicolon_is_missing_the_label_tells_what_comes_next() {
    let labels = |text: &str| {
        let parsed = parse_as(text, Dialect::V1);
        let missing = parsed.diagnostics.iter().filter(|d| d.message.starts_with("expected `;`"));
        missing.map(|d| d.label.clone().unwrap_or_default()).collect::<Vec<String>>()
    };
    let graph = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2])";
    assert_eq!(labels(&format!("{graph} y = relu(x); }}")), ["the next statement starts"]);
    assert_eq!(labels(&format!("{graph}; y = relu(x) }}")), ["the body ends"]);
}

#[test]
fn an_unclosed_parenthesis_costs_one_statement() {
    let found = places(&body("a = f((x\nb = g(x)\ny = h(b) +;"), Dialect::V1);
    assert_eq!(found.iter().map(|place| place.1).collect::<Vec<_>>(), [5, 6, 6], "{found:?}");
}

#[test]
fn documents_have_their_order() {
    let structure = |text: &str| {
        let found = places(text, Dialect::V1);
        found.into_iter().filter(|f| f.0 == Code::DocumentStructure).map(|f| (f.1, f.2)).collect::<Vec<_>>()
    };
    let graph = "graph g( x ) -> ( y ) { y = x; }";
    assert_eq!(structure(graph), [(1, 1)]);
    assert_eq!(structure(&format!("version 1.0;\n{graph}\n{graph}")), [(3, 1)]);
    assert_eq!(structure(&format!("version 1.0;\n{graph}\nextension a;")), [(3, 1)]);
    assert_eq!(structure(&format!("version 1.0;\n{graph}\n}} x")), [(3, 1)]);
    assert_eq!(structure("version 1.0;\n"), [(1, 13)]);
}

#[test]
fn extensions_hold_free_text() {
    let text =
        "version 1.0;\nextension a b;\nextension other_assert T>=0 'it $ // 5L;\ngraph g( x ) -> ( y ) { y = x; }";
    let parsed = parse_as(text, Dialect::V1);
    assert!(!parsed.diagnostics.has_errors(), "{:?}", findings(&parsed));
    assert_eq!(parsed.module.extensions.len(), 2);
    assert_eq!(parsed.module.extensions[0].words.len(), 2);
    assert_eq!(&text[parsed.module.extensions[1].text.range()], "other_assert T>=0 'it $ // 5L");
    assert_eq!(places(text, Dialect::V1), [(Code::VendorSyntax, 3, 25)]);
}

#[test]
fn deep_nesting_is_parsed_or_refused() {
    let nested = |n: usize| body(&format!("y = {}x{};", "(".repeat(n), ")".repeat(n)));
    assert!(parse_as(&nested(50_000), Dialect::V1).diagnostics.is_empty());
    assert_eq!(places(&nested(200_000), Dialect::V1)[0].0, Code::TooDeep);
    let signed = |n: usize, item: &str| body(&format!("y = {}{item}{};", "f(-".repeat(n), ")".repeat(n)));
    for (n, item, refused) in
        [(50_000, "x", false), (50_000, "[1]", true), (49_999, "[-1]", false), (50_001, "x", true)]
    {
        let found = places(&signed(n, item), Dialect::V1);
        assert_eq!(found.first().is_some_and(|first| first.0 == Code::TooDeep), refused, "{n} {item} {found:?}");
    }
    // Deep nesting of every kind can be parsed although the stack of this thread is small.
    let parts =
        [("(x + ", ")"), ("f(", ")"), ("f(k = ", ")"), ("[", ", x]"), ("(x, ", ")"), ("x[", "]"), ("x[1:", "]")];
    let others =
        [("-", ""), ("x if x else ", ""), ("x if ", " else x"), ("length_of(", ")"), ("[for i in ", " yield x]")];
    for (open, close) in parts.into_iter().chain(others) {
        let text = body(&format!("y = {}x{};", open.repeat(20_000), close.repeat(20_000)));
        assert!(parse_as(&text, Dialect::V1).diagnostics.is_empty(), "{open}");
    }
    // A missing operand at the bottom of many operator levels is found without trying them all.
    let bad = body(&format!("y = {}*{};", "(a + b * ".repeat(2000), ")".repeat(2000)));
    assert_eq!(places(&bad, Dialect::V1).len(), 1);
    let deep = parse_as(&body(&format!("y = {}x{};", "f(-".repeat(20_000), ")".repeat(20_000))), Dialect::V1);
    let mut out = String::new();
    let (ast, statements) = statements(&deep.module);
    print_expr(ast, &deep.names, Dialect::V1, statements[0].value, &mut out);
    assert_eq!(out.len(), 4 * 20_000 + 1);
    let chain = body(&format!("y = x{};", " + x".repeat(100_000)));
    let long = parse_as(&chain, Dialect::V1);
    assert!(print_module(&long.module, &long.names, &chain, Dialect::V1).len() > 400_000);
}

fn format_text(text: &str, dialect: Dialect) -> String {
    let parsed = parse_as(text, dialect);
    assert!(!parsed.diagnostics.has_errors(), "{:?}\n{text}", findings(&parsed));
    print_module(&parsed.module, &parsed.names, text, dialect)
}

#[test]
fn the_formatter_keeps_comments_and_is_idempotent() {
    let text = "# top\nversion 1.0; # v\n\n\nextension  a\tb;\n# about f\nfragment f<?=scalar>(x:tensor<?>,n:integer=-1 # n\n)->(y:tensor<?>){\n# first\n\n\ny=f<?>(x,n=n-1) # last\n; # after\n# end\n}# closed\ngraph g(x)->(y){\nx=external(shape=[ ]);\n\n\n(y)=f(x);}\n#eof";
    let wanted = "# top\nversion 1.0;  # v\n\nextension a b;\n\n# about f\n# n\nfragment f<? = scalar>(x: tensor<?>, n: integer = -1) -> (y: tensor<?>)\n{\n    # first\n\n    # last\n    y = f<?>(x, n = n - 1);  # after\n    # end\n}  # closed\n\ngraph g(x) -> (y)\n{\n    x = external(shape = []);\n\n    y = f(x);\n}\n\n#eof\n";
    let once = format_text(text, Dialect::V1);
    assert_eq!(once, wanted);
    assert_eq!(format_text(&once, Dialect::V1), once);
}

#[test]
fn long_lists_are_broken() {
    let names: Vec<String> = (0..30).map(|i| format!("parameter_{i}")).collect();
    let text = |first: &str| body(&format!("    y = f({first},{});", names.join(",")));
    let once = format_text(&text("exp(x)"), Dialect::V1);
    assert!(once.lines().all(|line| line.len() <= 100));
    assert_eq!(format_text(&once, Dialect::V1), once);
    // Flat statements have one line each, as flat graphs are written.
    let flat = format_text(&text("x"), Dialect::V1);
    assert!(flat.lines().any(|line| line.ends_with("parameter_29);") && line.len() > 100), "{flat}");
    assert_eq!(format_text(&flat, Dialect::V1), flat);
}

#[test]
fn models_survive_formatting() {
    for RealDocument { name, text } in models() {
        let once = format_text(&text, Dialect::V1);
        assert_eq!(format_text(&once, Dialect::V1), once, "{name}");
        assert!(!trees(&text).is_empty(), "{name} is not read");
        assert_eq!(trees(&text), trees(&once), "{name}");
        let comments = |text: &str| parse_as(text, Dialect::V1).module.comments.len();
        assert_eq!(comments(&text), comments(&once), "{name}");
    }
}

/// All assignments of a document.
fn trees(text: &str) -> Vec<String> {
    let parsed = parse_as(text, Dialect::V1);
    let show = |ast: &Ast, a: &Assignment| {
        let side = |id| tree(ast, &parsed.names, id);
        format!("{} = {}", side(a.target), side(a.value))
    };
    let mut all = Vec::new();
    for body in parsed.module.fragments.iter().filter_map(|f| f.body.as_ref()) {
        all.extend(body.assignments.iter().map(|a| show(&parsed.module.ast, a)));
    }
    for graph in &parsed.module.graphs {
        all.extend(graph.body.assignments.iter().map(|a| show(&parsed.module.ast, a)));
    }
    all
}

/// Expressions as fully parenthesized text, which determines the tree.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        matching("[a-e]"),
        (0u32..100).prop_map(|n| n.to_string()),
        (0u32..100).prop_map(|n| format!("{}", f64::from(n) / 8.0 + 0.001)),
        Just("true".to_owned()),
        Just("'it\\'s \\\\ \"'".to_owned()),
        Just("[1, -2]".to_owned()),
        Just("[0.5]".to_owned()),
        Just("[]".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        const OPERATORS: &[&str] = &["in", "&&", "||", "<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "^"];
        prop_oneof![
            (inner.clone(), prop::sample::select(OPERATORS), inner.clone())
                .prop_map(|(a, op, b)| format!("(({a}) {op} ({b}))")),
            (prop::sample::select(&["-", "+", "!"][..]), inner.clone()).prop_map(|(op, a)| format!("({op}({a}))")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, c, b)| format!("(({a}) if ({c}) else ({b}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, i)| format!("({a})[({i})]")),
            (inner.clone(), inner.clone()).prop_map(|(a, i)| format!("({a})[({i}):]")),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|items| format!("({})", items.join(", "))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("f<scalar>(({a}), k = {b})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, c, b)| format!("[for i in ({a}), j in b if ({c}) yield ({b})]")),
            inner.prop_map(|a| format!("range_of({a})")),
        ]
    })
}

/// Checks that what is printed of an expression is read as the same one.
fn prints_as_the_same_tree(text: &str) {
    let parsed = parse_as(&body(&format!("y = {text};")), Dialect::V1);
    assert!(!parsed.diagnostics.has_errors(), "{:?}", findings(&parsed));
    let (ast, statements) = statements(&parsed.module);
    let id = statements[0].value;
    let mut printed = String::new();
    print_expr(ast, &parsed.names, Dialect::V1, id, &mut printed);
    assert_eq!(value(&printed), tree(ast, &parsed.names, id), "{printed}");
}

#[test]
fn a_negated_list_is_printed_in_brackets() {
    prints_as_the_same_tree("((a) in ((-((a)[([1, -2])]))))");
    prints_as_the_same_tree("(-[1, -2])[0]");
    prints_as_the_same_tree("-([1, -2][0])");
}

proptest! {
    #[test]
    fn printed_expressions_parse_to_the_same_tree(text in expressions()) {
        prints_as_the_same_tree(&text);
    }

    #[test]
    fn any_text_is_survived(text in matching("[a-c(){}\\[\\];:,=+*<>?!&|'\"#/$ \n0-9.é]{0,60}|(version 1.0;|graph g\\(x\\)->\\(y\\)\\{|fragment f|\\(|\\)|\\{|\\}|\\[|\\]|x|=|;|,|if |else |for |in |yield |extension a){0,20}")) {
        for dialect in [Dialect::V1, Dialect::Draft] {
            let parsed = parse_as(&text, dialect);
            for finding in parsed.diagnostics.iter() {
                prop_assert!(text.get(finding.at.span.range()).is_some());
            }
        }
    }
}

#[test]
fn operators_know_their_place() {
    let parsed = parse_as(&body("y = x + -x;"), Dialect::V1);
    let (ast, _) = statements(&parsed.module);
    let at = ast.exprs().find_map(|id| match ast.expr(id) {
        Expr::Binary { op: BinaryOp::Add, at, .. } => Some(at),
        _ => None,
    });
    assert_eq!(at.map(|at| &parsed.sources.file(parsed.module.file).text()[at as usize..][..1]), Some("+"));
    assert!(ast.exprs().any(|id| matches!(ast.expr(id), Expr::Unary { op: UnaryOp::Minus, .. })));
    assert_eq!(ast.len(), 5, "no node is written twice or left behind");
}

/// Groups have all statements in order, and each exactly the nodes of its statements, for all left sides.
#[test]
fn groups_of_statements_have_their_nodes() {
    let statements = (0..3000).map(|i| match i % 4 {
        0 => format!("a{i} = f(x, [{i}, b], k = {i});"),
        1 => format!("([b{i}, c{i}], d{i}) = g(x, {i} + x * 2);"),
        2 => format!("e{i} = [x, x][{i}] if x else [for y in x yield y];"),
        _ => format!("f{i} = {}x;", "x + ".repeat(if i % 1000 == 3 { 5000 } else { 1 })),
    });
    let parsed = parse_as(&body(&statements.collect::<Vec<String>>().join("\n")), Dialect::V1);
    let (ast, all) = statements_of(&parsed);
    let (mut next, mut count) = (0, 0);
    for group in all.groups(ast) {
        assert_eq!(group.statements, &all.assignments[count..count + group.statements.len()]);
        assert_eq!(group.nodes.start, next);
        assert!(group.statements.iter().all(|it| group.nodes.contains(&it.value.index())));
        assert!(group.nodes.len() < 4000 || group.statements.len() == 1 || group.nodes.len() > 10_000);
        (next, count) = (group.nodes.end, count + group.statements.len());
    }
    assert_eq!((next, count), (ast.len(), 3000));
}

fn statements_of(parsed: &Parsed) -> (&Ast, &Body) {
    (&parsed.module.ast, &parsed.module.graphs[0].body)
}

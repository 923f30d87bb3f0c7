//! With and without the reader of plain statements, a text means the same and is told the same.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::diagnostics::Diagnostics;
use crate::graph::Dialect;
use crate::nnef::ast::{Body, GraphDecl, Module, TypeSpec, TypeSpecId};
use crate::nnef::dialect::detect;
use crate::nnef::grammar::{ModuleKind, Reading, parse_with};
use crate::source::FileId;

/// A text as it was read.
struct Read {
    names: Names,
    module: Module,
    /// The bodies of the graphs, unpacked into the tree of the module.
    graphs: Vec<Body>,
    diagnostics: Diagnostics,
}

fn read(text: &str, dialect: Dialect, reading: Reading) -> Read {
    let (mut names, mut diagnostics) = (Names::new(), Diagnostics::new(false));
    let kind = ModuleKind::Document;
    let mut module = parse_with(FileId::default(), text, dialect, kind, reading, &mut names, &mut diagnostics);
    let Module { graphs, ast, .. } = &mut module;
    let unpack = |graph: &GraphDecl| Body { assignments: graph.body.unpack_into(ast).into(), span: graph.body.span };
    let graphs = graphs.iter().map(unpack).collect();
    Read { names, module, graphs, diagnostics }
}

impl Read {
    /// Everything about the module but the order of its nodes and names.
    fn content(&self) -> String {
        let module = &self.module;
        let mut out =
            format!("{:?}\n{:?}\n{:?}\n{:?}\n", self.diagnostics, module.version, module.items, module.comments);
        for extension in &module.extensions {
            let words = extension.words.iter().map(|word| self.ident(*word));
            out += &format!("{:?} {:?} {:?}\n", words.collect::<Vec<_>>(), extension.text, extension.span);
        }
        out += &format!("{:?}\n", module.broken.iter().map(|name| self.names.text(*name)).collect::<Vec<_>>());
        for fragment in &module.fragments {
            out += &format!("{} {:?} {:?}\n", self.ident(fragment.name), fragment.generic, fragment.span);
            for param in &fragment.params {
                out += &format!("{} {} ", self.ident(param.name), self.type_spec(param.ty));
                param.default.into_iter().for_each(|default| self.node(default, &mut out));
            }
            for result in &fragment.results {
                out += &format!("{} {} ", self.ident(result.name), self.type_spec(result.ty));
            }
            fragment.body.iter().for_each(|body| self.body(body, &mut out));
        }
        for (graph, body) in module.graphs.iter().zip(&self.graphs) {
            let sides = [&graph.params, &graph.results].map(|side| side.iter().map(|it| self.ident(*it)).collect());
            let sides: [Vec<_>; 2] = sides;
            out += &format!("{} {sides:?} {:?}\n", self.ident(graph.name), graph.span);
            self.body(body, &mut out);
        }
        let ast = &module.ast;
        let sizes = [ast.exprs.len(), ast.spans.len(), ast.lists.len(), ast.ints.len(), ast.scalars.len()];
        out + &format!("{sizes:?} {:?}\n", [ast.calls.len(), ast.args.len(), ast.iterators.len(), ast.types.len()])
    }

    fn body(&self, body: &Body, out: &mut String) {
        *out += &format!("{:?}\n", body.span);
        for assignment in &body.assignments {
            *out += &format!("{:?} ", assignment.span);
            self.node(assignment.target, out);
            self.node(assignment.value, out);
            out.push('\n');
        }
    }

    fn type_spec(&self, id: TypeSpecId) -> String {
        let ast = &self.module.ast;
        let below = match ast.type_spec(id) {
            TypeSpec::Array(item) => self.type_spec(item),
            TypeSpec::Tuple(items) => ast.type_lists[items.range()].iter().map(|item| self.type_spec(*item)).collect(),
            spec => format!("{spec:?}"),
        };
        format!("({below} {:?})", ast.type_spans[id.index()])
    }

    fn ident(&self, ident: Ident) -> String {
        format!("{} {:?}", self.names.text(ident.name), ident.span)
    }

    /// A node with its place, and all nodes below.
    fn node(&self, id: ExprId, out: &mut String) {
        let ast = &self.module.ast;
        *out += &format!("({:?} ", ast.span(id));
        let mut below = Vec::new();
        match ast.expr(id) {
            Expr::Name(name) | Expr::String(name) => *out += &format!("{:?}", self.names.text(name)),
            Expr::Scalar(value) => *out += &format!("{:x}", value.to_bits()),
            Expr::IntArray(list) => *out += &format!("{:?}", &ast.ints[list.range()]),
            Expr::ScalarArray(list) => *out += &format!("{:?}", &ast.scalars[list.range()]),
            Expr::Numbers(numbers) => *out += &format!("{:?}", ast.numbers[numbers.index()]),
            Expr::Array(list) | Expr::Tuple(list) => {
                out.push_str(if matches!(ast.expr(id), Expr::Array(_)) { "array" } else { "tuple" });
                below.extend_from_slice(ast.items(list));
            }
            Expr::Unary { op, operand } => {
                *out += &format!("{op:?}");
                below.push(operand);
            }
            Expr::Binary { op, lhs, rhs, at } => {
                *out += &format!("{op:?} {at}");
                below.extend([lhs, rhs]);
            }
            Expr::Select { condition, yes, no } => below.extend([condition, yes, no]),
            Expr::Index { base, index } => below.extend([base, index]),
            Expr::Slice { base, begin, end } => below.extend([Some(base), begin, end].into_iter().flatten()),
            Expr::Comprehension(id) => {
                let loops = ast.comprehensions[id.index()];
                below.extend(ast.iterators[loops.iterators.range()].iter().map(|iterator| iterator.iterable));
                below.extend(loops.filter.into_iter().chain([loops.item]));
            }
            Expr::Loop(id) => {
                let of = ast.loops[id.index()];
                *out += &format!("{:?} {:?}", of.unroll, of.index);
                below.extend(ast.recurrences[of.recurrences.range()].iter().map(|recurrence| recurrence.initial));
                below.extend(ast.iterators[of.iterators.range()].iter().map(|iterator| iterator.iterable));
                below.extend([of.before, of.count, of.after].into_iter().flatten());
                below.extend(ast.items(of.statements).iter().chain(ast.items(of.results)));
            }
            Expr::Builtin { function, argument } => {
                *out += &format!("{function:?}");
                below.push(argument);
            }
            Expr::Call(id) => {
                let call = ast.call(id);
                *out += &format!("{} {:?}", self.ident(call.name), call.generic);
                for arg in ast.arguments(call) {
                    *out += &format!(" {:?}", arg.name.map(|name| self.ident(name)));
                    below.push(arg.value);
                }
            }
            expr @ (Expr::Error | Expr::Int(_) | Expr::Logical(_)) => *out += &format!("{expr:?}"),
        }
        below.into_iter().for_each(|id| self.node(id, out));
        out.push(')');
    }
}

/// How many statements were read without tokens, after comparing.
fn compare(text: &str, dialect: Dialect) -> Result<usize, TestCaseError> {
    compare_all(text, dialect).map(|(statements, _)| statements)
}

/// How many statements and headers of fragments were read without tokens, after comparing.
fn compare_all(text: &str, dialect: Dialect) -> Result<(usize, usize), TestCaseError> {
    let (with, without) = (read(text, dialect, Reading::Plain), read(text, dialect, Reading::Grammar));
    prop_assert_eq!(with.content(), without.content(), "{}", text);
    // The words of loops are names until the statement turns out not to be plain.
    if !without.diagnostics.has_errors() && !text.contains("flatten_loops") {
        prop_assert_eq!(with.names.len(), without.names.len());
    }
    let mut names = Names::new();
    let mut reader = PlainReader::new(&mut names, Ast::default());
    let mut diagnostics = Diagnostics::new(false);
    let tokens = crate::nnef::lexer::lex(text, FileId::default(), dialect, &mut reader, &mut diagnostics);
    prop_assert_eq!(tokens.plain.len(), reader.runs.len());
    let statements = |run: &Sink| match run {
        Sink::Fragment(body) => body.assignments.len(),
        Sink::Graph(body) => body.len(),
    };
    Ok((reader.runs.iter().map(statements).sum(), reader.heads.len()))
}

fn body(text: &str) -> String {
    format!("version 1.0;\ngraph g( x ) -> ( y )\n{{\n{text}\n}}\n")
}

fn fragment(text: &str) -> String {
    let fragment = format!("fragment f( x: integer ) -> ( y: integer )\n{{\n{text}\n}}\n");
    format!(
        "version 1.0;\n{fragment}{}{}",
        fragment.replace("f( x", "g( x"),
        body("y = f(x);").replace("version 1.0;", "")
    )
}

#[test]
fn what_is_plain() {
    let plain = "a = b; a = 1; a = 1.5e3; a = true; a = 'b'; a = \"\"; a = f(x); a = f<scalar>(x, k = 1); a = f<?>(x);
        a = [1, -2]; a = [0.5]; a = []; a = [b, 1]; a = [[1], [b]]; a = (1, b); a = f([b], k = (f(x), -1)); a = -b;
        a = b + c; a = 2 * b - c; a = b * c + f(x) <= d; a = f(b + 1); (a, b) = f(x); [a, b] = f(x); [a] = f(x);
        a # c\n = # d\n b; a = !b && c; a = f(x) in b; a = 000000000000000000000000000000001;
        a = (b); a = b + c * -d ^ 2 > 1 || e; a = (b + c) * (d) - (1); a = b[0]; a = f(x)[1:][-1:n][:2][:]; a = [1][0];
        a = f(b[0] + c, k = d[1:] if e else g); a = b if c else d if e else f(x); a = (b if c else d, [e if c else g]);
        a = [for i in b yield i]; a = [for i in b, j in [1, 2] if i == j yield (i, j)][0]; a = [for i in b in c yield -i];
        a = shape_of(b); a = [for i in range_of(b) yield integer(i + 1) * length_of(f(x)) if i > 0 else 2]; a = [(b)];";
    let others =
        "a = b < c; a = (b, c; a = b[; a = b[]; a = b[1; a = [for in b yield i]; a = [for i in b if c yield i; a = b if c;
        a = [for i in b i]; a = [for i in (b yield i)]; a = integer; a = integer(b, c); a = (1, ); a = b if c else; a = b +;
        a = [1, 2.0]; a = [1, # c\n 2]; a = '\\\\'; a = -9223372036854775808; (a) = b; ((a, b), c) = d;
        a, b = f(x); a = [-1e300, 1e308, (2.0)]; a = 1000000000000000000; a = [1000000000000000000];";
    for (text, wanted) in [(plain, true), (others, false)] {
        for statement in text.split_inclusive(';') {
            let read = compare(&body(statement), Dialect::V1).expect("the same");
            assert_eq!(read, usize::from(wanted), "{statement}");
        }
        let count = if wanted { text.matches(';').count() } else { 0 };
        assert_eq!(compare(&body(text), Dialect::V1).expect("the same"), count);
    }
    let long = |item: &str| format!("a = f([{item}{}], [{item}]);", format!(", {item}").repeat(2000));
    for item in ["1", "- 2.5"] {
        assert_eq!(compare(&body(&long(item)), Dialect::V1).expect("the same"), 1);
    }
    let deep = |n: usize| format!("a = {}x{};", "f(".repeat(n), ")".repeat(n));
    for (n, wanted) in [(1, 1), (16, 1), (17, 1), (400, 1)] {
        assert_eq!(compare(&body(&deep(n)), Dialect::V1).expect("the same"), wanted);
    }
    assert_eq!(compare("version 1.0 graph g( x ) -> ( y ) { y = x }", Dialect::Draft).expect("the same"), 0);
}

#[test]
fn which_headers_are_plain() {
    let plain = [
        "f( x: tensor<scalar> ) -> ( y: tensor<scalar> )",
        "f<?>( x: tensor<?>, y: tensor<>, n: integer ) -> ( y: tensor<?>[], z: scalar )",
        "f<? = scalar>( x: ?, # c\n n: integer = -1, s: string = 'a', b: logical = true ) -> ( y: logical[][] )",
        "f( x: (integer, integer)[] = [], y: ((scalar, tensor<integer>)[], string) ) -> ( y: (integer, scalar) )",
        "f( x: scalar = +2.5 ) -> ( y: string )",
    ];
    let others = [
        "f( x: integer[] = [1, 2] ) -> ( y: integer )",
        "f( x: scalar = 1 + 2 ) -> ( y: integer )",
        "f( x: string = -'a' ) -> ( y: integer )",
        "f( x: integer = 9223372036854775808 ) -> ( y: integer )",
        "f( x: tensor ) -> ( y: integer )",
        "f( x: (integer) ) -> ( y: integer )",
        "f( x: integer[2] ) -> ( y: integer )",
        "f( x: tensor<>= 1.0 ) -> ( y: integer )",
        "f<? = ?>( x: integer ) -> ( y: integer )",
        "f<scalar>( x: integer ) -> ( y: integer )",
        "f( x ) -> ( y: integer )",
        "f() -> ( y: integer )",
        "f( x: integer, ) -> ( y: integer )",
        "f( x: integer ) -> ( y: integer",
        "f( x: integer ) ( y: integer )",
        "( x: integer ) -> ( y: integer )",
    ];
    for (heads, wanted) in [(&plain[..], 1), (&others[..], 0)] {
        for head in heads {
            for end in [";", "{ y = x; }", "{ y = x; (a) = b; }", "{ }", "{ y = x;", "}", "", "graph"] {
                let text = format!("version 1.0;\nfragment {head}\n{end}\n{}", body("y = x;"));
                let (_, heads) = compare_all(&text, Dialect::V1).expect("the same");
                let wanted = if end.starts_with([';', '{']) { wanted } else { 0 };
                assert_eq!(heads, wanted, "{text}");
            }
        }
    }
    let text = format!("version 1.0;\nextension flatten_loops;\nfragment {};\n{}", plain[0], body("y = x;"));
    assert_eq!(compare_all(&text, Dialect::V1).expect("the same").1, 0);
}

#[test]
fn what_stands_in_the_wrong_place_is_told_as_ever() {
    let texts = [
        "a = b;",
        "{ a = b; }",
        "foo { a = b; }",
        "foo { graph g { a = b; c = d; } } a = b;",
        "graph g( x ) -> ( y ) { a = b; { c = d; } e = f; } g = h;",
        "graph g( x ) -> ( y ) { a = b; graph h( x ) -> ( y ) { c = d; } e = f; }",
        "graph g( x ) -> ( y ) { a = b graph g { c = d; } e = f; }",
        "fragment f version 1.0 { a = b; c = d; }",
        "fragment f extension a { a = b; c = d; }",
        "extension a { b = c; graph g( x ) -> ( y ) { b = c; d = e; }",
        "version graph g( x ) -> ( y ) { b = c; d = e; }",
        "fragment f + graph g( x ) -> ( y ) { a = b; c = d; }",
        "graph g + fragment f( x ) -> ( y ) { a = b; c = d; }",
        "graph fragment f( x ) -> ( y ) { a = b; c = d; }",
        "graph fragment f { a = b; c = d; }",
        "graph g( x ) -> ( y ); { a = b; c = d; }",
        "graph g( x ) -> ( y ) { a = b; c = d",
        "graph g( x ) -> ( y ) { a = b; c = d; version 1.0; e = f; }",
        "graph g( x ) -> ( y ) { extension a { b = c; } d = e; }",
        "fragment f( x: version = 1 ) -> ( y ) { a = b; c = d; }",
        "fragment f( x: integer ) -> ( y: integer ) { a = ; b = c; d = e f; g = h; @; i = j; }",
    ];
    for text in texts {
        for text in [text.to_owned(), format!("version 1.0;\n{text}\ngraph n( x ) -> ( y ) {{ y = x; z = y; }}")] {
            compare(&text, Dialect::V1).expect("the same");
        }
    }
}

fn compare_folder(folder: &Path, count: &mut usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                compare_folder(&path, count);
            }
        } else if path.extension().is_some_and(|extension| extension == "nnef")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            let compared = compare(&text, detect(&text));
            assert!(compared.is_ok(), "{}: {compared:?}", path.display());
            *count += 1;
        }
    }
}

#[test]
fn all_documents_are_read_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for folder in ["examples", "tests", "src/nnef/std", "../shared/conformance", "../shared/models"] {
        compare_folder(&root.join(folder), &mut count);
    }
    assert!(count > 20, "{count} documents");
}

/// Statements, most of them plain, some of them wrong.
fn statements() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[a-c][0-9]{0,2}",
        2 => "-?[0-9]{1,20}",
        2 => "-?[0-9]{1,3}\\.[0-9]{0,3}(e-?[0-9]{1,3})?",
        1 => prop::sample::select(&["true", "'s'", "\"\"", "'é'", "'", "[1, 2]", "[-0.5,1e2]", "[]", "()", "?", "x[0]"][..])
            .prop_map(str::to_owned),
    ];
    let value = leaf.prop_recursive(4, 20, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            list.clone().prop_map(|items| format!("[{}]", items.join(","))),
            list.clone().prop_map(|items| format!("({})", items.join(", "))),
            list.prop_map(|items| format!("f(x, {})", items.join(", k ="))),
            inner.clone().prop_map(|arg| format!("f<integer>({arg} # c\n)")),
            (inner.clone(), prop::sample::select(&["+", "-", "*", "<", "in", "&&", "->", "|"][..]), inner.clone())
                .prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (prop::sample::select(&["-", "!", "+ "][..]), inner.clone()).prop_map(|(op, a)| format!("{op}{a}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} if b else {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[for b in {a} yield {b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[for b in {a}, c in b if {b} yield b]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}:]")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("length_of({a}) * ({b})[0]")),
        ]
    });
    let target = prop::sample::select(&["a", "b1", "(a, b)", "[a, b]", "(a)", "a, b", "1", "for", ""][..]);
    let end =
        prop::sample::select(&[";", ";", ";\n", ";\n", " # c\n;", "\n", "", ";;", "}", "; {", "; graph g", "=;"][..]);
    (target, value, end).prop_map(|(target, value, end)| format!("{target} = {value}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn statements_are_read_the_same(list in prop::collection::vec(statements(), 0..6)) {
        compare(&body(&list.join(" ")), Dialect::V1)?;
        compare(&fragment(&list.join(" ")), Dialect::V1)?;
    }

    #[test]
    fn statements_that_differ_in_names_are_read_the_same(
        list in prop::collection::vec(statements(), 1..4),
        names in prop::collection::vec(("[a-c]", "[a-z_][a-z0-9_]{0,5}|true|in|x y|é|\\$"), 1..4),
    ) {
        let text = list.join(" ");
        let mut renamed = text.clone();
        names.iter().for_each(|(name, other)| renamed = renamed.replace(name.as_str(), other));
        let text = format!("{text}\n{text}\n{renamed} {text}\n{renamed}\n{renamed}");
        compare(&body(&text), Dialect::V1)?;
        compare(&fragment(&text), Dialect::V1)?;
    }

    #[test]
    fn any_text_is_read_the_same(
        text in "(version 1\\.0;|graph g\\(x\\)->\\(y\\)\\{|fragment f|fragment f\\(x:integer\\)->\\(y:string\\)|graph|version 1\\.0|extension a|\\(|\\)|\\{|\\}|\\[|\\]|x|=|;|a = b;|f\\(x\\)|,|:|#c\n|'|1|\\+|for |in | |@){0,24}",
    ) {
        compare(&text, Dialect::V1)?;
        compare(&body(&text), Dialect::V1)?;
    }
}

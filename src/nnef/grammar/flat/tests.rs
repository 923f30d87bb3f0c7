//! A text gives the same module and diagnostics with and without the reader of flat statements.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::diagnostics::Diagnostics;
use crate::graph::Dialect;
use crate::nnef::ast::{Body, Module, TypeSpec, TypeSpecId};
use crate::nnef::dialect::detect;
use crate::nnef::grammar::{ModuleKind, parse, parse_module};
use crate::nnef::lexer::reserved_names;
use crate::source::FileId;
use crate::source::names::Names;
use crate::tests::{matching, shared};

/// The result of reading a text.
struct Read {
    names: Names,
    module: Module,
    diagnostics: Diagnostics,
}

fn read(text: &str, dialect: Dialect, flat: bool) -> Read {
    let (mut names, mut diagnostics) = (reserved_names(), Diagnostics::new(false));
    let (file, kind) = (FileId::default(), ModuleKind::Document);
    let module = match flat {
        true => parse_module(file, text, dialect, kind, &mut names, &mut diagnostics),
        false => {
            let (module, found) = parse::read(file, text, dialect, kind, false, &mut names, false.into());
            diagnostics.extend(found);
            module
        }
    };
    Read { names, module, diagnostics }
}

impl Read {
    /// The content of the module, without the order of its nodes and names.
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
        for graph in &module.graphs {
            let sides = [&graph.params, &graph.results].map(|side| side.iter().map(|it| self.ident(*it)).collect());
            let sides: [Vec<_>; 2] = sides;
            out += &format!("{} {sides:?} {:?}\n", self.ident(graph.name), graph.span);
            self.body(&graph.body, &mut out);
        }
        let ast = &module.ast;
        let sizes = [ast.len(), ast.lists.len(), ast.ints.len(), ast.scalars.len(), ast.iterators.len()];
        out + &format!("{sizes:?} {:?}\n", ast.types.len())
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

    /// A node with its span, and all its subexpressions.
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
                for arg in ast.arguments(&call).iter() {
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

/// Compares both ways of reading. Returns the number of flat statements at the start of the graph.
fn compare(text: &str, dialect: Dialect) -> Result<usize, TestCaseError> {
    let (with, without) = (read(text, dialect, true), read(text, dialect, false));
    prop_assert!(with.content() == without.content(), "{}", text);
    let mut names = reserved_names();
    let mut build = Build::new(text, dialect.rules(), &mut names);
    build.tokens.loops = text.contains("flatten_loops");
    let statements = text.find("graph").and_then(|at| Some(at + text[at..].find('{')? + 1));
    let (mut at, mut lists, mut count) = (statements.unwrap_or(text.len()), Lists::default(), 0);
    while let Some(assignment) = statement(at, Marks::of(&build.ast), &mut build, &mut lists) {
        (at, count) = (assignment.span.end as usize, count + 1);
    }
    Ok(count)
}

fn body(text: &str) -> String {
    format!("version 1.0;\ngraph g( x ) -> ( y )\n{{\n{text}\n}}\n")
}

fn fragment(text: &str) -> String {
    let fragment = format!("fragment f( x: integer ) -> ( y: integer )\n{{\n{text}\n}}\n");
    format!("version 1.0;\n{fragment}{}{}", fragment.replace("f( x", "g( x"), &body("y = f(x);")[13..])
}

#[test]
fn what_is_flat() {
    let flat = "a = f(x); a = f<scalar>(x, k = 1); a = f<?>(x); a = f < integer > (true, k=false); (a, b) = f(x);
        [a, b] = f(x); [a] = f(x); a # c\n = # d\n f(b); a = f([1, -2], [0.5], [], [b, 1], [[1], [b]], (1, b));
        a = f([b], k = (true, -1), l = 'b', m = \"\"); a=f(000000000000000000000000000000001,- 2.5e3);";
    let others = "a = b; a = 1; a = f(x)[0]; a = f(b + 1); a = f(-b); a = f(!b); a = f(f(x)); a = f(+1); a = f((b));
        a = f([for i in b yield i]); a = f(b if c else d); a = f(b[0]); a = -f(x); a = f(x) + 1; a = (f(x)); a = [b];
        a = f([1, 2.0]); a = f([1, # c\n 2]); a = f('\\'); a = f(-9223372036854775808); (a) = f(x); ((a, b), c) = f(x);
        [] = f(x); a, b = f(x); a = f(); a = f(x, ); a = f(x x); a = f([x,]); a = f(k = ); a = f<tensor>(x); a = f(x;
        a = if(x); for = f(x); a = f(in); a = f(1x); a = f(1.5.2); a = f(1.); a = f('a); a = f(\"é\"); a = f(x) // c
        ; a = f(x$); a == f(x); a = f(x)); a = f((x, y); a = f(shape_of(x)); a = f(k == x); a = f(1000000000000000000);";
    for (text, wanted) in [(flat, true), (others, false)] {
        for statement in text.split_inclusive(';') {
            let read = compare(&body(statement), Dialect::V1).expect("the same");
            assert_eq!(read, usize::from(wanted), "{statement}");
            compare(&fragment(statement), Dialect::V1).expect("the same");
        }
    }
    let long = |item: &str| format!("a = f([{item}{}], [{item}]);", format!(", {item}").repeat(2000));
    for item in ["1", "- 2.5"] {
        assert_eq!(compare(&body(&long(item)), Dialect::V1).expect("the same"), 1);
    }
    let deep = |n: usize| format!("a = f({}x{});", "[".repeat(n), "]".repeat(n));
    for (n, wanted) in [(1, 1), (16, 1), (17, 0), (400, 0)] {
        assert_eq!(compare(&body(&deep(n)), Dialect::V1).expect("the same"), wanted);
    }
    assert_eq!(compare("version 1.0 graph g( x ) -> ( y ) { y = f(x) }", Dialect::Draft).expect("the same"), 0);
}

#[test]
fn bodies_of_loops_are_left_to_the_grammar() {
    let head = "version 1.0;\nextension flatten_loops;\ngraph g( x ) -> ( y ) {";
    let text = format!(
        "{head} x = f(1); a = with s = x do..(3) {{ t = f(s); yield t; }}; y = do(x); y = f(while); y = f(x); }}"
    );
    assert_eq!(compare(&text, Dialect::V1).expect("the same"), 1);
    let text = format!("{head} x = f(1); a = with s = x do..(3) {{ t = f(s); yield t; }}; y = f(x); }}");
    assert!(!read(&text, Dialect::V1, true).diagnostics.has_errors());
}

#[test]
fn what_stands_in_the_wrong_place_is_told_the_same() {
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

/// A text with errors is read in one way in the end: only valid texts differ, and what one word makes of them, which is
/// valid in some places.
#[test]
fn documents_with_another_word_are_read_the_same() {
    let document = "version 1.0 ; extension a ; fragment f ( x : integer ) -> ( y : string ) { a = f ( x ) ; y = b ; } \
        graph g ( x ) -> ( y ) { a = f ( x ) ; b = c ; y = f ( a , k = [ 1 , 2 ] ) ; }";
    let others = "version 1.0 extension fragment graph f = ; ( ) { } [ ] , : -> @ ' #c\n 1 + in";
    let words: Vec<&str> = document.split(' ').filter(|word| !word.is_empty()).collect();
    let mut valid = 0;
    for at in 0..words.len() {
        let (before, from) = words.split_at(at);
        let mut changed = vec![[before, &from[1..]].concat()];
        for other in others.split(' ') {
            changed.extend([[before, &[other], from].concat(), [before, &[other], &from[1..]].concat()]);
        }
        for text in changed.iter().map(|words| words.join(" ")) {
            compare(&text, Dialect::V1).expect("the same");
            valid += usize::from(!read(&text, Dialect::V1, true).diagnostics.has_errors());
        }
    }
    assert!(valid > 150, "{valid} are valid");
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
    let own = ["examples", "tests", "src/library/std"].map(|folder| root.join(folder));
    for folder in own.into_iter().chain(["conformance", "models"].into_iter().filter_map(shared)) {
        compare_folder(&folder, &mut count);
    }
    assert!(count > 20, "{count} documents");
}

/// Statements, some of them flat, some of them invalid.
fn mixed() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => matching("[a-c][0-9]{0,2}"),
        2 => matching("-?[0-9]{1,20}"),
        2 => matching("-?[0-9]{1,3}\\.[0-9]{0,3}(e-?[0-9]{1,3})?"),
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

/// A flat statement.
fn flat() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => matching("[a-c][0-9]{0,2}"),
        1 => matching("-? ?[0-9]{1,18}"),
        1 => matching("-?[0-9]{1,3}(\\.[0-9]{1,3}(e-?[0-9]{1,2})?|[eE][+-]?[0-9])"),
        1 => prop::sample::select(&["true", "false", "'s'", "\"it's\"", "[1, 2]", "[-0.5,1e2]", "[]"][..]).prop_map(str::to_owned),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|items| format!("[x, {}]", items.join(","))),
            prop::collection::vec(inner, 2..4).prop_map(|items| format!("({} )", items.join(" , "))),
        ]
    });
    let argument =
        (prop::sample::select(&["", "k = ", "key="][..]), value).prop_map(|(name, value)| format!("{name}{value}"));
    let target = prop::sample::select(&["a", "b1", "(a, b)", "[ a,b ]", "[a]"][..]);
    let callee = prop::sample::select(&["f", "g <scalar>", "h<?>", "length", "iff"][..]);
    (target, callee, prop::collection::vec(argument, 1..4))
        .prop_map(|(target, callee, arguments)| format!("{target} = {callee}({}); # c\n", arguments.join(", ")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn flat_statements_have_the_nodes_of_the_grammar(list in prop::collection::vec(flat(), 1..6)) {
        let text = list.join(" ");
        prop_assert_eq!(compare(&body(&text), Dialect::V1)?, list.len());
        prop_assert_eq!(compare(&fragment(&text), Dialect::V1)?, 1);
    }

    #[test]
    fn statements_are_read_the_same(list in prop::collection::vec(mixed(), 0..6)) {
        compare(&body(&list.join(" ")), Dialect::V1)?;
        compare(&fragment(&list.join(" ")), Dialect::V1)?;
    }

    #[test]
    fn any_text_is_read_the_same(
        text in matching("(version 1\\.0;|graph g\\(x\\)->\\(y\\)\\{|fragment f|fragment f\\(x:integer\\)->\\(y:string\\)|graph|version 1\\.0|extension a|\\(|\\)|\\{|\\}|\\[|\\]|x|=|;|a = b;|f\\(x\\)|,|:|#c\n|'|1|\\+|for |in | |@){0,24}"),
    ) {
        compare(&text, Dialect::V1)?;
        compare(&body(&text), Dialect::V1)?;
    }
}

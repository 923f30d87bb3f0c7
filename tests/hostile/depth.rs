//! Deeply nested and endless documents. They run on the small stack of a test thread, so that recursion
//! over the input shows up as a crash.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

use std::time::{Duration, Instant};

use crate::common;
use crate::common::{HEADER, error_codes, flat_text, list, run, tell};
use nnef_flatten::{Lower, Options};

/// As many levels as no stack of a test has room for; work that grows with their square would take minutes.
const MANY: usize = 200_000;
/// Nearly as many levels as an expression can have: more are refused before anything recurses.
const DEEP: usize = 99_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// A graph whose operation `pi` takes `value` as its attribute of type `ty`, and a value of that
/// type in `t` beside it.
fn attribute(fragments: &str, ty: &str, value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 1000);
    text.push_str(HEADER);
    text.push_str(&format!("fragment pi( x: tensor<scalar>, a: {ty} ) -> ( y: tensor<scalar> );\n{fragments}"));
    text.push_str("graph G( x ) -> ( y ) { x = external(shape = [1]); y = pi(x, a = ");
    text.push_str(value);
    text.push_str("); }\n");
    text
}

/// A graph whose output is `value`.
fn tensor(fragments: &str, value: &str) -> String {
    format!("{HEADER}{fragments}graph G( x ) -> ( y ) {{ x = external(shape = [1]); y = {value}; }}\n")
}

/// `open` n times, `middle`, `close` n times.
fn nest(open: &str, middle: &str, close: &str, n: usize) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

fn timed<T>(f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    assert!(start.elapsed() < PATIENCE, "took {:?}", start.elapsed());
    result
}

/// Expands, and checks the argument of the last operation as it is printed.
fn gives(text: &str, printed: &str) {
    let expansion = match timed(|| run(text, &Options::default())) {
        Ok(expansion) => expansion,
        Err(diagnostics) => panic!("{}", common::tell(&diagnostics)),
    };
    let flat = flat_text(&expansion.graph);
    assert!(flat.contains(printed), "no {printed} in …{}", &flat[flat.len().saturating_sub(200)..]);
}

fn refused(text: &str, code: &str) {
    refused_with(text, &Options::default(), &[code]);
}

fn refused_with(text: &str, options: &Options, codes: &[&str]) {
    let Err(diagnostics) = timed(|| run(text, options)) else { panic!("expanded") };
    let found = error_codes(&diagnostics);
    assert!(found.iter().all(|code| codes.contains(code)) && !found.is_empty(), "{}", common::tell(&diagnostics));
}

#[test]
fn long_chains_of_operators_work() {
    gives(&attribute("", "integer", &nest("1 + ", "1", "", MANY - 1)), "a = 200000)");
    gives(&attribute("", "logical", &nest("true && ", "false", "", MANY)), "a = false)");
    gives(&attribute("", "string", &nest("'a' + ", "'b'", "", 100_000)), &format!("a = '{}b')", "a".repeat(100_000)));
    gives(
        &attribute("", "integer[]", &nest("[1] + ", "[2]", "", 100_000)),
        &format!("a = [{}2])", "1, ".repeat(100_000)),
    );
}

#[test]
fn a_long_chain_of_tensor_operators_works() {
    gives(&tensor("", &nest("x + ", "x", "", 200_000)), "y = add(y_add199999, x);");
}

/// Long statements are compiled in independent parts.
#[test]
fn names_count_through_a_long_statement() {
    const PERIODS: usize = 2000;
    let fragment = "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { t = tanh(x); y = t * 2.0; }\n";
    let period = " + x - relu(x) + f(x) + (x if 1 > 0 else relu(x)) + (1.0 + 2.0)";
    let mut expected = Vec::new();
    let mut last = "x".to_string();
    for i in 0..PERIODS {
        let [add, relu] = [4 * i, 2 * i].map(|before| before + 1);
        let adds: Vec<String> = (add..add + 4).map(|n| format!("y_add{n}")).collect();
        // The operation of the branch that is not chosen is counted in names, too.
        expected.push(format!("{} = add({last}, x);", adds[0]));
        expected.push(format!("y_relu{relu} = relu(x);"));
        expected.push(format!("y_sub{n} = sub({}, y_relu{relu});", adds[0], n = i + 1));
        expected.push(format!("y_f{n}_t = tanh(x);", n = i + 1));
        expected.push(format!("y_f{n} = mul(y_f{n}_t, 2.0);", n = i + 1));
        expected.push(format!("{} = add(y_sub{n}, y_f{n});", adds[1], n = i + 1));
        expected.push(format!("{} = add({}, x);", adds[2], adds[1]));
        expected.push(format!("{} = add({}, 3.0);", adds[3], adds[2]));
        last = adds[3].clone();
    }
    if let Some(line) = expected.last_mut() {
        *line = line.replace(&format!("{last} ="), "y =");
    }
    let text = tensor(fragment, &format!("x{}", period.repeat(PERIODS)));
    let expansion = match run(&text, &Options::default()) {
        Ok(expansion) => expansion,
        Err(diagnostics) => panic!("{}", common::tell(&diagnostics)),
    };
    let flat = flat_text(&expansion.graph);
    let lines: Vec<&str> = flat.lines().map(str::trim).filter(|line| line.contains(" = ")).skip(1).collect();
    assert!(lines == expected, "{:?}", lines.iter().zip(&expected).find(|(found, expected)| found != expected));
}

/// The same for values that are not known to be numbers before they run.
#[test]
fn long_chains_of_arithmetic_on_names_work() {
    let fragment = "fragment f( n: integer ) -> ( m: integer ) { m = n; }\n";
    gives(&attribute(fragment, "integer", &format!("f(1){}", " + f(2) * 3 - f(5)".repeat(3000))), "a = 3001)");
    let all = format!("f(1) == 1{}", " && f(2) > 1".repeat(3000));
    gives(&attribute(fragment, "logical", &all), "a = true)");
    gives(&attribute(fragment, "logical", &format!("{all} && f(2) > 2 && 1 / f(0) > 1")), "a = false)");
}

#[test]
fn long_chains_of_subscripts_end() {
    gives(
        &attribute("", "integer[]", &nest("[1, 2]", "", "[0:]", MANY.min(1)).replace("[0:]", &"[0:]".repeat(MANY))),
        "a = [1, 2])",
    );
    refused(&attribute("", "integer", &format!("[1]{}", "[0]".repeat(MANY))), "E0711");
    gives(&attribute("", "integer", &nest("[0][", "0", "]", DEEP)), "a = 0)");
    gives(&attribute("", "string", &format!("'abc'{}", "[0]".repeat(MANY))), "a = 'a')");
}

#[test]
fn nested_parentheses_end() {
    gives(&attribute("", "integer", &nest("(", "1", ")", DEEP)), "a = 1)");
    gives(&attribute("", "integer", &nest("1 + (", "1", ")", DEEP)), "a = 99001)");
    gives(&attribute("", "integer", &nest("(1 + ", "1", ")", DEEP)), "a = 99001)");
    refused(&attribute("", "integer", &nest("(", "1", "", DEEP)), "E0206");
    refused(&attribute("", "integer", &nest("", "1", ")", MANY)), "E0206");
    refused(&attribute("", "integer", &nest("(", "1", ")", MANY)), "E0003");
}

#[test]
fn nested_arrays_end() {
    refused(&attribute("", "integer[]", &nest("[", "1", "]", DEEP)), "E0701");
    refused(&attribute("", "integer[]", &nest("[", "", "]", DEEP)), "E0701");
    refused(&attribute("", "integer[]", &nest("[", "1", "", DEEP)), "E0217");
    refused(&attribute("", "integer[]", &nest("(1, ", "1", ")", DEEP)), "E0701");
    let ty = format!("integer{}", "[]".repeat(DEEP));
    refused(&attribute("", &ty, &nest("[", "1", "]", DEEP)), "E0003");
    refused(&attribute("", &nest("(integer, ", "integer", ")", DEEP), &nest("(1, ", "1", ")", DEEP)), "E0003");
}

#[test]
fn values_of_some_depth_expand() {
    let ty = format!("integer{}", "[]".repeat(900));
    gives(&attribute("", &ty, &nest("[", "1", "]", 900)), &nest("[", "1", "]", 900));
    let wrap = "fragment wrap<? = scalar>( x: tensor<?> ) -> ( y: tensor<?> ) { y = x; }\n";
    gives(&tensor(wrap, &nest("wrap(", "x", ")", DEEP)), "y = copy(x);");
}

#[test]
fn a_deep_item_of_a_comprehension_works() {
    for n in [10, 100, 20_000] {
        let item = nest("(i + ", "i", ")", n);
        let list = format!("[for i in [1{}] yield {item}]", ", 1".repeat(29));
        gives(&attribute("", "integer[]", &list), &format!("{}, {})", n + 1, "x").replace(", x)", ", "));
    }
}

#[test]
fn mistakes_are_found_at_any_depth() {
    for n in [3, 40, 4000] {
        let refused = |value: &str, code| refused_with(&tensor("", value), &Options::default(), &[code]);
        refused(&nest("tanh(", "nosuch", ")", n), "E0606");
        refused(&nest("(x + ", "'text'", ")", n), "E0703");
        refused(&nest("tanh(", "x if 1 else x", ")", n), "E0707");
        let Err(once) = run(&tensor("", &nest("tanh(", "x + 'text'", ")", n)), &Options::default()) else {
            panic!("expanded")
        };
        assert_eq!(error_codes(&once), ["E0703"]);
    }
}

#[test]
fn nested_types_and_left_sides_end() {
    let ty = format!("integer{}", "[]".repeat(MANY));
    gives(&attribute("", &ty, "[]"), "a = [])");
    let fragment = format!("fragment f( x: tensor<scalar>, a: {ty} = [] ) -> ( y: tensor<scalar> ) {{ y = x; }}\n");
    gives(&tensor(&fragment, "f(x)"), "y = copy(x);");
    let default = nest("[", "", "]", DEEP);
    let fragment =
        format!("fragment f( x: tensor<scalar>, a: integer[] = {default} ) -> ( y: tensor<scalar> ) {{ y = x; }}\n");
    refused(&tensor(&fragment, "f(x)"), "E0305");
    let of = |left: &str, value: &str| {
        format!("{HEADER}graph G( x ) -> ( y ) {{ x = external(shape = [1]); {left} = {value}; y = x; }}")
    };
    refused(&of(&nest("[", "a", "]", DEEP), "split(x, axis = 0, ratios = [1])"), "E0003");
    refused(&of(&nest("(", "a", ", b)", DEEP), "x"), "E0003");
}

#[test]
fn chains_of_signs_end() {
    gives(&attribute("", "integer", &nest("-", "1", "", DEEP)), "a = 1)");
    gives(&attribute("", "integer", &nest("- ", "length_of([1])", "", DEEP)), "a = 1)");
    gives(&attribute("", "logical", &nest("!", "true", "", DEEP)), "a = true)");
    gives(&tensor("", &nest("-", "x", "", DEEP)), "y = neg(y_neg98999);");
    let fragment = format!(
        "fragment f( x: tensor<scalar>, a: integer = {}1 ) -> ( y: tensor<scalar> ) {{ y = x; }}\n",
        "-".repeat(DEEP)
    );
    refused(&tensor(&fragment, "f(x)"), "E0210");
}

#[test]
fn chains_of_selects_end() {
    gives(&attribute("", "integer", &nest("1 if false else ", "2", "", DEEP)), "a = 2)");
    gives(&attribute("", "integer", &nest("1 if true else ", "2", "", 10_000)), "a = 1)");
    gives(&attribute("", "logical", &nest("true if ", "true", " else false", DEEP)), "a = true)");
    // Each is two levels.
    gives(&attribute("", "logical", &nest("(true if ", "true", " else false)", DEEP / 2)), "a = true)");
    gives(&attribute("", "integer", &nest("(", "2", " if true else 1)", DEEP)), "a = 2)");
}

#[test]
fn nested_calls_end() {
    gives(&tensor("", &nest("relu(", "x", ")", DEEP)), "y = relu(y_relu98999);");
    gives(&tensor("", &nest("relu(x = ", "x", ")", DEEP)), "y = relu(y_relu98999);");
    // Each is two levels.
    gives(&tensor("", &nest("concat([", "x", "], axis = 0)", DEEP / 2)), "y = concat([y_concat49499], axis = 0);");
    gives(&attribute("", "integer", &nest("integer(", "1", ")", DEEP)), "a = 1)");
    gives(&attribute("", "integer", &nest("unknown(", "1", ")", DEEP)), "y = pi(x, a = y_unknown99000);");
}

#[test]
fn nested_comprehensions_end() {
    gives(&attribute("", "integer[]", &nest("[for i in ", "[1]", " yield 1]", DEEP)), "a = [1])");
    let open = list(DEEP, "", |i| format!("[for i{i} in [1] yield "));
    refused(&attribute("", "integer[]", &format!("{open}1{}", "]".repeat(DEEP))), "E0701");
    // Each is two levels.
    let open = list(DEEP / 2, "", |i| format!("[for i{i} in [1] if 1 in "));
    gives(&attribute("", "integer[]", &format!("{open}[1]{}", " yield 1]".repeat(DEEP / 2))), "a = [1])");
}

const DOWN: &str = "fragment down( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{ y = x if n == 0 else down(x, n = n - 1); }\n";

#[test]
fn recursion_as_deep_as_the_budget_works() {
    gives(&tensor(DOWN, "relu(down(x, n = 1000000))"), "y = relu(x);");
    let exact = Options::default().with(|o| o.max_depth = 1001);
    assert!(run(&tensor(DOWN, "relu(down(x, n = 1000))"), &exact).is_ok());
    refused_with(&tensor(DOWN, "relu(down(x, n = 1001))"), &exact, &["E0801"]);
    refused_with(&tensor(DOWN, "relu(down(x, n = -1))"), &Options::default(), &["E0801"]);
    let options = Options::default().with(|o| o.max_depth = 10);
    refused_with(&tensor(DOWN, "relu(down(x, n = 20))"), &options, &["E0801"]);
}

#[test]
fn deep_recursion_with_operations_works() {
    let fragment = "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
        { t = relu(x); y = f(t, n = n - 1) if n > 0 else t; }\n";
    gives(&tensor(fragment, "f(x, n = 100000)"), "y = relu(y_t_100000);");
    let after = "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
        { y = relu(f(x, n = n - 1)) if n > 0 else x; }\n";
    gives(&tensor(after, "f(x, n = 100000)"), "y = relu(y_f1);");
    let all = Options::default().with(|o| o.lower = Lower::All);
    let lowered = timed(|| run(&tensor(after, "f(x, n = 100000)"), &all)).expect("an expansion");
    assert_eq!(flat_text(&lowered.graph).matches(" = select(").count(), 100_000);
}

/// Bodies of `f( n: integer, k: integer ) -> ( m: integer )`, and their results.
type Recursion = (&'static str, fn(i64, i64) -> i64);

/// Nested calls free the slots of their callers that are not read any more.
#[test]
fn locals_live_as_long_as_somebody_reads_them() {
    fn sum(n: i64, k: i64) -> i64 {
        k + n * (n + 1) / 2
    }
    let recursions: &[Recursion] = &[
        ("m = f(n - 1, k = k + n) if n > 0 else k;", sum),
        ("m = k if n == 0 else f(n - 1, k = k + n);", sum),
        ("m = 1 + f(n - 1, k = k) if n > 0 else k;", |n, k| n + k),
        ("m = f(n - 1, k = k) + n if n > 0 else k;", sum),
        ("h = k + n; m = f(n - 1, k = k) + h - k if n > 0 else k;", sum),
        ("h = k + n; o = n - 1; m = f(o, k = h) if n > 0 else k;", sum),
        ("h = f(n - 1, k = k) if n > 0 else k; m = h + n;", sum),
        ("h = f(n - 1, k = k + n) if n > 0 else k; m = h;", sum),
        ("t = k * 2; m = f(n - 1, k = k + 1) if n > 0 else t;", |n, k| 2 * (k + n)),
        (
            "m = f(f(n - 1, k = 0) - f(n - 1, k = 0) + n - 1, k = k + n) if n > 0 && k >= 0 && n < 8 else \
          f(n - 1, k = k + n) if n > 0 else k;",
            sum,
        ),
        ("m = f(f(0, k = n) - 1, k = f(0, k = k) + n) if n > 0 else k;", sum),
        ("(p, q) = g(n, k = k) if n > 0 else (k, k); m = p + q - k;", sum),
        ("m = ([f(n - 1, k = k), n] + [n])[0] + n if n > 0 else k;", sum),
        ("m = [f(n - 1, k = k + n)][0] if n > 0 else k;", sum),
        ("xs = [for i in [1, n] yield i * n] if n > 0 else []; m = f(n - 1, k = k + xs[0]) if n > 0 else k;", sum),
        ("m = h(n, k = k + n) if n > 0 else k;", sum),
    ];
    let others = "fragment g( n: integer, k: integer ) -> ( a: integer, b: integer )
            { a = k; b = f(n - 1, k = a) + n; }
        fragment h( n: integer, k: integer ) -> ( m: integer ) { o = n - 1; m = f(o, k = k); }\n";
    for (body, expected) in recursions {
        let fragments = format!("fragment f( n: integer, k: integer ) -> ( m: integer ) {{ {body} }}\n{others}");
        // A small number of calls always keep their slots.
        for depth in [3, 250, 260, 2000] {
            let value = format!("a = {})", expected(depth, 5));
            gives(&attribute(&fragments, "integer", &format!("f({depth}, k = 5)")), &value);
        }
    }
}

/// An operation, or a call, behind a call in one array can have arguments that are locals.
#[test]
fn locals_are_read_behind_a_call() {
    let document = |item: &str, depth: usize| {
        format!(
            "{HEADER}fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ t = relu(x); y = sqrt(t); }}
             fragment s( a: tensor<scalar>, b: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = a - b; }}
             fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar>[] )
             {{ a = exp(x); b = log(x); y = [g(x), {item}]; }}
             fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar>[] )
             {{ y = f(x, n = n - 1) + [] if n > 0 else h(x) + []; }}
             graph G( x ) -> ( u, v ) {{ x = external(shape = [2]); [u, v] = f(x, n = {depth}); }}"
        )
    };
    for (item, made) in [
        ("add(a, b)", "v = add(#_a, #_b);"),
        ("a + b", "v = add(#_a, #_b);"),
        ("s(a, b)", "v = sub(#_a, #_b);"),
        ("max(g(a), b)", "#_g2_t = relu(#_a); #_g2 = sqrt(#_g2_t); v = max(#_g2, #_b);"),
    ] {
        for depth in [0, 1, 255, 300] {
            let flat = flat_text(&run(&document(item, depth), &Options::default()).expect("a graph").graph);
            let found: Vec<&str> = flat.lines().map(str::trim).filter(|line| line.contains(" = ")).skip(1).collect();
            let calls = if depth == 0 { "u_h1".to_string() } else { format!("u_f{depth}_h1") };
            let wanted = format!("#_a = exp(x); #_b = log(x); u_t = relu(x); u = sqrt(u_t); {made}");
            assert_eq!(found.join(" "), wanted.replace('#', &calls), "{item} at {depth}");
        }
    }
}

/// Errors in deeply nested calls are reported with their place, whether slots were freed or not.
#[test]
fn mistakes_within_deep_calls_are_told() {
    for (last, code) in [("k / (n - n)", "E0802"), ("[k][n + 1]", "E0715"), ("[1, 2][n:n + 3][0]", "E0715")] {
        let fragment = format!(
            "fragment f( n: integer, k: integer ) -> ( m: integer ) {{ m = f(n - 1, k = k + 1) if n > 0 else {last}; }}\n"
        );
        let text = attribute(&fragment, "integer", "f(1000, k = 5)");
        let Err(diagnostics) = run(&text, &Options::default()) else { panic!("{last} expanded") };
        assert_eq!(error_codes(&diagnostics), [code], "{}", common::tell(&diagnostics));
    }
}

#[test]
fn many_fragments_that_call_each_other_work() {
    let count = 20_000;
    let mut fragments = String::new();
    for i in 0..count {
        let call = if i + 1 < count { format!("f{}(x)", i + 1) } else { "relu(x)".to_string() };
        fragments.push_str(
            &format!("fragment f{i}<? = scalar>( x: tensor<?> ) -> ( y: tensor<?> ) {{ y = {call}; }}\n")
                .replace("relu", "copy"),
        );
    }
    gives(&tensor(&fragments, "f0(x)"), "y = copy(x);");
}

#[test]
fn a_long_chain_of_deferred_locals_works() {
    let count = 50_000;
    let mut body = String::from("a0 = length_of([1]); ");
    for i in 1..count {
        body.push_str(&format!("a{i} = a{} + 1; ", i - 1));
    }
    let fragment = format!(
        "fragment pi( x: tensor<scalar>, a: integer ) -> ( y: tensor<scalar> );
         fragment f( x: tensor<scalar>, c: logical ) -> ( y: tensor<scalar> ) {{ {body} y = pi(x, a = a{} if c else 0); }}\n",
        count - 1
    );
    gives(&tensor(&fragment, "f(x, c = true)"), "y = pi(x, a = 50000);");
    gives(&tensor(&fragment, "f(x, c = false)"), "y = pi(x, a = 0);");
}

#[test]
fn endless_recursion_is_refused() {
    let f = "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(x); }\n";
    refused_with(&tensor(f, "f(x)"), &Options::default(), &["E0801"]);
    let mutual = "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = g(x); }
        fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(relu(x)); }\n";
    refused_with(&tensor(mutual, "f(x)"), &Options::default(), &["E0801", "E0811"]);
    let generic = "fragment f<? = scalar>( x: tensor<?> ) -> ( y: tensor<?> ) { y = f(x); }\n";
    refused_with(&tensor(generic, "f(x)"), &Options::default(), &["E0801"]);
}

#[test]
fn exponential_work_is_refused() {
    // No operation is emitted, and the depth is small.
    let twice = "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
        { a = f(x, n = n - 1) if n > 0 else x; y = f(a, n = n - 1) if n > 0 else a; }\n";
    let options = Options::default().with(|o| o.max_ops = 100_000);
    refused_with(&tensor(twice, "f(x, n = 200)"), &options, &["E0814"]);
    let adds = "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
        { a = f(x, n = n - 1) if n > 0 else x; y = f(a + 1.0, n = n - 1) if n > 0 else a + 2.0; }\n";
    refused_with(&tensor(adds, "f(x, n = 200)"), &options, &["E0811"]);
}

#[test]
fn blow_ups_of_data_are_refused() {
    let pi = "fragment pi( x: tensor<scalar>, a: integer[], s: string ) -> ( y: tensor<scalar> );\n";
    let double = "fragment f( x: tensor<scalar>, a: integer[], s: string, n: integer ) -> ( y: tensor<scalar> )
        { y = f(x, a = a + a, s = s + s, n = n - 1) if n > 0 else pi(x, a = a, s = s); }\n";
    let both = format!("{pi}{double}");
    let limits = ["E0812", "E0813"];
    refused_with(&tensor(&both, "f(x, a = [1], s = '', n = 100)"), &Options::default(), &limits);
    refused_with(&tensor(&both, "f(x, a = [], s = 'ab', n = 100)"), &Options::default(), &limits);
    refused_with(&attribute("", "integer[]", "[1, 2] * 1000000000"), &Options::default(), &limits);
    refused_with(&attribute("", "integer[]", "[1, 2] * 9223372036854775807"), &Options::default(), &limits);
    refused_with(&attribute("", "string", "'abc' * 1000000000"), &Options::default(), &limits);
    refused_with(&attribute("", "integer[][]", "[[1] * 9000000] * 9000000 * 9000000"), &Options::default(), &limits);
    refused_with(
        &attribute(
            "",
            "integer[][]",
            "[for i in range_of([1] * 10000) yield [for j in range_of([1] * 10000000) yield j]]",
        ),
        &Options::default().with(|o| o.max_ops = 1_000_000),
        &["E0812", "E0813", "E0814"],
    );
    gives(&attribute("", "integer[]", "[] * 9223372036854775807"), "a = []");
}

#[test]
fn a_crossed_budget_tells_the_calls() {
    let options = Options::default().with(|o| o.max_ops = 50);
    let endless = "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(relu(x)); }\n";
    let Err(diagnostics) = run(&tensor(endless, "f(x)"), &options) else { panic!("expanded") };
    let error = diagnostics.iter().find(|diagnostic| diagnostic.is_error()).expect("an error");
    assert_eq!(error.code.as_str(), "E0811");
    assert!(!error.expansion.is_empty() && error.expansion.iter().all(|frame| frame.fragment == "f"));
}

/// `a0 = first; a1 = next(a0); ..`, where each refers twice to the one before.
fn doubling(first: &str, open: &str, close: &str, n: usize) -> String {
    let mut text = format!("a0 = {first}; ");
    for i in 1..=n {
        text.push_str(&format!("a{i} = {open}a{}, a{}{close}; ", i - 1, i - 1));
    }
    text
}

#[test]
fn values_that_share_their_parts_end() {
    let of_some_depth = Options::default().with(|o| o.max_ops = 100_000);
    // How large the limits are changes the time until they are reached, and nothing else.
    let of_any_depth = Options::default().with(|o| {
        o.max_ops = 100_000;
        o.max_length = 100_000;
        o.max_memory = 64 << 20;
    });
    // Nested lists of few levels are printed, those of many are too large. Tuples are neither printed nor compared.
    let too_large = &["E0726", "E0812", "E0813", "E0814"][..];
    for (n, options, codes) in [(20, of_some_depth, &[][..]), (100, of_any_depth, too_large)] {
        let ends = |text: &str, codes: &[&str]| match codes {
            [] => assert!(timed(|| run(text, &options)).is_ok(), "{n}: {}", &text[text.len() - 200..]),
            codes => refused_with(text, &options, codes),
        };
        let ty = format!("integer{}", "[]".repeat(n + 1));
        let pi = format!("fragment pi( x: tensor<scalar>, a: {ty} ) -> ( y: tensor<scalar> );\n");
        let local = |end: &str| {
            let body = doubling("[1]", "[", "]", n);
            format!("{pi}fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ {body} {end} }}\n")
        };
        ends(&tensor(&local(&format!("y = pi(x, a = a{n});")), "f(x)"), codes);
        ends(&tensor(&local(&format!("y = x if a{n} in [a{n}, []] else -x;")), "f(x)"), codes);
        ends(&tensor(&local(&format!("y = x + a{n};")), "f(x)"), codes);
        ends(&tensor(&local(&format!("y = pi(x, a = a{n} if length_of(a{n}) == 2 else []);")), "f(x)"), codes);
        let graph = doubling("[1]", "[", "]", n);
        ends(&format!("{HEADER}graph G( x ) -> ( y ) {{ x = external(shape = [1]); {graph} y = x; }}"), codes);
        for first in ["(1, 2)", "(x, x)", "('a', [])", "[x]"] {
            let body = doubling(first, "(", ")", n);
            for (end, codes) in [
                (format!("y = x if length_of([a{n}]) == 1 else -x;"), &[][..]),
                (format!("y = unknown(a{n}, a{n} == a{n});"), &["E0703"]),
            ] {
                let f = format!("fragment f<?>( x: tensor<?> ) -> ( y: tensor<?> ) {{ {body} {end} }}\n");
                ends(&tensor(&f, "f(x)"), codes);
            }
            let two = body.replace('a', "b").replace("[]", "['c']");
            let f = format!(
                "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ {body} {two} y = x if length_of([a{n}, b{n}]) == 2 else -x; }}\n"
            );
            ends(&tensor(&f, "f(x)"), &[]);
        }
    }
}

#[test]
fn work_on_long_arrays_is_bounded() {
    let codes = ["E0812", "E0813", "E0814"];
    let options = Options::default().with(|o| o.max_ops = 1_000_000);
    let pi = "fragment pi( x: tensor<scalar>, a: integer[] ) -> ( y: tensor<scalar> );\n";
    let of = |value: &str| {
        let f = format!(
            "fragment f( x: tensor<scalar>, a: integer[] ) -> ( y: tensor<scalar> ) {{ y = pi(x, a = {value}); }}\n"
        );
        tensor(&format!("{pi}{f}"), "f(x, a = [1] * 9000000)")
    };
    refused_with(&of("[for i in a if 2 in a yield i]"), &options, &codes);
    refused_with(&of("[for i in a yield length_of(range_of(a))]"), &options, &codes);
    refused_with(
        &of("[for i in a yield integer(string(1) * 5000000)]"),
        &options,
        &["E0803", "E0812", "E0813", "E0814"],
    );
    let many = "fragment f( x: tensor<scalar>, a: integer[] ) -> ( y: tensor<scalar> )
        { y = add_n([for i in a[0:1000] yield pi(x, a = a)]); }\n";
    refused_with(&tensor(&format!("{pi}{many}"), "f(x, a = [1] * 9000000)"), &Options::default(), &codes);
}

/// What is too large for a constant is refused by the limit, not taken for something else, and not left out.
#[test]
fn constants_have_limits() {
    let options = Options::default().with(|o| o.max_length = 3);
    let graph = |body: &str| format!("{HEADER}graph G( x ) -> ( y ) {{ x = external(shape = [1]); {body} }}");
    let told = |text: &str, options: &Options| tell(&run(text, options).map(drop).unwrap_err());
    let many = "E0812 an array or string of 4 items is more than the limit of 3";
    assert_eq!(told(&graph("a = [1]; b = [a, a]; c = [b, b]; y = copy(x);"), &options), many);
    let sum =
        "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { a = [1]; b = [a, a]; c = [b, b]; y = x + c; }\n";
    assert_eq!(told(&tensor(sum, "f(x)"), &options), many);
    let deep = format!("a = {}1{}; y = copy(x);", "[".repeat(65), "]".repeat(65));
    let axes = "E0726 an array that is used as a tensor has more than 64 axes";
    assert_eq!(told(&graph(&deep), &Options::default()), axes);
    let ragged = "E0726 an array that is used as a tensor has rows of different length, or items that are not numbers";
    let body = "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { a = [[1], [1, 2]]; y = x + a; }\n";
    assert_eq!(told(&tensor(body, "f(x)"), &Options::default()), ragged);
}

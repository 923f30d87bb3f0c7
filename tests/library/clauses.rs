//! Loops in NNEF text: their expansion, refusals, and formatting.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::corpus::{flat, flatten};
use nnef_flatten::{Options, parse};

/// A document with a fragment and a graph that has these statements and outputs.
fn document(statements: &str, outputs: &str) -> String {
    format!(
        "version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
extension flatten_loops;
fragment cell( s: tensor<scalar>, x: tensor<scalar> ) -> ( n: tensor<scalar>, o: tensor<scalar> )
{{
    n = tanh(s + x);
    o = n * 2.0;
}}
graph G( x, y, z ) -> ( {outputs} )
{{
    x = external(shape = [2]);
    y = external(shape = [2]);
    z = external(shape = [2]);
{statements}
}}
"
    )
}

fn unroll() -> Options {
    Options::default().with(|o| o.unroll = true)
}

/// The statements behind the inputs.
fn expanded(statements: &str, outputs: &str, options: &Options) -> Vec<String> {
    let (text, _) = flat(&document(statements, outputs), options);
    text.lines().filter_map(|line| line.strip_prefix("    ")).skip(3).map(str::to_owned).collect()
}

#[test]
fn recurrences_and_iterators() {
    let found = expanded(
        "    r = with s: tensor<scalar> = 0.0 for t : [x, y] unroll { yield s + t; };",
        "r",
        &Options::default(),
    );
    assert_eq!(found, ["r_trip1_add1 = add(0.0, x);", "r = add(r_trip1_add1, y);"]);
}

#[test]
fn calls_give_several_results() {
    let found = expanded(
        "    r, all = with s = x for t : [y, z] do cell(s, t);\n    q = stack(all, axis = 0);",
        "r, q",
        &unroll(),
    );
    let wanted = [
        "r_trip1_add1 = add(x, y);",
        "r_trip1_n = tanh(r_trip1_add1);",
        "r_trip1_o = mul(r_trip1_n, 2.0);",
        "r_trip2_add1 = add(r_trip1_n, z);",
        "r = tanh(r_trip2_add1);",
        "r_trip2_o = mul(r, 2.0);",
        "q = stack([r_trip1_o, r_trip2_o], axis = 0);",
    ];
    let calls = |line: &str| line.replace("_cell1", "");
    assert_eq!(found.iter().map(|line| calls(line)).collect::<Vec<_>>(), wanted);
}

#[test]
fn locals_and_the_number_of_the_trip() {
    let body = "    r = with s = x do..(i -> 3) { t = s * scalar(i); u = exp(t); yield u; };";
    let wanted = [
        "r_trip1_t = mul(x, 0.0);",
        "r_trip1_u = exp(r_trip1_t);",
        "r_trip2_t = mul(r_trip1_u, 1.0);",
        "r_trip2_u = exp(r_trip2_t);",
        "r_trip3_t = mul(r_trip2_u, 2.0);",
        "r = exp(r_trip3_t);",
    ];
    assert_eq!(expanded(body, "r", &unroll()), wanted);
}

#[test]
fn reversed_iterators_and_counts_below_their_length() {
    let found = expanded(
        "    r = with s: tensor<scalar> = 0.0 for t : reverse([x, y, z]) unroll add(s, t);",
        "r",
        &Options::default(),
    );
    assert_eq!(found.iter().map(|line| line.rsplit_once(", ").unwrap().1).collect::<Vec<_>>(), ["z);", "y);", "x);"]);
    let found =
        expanded("    r = with s = x for t : reverse([x, y, z]) unroll..(2) add(s, t);", "r", &Options::default());
    assert_eq!(found.iter().map(|line| line.rsplit_once(", ").unwrap().1).collect::<Vec<_>>(), ["y);", "x);"]);
}

#[test]
fn no_trips_give_the_initial_values() {
    assert_eq!(expanded("    r = with s = x unroll..(0) exp(s);", "r", &Options::default()), ["r = copy(x);"]);
    assert_eq!(expanded("    r = with s = x unroll..(-1) exp(s);", "r", &Options::default()), ["r = copy(x);"]);
}

#[test]
fn conditions_that_are_known_decide_while_expanding() {
    let found = expanded(
        "    r, n = with s = x, i = 1 while i < 100 unroll { yield exp(s), i * 10; };",
        "r",
        &Options::default(),
    );
    assert_eq!(found, ["r_trip1_exp1 = exp(x);", "r = exp(r_trip1_exp1);", "n = copy(100);"]);
    let found =
        expanded("    r, n = with s = x, i = 1 unroll { yield exp(s), i + 1; } while i < 3;", "r", &Options::default());
    assert_eq!(found, ["r_trip1_exp1 = exp(x);", "r = exp(r_trip1_exp1);", "n = copy(3);"]);
    let endless = document("    r = with s = x while true unroll exp(s);", "r");
    let (_, found) = flatten(&endless, &Options::default().with(|o| o.max_trips = Some(10)));
    assert!(found.errors[0].starts_with("E0937"), "{found:?}");
}

const WHILE: &str = "    c = sum_reduce(x, axes = [0]);
    r = with s = c while s < 10.0 do..(2) { yield s * 2.0; };";

#[test]
fn conditions_on_tensors_choose() {
    let wanted = [
        "c = sum_reduce(x, axes = [0]);",
        "r_trip1_lt1 = lt(c, 10.0);",
        "r_trip1_mul1 = mul(c, 2.0);",
        "r_trip1_select = select(r_trip1_lt1, r_trip1_mul1, c);",
        "r_trip2_lt1 = lt(r_trip1_mul1, 10.0);",
        "r_trip2_and = and(r_trip1_lt1, r_trip2_lt1);",
        "r_trip2_mul1 = mul(r_trip1_mul1, 2.0);",
        "r = select(r_trip2_and, r_trip2_mul1, r_trip1_select);",
    ];
    assert_eq!(expanded(WHILE, "r", &unroll()), wanted);
    let open = WHILE.replace("..(2)", "");
    let bounded = unroll().with(|o| o.max_trips = Some(2));
    assert_eq!(expanded(&open, "r", &bounded), wanted);
    let (_, found) = flatten(&document(&open, "r"), &unroll());
    assert!(found.errors[0].starts_with("E0924") && found.errors[0].contains("`r_trip1_lt1`"), "{found:?}");
}

#[test]
fn loops_nest_and_stand_in_fragments() {
    let body = "    r = with s = x do..(i -> 2) { t = with u = s for v : [y, z] do add(u, v); yield t * scalar(i); };";
    let found = expanded(body, "r", &unroll());
    let wanted = [
        "r_trip1_t_trip1_add1 = add(x, y);",
        "r_trip1_t_trip2_add1 = add(r_trip1_t_trip1_add1, z);",
        "r_trip1_mul1 = mul(r_trip1_t_trip2_add1, 0.0);",
        "r_trip2_t_trip1_add1 = add(r_trip1_mul1, y);",
        "r_trip2_t_trip2_add1 = add(r_trip2_t_trip1_add1, z);",
        "r = mul(r_trip2_t_trip2_add1, 1.0);",
    ];
    assert_eq!(found, wanted);
    let text = "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension flatten_loops;\n\
        fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )\n{\n    y = with s = x unroll..(n) exp(s);\n}\n\
        graph G( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    y = f(x, n = 2);\n}\n";
    let (text, _) = flat(text, &Options::default());
    assert!(text.contains("y_trip1_exp1 = exp(x);\n    y = exp(y_trip1_exp1);"), "{text}");
    assert!(!text.contains("flatten_loops"), "{text}");
}

#[test]
fn statements_after_a_loop_are_read() {
    let many: String = (0..100).map(|i| format!("    t{i} = exp(x);\n")).collect();
    let found =
        expanded(&format!("    r = with s = x unroll..(1) {{ yield exp(s); }};\n{many}"), "r", &Options::default());
    assert_eq!(found.len(), 101);
}

#[test]
fn what_is_wrong_has_a_code() {
    for (statement, errors) in [
        ("r = with s = x do exp(s);", "E0930 this loop has no trip limit"),
        (
            "r = with s = x do..(2) exp(s);",
            "E0924 NNEF 1.0 has no loops, and the expansion of this loop is not enabled",
        ),
        ("r = with s = x unroll..(1.5) exp(s);", "E0932 the count of a loop is scalar, not a single integer"),
        ("r = with s = x while 1 unroll exp(s);", "E0934 the condition of a loop is integer, not a single logical"),
        (
            "r = with s = x while s unroll exp(s);",
            "E0934 the condition of a loop is tensor<scalar>, not a single logical",
        ),
        ("r = with s = 0.0 for t : [x] unroll s + t;", "E0953 the recurrence is scalar, it goes on as tensor<scalar>"),
        ("r, q = with s = x, t = y unroll..(2) exp(s);", "E0950 the body of this loop gives 1 value for 2 recurrences"),
        ("r = with s = x for t : y unroll s + t;", "E0712 a loop iterates over arrays, this is tensor<scalar>"),
        (
            "r = with s = x for t : [x, y], u : [x] unroll s + t * u;",
            "E0712 a loop iterates over arrays of equal length; these have 2 and 1 items",
        ),
        ("r = with s = x for t : [x, y] unroll..(3) s + t;", "E0944 the loop has 3 trips, what it runs over 2 items"),
        ("r = with x = x unroll..(2) exp(x);", "E0611 iterator `x` hides another name"),
        ("r = with s = x unroll..(2) { s = exp(x); yield s; };", "E0607 `s` is assigned already"),
        ("r = with s = x unroll..(2) { t = exp(x); yield t; };\n    q = exp(t);", "E0606 `t` is not defined"),
        ("r = with s = x unroll..(2) { yield exp(s) };", "E0206 expected `,` or `;`, found `}`"),
        ("r = with s = x unroll..(2) { t = exp(s); };", "E0217 expected `yield` or identifier, found `}`"),
        ("r = with s unroll..(2) exp(s);", "E0206 expected `:` or `=`, found `unroll`"),
        ("r = unroll..( exp(x);", "E0206 expected `)`, found `;`"),
        ("r = exp(with s = x unroll..(2) exp(s));", "E0217 expected `)` or expression, found `with`"),
        (
            "r = with s = x unroll..(2) {",
            "E0217 expected `yield` or identifier, found `}`; E0206 expected `}`, found the end of the text",
        ),
        ("r = with s = x unroll..(2) { yield ; };", "E0217 expected expression, found `;`"),
    ] {
        let (graph, mut found) = flatten(&document(&format!("    {statement}"), "r"), &Options::default());
        assert!(graph.is_none(), "{statement}");
        found.errors.dedup();
        assert_eq!(found.errors.join("; "), errors, "{statement}");
    }
}

/// A local of a fragment that is first needed in a trip is named as in the body of the fragment.
#[test]
fn locals_outside_of_a_loop_do_not_name_its_trips() {
    let text = "version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
extension flatten_loops;
fragment g( a: tensor<scalar> ) -> ( b: tensor<scalar> )
{
    c = tanh(a);
    b = with q = a unroll..(1) { t = sqrt(q) + c; yield t; };
}
fragment f( x: tensor<scalar>, deep: logical ) -> ( y: tensor<scalar> )
{
    a = exp(x);
    b = g(a);
    y = with s = x unroll..(2)
    {
        u = s * b if deep else s + a;
        v, _ = with r = u, k = u unroll..(1) { w = r - b; yield w, w; };
        yield v;
    };
}
graph G( x ) -> ( y, z )
{
    x = external(shape = [2]);
    y = f(x, true);
    z = f(x, false);
}
";
    let (text, _) = flat(text, &Options::default());
    let made: Vec<_> = text.lines().filter_map(|line| line.trim().split_once(" = ")).map(|line| line.0).collect();
    let wanted = "x y_a y_b_trip1_sqrt1 y_b_c y_b_trip1_t y_trip1_u y_trip1_v_trip1_w y_trip2_u y \
        z_a z_trip1_u z_b_trip1_sqrt1 z_b_c z_b_trip1_t z_trip1_v_trip1_w z_trip2_u z";
    assert_eq!(made.join(" "), wanted, "{text}");
}

/// Without the extension the keywords of loops are names.
#[test]
fn the_extension_enables_loops() {
    let text = "version 1.0;\ngraph G( with ) -> ( do )\n{\n    with = external(shape = [2]);\n    \
        unroll = exp(with);\n    while = exp(unroll);\n    do = exp(while);\n}\n";
    assert!(flat(text, &Options::default()).0.contains("do = exp(while);"));
    let text = "version 1.0;\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    y = with s = x unroll..(2) exp(s);\n}\n";
    let (_, found) = flatten(text, &Options::default());
    assert!(found.errors.iter().any(|error| error == "E0206 expected `;`, found identifier `s`"), "{found:?}");
    let (_, found) = flatten(
        &document("    r = with s = x unroll..(2) exp(s);", "r"),
        &Options::default().with(|o| o.strict = true),
    );
    assert!(found.errors.iter().any(|error| error.starts_with("E0219")), "{found:?}");
}

const PRINTED: &str = "version 1.0;
extension KHR_enable_fragment_definitions;
extension flatten_loops;

fragment f( x: tensor<scalar>, xs: tensor<scalar>[] ) -> ( y: tensor<scalar> )
{
    y, rest = with s: tensor<scalar> = 0.0, i = 1 for t : xs, u : reverse(xs) while i < 3 do..(k -> 4) {
        a = s + t * u;  # a comment
        b, bs = for v : [a, x] unroll {
            yield v, exp(v);
        };
        yield a, i + 1, b;
    } while i < 2;
    z = do..(3) exp(x);
    q = with r = x unroll..(n ->) while true exp(r);
}
";

#[test]
fn printing_gives_the_same_text() {
    let options = Options::default();
    let text = PRINTED.replace(
        "    q = with r = x unroll..(n ->) while true exp(r);\n",
        "    q = with r = x while r < 1.0 unroll..(n ->) exp(r);\n",
    );
    let parsed = nnef_flatten::parse_library("f.nnef", text.clone(), &options);
    let printed = parsed.document.format();
    let again = nnef_flatten::parse_library("f.nnef", printed.clone(), &options).document.format();
    assert_eq!(printed, again);
    let document =
        document("    r, q = with s = x, t: tensor<scalar> = y unroll..(i -> 2) { u = s + t; yield u, s; };", "r");
    let parsed = parse("g.nnef", document, &options);
    assert!(!parsed.diagnostics.has_errors());
    let printed = parsed.document.format();
    let wanted = "    r, q = with s = x, t: tensor<scalar> = y unroll..(i -> 2) {\n        u = s + t;\n        yield u, s;\n    };\n";
    assert!(printed.contains(wanted), "{printed}");
}

/// Trips without operations count as steps.
#[test]
fn idle_trips_end() {
    let limits = Options::default().with(|o| o.max_ops = 1000);
    for loops in
        ["n = with i = 0 unroll..(1000000000) i + 1;", "n, all = with i = 0 unroll..(1000000000) { yield i + 1, i; };"]
    {
        let (_, found) = flatten(&document(&format!("    {loops}\n    r = exp(x);"), "r"), &limits);
        assert!(found.errors.iter().any(|error| error.starts_with("E0814")), "{found:?}");
    }
}

#[test]
fn hostile_nesting_is_refused() {
    for open in ["r = with s = x unroll..(1) { ", "r = do { r = ", "{"] {
        let (graph, found) = flatten(&document(&open.repeat(20_000), "r"), &Options::default());
        let error = &found.errors[0];
        let is_told = error.starts_with("E0003") && error.contains("more than 256 levels of bodies");
        assert!(graph.is_none() && is_told, "{open}: {found:?}");
    }
    // Few levels, and twice as many trips with each.
    let opened: String = (0..100).map(|i| format!("with s{i} = x unroll..(2) {{ r{i} = ")).collect();
    let closed: String = (0..100).rev().map(|i| format!(" yield r{i}; }};")).collect();
    let deep = document(&format!("    r = {opened}exp(x);{closed}"), "r");
    let (_, found) = flatten(&deep, &Options::default().with(|o| o.max_ops = 1000));
    assert!(found.errors[0].starts_with("E0811"), "{found:?}");
}

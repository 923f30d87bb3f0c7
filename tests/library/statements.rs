//! Statements of a graph: the meaning of each depends neither on the others nor on its layout, and its
//! errors are reported at its place.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

use crate::common::{HEADER, error_codes, flat_text, run, same_outcome};
use nnef_flatten::{Lower, Options};

const FRAGMENTS: &str = "
fragment soft( x: tensor<scalar>, k: scalar = 0.5 ) -> ( y: tensor<scalar> ) { y = leaky_relu(x, alpha = k); }
fragment block( x: tensor<scalar>, w: tensor<scalar>, n: integer = 1 ) -> ( y: tensor<scalar>, z: tensor<scalar> )
{ t = soft(x) * w; y = t if n == 1 else soft(t + 1.0); z = add_n([for i in range_of([1.0, 2.0]) yield t * scalar(i)]); }
fragment parts( x: tensor<scalar> ) -> ( y: tensor<scalar>[] ) { y = [for s in [1.0, 2.0] yield soft(x, k = s)]; }
fragment cond( x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<logical> ) { z = x < y; }
fragment same<?>( x: tensor<?> ) -> ( y: tensor<?> ) { y = copy(x); }
fragment count( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = count(x, n = n - 1) + x if n > 0 else x; }
";

/// A graph with these statements between its inputs and its output.
fn document(statements: &str) -> String {
    format!(
        "{HEADER}{FRAGMENTS}
graph g( x, w ) -> ( y ) {{
    x = external<scalar>(shape = [1, 4, 8, 8]);
    w = external<scalar>(shape = [1, 4, 8, 8]);
{statements}
    y = copy(x);
}}"
    )
}

/// The diagnostics of a document: codes, and the text at each place.
fn findings(statements: &str, options: &Options) -> Vec<(String, String)> {
    let text = document(statements);
    let found = run(&text, options).map_or_else(|found| found, |expansion| expansion.diagnostics.into_sorted());
    let at = |span: nnef_flatten::source::Span| text[span.range()].to_string();
    found.into_iter().map(|finding| (finding.code.as_str().to_string(), at(finding.at.span))).collect()
}

fn codes(statements: &str) -> Vec<String> {
    findings(statements, &Options::default()).into_iter().map(|(code, _)| code).collect()
}

/// Flat statements, without those around them.
fn flat(statements: &str) -> Vec<String> {
    let expansion = run(&document(statements), &Options::default()).unwrap_or_else(|found| panic!("{found:?}"));
    let text = flat_text(&expansion.graph);
    let lines = text.lines().map(str::trim).filter(|line| line.contains(" = "));
    lines.filter(|line| !["x =", "w =", "y ="].iter().any(|of| line.starts_with(of))).map(str::to_string).collect()
}

/// The outcome of statements, with all places in the text, after checking that a comment in each of
/// them has no influence on it.
fn laid_out(statements: &[String], options: &Options) -> String {
    let texts = ["   ;", " #\n;"].map(|end| {
        let statements: Vec<String> = statements.iter().map(|statement| statement.replace(';', end)).collect();
        document(&statements.join("\n"))
    });
    same_outcome(texts, options)
}

/// A number of statements of several kinds, flat ones and others, with names of many lengths.
fn many(count: usize) -> Vec<String> {
    let name = |i: usize| format!("{}{i}", ["t", "value_", "a_longer_name"][i % 3]);
    let statement = |i: usize| {
        let (new, a, b) = (name(i), name(i - 1), name(i - 1 - i % 3));
        match i % 13 {
            0 => format!("{new} = add({a}, {b});"),
            1 => format!("({new}, rest{i}) = block({a}, {b});"),
            2 => format!("{new} = add_n([for i in [1.0, 2.0] yield {a} * i + {b}]);"),
            3 => format!("[{new}, last{i}] = parts({b});"),
            4 => format!("{new} = variable<scalar>(label = 'v/{i}', shape = [1, 4, 8, 8]);"),
            5 => format!("{new} = reshape({a}, shape = [0, -1] + shape_of({b})[2:]);"),
            6 => format!("{new} = [for k in [{a}, {b}], j in [true, false] if j yield soft(k)][0];"),
            7 => format!("{new} = count({a}, n = length_of(shape_of({b})) - 1);"),
            8 => format!("{new} = {a} if length_of(shape_of({a})) > 9 else relu({a});"),
            9 => format!("{new} = clamp(x = {a}, b = {b},\n a = -0.5);"),
            10 => format!("{new} = select(cond({a}, {b}) && same<logical>(cond({b}, {a})), {b} ^ 2.0, -{a});"),
            11 => format!("(all{i}, {new}) = block({b}, {a}, n = 1 + 1);"),
            _ => format!("{new} = select({a} < {b}, {b}, 2.5);"),
        }
    };
    let first = ["t0 = relu(x);", "value_1 = relu(x);", "a_longer_name2 = relu(x);"].map(String::from);
    first.into_iter().chain((3..count).map(statement)).collect()
}

#[test]
fn arguments_go_to_the_parameters_that_their_names_say() {
    let lines = flat(
        "a = clamp(x, 0.0, 1.0); b = softmax(x, axes = [1]);
         c = clamp(a, 2.0, 3.0); d = softmax(a, axes = [2]); e = clamp(b, a, c); f = softmax(axes = [3], x = d);",
    );
    assert_eq!(lines[2], "c = clamp(a, 2.0, 3.0);");
    assert_eq!(lines[3], "d = softmax(a, axes = [2]);");
    assert_eq!(lines[4], "e = clamp(b, a, c);");
    assert_eq!(lines[5], "f = softmax(d, axes = [3]);");
}

/// An argument by position takes the place of the one by name before it: another one is missing then.
#[test]
fn what_is_missing_is_told_whatever_else_is_wrong() {
    let found = findings(
        "a = add(x = x, w); b = add(x, x = w); c = add(x, z = w); d = add(x, y = w, y = w);",
        &Options::default(),
    );
    let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
    let wanted = ["E0404", "E0410", "E0403", "E0407", "E0405", "E0410", "E0406"];
    assert_eq!(codes, wanted, "{found:?}");
}

#[test]
fn operands_keep_their_types() {
    // The same operation on scalars, tensors and both, in turns.
    let lines =
        flat("a = add(x, 1.0); b = add(1.0, x); c = add(a, b); d = add(b, 2.0); e = add(3.0, d); f = add(2.0, 4.0);");
    assert_eq!(lines[3], "d = add(b, 2.0);");
    assert_eq!(lines[4], "e = add(3.0, d);");
    assert_eq!(lines[5], "f = add(2.0, 4.0);");
    // The same operation on logical and on scalar tensors, in turns.
    let turn = |i: usize| {
        let before = if i == 0 { "x".to_string() } else { format!("t{}", i - 1) };
        format!("t{i} = same({before}); l{i} = same(t{i} < {before}); s{i} = copy({}{i});", ["t", "l"][i % 2])
    };
    let told = laid_out(&(0..40).map(turn).collect::<Vec<_>>(), &Options::default());
    assert!(told.contains("s38 = copy(t38);") && told.contains("s39 = copy(l39);"), "{told}");
}

#[test]
fn names_assigned_again_keep_their_last_tensor() {
    let lines = flat("a = exp(x); a = exp(a); a = exp(a); b = add(a, x);");
    assert_eq!(lines.len(), 4);
    assert!(lines[2].starts_with("a = exp("), "{lines:?}");
    assert_eq!(lines[3], "b = add(a, x);");
}

#[test]
fn shapes_are_those_of_each() {
    let right = "a = add(x, x); b = reshape(x, shape = [1, 4, 64]); c = add(b, b);";
    assert!(codes(right).is_empty());
    assert_eq!(codes(&format!("{right} d = add(a, b);")), ["E1001"], "shapes that differ");
    assert!(codes(&format!("{right} d = add(c, b);")).is_empty());
}

#[test]
fn a_warning_is_given_for_each() {
    assert_eq!(codes("a = add(x, 1); b = add(x, 1); c = add(x, 1);"), ["E0723"; 3]);
}

#[test]
fn layout_has_no_influence() {
    for lower in [Lower::Custom, Lower::All] {
        let told = laid_out(&many(300), &Options::default().with(|o| o.lower = lower));
        assert!(told.contains("value_298 "), "{}", &told[..told.len().min(2000)]);
    }
    // The shape of the result of a kept call is not known.
    let known: Vec<String> = many(300)
        .into_iter()
        .map(|it| match it.split_once(" = ") {
            Some((target, value)) if value.contains("shape_of") => format!("{target} = relu(x);"),
            _ => it,
        })
        .collect();
    let told = laid_out(&known, &Options::default().with(|o| o.lower = Lower::None));
    assert!(told.contains("block("), "{}", &told[..told.len().min(2000)]);
}

/// The variable of a comprehension is not a name of the graph.
#[test]
fn variables_of_comprehensions_stand_for_themselves() {
    let lines = flat("u = concat([for a in [x, w] yield a * x], axis = 1); a = relu(u); b = relu(a);");
    assert_eq!(lines[..2], ["u_mul1 = mul(x, x);", "u_mul1_2 = mul(w, x);"]);
    assert_eq!(lines[3..], ["a = relu(u);", "b = relu(a);"]);
    let others = [
        ("u = concat([for a in [x, w] yield a * a], axis = 1);", None),
        ("u = concat([for a in [x, a] yield a * x], axis = 1);", Some("a")),
        ("u = concat([for b in [x, w] yield a * x], axis = 1);", Some("a")),
        ("u = concat([for a in [x, w] yield a * x], axis = 1) * a;", Some("a")),
        ("u = concat([for x in [w, w] yield x * x], axis = 1);", Some("x")),
        ("a = relu(x); u = concat([for a in [x, w] yield a * x], axis = 1);", Some("a")),
    ];
    for (statement, place) in others {
        let found = findings(statement, &Options::default());
        assert_eq!(found.first().map(|(_, at)| at.as_str()), place, "{statement}: {found:?}");
    }
}

#[test]
fn what_is_wrong_with_one_is_found_however_many_are_right() {
    let strict = Options::default().with(|o| o.strict = true);
    let right = many(120);
    let cases = [
        ("e = add(x, missing);", "missing"),
        ("e = soft(soft(missing));", "missing"),
        ("e = add(x);", "add"),
        ("e = add(x, x, x);", "x"),
        ("e = add(x, 'text');", "'text'"),
        ("e = t0 + true;", "+"),
        ("e = x + missing;", "missing"),
        ("x = add(w, w);", "x"),
        ("t0 = relu(w);", "t0"),
        ("(e, e) = block(x, w);", "e"),
        ("e = box(x, size = [1, 1, 3]);", "box"),
        ("e = variable<scalar>(label = 'v?', shape = [1]);", "'v?'"),
        ("e = variable<scalar>(label = '', shape = [1]);", "''"),
        ("e = variable<scalar>(label = 1, shape = [1]);", "1"),
        ("e = [x][length_of(shape_of(x))];", "length_of(shape_of(x))"),
        ("e = count(x, n = 4 / (length_of(shape_of(x)) - 4));", "/"),
        ("e = reshape(x, shape = [3]);", "reshape"),
    ];
    for (wrong, place) in cases {
        let alone = findings(&format!("t0 = relu(x);\n{wrong}"), &strict);
        assert!(alone.iter().any(|(_, at)| at == place), "{wrong}: {alone:?}");
        let among = findings(&format!("{}\n{wrong}", right.join("\n")), &strict);
        assert!(among.contains(&alone[0]), "{wrong}: {among:?}");
        let statements: Vec<String> = right.iter().cloned().chain([wrong.to_string()]).collect();
        laid_out(&statements, &strict);
    }
}

/// Labels are compared with those of all other variables.
#[test]
fn a_label_has_one_shape() {
    let variable = |i: usize, label: usize, extent: usize| {
        format!("v{i} = variable<scalar>(label = 'v/{label}', shape = [1, {extent}]);\n")
    };
    let right: String = (0..50).map(|i| variable(i, i % 40, 3)).collect();
    assert!(codes(&right).is_empty());
    assert_eq!(codes(&(right + &variable(50, 7, 4))), ["E0903"]);
}

/// The least integer cannot be negated, in an array neither.
#[test]
fn the_least_integer_has_no_opposite() {
    for value in ["- -9223372036854775808", "[- -9223372036854775808]", "[-(-9223372036854775808)]"] {
        let found = run(&document(&format!("z = foo(x, a = {value});")), &Options::default()).expect_err(value);
        assert!(error_codes(&found).contains(&"E0803"), "{value}: {found:?}");
    }
    assert!(run(&document("z = foo(x, a = [-9223372036854775808]);"), &Options::default()).is_ok());
}

/// Flat syntax has literals with a minus; a plus is an operator.
#[test]
fn a_plus_is_an_operator() {
    let strict = Options::default().with(|options| options.strict = true);
    let text = |alpha: &str| {
        format!(
            "version 1.0; graph g( x ) -> ( y ) {{ x = external<scalar>(shape = [1]); y = leaky_relu(x, alpha = {alpha}); }}"
        )
    };
    assert!(run(&text("-0.5"), &strict).is_ok());
    assert_eq!(error_codes(&run(&text("+0.5"), &strict).expect_err("refused")), ["E0205"]);
}

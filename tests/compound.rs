//! Statements of a graph that are no single operation and spelled alike are checked and compiled
//! once for all of them: the outcome is that of each alone, to the last place in the text.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

mod common;

use common::{HEADER, same_outcome};
use nnef_flatten::{Lower, Options};

const FRAGMENTS: &str = "
fragment soft( x: tensor<scalar>, k: scalar = 0.5 ) -> ( y: tensor<scalar> ) { y = leaky_relu(x, alpha = k); }
fragment block( x: tensor<scalar>, w: tensor<scalar>, n: integer = 1 ) -> ( y: tensor<scalar>, z: tensor<scalar> )
{
    t = soft(x) * w;
    y = t if n == 1 else soft(t + 1.0);
    z = add_n([for i in range_of([1.0, 2.0]) yield t * scalar(i)]);
}
fragment parts( x: tensor<scalar> ) -> ( y: tensor<scalar>[] ) { y = [for s in [1.0, 2.0] yield soft(x, k = s)]; }
fragment cond( x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<logical> ) { z = x < y; }
fragment same<?>( x: tensor<?> ) -> ( y: tensor<?> ) { y = copy(x); }
fragment count( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = count(x, n = n - 1) + x if n > 0 else x; }
";

/// A graph with these statements behind its inputs.
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

/// So many statements of a few spellings, with names of many lengths.
fn many(count: usize) -> Vec<String> {
    let name = |i: usize| format!("{}{i}", ["t", "value_", "a_longer_name"][i % 3]);
    let statement = |i: usize| {
        let (new, a, b) = (name(i), name(i - 1), name(i - 1 - i % 3));
        match i % 11 {
            0 => format!("{new} = {a} * {b} + {a};"),
            1 => format!("({new}, rest{i}) = block({a}, {b});"),
            2 => format!("{new} = soft(soft({a}), k = 0.25);"),
            3 => format!("{new} = add_n([for i in [1.0, 2.0] yield {a} * i + {b}]);"),
            4 => format!("(all{i}, {new}) = block({b}, {a}, n = 1 + 1);"),
            5 => format!("[{new}, last{i}] = parts({b});"),
            6 => format!("{new} = select(cond({a}, {b}) && same<logical>(cond({b}, {a})), {b} ^ 2.0, -{a});"),
            7 => format!("{new} = reshape({a}, shape = [0, -1] + shape_of({b})[2:]);"),
            8 => format!("{new} = [for k in [{a}, {b}], j in [true, false] if j yield soft(k)][0];"),
            9 => format!("{new} = count({a}, n = length_of(shape_of({b})) - 1);"),
            _ => format!("{new} = {a} if length_of(shape_of({a})) > 9 else relu({a});"),
        }
    };
    let first = ["t0 = relu(x);", "value_1 = relu(x);", "a_longer_name2 = relu(x);"].map(String::from);
    first.into_iter().chain((3..count).map(statement)).collect()
}

/// Documents with these statements: as they are, and with a comment in each, which leaves it to be
/// read on its own. All stands in the same places.
fn with_and_without_comments(statements: &[String]) -> [String; 2] {
    ["   ;", " #\n;"].map(|end| {
        let statements: Vec<String> = statements.iter().map(|statement| statement.replace(';', end)).collect();
        document(&statements.join("\n"))
    })
}

/// The outcome of statements, after making sure that spelling has no influence on it.
fn compared(statements: &[String], options: &Options) -> String {
    same_outcome(with_and_without_comments(statements), options)
}

#[test]
fn they_mean_what_each_means_alone() {
    for lower in [Lower::Custom, Lower::All] {
        let told = compared(&many(700), &Options::default().with(|o| o.lower = lower));
        assert!(told.contains("a_longer_name698 "), "{}", &told[..told.len().min(2000)]);
    }
    // What stays a call has no shape that anybody knows.
    let known = |statement: &String| !statement.contains("shape_of");
    let told = compared(
        &many(700)
            .into_iter()
            .map(|it| {
                if known(&it) {
                    it
                } else {
                    it.split(" = ").next().unwrap_or_default().to_string() + " = relu(relu(x));"
                }
            })
            .collect::<Vec<_>>(),
        &Options::default().with(|o| o.lower = Lower::None),
    );
    assert!(told.contains("block("), "{}", &told[..told.len().min(2000)]);
}

/// Names of other types, or of no tensors, are none of the names that were seen before.
#[test]
fn types_count() {
    let turn = |i: usize| {
        let (a, b, c, d) = (i * 4, i * 4 + 1, i * 4 + 2, i * 4 + 3);
        let before = if i == 0 { "x".to_string() } else { format!("t{}", a - 4) };
        let copied = if i % 7 == 5 { b } else { a };
        [
            format!("t{a} = relu(relu({before}));"),
            format!("t{b} = same(same(t{a} < {before}));"),
            format!("t{c} = [copy(t{copied}), copy(t{copied})][1];"),
            format!("t{d} = same(same(t{c}));"),
        ]
    };
    let statements: Vec<String> = (0..300).flat_map(turn).collect();
    assert!(compared(&statements, &Options::default()).contains("t1199"));
}

/// The variable of a comprehension is no name of the graph.
#[test]
fn variables_count() {
    let alike = |i: usize| format!("t{i} = concat([for a in [x, w] yield a * x], axis = 1);");
    let others = [
        "a = relu(x); u1 = concat([for a in [x, w] yield a * x], axis = 1);",
        "u1 = concat([for a in [x, w] yield a * a], axis = 1);",
        "u1 = concat([for a in [x, a] yield a * x], axis = 1);",
        "u1 = concat([for x in [x, w] yield x * x], axis = 1);",
        "u1 = concat([for b in [x, w] yield a * x], axis = 1);",
        "a = concat([for a in [x, w] yield a * x], axis = 1); b = relu(a);",
        "u1 = concat([for a in [x, w] yield a * x], axis = 1) * a;",
        "b = relu(x); u1 = concat([for a in [x, w] yield a * b], axis = 1);",
    ];
    for other in others {
        let statements = (0..500).map(|i| if i == 400 { other.to_string() } else { alike(i) });
        compared(&statements.collect::<Vec<_>>(), &Options::default());
    }
}

#[test]
fn what_is_wrong_is_told_where_it_stands() {
    let cases = [
        // Checks.
        ("t696 =", "t693 =", "reassigned"),
        ("(value_694, rest", "(value_694, value_694, rest", "names on the left side"),
        ("(value_694,", "(x,", "x"),
        ("soft(soft(value_694", "soft(soft(missing", "`missing` is not defined"),
        ("[for k in [a_longer_name689", "[for k in [1.5", "common"),
        // The expansion, at a place of the graph, and in fragments called from there.
        ("t693 =", "t693 = [x][length_of(shape_of(x))]; u =", "index"),
        ("value_691 = count(", "value_691 = reshape(x, shape = [3]); u = count(", "shape"),
    ];
    let right = many(700).join("\n");
    for (from, to, _) in cases {
        let text = right.replace(from, to);
        assert!(text != right, "{from}");
        let statements: Vec<String> = text.split_inclusive(';').map(|it| it.trim().to_string()).collect();
        for strict in [false, true] {
            compared(&statements, &Options::default().with(|o| o.strict = strict));
        }
    }
}

/// Fragments that are declared with the same words are called in place of each other.
#[test]
fn what_is_called_counts() {
    let fragment = |i: usize| {
        let body = match i % 7 {
            0 => format!("t = matmul(x, x); y = exp(t) + {i}.0;"),
            _ => "t = tanh(x); y = exp(t);".to_string(),
        };
        let result = if i % 11 == 10 { "logical" } else { "scalar" };
        let body = if i % 11 == 10 { "y = x < 0.5;" } else { &body };
        format!("fragment e{i}( x: tensor<scalar> ) -> ( y: tensor<{result}> ) {{ {body} }}\n")
    };
    let fragments: String = (0..60).map(fragment).collect();
    let scalar = |i: usize| i % 60 - usize::from(i % 60 % 11 == 10);
    let statement = |i: usize| {
        let (before, a, b) = (if i == 0 { "x".to_string() } else { format!("t{}", i - 1) }, scalar(i), scalar(i * 7));
        match i % 7 {
            // No fragment is called, and so all options leave it to one statement to stand for all.
            5 => format!("t{i} = {before} * x + w;"),
            6 => format!("t{i} = add_n([for q in [{before}, w] yield q * {before}]);"),
            0 => format!("t{i} = e{a}({before});"),
            1 => format!("t{i} = e{a}(e{b}({before}));"),
            2 => format!("t{i} = select(e{}({before}), e{b}({before}), {before});", 10 + i / 5 % 3 * 11),
            3 => format!("t{i} = add_n([for q in [{before}, x] yield e{a} (q)]);"),
            _ => format!("t{i} = e{a}({before}) + e{}({before});", scalar(i + i / 5 % 2)),
        }
    };
    let statements: Vec<String> = (0..600).map(statement).collect();
    let with = |statements: &[String]| {
        with_and_without_comments(statements).map(|text| text.replace(FRAGMENTS, &format!("{FRAGMENTS}{fragments}")))
    };
    let same = |statements: &[String], options: &Options| same_outcome(with(statements), options);
    let lower = Lower::Names((0..60).step_by(2).map(|i| format!("e{i}")).collect());
    let keep = (0..60).step_by(3).map(|i| format!("e{i}")).collect();
    for options in [
        Options::default(),
        Options::default().with(|o| {
            o.strict = true;
            o.lower = Lower::All;
        }),
        Options::default().with(|o| o.lower = Lower::None),
        Options::default().with(|o| o.lower = lower),
        Options::default().with(|o| o.keep = keep),
    ] {
        let told = same(&statements, &options);
        assert!(told.contains("t599 "), "{}", &told[..told.len().min(2000)]);
    }
    let others = [
        "w1 = e10(x); t500 = relu(w1);",
        "t500 = soft(t499);",
        "t500 = e61(t499);",
        "e3 = relu(x); t500 = e3(e3);",
        "t500 = e3(e4(reshape(x, shape = [7])));",
        "t500 = e7(e14(reshape(x, shape = [4, 64])));",
        "t500 = e3(e4(x, x));",
    ];
    for other in others {
        let mut statements = statements.clone();
        statements[500] = other.to_string();
        same(&statements, &Options::default());
    }
}

/// What goes wrong in one of many statements that run the same code.
#[test]
fn failures_have_their_own_places() {
    let turn = |i: usize, rank: usize| {
        let shape = vec!["2"; rank].join(", ");
        [
            format!("r{i} = variable<scalar>(label = 'v{i}', shape = [{shape}]);"),
            format!("long_name_{i} = relu(r{i}) * [0.5, 1.5, 2.5][length_of(shape_of(r{i}))] + r{i};"),
            format!("m{i} = soft(matmul(r{i}, long_name_{i}));"),
            format!("s{i} = count(r{i}, n = 4 / (3 - length_of(shape_of(r{i}))));"),
        ]
    };
    for rank in [0, 1, 2, 3, 4] {
        for which in 0..4 {
            let mut statements: Vec<String> = (0..300).flat_map(|i| turn(i, 2)).collect();
            statements.extend(turn(1000, rank).into_iter().enumerate().filter(|(i, _)| *i <= which).map(|(_, it)| it));
            statements.extend((300..400).flat_map(|i| turn(i, 2)));
            compared(&statements, &Options::default());
        }
    }
    let mut statements: Vec<String> = (0..300).flat_map(|i| turn(i, 2)).collect();
    statements.extend(turn(1000, 3));
    let told = compared(&statements, &Options::default());
    let document = document(&statements.iter().map(|it| it.replace(';', "   ;")).collect::<Vec<_>>().join("\n"));
    let at = document.find("length_of(shape_of(r1000)").unwrap_or_default();
    assert!(told.contains(&format!("start: {at}")), "{told}");
}

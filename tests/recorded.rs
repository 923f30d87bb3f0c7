//! Statements of a graph that are spelled alike add the same, so that after some of them the rest is
//! not run: the outcome is that of each alone, to the last place in the text.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

mod common;

use common::{HEADER, same_outcome};
use nnef_flatten::{Lower, Options};

/// More statements than it takes.
const MANY: usize = 12;

const FRAGMENTS: &str = "
fragment leaf( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = tanh(x) * 2.0; }
fragment twig( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = tanh(x) * 2.0; }
fragment norm( x: tensor<scalar>, w: tensor<scalar>, axes: integer[] = [1] ) -> ( y: tensor<scalar> )
{
    mean = mean_reduce(leaf(x), axes = axes);
    y = (x - mean) * w + 0.5;
}
fragment halves( x: tensor<scalar> ) -> ( y: tensor<scalar>, z: tensor<scalar> )
{
    [y, z] = split(x, axis = 1, ratios = [1, 1]);
}
fragment down( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    y = down(x, n = n - 1) + x if n > 0 else leaf(x);
}
fragment ranked( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x if length_of(shape_of(x)) > 2 else leaf(x); }
fragment all_of( x: tensor<scalar>[] ) -> ( y: tensor<scalar> )
{
    y = x[0] + all_of(x[1:]) if length_of(x) > 1 else copy(x[0]);
}
fragment stacked<?>( x: tensor<?>, w: tensor<?> ) -> ( y: tensor<?> ) { y = stack([x, w, x], axis = 0); }
";

/// Statements that define `{n}`, on names `{a}` and `{b}`.
const STATEMENTS: &[&str] = &[
    "{n} = concat([for k in [1.0, 2.0] yield {a} * k], axis = 1);",
    "{n} = stack([for k in [1.0, 2.0, 3.0], i in [0, 1, 2] if i != 1 yield [{a}, {b}, {a}][i] * k], axis = 0);",
    "{n} = norm({a}, {b});",
    "{n} = norm(leaf({a}), {b}, axes = [0, 1]) - {a};",
    "{n} = all_of([{a}, {b}, {a}]);",
    "{n} = down({a}, n = 3) + twig({b});",
    "{n} = stacked({a}, {b});",
    "{n} = add_n([for i in range_of([1, 2]) yield down({a}, n = i)]);",
    "{n} = select({a} < {b}, {a}, softmax({b}) + log2({a}));",
    "{n} = matmul({a}, {b}, transposeB = true) * 0.25;",
    "{n} = ranked({a}) + {b};",
    "[{n}, rest_{n}] = split({a} + {b}, axis = 1, ratios = [1, 1]);",
    "({n}, rest_{n}) = halves({a} - {b});",
    "{n} = [{a}, {b}][1];",
    "{n} = pad({a} * {b}, padding = [(0, 0), (1, 1), (0, 0)]);",
];

fn statement(template: &str, n: &str, a: &str, b: &str) -> String {
    template.replace("{n}", n).replace("{a}", a).replace("{b}", b)
}

/// A graph of statements: as they are, or with a comment in each, by which it is read on its own.
fn document(statements: &[String], results: &[String], is_alone: bool) -> String {
    let end = if is_alone { " #\n;" } else { "   ;" };
    let statements: Vec<String> = statements.iter().map(|statement| statement.replace(';', end)).collect();
    format!(
        "{HEADER}{FRAGMENTS}graph G( x, w, v ) -> ( {} )\n{{
    x = external<scalar>(shape = [2, 4, 6]);
    w = external<scalar>(shape = [2, 4, 6]);
    v = external<scalar>(shape = [2, 4, 3]);\n{}\n}}",
        results.join(", "),
        statements.join("\n")
    )
}

/// The outcome, after making sure that it does not depend on how the text is spelled.
fn outcome(statements: &[String], results: &[String], options: &Options) -> String {
    same_outcome([false, true].map(|is_alone| document(statements, results, is_alone)), options)
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{}{i}", ["t", "longer_name_"][i % 2])).collect()
}

fn lowerings() -> [Options; 3] {
    [Lower::Custom, Lower::All, Lower::None].map(|lower| {
        Options::default().with(|o| {
            o.lower = lower;
            o.keep_unused = true;
        })
    })
}

#[test]
fn what_many_do_is_what_each_does() {
    for template in STATEMENTS {
        let names = names(MANY);
        // One after the other on the result of the one before, which may have another shape each time, or
        // all on the same.
        for chained in [true, false] {
            let before = |i: usize| if chained && i > 0 { names[i - 1].as_str() } else { "x" };
            let all: Vec<String> = (0..MANY).map(|i| statement(template, &names[i], before(i), "w")).collect();
            for options in lowerings() {
                outcome(&all, &names, &options);
            }
        }
    }
}

#[test]
fn most_are_accepted() {
    let names = names(MANY);
    for template in STATEMENTS {
        let all: Vec<String> = names.iter().map(|name| statement(template, name, "x", "w")).collect();
        let told = outcome(&all, &names, &Options::default().with(|o| o.lower = Lower::All));
        assert!(!told.starts_with("refused"), "{template}: {told}");
    }
}

/// Names that are the same in some statements, and others in others.
#[test]
fn it_counts_which_names_are_the_same() {
    let pairs = [("x", "x"), ("x", "w"), ("w", "w"), ("w", "x")];
    for template in STATEMENTS {
        for turn in 1..6 {
            let names = names(2 * MANY);
            let of = |i: usize| pairs[i / turn % pairs.len()];
            let all: Vec<String> = (0..names.len()).map(|i| statement(template, &names[i], of(i).0, of(i).1)).collect();
            outcome(&all, &names, &Options::default().with(|o| o.lower = Lower::All));
        }
    }
}

/// A tensor of another shape in one of many: what depends on it is another, or refused where it stands.
#[test]
fn shapes_count() {
    for template in STATEMENTS {
        for other in 0..8 {
            let names = names(MANY);
            let of = |i: usize| if i == other { ("x", "v") } else { ("x", "w") };
            let all: Vec<String> = (0..MANY).map(|i| statement(template, &names[i], of(i).0, of(i).1)).collect();
            outcome(&all, &names, &Options::default().with(|o| o.lower = Lower::All));
        }
    }
}

/// What follows from an error is not told again, in statements that are not run either.
#[test]
fn consequences_are_not_told() {
    for template in STATEMENTS {
        let names = names(MANY);
        let mut all: Vec<String> = (0..MANY).map(|i| statement(template, &names[i], "x", "w")).collect();
        all.push("wrong = matmul(x, v) + 1.0;".into());
        all.push(statement(template, "after", "wrong", "w"));
        all.push(statement(template, "again", "x", "w"));
        let told = outcome(
            &all,
            &names,
            &Options::default().with(|o| {
                o.lower = Lower::All;
                o.keep_unused = true;
            }),
        );
        assert!(told.starts_with("refused"), "{told}");
    }
}

/// Budgets end where they end when all is run.
#[test]
fn budgets_end_where_they_ended() {
    for template in STATEMENTS {
        let names = names(MANY);
        let all: Vec<String> = names.iter().map(|name| statement(template, name, "x", "w")).collect();
        for max_ops in (1..200).step_by(7) {
            outcome(
                &all,
                &names,
                &Options::default().with(|o| {
                    o.lower = Lower::All;
                    o.max_ops = max_ops;
                }),
            );
        }
        for max_depth in 1..5 {
            outcome(&all, &names, &Options::default().with(|o| o.max_depth = max_depth));
        }
    }
}

use proptest::prelude::*;

use super::diff;
use crate::{Graph, Options, expand, parse};

/// The graph of a body, with the inputs `x` and `z` and the output `y`.
fn graph(body: &str) -> Graph {
    let text = format!(
        "version 1.0; extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
        fragment block( x: tensor<scalar>, a: scalar ) -> ( y: tensor<scalar> ) {{ t = leaky_relu(x, alpha = a); y = exp(t); }}
        graph G( x, z ) -> ( y ) {{ x = external(shape = [2, 3]); z = external(shape = [2, 3]); {body} }}"
    );
    whole(&text)
}

fn whole(text: &str) -> Graph {
    let options = Options::default();
    let parsed = parse("example", text.to_owned(), &options);
    expand(&parsed.document, &options).unwrap_or_else(|errors| panic!("{text}: {errors:?}")).graph
}

/// The lines of the differences without the one that sums up.
fn told(a: &str, b: &str) -> Vec<String> {
    let text = diff(&graph(a), &graph(b)).to_string();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[..lines.len() - 1].to_vec()
}

#[test]
fn one_change_is_one_line() {
    const BASE: &str = "a = exp(x); b = add(a, z); c = reshape(b, shape = [3, 2]); y = relu(c);";
    for (other, wanted) in [
        (BASE, &[][..]),
        ("q = exp(x); r = add(q, z); s = reshape(r, shape = [3, 2]); y = relu(s);", &[]),
        ("a = exp(z); b = add(a, z); c = reshape(b, shape = [3, 2]); y = relu(c);", &["~ exp a: x: x -> z"]),
        ("a = exp(x); b = sub(a, z); c = reshape(b, shape = [3, 2]); y = relu(c);", &["- add b", "+ sub b"]),
        (
            "a = exp(x); b = add(a, z); c = reshape(b, shape = [6, 1]); y = relu(c);",
            &["~ reshape c: shape: [3, 2] -> [6, 1]"],
        ),
        ("a = exp(x); b = add(a, z); c = reshape(b, shape = [3, 2]); d = tanh(c); y = relu(d);", &["+ tanh d"]),
        ("b = add(x, z); c = reshape(b, shape = [3, 2]); y = relu(c);", &["- exp a"]),
        ("a = exp(x); b = add(a, z); y = reshape(b, shape = [3, 2]);", &["- relu y"]),
        (
            "a = exp(x); b = add(z, a); c = reshape(b, shape = [3, 2]); y = relu(c);",
            &["~ add b: x: a -> z", "~ add b: y: z -> a"],
        ),
    ] {
        assert_eq!(told(BASE, other), wanted, "{other}");
    }
}

#[test]
fn ends_have_names() {
    let of = |inputs: &str, outputs: &str, body: &str| {
        whole(&format!("version 1.0; graph G( {inputs} ) -> ( {outputs} ) {{ {body} }}"))
    };
    let base = of("x, z", "y", "x = external(shape = [2]); z = external(shape = [2]); y = add(x, z);");
    for (other, wanted) in [
        (
            of("x, w", "y", "x = external(shape = [2]); w = external(shape = [2]); y = add(x, w);"),
            "~ name of input: z -> w",
        ),
        (
            of("z, x", "y", "x = external(shape = [2]); z = external(shape = [2]); y = add(x, z);"),
            "~ order of inputs: x, z -> z, x",
        ),
        (
            of("x, z", "q", "x = external(shape = [2]); z = external(shape = [2]); q = add(x, z);"),
            "~ name of output: y -> q",
        ),
        (
            of("x, z", "y, z2", "x = external(shape = [2]); z = external(shape = [2]); y = add(x, z); z2 = exp(z);"),
            "+ exp z2",
        ),
        (
            of("x, z", "y", "x = external(shape = [3]); z = external(shape = [1]); y = add(x, z);"),
            "~ external x: shape: [2] -> [3]",
        ),
    ] {
        let difference = diff(&base, &other);
        assert!(!difference.is_equal());
        assert_eq!(difference.to_string().lines().next(), Some(wanted));
    }
}

#[test]
fn changes_are_grouped_by_the_calls_around_them() {
    let text = diff(
        &graph("a = block(x, a = 0.1); y = relu(block(a, a = 0.2));"),
        &graph("b = block(x, a = 0.1); y = relu(block(b, a = 0.3));"),
    );
    let lines: Vec<String> = text.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "in block:");
    assert!(lines[1].ends_with(": alpha: 0.2 -> 0.3"), "{lines:?}");
    assert!(lines[2].starts_with("1 change: 0 added, 0 removed, 1 changed; "), "{lines:?}");
}

#[test]
fn equal_operations_do_not_confuse() {
    let chain = |count: usize| {
        let steps: String = (1..count)
            .map(|i| format!("t{i} = relu({});", if i > 1 { format!("t{}", i - 1) } else { "x".into() }))
            .collect();
        graph(&format!("{steps} y = relu(t{});", count - 1))
    };
    let difference = diff(&chain(3000), &chain(2999));
    assert_eq!(difference.len(), 1, "{difference}");
    assert!(diff(&chain(3000), &chain(3000)).is_equal());
    let parallel = |count: usize, prefix: &str| {
        let steps: String = (0..count).map(|i| format!("{prefix}{i} = relu(x);")).collect();
        let names: Vec<String> = (0..count).map(|i| format!("{prefix}{i}")).collect();
        graph(&format!("{steps} y = concat([{}], axis = 0);", names.join(", ")))
    };
    assert!(diff(&parallel(500, "a"), &parallel(500, "b")).is_equal());
    assert!(!diff(&parallel(500, "a"), &parallel(499, "b")).is_equal());
}

#[cfg(feature = "cli")]
#[test]
fn data_with_nothing_in_common_are_not_data_that_have_changed() {
    let of = |node: &str, data: &str| {
        let text = format!(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) <float[2] {data}> {{ {node} }}"
        );
        crate::open(("g", text), &Options::default()).unwrap()
    };
    let (a, b) = (of("y = Mul (x, v)", "v = {1, 2}"), of("t = Pow (x, w) y = Exp (t)", "w = {3, 4}"));
    let text = a.diff(b).unwrap().0.to_string();
    assert!(text.contains("- initializer v") && text.contains("+ initializer w") && !text.contains('~'), "{text}");
}

#[test]
fn inputs_of_other_ranks_are_others() {
    let of = |name: &str, shape: &str| {
        let text = format!(
            "version 1.0; graph G( {name} ) -> ( y ) {{ {name} = external(shape = {shape}); y = exp({name}); }}"
        );
        whole(&text)
    };
    let text = diff(&of("x", "[1, 2]"), &of("z", "[1, 2]")).to_string();
    assert!(text.contains("~ name of input: x -> z"), "{text}");
    let text = diff(&of("x", "[1, 2]"), &of("z", "[1, 2, 3]")).to_string();
    assert!(text.contains("- input x") && text.contains("+ input z"), "{text}");
}

/// A body of operations that each take earlier tensors, under names with a prefix.
fn body(steps: &[(u8, usize, usize)], prefix: &str) -> String {
    let mut text = String::new();
    let name = |at: usize| match at {
        0 => "x".to_owned(),
        1 => "z".to_owned(),
        at => format!("{prefix}{at}"),
    };
    for (i, (kind, a, b)) in steps.iter().enumerate() {
        let (a, b) = (name(a % (i + 2)), name(b % (i + 2)));
        let value = match kind % 4 {
            0 => format!("relu({a})"),
            1 => format!("leaky_relu({a}, alpha = 0.{})", kind % 7),
            2 => format!("add({a}, {b})"),
            _ => format!("mul({a}, {b})"),
        };
        text += &format!("{} = {value}; ", name(i + 2));
    }
    text + &format!("y = tanh({});", name(steps.len() + 1))
}

proptest! {
    #[test]
    fn names_of_inner_tensors_do_not_count(steps in prop::collection::vec((0u8..20, 0usize..40, 0usize..40), 1..40)) {
        let (a, b) = (graph(&body(&steps, "a")), graph(&body(&steps, "other_")));
        let difference = diff(&a, &b);
        prop_assert!(difference.is_equal(), "{}", difference);
    }

    #[test]
    fn one_other_operation_is_two_changes(
        steps in prop::collection::vec((0u8..20, 0usize..40, 0usize..40), 1..40),
        at in 0usize..40,
    ) {
        let a = body(&steps, "t");
        let statements: Vec<&str> = a.split("; ").collect();
        let at = at % (statements.len() - 1);
        let other: Vec<String> = statements
            .iter()
            .enumerate()
            .map(|(i, one)| if i == at { format!("{} = sinh(x)", one.split(' ').next().unwrap()) } else { (*one).to_owned() })
            .collect();
        let difference = diff(&graph(&a), &graph(&other.join("; ")));
        prop_assert_eq!(difference.len(), 2, "{}", difference);
    }
}

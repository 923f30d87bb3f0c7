//! Law 3 for documents that nobody would write: what is accepted and flattened is accepted again, and
//! stays as it is.

use crate::common::{error_codes, run};
use crate::mutants::{again, all_options, mutated};
use crate::tape::{checked, generated};
use nnef_flatten::{Lower, Options};

#[test]
fn what_is_accepted_is_accepted_again() {
    checked(300, generated(170, mutated), 20, |text| {
        for options in all_options() {
            again(&text, &options)?;
        }
        Ok(run(&text, &Options::default()).is_ok())
    });
}

/// The fragment's type argument is logical, that of the operations within is scalar, as what is passed.
#[test]
fn type_arguments_follow_the_elements_that_operands_have() {
    let text = format!(
        "{}fragment f<?>( x: tensor<?>, y: tensor<?>, flag: logical, n: integer ) -> ( z: tensor<?> )
         {{
             [a, b] = split(concat([y, y], axis = 0), axis = 0, ratios = [1, 1]);
             z = b if n <= 0 else f(flag, b, flag = flag, n = n - 1);
         }}
         graph G( x ) -> ( y ) {{ x = external(shape = [2, 2]); y = f(x, x, flag = true, n = 2); }}",
        crate::common::HEADER
    );
    assert!(run(&text, &Options::default()).is_ok());
    all_options().iter().for_each(|options| again(&text, options).expect("the same again"));
}

/// Logicals have no order, so that they are no operands of what compares by order in its body.
#[test]
fn logicals_are_refused_by_all_that_orders_them() {
    let ordered = [
        "max(l, 0.0)",
        "max(x, l)",
        "min(l, 1.0)",
        "clamp(l, 0.0, 1.0)",
        "relu(l)",
        "leaky_relu(l, alpha = 0.1)",
        "prelu(l, 0.5)",
        "elu(l)",
        "selu(l)",
        "gt(l, 0.0)",
        "lt(l, 0.0)",
        "ge(l, 0.0)",
        "le(l, 0.0)",
        "min_max_linear_quantize(l, 0.0, 1.0, bits = 8, signed = true, symmetric = false)",
        "linear_quantize(l, 0.0, 1.0, bits = 8)",
    ];
    let others = [
        "exp(l)",
        "abs(l)",
        "sign(l)",
        "sigmoid(l)",
        "softplus(l)",
        "gelu(l)",
        "silu(l)",
        "tanh(l)",
        "sqr(l)",
        "add(l, x)",
        "pow(l, 2.0)",
        "softabs(l, epsilon = 0.1)",
        "softmax(l, axes = [0])",
        "l1_normalization(l, axes = [0])",
        "l2_normalization(l, axes = [0])",
        "mean_reduce(l, axes = [0])",
        "max_reduce(l, axes = [0])",
        "zero_point_linear_quantize(l, 0, 0.5, bits = 8, signed = true, symmetric = false)",
        "logarithmic_quantize(l, 1.0, bits = 8)",
    ];
    let head = crate::common::HEADER;
    let text = |call: &str| {
        format!("{head} graph G( x ) -> ( y ) {{ x = external(shape = [2, 2]); l = lt(x, 1.0); y = {call}; }}")
    };
    for call in ordered {
        let found = run(&text(call), &Options::default()).expect_err(call);
        assert_eq!(error_codes(&found), ["E0701"], "{call}");
    }
    for call in others {
        assert!(run(&text(call), &Options::default()).is_ok(), "{call}");
        all_options().iter().for_each(|options| again(&text(call), options).expect(call));
    }
}

/// Flat text cannot tell the standard `select` in the body of `max` from the one that is declared.
#[test]
fn a_standard_operation_beside_its_replacement_is_refused() {
    let text = format!(
        "{}fragment select( x: tensor<scalar>, a: tensor<scalar>, s: scalar = 0.0 ) -> ( y: tensor<scalar> );
         graph G( x ) -> ( y ) {{ x = external(shape = [2, 2]); z = select(x, x); y = max(z, 1.0); }}",
        crate::common::HEADER
    );
    all_options().iter().for_each(|options| again(&text, options).expect("the same again"));
    let all = Options::default().with(|o| o.lower = Lower::All);
    assert_eq!(error_codes(&run(&text, &all).expect_err("refused")), ["E0312"]);
    // One of them alone is told apart, and so is a compound that is kept.
    let kept = all.clone().with(|o| o.keep = vec!["max".to_string()]);
    assert!(run(&text, &kept).is_ok());
    assert!(run(&text.replace("z = select(x, x)", "z = relu(x)"), &all).is_ok());
}

/// Flat text cannot tell a tensor from an operation of the same name that nobody declares.
#[test]
fn a_tensor_with_the_name_of_an_operation_is_refused() {
    let text = format!(
        "{}fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = foo(x); }}
         graph G( x ) -> ( y, foo ) {{ x = external(shape = [1]); foo = relu(x); y = f(x); }}",
        crate::common::HEADER
    );
    let found = run(&text, &Options::default()).expect_err("refused");
    assert_eq!(error_codes(&found), ["E0411"]);
    // A call that stays has its own name.
    let kept = Options::default().with(|o| o.lower = Lower::None);
    assert!(run(&text, &kept).is_ok());
    again(&text, &kept).expect("the same again");
}

/// Of two tensors with the name of an input one is the input.
#[test]
fn an_input_is_made_once() {
    let text = |statement: &str| {
        format!(
            "version 1.0;\ngraph G( x ) -> ( y ) {{ x = external(shape = [1]); {statement}
             x = external(shape = [1]); y = copy(x); }}"
        )
    };
    let all = Options::default().with(|o| o.keep_unused = true);
    assert!(run(&text(""), &Options::default()).is_ok());
    assert_eq!(error_codes(&run(&text(""), &all).expect_err("refused")), ["E0604"]);
    assert_eq!(error_codes(&run(&text("a = relu(x);"), &all).expect_err("refused")), ["E0604"]);
}

/// A generated name is neither a keyword, an undeclared operation nor a dimension symbol.
#[test]
fn generated_names_are_no_words_with_a_meaning() {
    let documents = [
        "graph g( x ) -> ( shape ) { x = external(shape = [1]); shape = f(x); }",
        "graph g( x ) -> ( h ) { x = external(shape = [1]); h = k(x); }",
        "graph g( x ) -> ( y ) { x = external(shape = [h_of]); h = f(x); y = reshape(h, shape = [h_of, 1]); }",
    ];
    let head = "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\
        extension tract_symbol h_of;\n\
        fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { of = relu(x); y = exp(of); }\n\
        fragment k( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { bar = relu(x); y = h_bar(bar); }\n";
    for document in documents {
        let text = format!("{head}{document}");
        assert!(run(&text, &Options::default()).is_ok(), "{text}");
        all_options().iter().for_each(|options| again(&text, options).expect("the same again"));
    }
}

/// What is a value in a fragment stays one.
#[test]
fn values_spelled_like_tensors_are_refused() {
    let text = |value: &str, input: &str| {
        format!(
            "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\
             extension tract_symbol S;\n\
             fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = {value}; }}\n\
             graph g( {input} ) -> ( y ) {{ {input} = external(shape = [1, 2]); y = f({input}); }}"
        )
    };
    for (value, word) in [("clamp(x, -inf, inf)", "inf"), ("reshape(x, shape = [S, 1])", "S")] {
        let found = run(&text(value, word), &Options::default()).expect_err("refused");
        assert_eq!(error_codes(&found), ["E0627"], "{value}");
        assert!(run(&text(value, "x"), &Options::default()).is_ok());
    }
}

/// Lists in loops whose end depends on data, literals as results, and types that only the expansion knows.
#[test]
fn what_the_expansion_makes_is_read_again() {
    let fragments = "fragment lit( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = [1.0, 2.0]; }
        fragment c<?>( x: tensor<?>, b: tensor<scalar> ) -> ( y: tensor<?> ) { y = cast<?>(b); }
        fragment f( x: tensor<scalar>, i: tensor<integer>, c: logical ) -> ( y: tensor<integer> ) { y = c(i if c else x, x); }
        fragment p( x: tensor<scalar> ) -> ( y: tensor<scalar>, zs: tensor<scalar>[] ) { y = x; zs = [x, x]; }";
    let bodies = [
        "(s, ts) = with h = x, d = [x, x] while h < 2.0 do..(2) { yield h + 1.0, [h, d[0]]; }; y = concat(ts, axis = 0);",
        "y = relu(lit(x)) + lit(x);",
        "l = with s : tensor<scalar> = x unroll..(2) { yield [1.0, 2.0]; }; y = relu(l);",
        "(t, zs) = p(x); y = concat(zs, axis = 0);",
    ];
    for body in bodies {
        let text = format!(
            "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\
             extension flatten_loops;\n{fragments}\ngraph G( x ) -> ( y ) {{ x = external(shape = [2]); {body} }}"
        );
        for mut options in all_options() {
            options.unroll = true;
            assert!(options.strict || run(&text, &options).is_ok(), "{body}: {:?}", run(&text, &options).err());
            again(&text, &options).expect("the same again");
        }
    }
    let text = format!(
        "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n{fragments}\n\
         graph G( x, i ) -> ( y ) {{ x = external(shape = [2]); i = external<integer>(shape = [2]); \
         y = f(x, i, c = true); }}"
    );
    let graph = run(&text, &Options::default()).expect("a graph").graph;
    assert!(crate::common::flat_text(&graph).contains("y = cast<integer>(x);"));
}

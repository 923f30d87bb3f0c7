//! Options without effect are mistakes: names that the document does not have, lists that
//! contradict each other, endings that mean nothing.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::error::Error;

use crate::common;
use crate::common::{HEADER, error_codes, flat_text, run};
use nnef_flatten::graph::Extent;
use nnef_flatten::{Diagnostic, Lower, Options, expand, parse, parse_library};

fn document(body: &str) -> String {
    format!(
        "{HEADER}extension tract_registry tract_core;\nextension tract_symbol B;\n\
         fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = x + x; }}\n\
         graph G( image ) -> ( y )\n{{\n{body}\n    y = vendor_last(twice(image));\n}}\n"
    )
}

fn standard() -> String {
    document("    image = external(shape = [2,3]);")
}

fn refused(text: &str, change: impl FnOnce(&mut Options)) -> Vec<Diagnostic> {
    let mut found = run(text, &Options::default().with(change)).expect_err("a refusal");
    found.retain(Diagnostic::is_error);
    found
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn operations_in_options_exist() {
    for wrong in ["twise", "image", "external_", "vendor_first"] {
        for lower in [false, true] {
            let found = refused(&standard(), |o| match lower {
                true => o.lower = Lower::Names(names(&["relu", wrong])),
                false => o.keep = names(&["twice", wrong]),
            });
            assert_eq!(error_codes(&found), ["E1301"], "{wrong}");
            assert!(found[0].message.contains(&format!("`{wrong}`")), "{}", found[0].message);
        }
    }
    let help = |wrong: &str| refused(&standard(), |o| o.keep = names(&[wrong]))[0].help.clone().unwrap_or_default();
    assert_eq!(help("twise"), "did you mean `twice`?");
    assert_eq!(help("max_pol"), "did you mean `max_pool`?");
    assert_eq!(help("vendor_lost"), "did you mean `vendor_last`?");
    // Declared by the standard, by the document, or only called.
    for (right, has_body) in
        [("max_pool", true), ("relu", true), ("twice", true), ("vendor_last", false), ("conv", false)]
    {
        assert!(run(&standard(), &Options::default().with(|o| o.keep = names(&[right]))).is_ok(), "{right}");
        // An operation without a body is not expanded.
        let lower = Lower::Names(names(&[right]));
        match has_body {
            true => assert!(run(&standard(), &Options::default().with(|o| o.lower = lower)).is_ok(), "{right}"),
            false => assert_eq!(error_codes(&refused(&standard(), |o| o.lower = lower)), ["E1308"], "{right}"),
        }
    }
}

#[test]
fn an_operation_is_expanded_or_kept() {
    let found = refused(&standard(), |o| (o.lower, o.keep) = (Lower::Names(names(&["twice"])), names(&["twice"])));
    assert_eq!(error_codes(&found), ["E1303"]);
    let both = Options::default().with(|o| (o.lower, o.keep) = (Lower::All, names(&["twice"])));
    assert!(flat_text(&run(&standard(), &both).unwrap().graph).contains("twice(image)"));
}

#[test]
fn inputs_in_options_exist() {
    let shapes = |name: &str| vec![(name.to_owned(), [4, 5].map(Extent::from).to_vec())];
    let found = refused(&standard(), |o| o.shapes.inputs = shapes("imaeg"));
    assert_eq!(error_codes(&found), ["E1302"]);
    assert_eq!(found[0].help.as_deref(), Some("did you mean `image`?"));
    let found = refused(&standard(), |o| o.shapes.inputs = shapes("y"));
    assert_eq!((error_codes(&found), found[0].help.as_deref()), (vec!["E1302"], Some("its inputs are image")));
    // They are reported beside the mistakes of the document.
    let found = refused(&document("    image = external(shape = [0]);"), |o| {
        o.shapes.inputs = shapes("z");
        o.keep = names(&["none_such"]);
    });
    assert_eq!(error_codes(&found), ["E1301", "E1302"]);
}

/// The shape that the input has in the end, and the statement that makes it.
fn given(input: &str, libraries: &[&str]) -> (Option<Vec<i64>>, String) {
    let options = Options::default().with(|o| {
        o.shapes.inputs = vec![("image".to_owned(), [4, 5].map(Extent::from).to_vec())];
        o.libraries = libraries.iter().map(|text| ("ops.nnef".to_owned(), (*text).to_owned())).collect();
    });
    let expansion = run(&document(&format!("    image = {input};")), &options)
        .unwrap_or_else(|found| panic!("{input}: {}", common::tell(&found)));
    let graph = expansion.graph;
    let image = graph.operations().next().unwrap().tensors().next().unwrap();
    let line = flat_text(&graph).lines().find(|line| line.starts_with("    image = ")).unwrap().trim().to_owned();
    (graph.shape(image).and_then(|shape| shape.known()), line)
}

#[test]
fn shapes_of_all_kinds_of_inputs_are_replaced() {
    let tract = include_str!("../../src/library/std/registries/tract_core.nnef");
    let external = "fragment external<?=scalar>( shape: integer[] ) -> ( output: tensor<?> );";
    let vendor = "fragment vendor_input( shape: integer[], label: string ) -> ( output: tensor<scalar> );";
    for (input, libraries) in [
        ("external(shape = [2,3])", &[][..]),
        ("external<scalar>([2,3])", &[]),
        ("external<scalar>(shape = [2,3])", &[external]),
        ("external(shape = [2,3])", &[external]),
        ("external(shape = [2,3])", &[tract]),
        ("tract_core_external(shape = [2,3], datum_type = 'F32')", &[]),
        ("tract_core_external(shape = [B,3], datum_type = 'F32')", &[]),
        ("tract_core_external('F32', [2,3])", &[]),
        ("tract_core_external('F32', [B,3])", &[tract]),
        ("tract_core_external(shape = [2,3], datum_type = 'F32')", &[tract]),
        ("vendor_input(shape = [2,3])", &[]),
        ("vendor_input(shape = [2,3], label = 'x')", &[vendor]),
    ] {
        let (shape, line) = given(input, libraries);
        assert_eq!(shape, Some(vec![4, 5]), "{input}: {line}");
        assert!(line.contains("[4, 5]") && !line.contains("3]"), "{input}: {line}");
    }
}

#[test]
fn a_shape_that_is_not_in_the_document_cannot_be_replaced() {
    for input in ["vendor_input(label = 'x')", "vendor_input([1], [2,3])"] {
        let text = document(&format!("    image = {input};"));
        let found = refused(&text, |o| o.shapes.inputs = vec![("image".to_owned(), [4, 5].map(Extent::from).to_vec())]);
        assert_eq!(error_codes(&found), ["E1304"], "{input}");
    }
    // What is computed from tensors is not a shape to be replaced, whatever it is called.
    let text = standard().replace("    y =", "    image = vendor_step(image, [image]);\n    y =");
    let found = refused(&text, |o| o.shapes.inputs = vec![("image".to_owned(), [4, 5].map(Extent::from).to_vec())]);
    assert_eq!(error_codes(&found), ["E1304"]);
}

#[test]
fn a_refusal_says_why() {
    let options = Options::default();
    for text in ["", "version 1.0; graph", "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [1]); y = ; }"] {
        let parsed = parse("broken", text.to_owned(), &options);
        assert!(parsed.diagnostics.has_errors(), "{text}");
        let found = expand(&parsed.document, &options).unwrap_err();
        assert!(found.has_errors() && !found.is_empty(), "{text}");
        let first = parsed.diagnostics.iter().next().unwrap();
        assert!(found.iter().any(|diagnostic| diagnostic == first), "{text}: {found}");
    }
    let library = parse_library("ops", "fragment f( x: tensor<> ) -> ( y: tensor<scalar> );".to_owned(), &options);
    assert!(!library.diagnostics.has_errors());
    let found = expand(&library.document, &options).unwrap_err();
    assert!(found.iter().any(|diagnostic| diagnostic.code.as_str() == "E1305"), "{found}");
}

#[test]
fn errors_of_the_library_pass_through_a_question_mark() {
    fn flatten(text: &str) -> Result<usize, Box<dyn Error + Send + Sync>> {
        let options = Options::default();
        let parsed = parse("document", text.to_owned(), &options);
        Ok(expand(&parsed.document, &options)?.graph.operations().len())
    }
    assert_eq!(flatten(&standard()).unwrap(), 3);
    let told = flatten(&standard().replace("external(", "externa(").replace("twice(image)", "twise(imag\u{1b})"));
    let told = told.unwrap_err().to_string();
    let codes: Vec<&str> = told.lines().filter_map(|line| line.get(..5)).collect();
    assert_eq!(codes, ["E0412", "E0108"], "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
    let mut found = refused(&standard(), |o| o.keep = names(&["twise"]));
    let told = found.remove(0).to_string();
    assert_eq!(told, "E1301: the options name an unknown operation, `twise`; did you mean `twice`?");
    fn is_error(_: &(impl Error + Send + Sync + 'static)) {}
    is_error(&nnef_flatten::Diagnostics::default());
    #[cfg(feature = "eval")]
    {
        is_error(&nnef_flatten::eval::EvalError::new(nnef_flatten::diagnostics::Code::EvalValue, "no"));
        is_error(&nnef_flatten::tensor::Tensor::scalars(&[2], vec![0.0]).unwrap_err());
    }
    #[cfg(feature = "model")]
    is_error(&nnef_flatten::model::ModelError::Target(String::new()));
}

/// Networks with loops have no fragments and no externals.
#[cfg(feature = "loops")]
#[test]
fn options_on_documents_mean_nothing_for_networks_with_loops() {
    use nnef_flatten::loops::Network;
    use nnef_flatten::source::Sources;
    use nnef_flatten::tensor::{Data, Tensor};
    let text = r#"{"inputs": {"x": {"dtype": "float32", "shape": [2]}},
        "layers": [{"op": "add", "name": "y", "inputs": ["x", "x"]}], "outputs": ["y"]}"#
        .to_owned();
    let (net, found) = Network::read("net.json", text, &mut Sources::new(), false);
    assert!(!found.has_errors(), "{found}");
    let net = net.unwrap();
    let inputs = || [("x".to_owned(), Tensor::new(&[2], Data::Float32(vec![1.0, 2.0])).unwrap())];
    assert!(net.unroll(&Options::default()).is_ok());
    for change in [
        (|o: &mut Options| o.lower = Lower::None) as fn(&mut Options),
        |o| o.keep = names(&["relu"]),
        |o| o.libraries = vec![("a".to_owned(), String::new())],
        |o| o.shapes.inputs = vec![("x".to_owned(), [3].map(Extent::from).to_vec())],
        |o| o.keep_unused = true,
        |o| o.migrate = true,
        |o| o.dialect = Some(nnef_flatten::Dialect::V1),
    ] {
        let options = Options::default().with(change);
        let codes = |found: nnef_flatten::Diagnostics| error_codes(&found.into_iter().collect::<Vec<_>>());
        assert_eq!(codes(net.unroll(&options).unwrap_err()), ["E1306"]);
        assert_eq!(codes(net.evaluate(inputs(), &options).unwrap_err()), ["E1306"]);
    }
}

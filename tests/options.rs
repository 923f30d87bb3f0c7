//! Options without effect are mistakes: names that the document does not have, lists that
//! contradict each other, endings that mean nothing.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use std::error::Error;

use common::{HEADER, error_codes, flat_text, run};
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
    let image = graph.tensors_of(&graph.operations()[0]).next().unwrap();
    let line = flat_text(&graph).lines().find(|line| line.starts_with("    image = ")).unwrap().trim().to_owned();
    (graph.shape(image).and_then(|shape| shape.known()), line)
}

#[test]
fn shapes_of_all_kinds_of_inputs_are_replaced() {
    let tract = include_str!("../src/library/std/registries/tract_core.nnef");
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
    assert!(told.lines().all(|line| line.starts_with('E')) && !told.contains('\u{1b}'), "{told}");
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

#[cfg(feature = "cli")]
mod command {
    use super::standard;
    use std::io::Write;
    use std::path::Path;
    use std::process::{Command, Output, Stdio};

    fn run(folder: &Path, args: &str, stdin: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nnef-flatten"));
        command.args(args.split_whitespace()).current_dir(folder).env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn outcome(folder: &Path, args: &str, stdin: &str) -> (i32, String) {
        let output = run(folder, args, stdin);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    #[test]
    fn names_that_there_are_not_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (args, code, help) in [
            ("--keep twise -", "E1301", "did you mean `twice`?"),
            ("--lower twise -", "E1301", "did you mean `twice`?"),
            ("--lower al -", "E1301", "did you mean `all`?"),
            ("--input-shape imago=1,2 -", "E1302", "did you mean `image`?"),
            ("check --input-shape imago=1,2 -", "E1302", "did you mean `image`?"),
            ("run --keep twise -", "E1301", "did you mean `twice`?"),
            ("--lower conv -", "E1308", "`conv` is not expanded"),
            ("--lower a-b,c.d:e -", "E1301", "`c.d:e`"),
        ] {
            let (status, err) = outcome(folder.path(), args, &standard());
            assert!(status == 1 && err.contains(code) && err.contains(help), "{args}: {status} {err}");
        }
        let model = "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]>\n\
            g (float[2] x) => (float[2] y) { y = l.twice (x) }\n\
            <domain: \"l\", opset_import: [\"\" : 17]>\ntwice (a) => (b) { b = Add (a, a) }\n";
        for (args, help) in [
            ("--keep twise", Some("did you mean `twice`?")),
            ("--lower twise,twice", Some("did you mean `twice`?")),
            ("check --keep Ad", Some("did you mean `Add`?")),
            ("--lower al", Some("did you mean `all`?")),
            // Functions, and operators of the standard that the model does not have.
            ("--lower twice --keep Add,Relu", None),
        ] {
            let (status, err) = outcome(folder.path(), &format!("{args} --from onnxtxt -"), model);
            match help {
                Some(help) => assert!(status == 1 && err.contains("E1301") && err.contains(help), "{args}: {err}"),
                None => assert_eq!(status, 0, "{args}: {err}"),
            }
        }
    }

    /// A function is named by its name, with or without its domain and its overload; an operator of the standard is
    /// not expanded, and that is told.
    #[test]
    fn functions_of_models_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let function = |head: &str, name: &str, of: &str| {
            format!("<domain: \"my.own\", opset_import: [\"\" : 18]{head}> \"{name}\" (a) => (b) {{ b = {of} (a) }}\n")
        };
        let model = "<ir_version: 10, opset_import: [\"\" : 18, \"my.own\" : 1]>\n\
            g (float[2] x) => (float[2] y) { a = my.own.f:one (x) b = my.own.f:two (a) c = my.own.h (b) y = Mish (c) }\n"
            .to_owned()
            + &function(", overload: \"one\"", "f", "Neg")
            + &function(", overload: \"two\"", "f", "Exp")
            + &function("", "h", "Abs")
            + &function("", "4-h", "Cos");
        for (lower, expanded) in [
            ("f", &["Neg", "Exp"][..]),
            ("f:one", &["Neg"]),
            ("my.own.f:two", &["Exp"]),
            ("my.own.f,h", &["Neg", "Exp", "Abs"]),
            ("my.own.h", &["Abs"]),
            ("4-h", &[]),
        ] {
            let output = run(folder.path(), &format!("--lower {lower} --from onnxtxt -"), &model);
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{lower}: {}", String::from_utf8_lossy(&output.stderr));
            let graph = text.split_once('}').unwrap().0;
            for operator in ["Neg", "Exp", "Abs"] {
                assert_eq!(graph.contains(operator), expanded.contains(&operator), "{lower}: {graph}");
            }
        }
        for (args, code, told) in [
            ("--lower own.f", "E1301", "`own.f`"),
            ("--lower f:three", "E1301", "`f:three`"),
            ("--lower Mish", "E1308", "`Mish`"),
            ("--lower h,Neg", "E1308", "`Neg`"),
            ("--lower all", "E1308", "`Mish`"),
            ("check --lower all", "E1308", "`Mish`"),
        ] {
            let (status, err) = outcome(folder.path(), &format!("{args} --from onnxtxt -"), &model);
            assert!(status == 1 && err.contains(code) && err.contains(told), "{args}: {status} {err}");
        }
        let (status, err) = outcome(folder.path(), "--lower all --keep Mish --from onnxtxt -", &model);
        assert_eq!(status, 0, "{err}");
    }

    #[test]
    fn contradictions_are_wrong_usage() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.param", "a.onnx", "a.onnxtxt"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        for (args, why) in [
            ("--lower twice,relu --keep twice -", "--lower and --keep both name `twice`"),
            ("check --lower twice --keep twice -", "--lower and --keep both name `twice`"),
            ("--keep twice run --lower twice -", "--lower and --keep both name `twice`"),
            ("--input-shape image=1 --input-shape image=2 -", "two shapes for `image`"),
            ("--from loops --keep twice -", "--keep does not apply"),
            ("run --from loops --input-shape x=1 -", "--input-shape does not apply"),
            ("check --from loops --lower all -", "--lower does not apply"),
            ("run --from loops --layout {0} -", "--layout does not apply"),
            ("--production node -", "--production does not apply"),
            ("--from onnxtxt --set S=1 -", "--set does not apply"),
            ("--from onnxtxt --max-trips 3 -", "--max-trips does not apply"),
            ("fmt --from onnxtxt -", "`fmt` does not apply to models of ONNX"),
            ("fmt --from loops -", "`fmt` does not apply to networks with loops"),
            ("fmt a.param", "`fmt` does not apply to files of PNNX"),
            ("run a.onnx", "`run` does not apply to models of ONNX"),
            ("expr --fuse a.onnxtxt", "`expr --fuse` does not apply to models of ONNX"),
            ("--to pnnx - -o a.bin", "cannot both be written to this file"),
            ("- --fragments -", "`-` stands for one input"),
            ("--fragments - --fragments - a.nnef", "`-` stands for one input"),
            ("--fragments - check a.nnef --fragments -", "`-` stands for one input"),
            ("- --verify --inputs -", "`-` stands for one input"),
            ("run --inputs -", "`-` stands for one input"),
            ("check - a.nnef -", "`-` stands for one input"),
            ("fmt - -", "`-` stands for one input"),
            ("expr - --inputs -", "`-` stands for one input"),
            ("layout - --index 1", "--index does not apply to `layout -`"),
            ("layout - --to nnef", "--to nnef does not apply to `layout -`"),
            ("layout f32[6] --to nnef --memory", "--memory does not apply to --to nnef"),
            ("layout f32[6] --to nnef --reshape f32[2,3]", "--reshape does not apply to --to nnef"),
        ] {
            let (status, err) = outcome(folder.path(), args, &standard());
            assert!(status == 2 && err.contains(why), "{args}: {status} {err}");
        }
        // Models of ONNX keep all their nodes.
        let kept = outcome(folder.path(), "--from onnxtxt --production node --keep-unused -", "y = Relu (x)");
        assert!(kept.0 == 0 && kept.1.contains("all nodes are kept"), "{}", kept.1);
    }

    #[test]
    fn endings_that_mean_nothing_are_wrong_usage() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["flat.txt", "flat.nnfe", "model.zip", "model.tar.bz2"] {
            let (status, err) = outcome(folder.path(), &format!("- -o {name}"), &standard());
            assert!(status == 2 && err.contains("no notation has the extension"), "{name}: {status} {err}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        for args in ["- -o flat.txt --to nnef", "- -o flat", "- -o flat.NNEF", "- -o flat.gv", "- -o .flat"] {
            let (status, err) = outcome(folder.path(), &format!("-q {args}"), &standard());
            assert_eq!(status, 0, "{args}: {err}");
        }
        let net = include_str!("../examples/loops/fibonacci.json");
        for args in ["run - -o y.txt", "run --from loops - -o y.npz", "run --from loops - -o y.txt"] {
            let (status, err) = outcome(folder.path(), args, net);
            assert_eq!(status, 2, "{args}: {err}");
        }
        let (status, err) = outcome(folder.path(), "run --from loops - -o y.json", net);
        assert_eq!(status, 0, "{err}");
    }
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

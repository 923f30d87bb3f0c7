//! Diagnostics of `check` about data and quantizations.

use super::{Archive, Fixture, GRAPH, QUANT, dat_header, numbers};
use nnef_flatten::tensor::Tensor;
use serde_json::Value;
use std::fs;

/// The only diagnostic of a check: code, place, message.
fn only(fixture: &Fixture, args: &str, status: i32) -> (String, String, String) {
    let run = fixture.run(&format!("{args} --message-format json"));
    assert_eq!(run.status(), status, "{}", run.err());
    let lines: Vec<Value> = run.err().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let about = |found: &&Value| found["code"].as_str().is_some_and(|code| code.starts_with("E12"));
    let found: Vec<&Value> = lines.iter().filter(about).collect();
    assert_eq!(found.len(), 1, "{}", run.err());
    let place = format!("{}:{}:{}", found[0]["file"].as_str().unwrap(), found[0]["line"], found[0]["column"]);
    (found[0]["code"].as_str().unwrap().to_string(), place, found[0]["message"].as_str().unwrap().to_string())
}

#[test]
fn sound_models_are_accepted() {
    let fixture = Fixture::model();
    let run = fixture.run("check m --message-format json").done();
    assert!(run.codes().iter().all(|code| !code.starts_with("E12")), "{}", run.err());
}

/// Changes of the model, and the diagnostic for each.
type Case = (fn(&Fixture), &'static str, &'static str, &'static str, i32);

const W: &str = "m/graph.nnef:12:9";

const CASES: &[Case] = &[
    (
        |fixture| fs::rename(fixture.path("m/w.dat"), fixture.path("m/ww.dat")).unwrap_or(()),
        "E1211",
        W,
        "variable 'w' has no data: the model has no `w.dat`",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/w.dat", &numbers(&[1.0, 2.0])[..100])),
        "E1214",
        W,
        "`w.dat` has 100 bytes, its header alone needs 128",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/w.dat", &numbers(&[1.0, 2.0])[..135])),
        "E1214",
        W,
        "`w.dat` has 135 bytes, its header asks for 136",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/w.dat", [numbers(&[1.0, 2.0]), vec![0]].concat())),
        "E1214",
        W,
        "`w.dat` has 137 bytes, its header asks for 136",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/w.dat", [0; 136])),
        "E1213",
        W,
        "`w.dat`: the file does not begin with 4E EF: this is not a tensor file of NNEF",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/w.dat", numbers(&[1.0]))),
        "E1215",
        W,
        "variable 'w' has shape [2], its data have shape [1]",
        1,
    ),
    (
        |fixture| {
            let tensor = Tensor::integers(&[2], vec![1, 2]).and_then(|tensor| tensor.to_dat());
            drop(fixture.write("m/w.dat", tensor.unwrap_or_default()));
        },
        "E1216",
        W,
        "variable 'w' has scalar items, its data have signed integer ones",
        0,
    ),
    (
        |fixture| drop(fixture.write("m/more/v.dat", numbers(&[1.0]))),
        "E1212",
        "m/graph.nnef:9:7",
        "`more/v.dat` holds data, but no variable has the label 'more/v'",
        0,
    ),
    (
        |fixture| drop(fixture.write("m/graph.nnef", GRAPH.replace("'w'", "'../m/w'"))),
        "E1202",
        W,
        "the label '../m/w' leads outside the model",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", "'w' linear;")),
        "E1221",
        "m/graph.quant:1:5",
        "expected `:`, found `linear`",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("\"w\"", "\"v\""))),
        "E1222",
        "m/graph.quant:2:1",
        "the flat graph has no tensor `v`; its quantization is left out",
        0,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", [QUANT, QUANT].concat())),
        "E1223",
        "m/graph.quant:4:1",
        "the quantization of `w` is given twice",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("zero_point_", "zero_"))),
        "E1224",
        "m/graph.quant:2:6",
        "`zero_linear_quantize` is not a declared operation on a tensor",
        0,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("bits", "bites"))),
        "E1225",
        "m/graph.quant:2:63",
        "`zero_point_linear_quantize` has no parameter `bites`",
        0,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("0.50", "[0.5, 0.5, 0.5]"))),
        "E1225",
        "m/graph.quant:2:57",
        "`scale` has shape [3], which does not fit a tensor of shape [2]",
        0,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("0.50", ".50"))),
        "E1221",
        "m/graph.quant:2:57",
        "`.50` is not a number that can be represented",
        1,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("0.50", "[0.5, 1]"))),
        "E1225",
        "m/graph.quant:2:57",
        "the items of `scale` must be of one type; write `1.0` instead of `1`",
        0,
    ),
    (
        // It would add an axis to the tensor.
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("0.50", "[[0.5]]"))),
        "E1225",
        "m/graph.quant:2:57",
        "`scale` has shape [1, 1], which does not fit a tensor of shape [2]",
        0,
    ),
    (
        |fixture| drop(fixture.write("m/graph.quant", QUANT.replace("false", "0"))),
        "E1225",
        "m/graph.quant:2:82",
        "`signed` must be of type logical",
        0,
    ),
];

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (change, code, place, message, status) in CASES {
        let fixture = Fixture::model();
        change(&fixture);
        let run = fixture.run("check m --message-format json");
        assert_eq!(run.status(), *status, "{message}: {}", run.err());
        let found: Vec<Value> = run.err().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let found =
            found.iter().find(|found| found["code"] == *code).unwrap_or_else(|| panic!("{code}: {}", run.err()));
        let at = format!("{}:{}:{}", found["file"].as_str().unwrap(), found["line"], found["column"]);
        assert_eq!((found["message"].as_str().unwrap(), at.as_str()), (*message, *place));
        // It is written as a model only if it is valid, in either form, and no partial result is left.
        let run = fixture.run("-q m -o out.tar");
        assert_eq!(run.status(), *status, "{message}: {}", run.err());
        fixture.has_only(if *status == 0 { &["m", "out.tar"] } else { &["m"] });
        // As text it needs no data, and no quantizations.
        if !matches!(*code, "E1202") {
            fixture.run("-q m -o out.nnef").done();
        }
    }
}

#[test]
fn a_missing_file_has_a_neighbour() {
    let fixture = Fixture::model();
    fs::rename(fixture.path("m/part/one.b.dat"), fixture.path("m/part/one_b.dat")).unwrap();
    let run = fixture.run("check m");
    assert!(run.err().contains("the model has `part/one_b.dat`"), "{}", run.err());
}

#[test]
fn a_model_without_any_data_is_told_once() {
    let fixture = Fixture::new();
    let text = "version 1.0; graph g( x ) -> ( y ) { x = external(shape = [2]);
        v = variable(shape = [2], label = 'v'); w = variable(shape = [2], label = 'w'); y = x * v + w; }";
    fixture.write("m/graph.nnef", text);
    let run = fixture.run("check m --message-format json");
    assert_eq!(run.status(), 1);
    let found: Vec<String> = run.codes().into_iter().filter(|code| code.starts_with("E12")).collect();
    assert_eq!(found, ["E1211"]);
    assert!(run.err().contains("none of the 2 variables has data"), "{}", run.err());
}

#[test]
fn archives_are_checked_alike() {
    let fixture = Fixture::new();
    let archive = Archive::default().file("graph.nnef", GRAPH).file("part/one.b.dat", numbers(&[1.0, 2.0, 3.0]));
    fixture.write("m.tar", archive.end());
    let run = fixture.run("check m.tar --message-format json");
    assert_eq!(run.status(), 1);
    let found: Vec<String> = run.codes().into_iter().filter(|code| code.starts_with("E12")).collect();
    assert_eq!(found, ["E1211", "E1215"]);
    assert!(run.err().contains("\"file\":\"m.tar/graph.nnef\""), "{}", run.err());
}

/// Items of tract: blocks of 32 numbers in 18 bytes, stored as a matrix.
#[test]
fn vendor_items_pass_through() {
    let fixture = Fixture::new();
    let text = "version 1.0;\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [1, 8, 4]);\n    \
        w = variable(label = 'w', shape = [2, 8, 4]);\n    y = add(x, w);\n}\n";
    fixture.write("m/graph.nnef", text);
    let data = |extents: &[u32], length: u32| {
        [dat_header(extents, length, u32::MAX, (0x5452, 0x3040)), vec![7; length as usize]].concat()
    };
    for extents in [&[2, 8, 4][..], &[16, 4]] {
        let bytes = data(extents, 36);
        fixture.write("m/w.dat", &bytes);
        fixture.run("check m").done();
        fixture.run("m -o out/").done();
        assert_eq!(fs::read(fixture.path("out/w.dat")).unwrap(), bytes);
    }
    fixture.write("m/w.dat", data(&[2, 8, 4], 35));
    assert_eq!(only(&fixture, "check m", 1).0, "E1213");
    fixture.write("m/w.dat", data(&[2, 8, 8], 72));
    assert_eq!(only(&fixture, "check m", 1).0, "E1215");
}

#[test]
fn quantizations_stay_as_they_are_written() {
    let fixture = Fixture::model();
    let quant = format!("{QUANT}\n'gone' : linear_quantize( min = 0.0, max = 1.0, bits = 8 );\n# end\n'y': f();");
    fixture.write("m/graph.quant", &quant);
    let run = fixture.run("m -o out/").done();
    assert!(run.err().contains("`gone`") && run.err().contains("E1224"), "{}", run.err());
    assert_eq!(fixture.read("out/graph.quant"), format!("{QUANT}\n# end\n'y': f();"));
    fixture.write("m/graph.quant", "'gone': linear_quantize(min = 0.0, max = 1.0, bits = 8);");
    fixture.run("m -o out/").done();
    assert!(!fixture.path("out/graph.quant").exists());
    let run = fixture.run("--strict m -o strict/");
    assert_eq!(run.status(), 1, "{}", run.err());
    fixture.write("m/graph.quant", [b"'w': f();".as_slice(), &[0xFF]].concat());
    assert_eq!(fixture.run("--message-format json m -o bad/").codes().last().map(String::as_str), Some("E0001"));
}

/// A fragment of the document is an algorithm, too.
#[test]
fn algorithms_are_fragments() {
    let fixture = Fixture::model();
    let graph = GRAPH.replace(
        "graph G",
        "fragment halves( x: tensor<scalar>, steps: integer = 2 ) -> ( y: tensor<scalar> ) { y = round(x * 2.0); }\ngraph G",
    );
    fixture.write("m/graph.nnef", graph);
    fixture.write("m/graph.quant", "'w': halves(); i\"y\": halves(steps = 3);");
    let run = fixture.run("check m --message-format json").done();
    assert!(run.codes().iter().all(|code| !code.starts_with("E12")), "{}", run.err());
    fixture.write("m/graph.quant", "'w': halves(step = 3);");
    let (code, _, _) = only(&fixture, "check m", 0);
    assert_eq!(code, "E1225");
    assert!(fixture.run("check m").err().contains("did you mean `steps`?"));
}

/// A model within a model, as tract has them, keeps its own data.
#[test]
fn models_within_models_are_left_alone() {
    let fixture = Fixture::model();
    fixture.write("m/inner/graph.nnef", "version 1.0; not read");
    fixture.write("m/inner/k.dat", "not read");
    let run = fixture.run("check m --message-format json").done();
    assert!(run.codes().iter().all(|code| !code.starts_with("E12")), "{}", run.err());
    fixture.run("-q m -o out.tar").done();
    fixture.run("-q out.tar -o out/").done();
    assert_eq!(fixture.read("out/inner/graph.nnef"), "version 1.0; not read");
}

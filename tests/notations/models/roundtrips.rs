//! Reading and writing models in every form.

use super::{Archive, Fixture, GRAPH, QUANT, dat_header, files, gzip, numbers};
use crate::common::command::call;
use std::fs;

const FORMS: [&str; 4] = ["out/", "out.tar", "out.tgz", "out.tar.gz"];

/// Unpacks a model with an independent program.
fn unpack(fixture: &Fixture, name: &str) -> Vec<(String, Vec<u8>)> {
    let path = fixture.path(name);
    if path.is_dir() {
        return files(&path);
    }
    let bytes = fs::read(&path).unwrap();
    let mut unpacked = Vec::new();
    if bytes.starts_with(&[0x1F, 0x8B]) {
        assert!(!name.ends_with(".tar"));
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut unpacked).unwrap();
    } else {
        unpacked = bytes;
    }
    let mut found = Vec::new();
    for entry in tar::Archive::new(&unpacked[..]).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).unwrap();
        found.push((entry.path().unwrap().to_string_lossy().into_owned(), content));
    }
    found.sort();
    found
}

#[test]
fn every_form_becomes_every_form() {
    let fixture = Fixture::model();
    let source = files(&fixture.path("m"));
    let text = fixture.run("-q m").done().out();
    for form in FORMS {
        fixture.run(&format!("-q m -o {form}")).done();
    }
    for input in FORMS {
        for output in FORMS {
            let output = format!("again-{output}");
            fixture.run(&format!("-q {input} -o {output}")).done();
            let found = unpack(&fixture, &output);
            assert_eq!(found.len(), source.len(), "{input} {output}");
            for ((name, bytes), (source_name, wanted)) in found.iter().zip(&source) {
                assert_eq!(name, source_name);
                let wanted = if name == "graph.nnef" { text.as_bytes() } else { &wanted[..] };
                assert_eq!(bytes, wanted, "{name} of {input} {output}");
            }
        }
    }
}

#[test]
fn the_same_model_is_the_same_bytes() {
    let fixture = Fixture::model();
    for form in ["tar", "tgz"] {
        fixture.run(&format!("-q m -o one.{form}")).done();
        std::thread::sleep(std::time::Duration::from_millis(1100));
        fixture.run(&format!("-q m -o two.{form}")).done();
        assert_eq!(
            fs::read(fixture.path(&format!("one.{form}"))).unwrap(),
            fs::read(fixture.path(&format!("two.{form}"))).unwrap()
        );
    }
}

#[test]
fn metadata_stay() {
    let fixture = Fixture::model();
    let flat = fixture.run("-q m").done().out();
    assert!(flat.starts_with("# made by hand\n#   for tests\n\nversion 1.0;\n"), "{flat}");
    assert!(flat.contains("extension vendor_thing with words;\n"), "{flat}");
    fixture.write("flat.nnef", &flat);
    assert_eq!(fixture.run("-q flat.nnef").done().out(), flat);
    let properties = "fragment tract_core_properties() -> (properties: (string, tensor<scalar>)[])\n{\n    \
        properties = [('k', 'v')];\n}";
    let text = format!(
        "#1\r\n\r\n\r\n# 2\nversion 1.0;\nextension tract_registry tract_core;\n{properties}\n\
        graph G( x ) -> ( y ) {{ x = external(shape = [1]); y = exp(x); }}\n"
    );
    fixture.write("t.nnef", text);
    let flat = fixture.run("-q t.nnef").done().out();
    assert!(flat.starts_with("#1\n\n# 2\nversion 1.0;\n"), "{flat:?}");
    assert!(flat.contains("extension tract_registry tract_core;") && flat.contains(properties), "{flat}");
}

#[test]
fn archives_are_known_by_their_bytes_too() {
    let fixture = Fixture::model();
    fixture.run("-q m -o out.tgz").done();
    let flat = fixture.run("-q m").done().out();
    fs::rename(fixture.path("out.tgz"), fixture.path("noname")).unwrap();
    let bytes = fs::read(fixture.path("noname")).unwrap();
    for run in [fixture.run("-q noname"), fixture.run_on("-q -", &bytes), fixture.run_on("-q", &bytes)] {
        assert_eq!(run.done().out(), flat);
    }
    fixture.run_on("-q - -o out.tar", &bytes).done();
    assert_eq!(unpack(&fixture, "out.tar").len(), 5);
    let plain = fs::read(fixture.path("out.tar")).unwrap();
    assert_eq!(fixture.run_on("-q -", &plain).done().out(), flat);
    // Archives of other programs: folders as entries, `./` before names, comments as headers.
    let archive = Archive::default()
        .raw("./", b'5', 0, b"")
        .raw("pax_global_header", b'g', 20, b"20 comment=0123456\n\n")
        .raw("./part/", b'5', 0, b"")
        .file("./graph.nnef", GRAPH)
        .file("./w.dat", numbers(&[1.0, 2.0]))
        .file("./part/one.b.dat", numbers(&[1.0, 2.0]))
        .file("./._w.dat", "of a system");
    fixture.write("other.tar", archive.end());
    fixture.run("-q check other.tar").done();
    fixture.run("-q other.tar -o other/").done();
    assert_eq!(files(&fixture.path("other")).len(), 3);
}

#[test]
fn long_names_survive() {
    let fixture = Fixture::new();
    let label = format!("{}/w", "layer.0.attention.self".repeat(8));
    let text = format!(
        "version 1.0;\ngraph G( x ) -> ( y )\n{{\n    x = external(shape = [2]);\n    \
        w = variable(shape = [2], label = '{label}');\n    y = add(x, w);\n}}\n"
    );
    fixture.write("m/graph.nnef", text);
    fixture.write(&format!("m/{label}.dat"), numbers(&[1.0, 2.0]));
    fixture.run("m -o out.tar").done();
    fixture.run("check out.tar").done();
    fixture.run("out.tar -o out/").done();
    assert!(fixture.path(&format!("out/{label}.dat")).is_file());
    // The other way to write long names.
    let pax = |key: &str, value: &str| {
        let mut length = key.len() + value.len() + 3;
        while format!("{length} {key}={value}\n").len() != length {
            length = format!("{length} {key}={value}\n").len();
        }
        format!("{length} {key}={value}\n")
    };
    let record = pax("path", &format!("{label}.dat"));
    let archive = Archive::default()
        .file("graph.nnef", fixture.read("m/graph.nnef"))
        .raw("pax", b'x', record.len() as u64, record.as_bytes())
        .file("cut", numbers(&[1.0, 2.0]));
    fixture.write("pax.tar", archive.end());
    fixture.run("check pax.tar").done();
}

#[test]
fn models_are_computed_from_archives() {
    let fixture = Fixture::model();
    fixture.write("x.json", "{\"x\": [1.0, 2.0]}");
    for form in FORMS {
        fixture.run(&format!("-q m -o {form}")).done();
        let run = fixture.run(&format!("-q run {form} --inputs x.json")).done();
        assert!(run.out().contains("[4.5, -3.75]"), "{}", run.out());
        let run = fixture.run(&format!("--verify {form} --inputs x.json -o /dev/null")).done();
        assert!(run.err().contains("verified: 2 items"), "{}", run.err());
    }
}

#[test]
fn documents_are_formatted_within_archives() {
    let fixture = Fixture::model();
    fixture.write("m/.hidden", "stays");
    let archive = |graph: &str| {
        Archive::default()
            .file(".hidden", "stays")
            .file("graph.quant", QUANT)
            .file("w.dat", numbers(&[1.0, 2.0]))
            .file("graph.nnef", graph)
            .end()
    };
    fixture.write("a.tar", archive(GRAPH));
    fixture.write("a.tgz", gzip(&archive(GRAPH)));
    assert_eq!(fixture.run("fmt --check a.tar").status(), 1);
    for name in ["a.tar", "a.tgz"] {
        fixture.run(&format!("fmt {name}")).done();
        let found = unpack(&fixture, name);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [".hidden", "graph.nnef", "graph.quant", "w.dat"]);
        assert!(String::from_utf8_lossy(&found[1].1).contains("\n    y = 2.0 * x * w;\n}\n"));
        fixture.run(&format!("fmt --check {name}")).done();
    }
    let run = fixture.run_on("fmt -", &archive(GRAPH));
    assert_eq!(run.status(), 2, "{}", run.err());
}

#[test]
fn a_document_alone_becomes_a_model_without_data() {
    let fixture = Fixture::model();
    let run = fixture.run_on("- -o out/", GRAPH.as_bytes()).done();
    assert!(run.err().contains("2 variables have no data: the input is a document, not a model"), "{}", run.err());
    assert_eq!(files(&fixture.path("out")).len(), 1);
    // The path of the document stands for the whole model.
    fixture.run("-q m/graph.nnef -o out2/").done();
    assert_eq!(files(&fixture.path("out2")).len(), 5);
}

#[cfg(unix)]
#[test]
fn data_on_disk_are_not_copied() {
    use std::os::unix::fs::MetadataExt;
    let fixture = Fixture::model();
    fixture.run("-q m -o out/").done();
    let inode = |name: &str| fs::metadata(fixture.path(name)).unwrap().ino();
    assert_eq!(inode("m/w.dat"), inode("out/w.dat"));
    assert_ne!(inode("m/graph.nnef"), inode("out/graph.nnef"));
}

/// Large files are copied with little memory.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_data() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new();
    let extent = 150 << 20;
    let text = format!(
        "version 1.0;\ngraph G( x ) -> ( y )\n{{\n    x = external(shape = [1]);\n    \
        w = variable(shape = [{extent}], label = 'w');\n    y = add(x, w);\n}}\n"
    );
    fixture.write("m/graph.nnef", text);
    let header = dat_header(&[extent], 4 * extent, 32, (0, 0));
    let path = fixture.write("m/w.dat", header);
    fs::File::options().write(true).open(path).unwrap().set_len(128 + 4 * u64::from(extent)).unwrap();
    symlink("/dev/null", fixture.path("null.tar")).unwrap();
    for (input, output) in [("m", "out/"), ("m", "null.tar"), ("m", "out.tgz"), ("out.tgz", "null.tar")] {
        let call = call(["--threads", "1", input, "-o", output]).within(fixture.folder.path());
        let run = call.limited(&["-v 400000"]).run();
        assert!(run.status.success(), "{input} {output}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

//! Malicious and damaged archives and folders.

use super::{Archive, Fixture, GRAPH, gzip, numbers};
use nnef_flatten::model::{Limits, Model, ModelError};
use std::fs;
use std::path::Path;

/// The error for a small archive, whichever way it is read.
fn refusal(bytes: &[u8], limits: &Limits) -> Option<(String, String)> {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    match Model::from_file(Path::new("a.tar"), file, limits) {
        Ok(_) => None,
        Err(ModelError::Refused { code, message, .. }) => Some((code.as_str().to_string(), message)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn entries_stay_inside() {
    let limits = Limits::default();
    for name in ["../evil", "/etc/evil", "a/../../evil", "..\\evil", "C:/evil", "a\nb"] {
        let archive = Archive::default().file("graph.nnef", GRAPH).file(name, "x").end();
        assert_eq!(refusal(&archive, &limits).unwrap().0, "E1202", "{name}");
        assert_eq!(refusal(&gzip(&archive), &limits).unwrap().0, "E1202", "{name}");
    }
    let (_, message) = refusal(&Archive::default().file("../evil", "x").end(), &limits).unwrap();
    assert_eq!(message, "the name of entry `../evil` leads outside the model");
    // Long names are checked, too.
    let long = Archive::default().raw("././@LongLink", b'L', 8, b"../evil\0").file("fine", "x").end();
    assert_eq!(refusal(&long, &limits).unwrap().0, "E1202");
    let pax = Archive::default().raw("pax", b'x', 16, b"16 path=../evil\n").file("fine", "x").end();
    assert_eq!(refusal(&pax, &limits).unwrap().0, "E1202");
}

#[test]
fn only_files_are_entries() {
    for (kind, what) in [
        (b'1', "a link"),
        (b'2', "a link"),
        (b'3', "a device or pipe"),
        (b'4', "a device or pipe"),
        (b'6', "a device or pipe"),
        (b'Q', "of an unknown kind"),
    ] {
        let archive = Archive::default().file("graph.nnef", GRAPH).raw("w.dat", kind, 0, b"").end();
        let (code, message) = refusal(&archive, &Limits::default()).unwrap();
        assert_eq!((code.as_str(), message), ("E1203", format!("entry `w.dat` is {what}, not a file")));
    }
    let sparse = Archive::default().raw("w.dat", b'S', 0, b"").end();
    assert!(refusal(&sparse, &Limits::default()).unwrap().1.contains("sparse"));
    let sparse = Archive::default().raw("pax", b'x', 22, b"22 GNU.sparse.major=1\n").file("w.dat", "x").end();
    assert!(refusal(&sparse, &Limits::default()).unwrap().1.contains("sparse"));
}

#[test]
fn names_occur_once() {
    for (first, second) in [("a.dat", "a.dat"), ("a.dat", "./a.dat"), ("a", "a/b"), ("a/b", "a"), ("a/b/c", "a//b")] {
        let archive = Archive::default().file(first, "1").file(second, "2").end();
        assert_eq!(refusal(&archive, &Limits::default()).unwrap().0, "E1204", "{first} {second}");
    }
    for (first, second) in [(("a.dat", b'5'), ("a.dat", b'0')), (("a.dat", b'0'), ("a.dat/", b'5'))] {
        let archive = Archive::default().raw(first.0, first.1, 0, b"").raw(second.0, second.1, 0, b"").end();
        assert_eq!(refusal(&archive, &Limits::default()).unwrap().0, "E1204", "{first:?} {second:?}");
    }
    // A folder may have any number of entries.
    let archive = Archive::default().raw("a/", b'5', 0, b"").file("a/b", "1").raw("a/", b'5', 0, b"").end();
    assert_eq!(refusal(&archive, &Limits::default()), None);
}

#[test]
fn archives_that_unpack_to_too_much_are_refused() {
    let mut limits = Limits::default();
    (limits.unpacked, limits.ratio, limits.entries) = (1 << 20, 10, 10);
    (limits.names, limits.quant, limits.graph) = (500, 10, 10_000);
    let bomb = gzip(&Archive::default().file("w.dat", vec![0; 4 << 20]).end());
    assert_eq!(refusal(&bomb, &limits).unwrap().0, "E1205");
    // A text is held in memory, so it is bounded by itself.
    let mut texts = Limits::default();
    (texts.text, texts.ratio) = (1 << 20, 100);
    let text = |length: usize| Archive::default().file("graph.nnef", vec![b'@'; length]).end();
    assert_eq!(refusal(&gzip(&text(2 << 20)), &texts).unwrap().0, "E1205");
    assert!(refusal(&gzip(&text(1 << 20)), &texts).is_none_or(|(code, _)| code != "E1205"));
    assert!(refusal(&text(2 << 20), &texts).is_none_or(|(code, _)| code != "E1205"));
    // Zeros behind the last entry count, too.
    let mut tail = Archive::default().file("w.dat", "x").end();
    tail.resize(4 << 20, 0);
    assert_eq!(refusal(&gzip(&tail), &limits).unwrap().0, "E1205");
    assert_eq!(refusal(&tail, &limits), None);
    let many = (0..11).fold(Archive::default(), |archive, i| archive.file(&format!("{i}.dat"), ""));
    assert_eq!(refusal(&many.end(), &limits).unwrap().0, "E1205");
    let deep = Archive::default().file("a/b/c/d/e/f/g/h/i/j/k.dat", "");
    assert_eq!(refusal(&deep.end(), &limits).unwrap().0, "E1205");
    let folders = Archive::default().raw("a/b/c/d/e/f/g/h/i/j/k/", b'5', 0, b"");
    assert_eq!(refusal(&folders.end(), &limits).unwrap().0, "E1205");
    let long = (0..6).fold(Archive::default(), |archive, i| archive.file(&format!("{i}{}", "n".repeat(90)), ""));
    assert_eq!(refusal(&long.end(), &limits).unwrap().0, "E1205");
    let quant = Archive::default().file("graph.quant", "# longer than ten").end();
    assert_eq!(refusal(&quant, &limits).unwrap().0, "E0002");
    let graph = |length: usize| Archive::default().file("graph.nnef", vec![b'@'; length]).end();
    assert_eq!(refusal(&graph(10_001), &limits).unwrap().0, "E0002");
    assert_eq!(refusal(&graph(10_000), &limits), None);
    let header = Archive::default().raw("pax", b'x', 1 << 40, b"").end();
    assert_eq!(refusal(&header, &limits).unwrap().0, "E1205");
    let name = Archive::default().raw("././@LongLink", b'L', 1 << 30, b"").end();
    assert_eq!(refusal(&name, &limits).unwrap().0, "E1205");
    let twice = gzip(&gzip(&Archive::default().file("graph.nnef", GRAPH).end()));
    assert!(refusal(&twice, &limits).unwrap().1.contains("contain gzip data again"));
}

#[test]
fn broken_archives_are_refused() {
    let limits = Limits::default();
    let archive = Archive::default().file("graph.nnef", GRAPH).file("w.dat", numbers(&[1.0; 200])).0;
    let whole = archive.len();
    for length in (0..whole).step_by(37) {
        match refusal(&archive[..length], &limits) {
            Some((code, _)) => assert_eq!(code, "E1201", "{length} bytes"),
            // Nothing says how many entries there should be; the padding of the last one may be missing.
            None => {
                let first = 512 + GRAPH.len()..=512 + GRAPH.len().next_multiple_of(512);
                assert!(first.contains(&length) || length >= whole - 512, "{length} bytes");
            }
        }
    }
    // An extended header announces an entry.
    let cut = Archive::default().file("graph.nnef", GRAPH).raw("pax", b'x', 12, b"12 path=wxy\n");
    assert_eq!(refusal(&cut.end(), &limits).unwrap().0, "E1201");
    let packed = gzip(&archive);
    for length in 0..packed.len() {
        assert_eq!(refusal(&packed[..length], &limits).unwrap().0, "E1201", "{length} bytes");
    }
    for at in 0..packed.len() {
        let mut bytes = packed.clone();
        bytes[at] ^= 0x55;
        if let Some((code, _)) = refusal(&bytes, &limits) {
            assert!(["E1201", "E1202", "E1203"].contains(&code.as_str()), "{code}");
        }
    }
    for at in 0..512 {
        let mut bytes = archive.clone();
        bytes[at] ^= 0x55;
        assert_eq!(refusal(&bytes, &limits).map(|(code, _)| code).as_deref(), Some("E1201"), "byte {at}");
    }
    let size = Archive::default().raw("w.dat", b'0', 0o77_777_777_777, b"short").end();
    assert_eq!(refusal(&size, &limits).unwrap().0, "E1201");
    for record in
        ["29 size=18446744073709551615\n", "29 size=18446744073709551616\n", "29 size=18446744073709551615", "x"]
    {
        let archive = Archive::default().raw("pax", b'x', record.len() as u64, record.as_bytes()).file("w.dat", "x");
        assert_eq!(refusal(&archive.end(), &limits).unwrap().0, "E1201", "{record}");
    }
}

#[test]
fn the_command_refuses_them_and_writes_nothing() {
    let fixture = Fixture::new();
    let good = Archive::default().file("graph.nnef", GRAPH);
    let cases = [
        (Archive::default().file("../graph.nnef", GRAPH).end(), "E1202"),
        (Archive::default().file("sub/graph.nnef", GRAPH).end(), "E1206"),
        (good.0[..700].to_vec(), "E1201"),
        (b"no archive".to_vec(), "E1201"),
        (Vec::new(), "E0004"),
    ];
    for (bytes, code) in cases {
        fixture.write("m.tar", bytes);
        for command in ["m.tar", "m.tar -o out/", "m.tar -o out.tgz", "check m.tar", "run m.tar", "fmt m.tar"] {
            let run = fixture.run(&format!("{command} --message-format json"));
            assert_eq!((run.status(), run.codes()), (1, vec![code.to_string()]), "{command}: {}", run.err());
            // The findings of `check` are its result.
            assert!(run.out().is_empty() || command.starts_with("check"), "{command}: {}", run.out());
        }
        fixture.has_only(&["m.tar"]);
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_a_folder_are_refused() {
    use std::os::unix::fs::symlink;
    let refused = |prepare: &dyn Fn(&Fixture), code: &str| {
        let fixture = Fixture::model();
        fixture.write("secret.dat", numbers(&[1.0, 2.0]));
        std::fs::remove_file(fixture.path("m/w.dat")).unwrap();
        prepare(&fixture);
        let run = fixture.run("m -o out/ --message-format json");
        let codes = run.codes().into_iter().filter(|found| found.starts_with("E12")).collect::<Vec<_>>();
        assert_eq!((run.status(), codes), (1, vec![code.to_string()]), "{}", run.err());
        assert!(!fixture.path("out").exists());
    };
    refused(&|fixture| symlink("../secret.dat", fixture.path("m/w.dat")).unwrap(), "E1202");
    refused(&|fixture| symlink(fixture.path("secret.dat"), fixture.path("m/w.dat")).unwrap(), "E1202");
    refused(&|fixture| symlink("part", fixture.path("m/w.dat")).unwrap(), "E1203");
    refused(&|fixture| symlink(".", fixture.path("m/loop")).unwrap(), "E1203");
    refused(
        &|fixture| {
            let made = std::process::Command::new("mkfifo").arg(fixture.path("m/w.dat")).status().unwrap();
            assert!(made.success());
        },
        "E1203",
    );
    // A link within the model is accepted.
    let fixture = Fixture::model();
    std::fs::rename(fixture.path("m/w.dat"), fixture.path("m/v.bin")).unwrap();
    symlink("v.bin", fixture.path("m/w.dat")).unwrap();
    fixture.run("-q m -o out/").done();
    assert!(std::fs::symlink_metadata(fixture.path("out/w.dat")).unwrap().is_file());
    assert_eq!(std::fs::read(fixture.path("out/w.dat")).unwrap(), numbers(&[2.0, -1.0]));
}

/// Readers ignore files whose names begin with a dot, so these are not data, whatever contains them.
#[test]
fn hidden_files_are_no_data() {
    let fixture = Fixture::model();
    let graph = GRAPH.replace("label = 'w'", "label = 'part/.w'");
    fixture.write("m/graph.nnef", &graph);
    fixture.write("m/part/.w.dat", numbers(&[2.0, -1.0]));
    fixture.write("x.json", "{\"x\": [1, 1]}");
    let archive = Archive::default().file("graph.nnef", &graph).file("part/.w.dat", numbers(&[2.0, -1.0]));
    fixture.write("m.tar", archive.file("part/one.b.dat", numbers(&[0.5, 0.25])).end());
    for input in ["m", "m.tar"] {
        for (command, code) in [("check", "E1202"), ("-o out.tar", "E1202"), ("run --inputs x.json", "E0823")] {
            let run = fixture.run(&format!("{command} {input} --message-format json"));
            assert_eq!(run.status(), 1, "{command} {input}: {}", run.err());
            assert!(run.codes().contains(&code.to_string()), "{command} {input}: {}", run.err());
        }
    }
    assert!(!fixture.path("out.tar").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_refused_unless_they_are_hidden() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::model();
    let file = |name: &[u8]| fs::write(fixture.path("m").join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    file(b".\xff");
    fixture.run("check m").done();
    file(b"\xff");
    let run = fixture.run("check m --message-format json");
    assert_eq!((run.status(), run.codes().last().map(String::as_str)), (1, Some("E1202")));
}

/// What is wrong with the data file `w.dat` of a model, and how it is made.
#[cfg(unix)]
type Fault<'f> = (&'f str, &'f dyn Fn(&Fixture));

#[cfg(unix)]
fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Data are looked up in one way, whatever a command does with them, and none is replaced by random
/// numbers.
#[cfg(unix)]
#[test]
fn data_of_a_folder_are_files_within_it() {
    use std::os::unix::fs::symlink;
    let faults: &[Fault] = &[
        ("E1202", &|fixture| symlink("../secret.dat", fixture.path("m/w.dat")).unwrap()),
        ("E1202", &|fixture| symlink(fixture.path("secret.dat"), fixture.path("m/w.dat")).unwrap()),
        ("E1203", &|fixture| symlink("part", fixture.path("m/w.dat")).unwrap()),
        ("E1203", &|fixture| pipe(&fixture.path("m/w.dat"))),
        ("E1203", &|fixture| std::fs::create_dir(fixture.path("m/w.dat")).unwrap()),
        ("E1202", &|fixture| {
            std::fs::rename(fixture.path("m/part"), fixture.path("elsewhere")).unwrap();
            symlink("../elsewhere", fixture.path("m/part")).unwrap();
        }),
    ];
    for (i, (code, fault)) in faults.iter().enumerate() {
        let fixture = Fixture::model();
        fixture.write("secret.dat", numbers(&[1.0, 2.0]));
        fixture.write("x.json", "{\"x\": [1, 1]}");
        std::fs::remove_file(fixture.path("m/w.dat")).unwrap();
        fault(&fixture);
        for input in ["m", "m/", "m/graph.nnef"] {
            for command in ["run --inputs x.json", "--verify"] {
                let run = fixture.run(&format!("{command} {input} --message-format json"));
                let codes = run.codes().into_iter().filter(|found| found.starts_with("E12")).collect::<Vec<_>>();
                assert_eq!((run.status(), codes), (1, vec![code.to_string()]), "{i} {command} {input}: {}", run.err());
                assert_eq!(run.out(), "", "{i} {command} {input}");
            }
        }
    }
    let run = Fixture::model();
    run.write("x.json", "{\"x\": [1, 1]}");
    run.run("-q run --inputs x.json m/graph.nnef").done();
    run.run("--verify m").done();
}

#[cfg(unix)]
#[test]
fn the_graph_of_a_folder_is_a_file_within_it() {
    use std::os::unix::fs::symlink;
    let faults: &[Fault] = &[
        ("E1202", &|fixture| symlink("../secret.nnef", fixture.path("m/graph.nnef")).unwrap()),
        ("E1203", &|fixture| pipe(&fixture.path("m/graph.nnef"))),
    ];
    for (code, fault) in faults {
        let fixture = Fixture::model();
        fixture.write("secret.nnef", GRAPH);
        std::fs::remove_file(fixture.path("m/graph.nnef")).unwrap();
        fault(&fixture);
        for input in ["m", "m/graph.nnef"] {
            for command in ["", "check", "run", "--verify", "fmt", "fmt --check", "-o out/"] {
                let run = fixture.run(&format!("{command} {input} --message-format json"));
                assert_eq!(
                    (run.status(), run.codes()),
                    (1, vec![code.to_string()]),
                    "{command} {input}: {}",
                    run.err()
                );
            }
        }
        fixture.has_only(&["m", "secret.nnef"]);
        assert_eq!(fixture.read("secret.nnef"), GRAPH);
    }
    // Links within the model are followed, and a link to a whole model is.
    let fixture = Fixture::model();
    std::fs::rename(fixture.path("m/graph.nnef"), fixture.path("m/net.txt")).unwrap();
    symlink("net.txt", fixture.path("m/graph.nnef")).unwrap();
    symlink("m", fixture.path("link")).unwrap();
    for input in ["m", "m/graph.nnef", "link", "link/graph.nnef"] {
        fixture.run(&format!("-q --verify {input}")).done();
    }
}

/// Data that cannot be read are not a reason to use other data.
#[test]
fn unreadable_data_are_not_made_up() {
    for content in [&b"no tensor"[..], b"", &numbers(&[1.0, 2.0])[..130]] {
        let fixture = Fixture::model();
        fixture.write("m/w.dat", content);
        let run = fixture.run("--verify m --message-format json");
        assert_eq!((run.status(), run.codes().pop().as_deref()), (1, Some("E0823")), "{}", run.err());
    }
    // A name that begins with a dot is passed over by readers of models, so it holds no data.
    let fixture = Fixture::model();
    fixture.write("m/graph.nnef", GRAPH.replace("label = 'w'", "label = '.w'"));
    fixture.write("m/.w.dat", numbers(&[2.0, -1.0]));
    for input in ["m", "m/graph.nnef"] {
        let run = fixture.run(&format!("-q --verify {input}"));
        assert_eq!(run.status(), 1);
        assert!(run.err().contains("begins with a dot"), "{}", run.err());
    }
}

//! Outputs are written completely or not at all, and existing files are not lost.

use super::{Fixture, GRAPH, files};
use crate::common::command::call;
use nnef_flatten::model::{Content, Limits, Model, Target};
use std::fs;
use std::path::Path;

#[test]
fn a_failure_half_way_leaves_what_was_there() {
    let fixture = Fixture::model();
    let model = Model::open(&fixture.path("m"), &Limits::default()).unwrap();
    for name in ["out", "out.tar", "out.tgz"] {
        let path = fixture.path(name);
        let target = match name {
            "out" => Target::Folder(path.clone()),
            _ => Target::of(&path).unwrap(),
        };
        let attempt = |content: &str, fails: bool| {
            let mut graph = |out: &mut dyn std::io::Write| {
                out.write_all(content.as_bytes())?;
                if fails { Err(std::io::Error::other("no more")) } else { Ok(()) }
            };
            target.write(&mut Content::new(&mut graph).with_files(&model))
        };
        let failed = || attempt("other", true).unwrap_err().to_string().contains("no more");
        assert!(failed());
        assert!(!path.exists());
        attempt("one", false).unwrap();
        let before = if path.is_dir() { files(&path) } else { vec![(String::new(), fs::read(&path).unwrap())] };
        assert!(failed());
        let after = if path.is_dir() { files(&path) } else { vec![(String::new(), fs::read(&path).unwrap())] };
        assert!(before == after);
        attempt("two", false).unwrap();
    }
    fixture.has_only(&["m", "out", "out.tar", "out.tgz"]);
}

#[test]
fn data_that_change_meanwhile_fail() {
    let fixture = Fixture::model();
    let model = Model::open(&fixture.path("m"), &Limits::default()).unwrap();
    fixture.write("m/w.dat", "shorter");
    let mut graph = |out: &mut dyn std::io::Write| out.write_all(GRAPH.as_bytes());
    let mut content = Content::new(&mut graph).with_files(&model);
    let error = Target::Tar(fixture.path("out.tar")).write(&mut content).unwrap_err();
    assert!(error.to_string().contains("became shorter"), "{error}");
    fixture.has_only(&["m"]);
}

#[test]
fn the_source_is_never_the_target() {
    let fixture = Fixture::model();
    fixture.run("-q m -o m.tar").done();
    let before = (files(&fixture.path("m")), fs::read(fixture.path("m.tar")).unwrap());
    for (args, why) in [
        ("m -o m/", "is the model that is read"),
        ("m -o m", "is the model that is read"),
        ("m/graph.nnef -o m/", "is the model that is read"),
        ("m -o m/out/", "is within the model that is read"),
        ("m -o m/out.tgz", "is within the model that is read"),
        ("m.tar -o m.tar", "is the model that is read"),
        ("m.tar -o .", "holds the model that is read"),
    ] {
        let run = fixture.run(&format!("-q {args}"));
        assert_eq!(run.status(), 2, "{args}");
        assert!(run.err().contains(why), "{args}: {}", run.err());
        assert!(before == (files(&fixture.path("m")), fs::read(fixture.path("m.tar")).unwrap()), "{args}");
    }
    fixture.has_only(&["m", "m.tar"]);
}

#[test]
fn a_folder_is_replaced_only_if_nothing_is_lost() {
    let fixture = Fixture::model();
    fixture.write("old/graph.nnef", "old");
    fixture.write("old/gone/w.dat", "old");
    fixture.write("old/notes/about.json", "old");
    fixture.run("-q m -o old").done();
    assert_eq!(files(&fixture.path("old")).len(), 5);
    assert!(fixture.read("old/graph.nnef").contains("graph G"));
    for name in ["thesis.txt", ".git/config", "deep/er/x"] {
        let path = fixture.write(&format!("old/{name}"), "precious");
        let run = fixture.run("-q m -o old");
        assert_eq!(run.status(), 2);
        assert!(run.err().contains(&format!("the folder has `{name}`, which would be deleted")), "{}", run.err());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        fs::remove_file(path).unwrap();
    }
    let run = fixture.run("-q m/graph.nnef -o .");
    assert!(run.status() == 2 && run.err().contains("holds the model that is read"), "{}", run.err());
    fs::create_dir(fixture.path("here")).unwrap();
    let run = call(["-q", "../m", "-o", "."]).within(&fixture.path("here")).run();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("would replace the working folder"));
    // A folder with data files but without a graph is not a model and is not replaced.
    fixture.write("data/w2.dat", "precious");
    assert_eq!(fixture.run("-q m -o data").status(), 2);
    fs::create_dir(fixture.path("empty")).unwrap();
    fixture.run("-q m -o empty").done();
}

#[test]
fn places_that_cannot_be_written_are_2() {
    let fixture = Fixture::model();
    fixture.write("file", "x");
    for args in ["m -o no/out/", "m -o no/out.tar", "m -o file/", "m -o file/x.tgz", "--to json m -o out.tar"] {
        let run = fixture.run(&format!("-q {args}"));
        assert_eq!((run.status(), run.out().as_str()), (2, ""), "{args}: {}", run.err());
        assert!(!run.err().is_empty());
    }
    fixture.has_only(&["file", "m"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_2() {
    let fixture = Fixture::model();
    for name in ["full.tar", "full.tgz"] {
        std::os::unix::fs::symlink("/dev/full", fixture.path(name)).unwrap();
        let run = fixture.run(&format!("-q m -o {name}"));
        assert_eq!(run.status(), 2);
        assert!(run.err().contains("No space left on device"), "{}", run.err());
    }
}

/// A limit on the size of files is an error as any other, not a signal that ends the run.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_2() {
    let fixture = Fixture::model();
    for output in ["out.nnef", "out.tar", "out/"] {
        let call = call(["-q", "m", "-o", output]).within(fixture.folder.path());
        let run = call.limited(&["-f 0"]).run();
        assert_eq!(run.status.code(), Some(2), "{output}: {:?}", run.status);
        assert!(String::from_utf8_lossy(&run.stderr).contains("File too large"), "{output}");
        fixture.has_only(&["m"]);
    }
}

#[test]
fn refused_documents_write_nothing() {
    let fixture = Fixture::model();
    fixture.run("-q m -o out/").done();
    let before = files(&fixture.path("out"));
    fixture.write("m/graph.nnef", "version 1.0; graph");
    for form in ["out/", "out.tar"] {
        assert_eq!(fixture.run(&format!("-q m -o {form}")).status(), 1);
    }
    assert!(before == files(&fixture.path("out")));
    fixture.has_only(&["m", "out"]);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_to_nothing_is_no_output() {
    let fixture = Fixture::model();
    for name in ["flat.nnef", "flat.json", "flat.tar", "flat.tgz", "flat"] {
        std::os::unix::fs::symlink("nowhere", fixture.path(name)).unwrap();
        let slash = if name == "flat" { "/" } else { "" };
        let run = fixture.run(&format!("-q m -o {name}{slash}"));
        assert_eq!(run.status(), 2, "{name}");
        assert!(run.err().contains("a link that leads to nothing"), "{name}: {}", run.err());
        assert!(fs::symlink_metadata(fixture.path(name)).unwrap().is_symlink() && !fixture.path("nowhere").exists());
        fs::remove_file(fixture.path(name)).unwrap();
    }
    fixture.has_only(&["m"]);
}

/// A reader that looks again and again while a folder is replaced always finds one.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn a_folder_is_there_while_it_is_replaced() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let fixture = Fixture::model();
    fixture.run("-q m -o out/").done();
    let (graph, done) = (fixture.path("out/graph.nnef"), AtomicBool::new(false));
    let missed = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut missed = 0;
            while !done.load(Ordering::Relaxed) {
                missed += usize::from(fs::metadata(&graph).is_err());
            }
            missed
        });
        let model = Model::open(&fixture.path("m"), &Limits::default()).unwrap();
        for _ in 0..200 {
            let mut text = |out: &mut dyn std::io::Write| out.write_all(GRAPH.as_bytes());
            Target::Folder(fixture.path("out")).write(&mut Content::new(&mut text).with_files(&model)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert_eq!(missed, 0);
    fixture.has_only(&["m", "out"]);
}

/// The data of a file of PNNX are stored in an anonymous file while they are converted.
#[cfg(unix)]
#[test]
fn an_interruption_leaves_no_data_of_pnnx_behind() {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    let fixture = Fixture::new();
    let count: usize = 1 << 25;
    fixture.write(
        "w.pnnx.param",
        format!("7767517\n2 1\npnnx.Attribute w 0 1 0 @data=({count})f32\npnnx.Output out 1 0 0\n"),
    );
    let mut archive = zip::ZipWriter::new(fs::File::create(fixture.path("w.pnnx.bin")).unwrap());
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    archive.start_file("w.data", stored).unwrap();
    archive.write_all(&vec![0; count * 4]).unwrap();
    archive.finish().unwrap();
    let system = fixture.path("system");
    fs::create_dir(&system).unwrap();
    let left = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let before = left(fixture.folder.path());
    let call = call(["-q", "w.pnnx.param", "-o", "out.tgz"]).within(fixture.folder.path());
    let mut child = call.env("TMPDIR", &system).command().stdin(Stdio::null()).spawn().unwrap();
    // The output is begun when the data are stored.
    while left(fixture.folder.path()) == before {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it was interrupted");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(left(&system), 0);
    fixture.has_only(&["system", "w.pnnx.bin", "w.pnnx.param"]);
}

/// Signals end a run by themselves, and nothing temporary stays.
#[cfg(unix)]
#[test]
fn an_interruption_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    let fixture = Fixture::model();
    // A gigabyte that takes no space, and takes a while to compress or copy.
    let count = 1 << 28;
    fixture.write(
        "m/graph.nnef",
        GRAPH.replace("variable(shape = [2], label = 'w')", &format!("variable(shape = [{count}], label = 'w')")),
    );
    fixture.write("m/w.dat", super::dat_header(&[count], count * 4, 32, (0, 0)));
    fs::File::options().write(true).open(fixture.path("m/w.dat")).unwrap().set_len(128 + u64::from(count) * 4).unwrap();
    let temporary = |fixture: &Fixture| {
        let names = fs::read_dir(fixture.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".nnef-flatten-")).count()
    };
    // What a shell runs in the background ignores SIGINT from its start, and so does all that it starts.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    for (name, number) in [("INT", 2), ("TERM", 15)].into_iter().filter(|(_, number)| ignored >> (number - 1) & 1 == 0)
    {
        let call = call(["-q", "--lower", "none", "m", "-o", "out.tgz"]).within(fixture.folder.path());
        let mut child = call.command().stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while temporary(&fixture) == 0 {
            assert!(child.try_wait().unwrap().is_none(), "the run ended before it was interrupted");
            std::thread::yield_now();
        }
        let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(number), "{:?}", output.status);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        fixture.has_only(&["m"]);
    }
}

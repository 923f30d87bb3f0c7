//! Whole models: folders, archives, data files, quantizations.
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod checks;
pub mod hostile;
pub mod outputs;
pub mod quantized;
pub mod roundtrips;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::files_below;
use nnef_flatten::tensor::Tensor;

/// The graph of [`Fixture::model`]: one variable with a simple label, one within a folder.
pub const GRAPH: &str = "# made by hand\n#   for tests\n\nversion 1.0;\nextension KHR_enable_fragment_definitions;\n\
    extension KHR_enable_operator_expressions;\nextension vendor_thing with words;\n\
    fragment scaled( x: tensor<scalar>, w: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = 2.0 * x * w; }\n\
    graph G( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    w = variable(shape = [2], label = 'w');\n    \
    b = variable(shape = [2], label = 'part/one.b');\n    y = scaled(x, w) + b;\n}\n";
pub const QUANT: &str = "# by hand\n\"w\": zero_point_linear_quantize(zero_point = 3, scale = 0.50, bits = 8, \
    signed = false, symmetric = false); # kept\n";

/// A temporary folder.
pub struct Fixture {
    pub folder: tempfile::TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        Fixture { folder: tempfile::tempdir().unwrap() }
    }

    /// A fixture with a model in the folder `m`.
    pub fn model() -> Self {
        let fixture = Fixture::new();
        fixture.write("m/graph.nnef", GRAPH);
        fixture.write("m/graph.quant", QUANT);
        fixture.write("m/w.dat", numbers(&[2.0, -1.0]));
        fixture.write("m/part/one.b.dat", numbers(&[0.5, 0.25]));
        fixture.write("m/notes/about.json", "{\"width\": 3}");
        fixture
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// Runs the command within the folder; words are separated by spaces.
    pub fn run(&self, args: &str) -> Run {
        self.run_on(args, b"")
    }

    pub fn run_on(&self, args: &str, stdin: &[u8]) -> Run {
        let mut run =
            crate::common::command::call(args.split_whitespace()).within(self.folder.path()).stdin(stdin).run();
        // The messages of `check` for people are on standard output.
        if args.starts_with("check ") && !args.contains("json") {
            run.stderr.append(&mut run.stdout);
        }
        Run(run)
    }

    /// Checks that the folder contains only these files.
    pub fn has_only(&self, names: &[&str]) {
        let mut found: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        assert_eq!(found, names);
    }
}

/// The result of a run.
pub struct Run(pub Output);

impl Run {
    pub fn status(&self) -> i32 {
        self.0.status.code().expect("an exit code, not a signal")
    }

    pub fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    pub fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn done(self) -> Self {
        assert_eq!(self.status(), 0, "{}", self.err());
        self
    }

    /// Checks that the run was refused with these codes, in this order.
    pub fn codes(&self) -> Vec<String> {
        let object = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
        self.err().lines().filter_map(object).map(|found| found["code"].as_str().unwrap().to_string()).collect()
    }
}

pub fn numbers(items: &[f64]) -> Vec<u8> {
    Tensor::scalars(&[items.len()], items.to_vec()).unwrap().to_dat().unwrap()
}

/// The header of a tensor file: version 1.0, the extents, what follows it, and its item type.
pub fn dat_header(extents: &[u32], length: u32, bits: u32, (vendor, code): (u16, u16)) -> Vec<u8> {
    let mut bytes = vec![0x4E, 0xEF, 1, 0];
    let mut words = vec![length, extents.len() as u32];
    words.extend(extents);
    words.resize(10, 0);
    words.extend([bits, u32::from(vendor) << 16 | u32::from(code)]);
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.resize(128, 0);
    bytes
}

/// All files below a folder: names and bytes.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let file = |path: PathBuf| {
        let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        (name, fs::read(&path).unwrap())
    };
    let mut found: Vec<(String, Vec<u8>)> = files_below(folder).into_iter().map(file).collect();
    found.sort();
    found
}

/// A tar archive, made entry by entry without any checks.
#[derive(Default)]
pub struct Archive(pub Vec<u8>);

impl Archive {
    /// Adds an entry with any name, kind and size.
    pub fn raw(mut self, name: &str, kind: u8, size: u64, content: &[u8]) -> Self {
        let mut header = tar::Header::new_ustar();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(tar::EntryType::new(kind));
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_size(size);
        if matches!(kind, b'1' | b'2') {
            header.set_link_name("graph.nnef").unwrap();
        }
        header.set_cksum();
        self.0.extend(header.as_bytes());
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        self.raw(name, b'0', content.len() as u64, content)
    }

    pub fn end(mut self) -> Vec<u8> {
        self.0.extend([0; 1024]);
        self.0
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

//! Formats of other programs, which are refused by their names: a table with how their first bytes look.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::Refusal;
use super::looks::{self, Start};
use super::opened::Opened;
use super::table::Notation;
use crate::diagnostics::visible::shell_word;
use crate::diagnostics::{Code, Diagnostic};
use crate::model::{self, GZIP};
use crate::parts::FILES;

/// A format of another program.
struct Format {
    /// What the input is, as in "this is …".
    what: &'static str,
    looks: fn(&Start) -> bool,
    /// What to do with it, where that is certain; `FILE` stands for the input.
    help: &'static str,
    /// The command line for that, which the command adds to the help.
    command: &'static str,
}

impl Format {
    const fn new(what: &'static str, looks: fn(&Start) -> bool) -> Self {
        Format { what, looks, help: "", command: "" }
    }

    const fn help(self, help: &'static str) -> Self {
        Format { help, ..self }
    }

    const fn command(self, command: &'static str) -> Self {
        Format { command, ..self }
    }
}

const EXPORT_TORCH: &str = "export the model with torch.onnx.export, or with `pnnx FILE inputshape=[1,3,224,224]`";
const NO_GRAPH: &str = "it has weights and no graph: export the model that they belong to, for example to ONNX";
const UNPACK: &str = "unpack it first";
const MLIR_TEXT: &str = "print it as text: `mlir-opt FILE`, `stablehlo-opt FILE`";
const HLO_TEXT: &str =
    "dump it as text, with XLA_FLAGS=--xla_dump_hlo_as_text, and list its shapes: `nnef-flatten layout -`";

/// What formats with shapes are that have no texts of them.
const BINARY: &[&str] = &[MLIR_TEXT, HLO_TEXT];

/// All formats; the first one that fits names the input.
static FORMATS: &[Format] = &[
    Format::new("an empty file", |start| start.bytes().is_empty()),
    Format::new("a pointer of Git LFS instead of the file", |start| {
        start.text().starts_with("version https://git-lfs")
    })
    .help("get the file")
    .command("git lfs pull --include FILE"),
    Format::new("an HTML page", html).help("the download returned a page instead of the file"),
    Format::new("a model of OpenVINO (XML)", |start| {
        tag(start, "<net ") || tag(start, "<?xml") && start.text().contains("<net ")
    }),
    Format::new("a picture (SVG)", svg),
    Format::new("XML", |start| tag(start, "<?xml")),
    Format::new("arrays of NumPy (.npz)", |start| zipped(start, &[".npy"]))
        .help("they are values of inputs")
        .command("nnef-flatten run MODEL --inputs FILE"),
    Format::new("an array of NumPy (.npy)", |start| start.bytes().starts_with(b"\x93NUMPY"))
        .help("it is the value of an input")
        .command("nnef-flatten run MODEL --inputs FILE"),
    Format::new("a model or state of PyTorch (TorchScript, torch.save)", torch).help(EXPORT_TORCH),
    Format::new("a model of Keras", |start| zipped(start, &["metadata.json", "config.json", "model.weights.h5"]))
        .help("convert it")
        .command("python -m tf2onnx.convert --keras FILE --output model.onnx"),
    Format::new("a ZIP archive", |start| {
        start.bytes().starts_with(b"PK\x03\x04") || start.bytes().starts_with(b"PK\x05\x06")
    })
    .help(UNPACK),
    Format::new("a pickle of Python", |start| matches!(start.bytes(), [0x80, 2..=5, ..])).help(EXPORT_TORCH),
    Format::new("weights in safetensors", safetensors).help(NO_GRAPH),
    Format::new("weights in GGUF", |start| start.bytes().starts_with(b"GGUF")).help(NO_GRAPH),
    Format::new("data of a variable of NNEF (.dat)", |start| {
        start.bytes().starts_with(b"N\xEF") && start.bytes().len() >= 128
    })
    .help("read the graph.nnef beside it"),
    Format::new("a model of TensorFlow Lite", |start| start.bytes().get(4..8) == Some(b"TFL3"))
        .help("convert it")
        .command("python -m tf2onnx.convert --tflite FILE --output model.onnx"),
    Format::new("a model in the ORT format of ONNX Runtime", |start| start.bytes().get(4..8) == Some(b"ORTM"))
        .help("read the .onnx file that it was made of"),
    Format::new("a program of ExecuTorch", |start| start.bytes().get(4..6) == Some(b"ET") && start.is_binary()),
    Format::new("an engine of TensorRT", |start| start.bytes().starts_with(b"ptrt")),
    Format::new("HDF5, as Keras writes it", |start| start.bytes().starts_with(b"\x89HDF\r\n\x1a\n"))
        .help("convert it")
        .command("python -m tf2onnx.convert --keras FILE --output model.onnx"),
    Format::new("a model of ncnn (.param.bin)", |start| start.bytes().starts_with(&7_767_517u32.to_le_bytes()))
        .help("read the text, .param, that it was made of"),
    Format::new("HLO of XLA, as text", |start| start.text().starts_with("HloModule"))
        .help("list its shapes")
        .command("nnef-flatten layout - < FILE"),
    Format::new("StableHLO, as text", |start| {
        mlir(start) && ["stablehlo", "mhlo"].iter().any(|word| start.text().contains(word))
    }),
    Format::new("MLIR", mlir),
    Format::new("bytecode of MLIR", |start| start.bytes().starts_with(b"ML\xEFR")).help(MLIR_TEXT),
    Format::new("HLO of XLA, in protobuf", looks::hlo).help(HLO_TEXT),
    Format::new("a model of ONNX in the text format of protobuf", |start| {
        start.after_comments().starts_with("ir_version:")
    })
    .help("convert it")
    .command("python -c \"import onnx; onnx.save(onnx.load('FILE', 'textproto'), 'model.onnx')\""),
    Format::new("a drawing of Graphviz", |start| start.text().starts_with("digraph ")),
    Format::new(looks::JSON, json),
    Format::new("compressed by xz", |start| start.bytes().starts_with(b"\xFD7zXZ\0"))
        .command("xz -dc FILE | nnef-flatten -"),
    Format::new("compressed by bzip2", |start| start.bytes().starts_with(b"BZh") && start.is_binary())
        .command("bzip2 -dc FILE | nnef-flatten -"),
    Format::new("compressed by zstd", |start| start.bytes().starts_with(b"\x28\xB5\x2F\xFD"))
        .command("zstd -dc FILE | nnef-flatten -"),
    Format::new("an archive of 7-Zip", |start| start.bytes().starts_with(b"7z\xBC\xAF\x27\x1C")).help(UNPACK),
    Format::new("an archive of RAR", |start| start.bytes().starts_with(b"Rar!\x1A")).help(UNPACK),
    Format::new("a picture or a document", picture),
    Format::new("a program", |start| start.bytes().starts_with(b"\x7FELF")),
    Format::new(looks::PROTOBUF, looks::protobuf)
        .help("models of TensorFlow are converted")
        .command("python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"),
];

fn tag(start: &Start, tag: &str) -> bool {
    start.text().get(..tag.len()).is_some_and(|text| text.eq_ignore_ascii_case(tag))
}

fn html(start: &Start) -> bool {
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|text| tag(start, text))
}

/// Other inputs may have the tag in their strings.
fn svg(start: &Start) -> bool {
    let before = ["<?xml", "<!doctype svg", "<!--"];
    tag(start, "<svg") || before.iter().any(|text| tag(start, text)) && start.text().contains("<svg")
}

/// Whether the first file of a ZIP archive has a name that ends like this.
fn zipped(start: &Start, ends: &[&str]) -> bool {
    let Some(header) = start.bytes().strip_prefix(b"PK\x03\x04") else { return false };
    let length = header.get(22..24).map_or(0, |length| usize::from(u16::from_le_bytes([length[0], length[1]])));
    let name = header.get(26..26 + length).unwrap_or(&[]);
    ends.iter().any(|end| name.ends_with(end.as_bytes()))
}

fn torch(start: &Start) -> bool {
    zipped(start, &["/data.pkl", "/version", "/byteorder", "/constants.pkl", "/archive_format", "/.format_version"])
}

/// A length of 8 bytes, and a header in JSON.
fn safetensors(start: &Start) -> bool {
    let Some((length, header)) = start.bytes().split_first_chunk::<8>() else { return false };
    u64::from_le_bytes(*length) < 1 << 32 && header.starts_with(b"{\"")
}

fn mlir(start: &Start) -> bool {
    let text = start.text();
    ["module @", "module {", "module attributes", "func.func ", "\"builtin.module\"", "#loc"]
        .iter()
        .any(|word| text.starts_with(word))
}

fn json(start: &Start) -> bool {
    let inside = start.text().strip_prefix('{').map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(['"', '}']))
}

fn picture(start: &Start) -> bool {
    [&b"\x89PNG\r\n"[..], b"\xFF\xD8\xFF", b"GIF8", b"%PDF-", b"RIFF"]
        .iter()
        .any(|magic| start.bytes().starts_with(magic))
}

fn format_of(start: &Start) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.looks)(start))
}

/// The name of the format of another program in which bytes are, if they are recognized.
pub(crate) fn name_of(start: &Start) -> Option<&'static str> {
    format_of(start).map(|format| format.what)
}

/// The name of a format with shapes that are not texts, and what to do with it.
pub(crate) fn without_texts(start: &Start) -> Option<(&'static str, &'static str)> {
    let format = format_of(start).filter(|format| BINARY.contains(&format.help))?;
    Some((format.what, format.help))
}

/// The first bytes of the content of a gzip file; none in a build that reads no archives.
fn unpacked(start: &Start) -> Vec<u8> {
    let mut content = Vec::new();
    if FILES.missing().is_some() {
        return content;
    }
    // The end of the bytes at hand is not the end of the file.
    let _ = MultiGzDecoder::new(start.bytes()).take(4096).read_to_end(&mut content);
    content
}

/// Whether bytes are an archive of a model, or a gzip file with one; a damaged gzip file is taken for one.
pub(super) fn packs_archive(start: &Start) -> bool {
    if !start.bytes().starts_with(&GZIP) {
        return true;
    }
    let content = unpacked(start);
    let inside = Start::new(&content, false);
    content.is_empty() || model::is_archive(&content) || !is_recognized(&inside)
}

fn is_recognized(start: &Start) -> bool {
    Notation::of_start(start).is_some() || format_of(start).is_some()
}

/// What an input is instead of a model, and what to do with it.
#[derive(Default)]
pub(super) struct Other {
    pub(super) what: String,
    pub(super) help: Option<String>,
    pub(super) command: Option<String>,
}

impl Other {
    /// The refusal of an input of this name.
    pub(super) fn refusal(self, name: &str, code: Code, message: String) -> Refusal {
        let refusal =
            Refusal::of(name.to_owned(), String::new(), |at| Diagnostic::new(code, at, message).help_if(self.help));
        refusal.command(self.command)
    }
}

fn other(start: &Start, path: &str, named: Option<&Notation>) -> Option<Other> {
    if start.bytes().starts_with(&GZIP) {
        let content = unpacked(start);
        let inside = Start::new(&content, false);
        if let Some(notation) = Notation::of_start(&inside) {
            let what = format!("compressed by gzip; unpacked, its content is read with --from {}", notation.name);
            return Some(Other { what, command: Some(format!("gunzip -c {path} | nnef-flatten -")), help: None });
        }
        let format = format_of(&inside)?;
        return Some(Other { what: format!("{}, compressed by gzip", format.what), ..Other::default() });
    }
    let format = format_of(start)?;
    if named.is_some_and(|named| named.malformed == Some(format.what)) {
        return None;
    }
    let text = |text: &str| Some(text.replace("FILE", path)).filter(|text| !text.is_empty());
    Some(Other { what: format.what.to_owned(), help: text(format.help), command: text(format.command) })
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// Refuses an input in the format of another program. `named` is the notation that an option or its name gives it.
pub(super) fn refuse(opened: &Opened, named: Option<&Notation>) -> Result<(), Refusal> {
    let Some(other) = other(&opened.start(), &quoted(opened.word()), named) else { return Ok(()) };
    let message = format!("this is {}", other.what);
    Err(other.refusal(&opened.name, Code::ForeignInput, message))
}

/// The most files of a folder that are looked at.
const MAX_FILES: usize = 1000;

/// The model in another notation or format in a folder without a `graph.nnef`.
pub(super) fn model_in(folder: &Path) -> Option<Other> {
    let entries = std::fs::read_dir(folder).ok()?.take(MAX_FILES).filter_map(Result::ok);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort_unstable();
    let named = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ours = |path: &&std::path::PathBuf| Notation::of_extension(path).is_some() || model::has_archive_name(path);
    if let Some(path) = paths.iter().find(ours) {
        let (help, command) = (Some("name the file".to_owned()), Some(format!("nnef-flatten {}", quoted(path))));
        return Some(Other { what: format!("a model: {}", named(path)), help, command });
    }
    paths.iter().find_map(|path| {
        let opened = Opened::open(path).ok()?;
        let found = other(&opened.start(), &quoted(path), None).filter(|_| !opened.start().bytes().is_empty())?;
        Some(Other { what: format!("{}: {}", found.what, named(path)), ..found })
    })
}

//! Texts with shapes from standard input, also compressed ones.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::listing::Listing;
use crate::Diagnostics;
use crate::cli::args::{self, LayoutTo};
use crate::cli::io;
use crate::cli::limits::RunLimits;
use crate::cli::outcome::{Failure, RunResult, Status};
use crate::cli::report::Reporter;
use crate::diagnostics::{Code, Diagnostic};
use crate::input::foreign;
use crate::input::looks::Start;
use crate::model::GZIP;
use crate::source::{Sources, Span};
use crate::tensor::ShapeList;

/// What a compressed text may unpack to for any size, and how many times larger than the compressed one a larger
/// text may be: dumps repeat themselves more than weights, and less than a decompression bomb.
const UNPACKED: u64 = 32 << 20;

const RATIO: u64 = 50;

/// The bytes from standard input. Traces are compressed texts, or binary files that contain texts.
fn bytes(limits: &RunLimits) -> Result<Vec<u8>, Failure> {
    let limit = limits.text();
    let (name, mut bytes) = io::read_bytes(Path::new("-"), limit)?;
    if bytes.starts_with(&GZIP) {
        let limit = limit.min(UNPACKED.max(RATIO.saturating_mul(bytes.len() as u64)));
        let mut unpacked = Vec::new();
        let read = MultiGzDecoder::new(bytes.as_slice()).take(limit + 1).read_to_end(&mut unpacked);
        if read.is_err() {
            let message = "the gzip data are damaged, or end too early".to_owned();
            return Err(io::refused(name, "", Span::default(), Code::ModelArchive, message));
        }
        if unpacked.len() as u64 > limit {
            let message = format!("the compressed text unpacks to more than {limit} bytes, too many for its size");
            return Err(io::refuse(name, String::new(), |at| {
                Diagnostic::new(Code::TooLarge, at, message)
                    .help("unpack it first: gunzip -c FILE | nnef-flatten layout -")
            }));
        }
        bytes = unpacked;
    }
    Ok(bytes)
}

/// Lists the shapes in the text from standard input.
pub(super) fn listing(arguments: &args::Layout, limits: &RunLimits, reporter: &mut Reporter) -> RunResult {
    let bytes = bytes(limits)?;
    let refuse = |code: Code, message: String, help: Option<String>| {
        io::refuse("<stdin>".to_owned(), String::new(), |at| Diagnostic::new(code, at, message).help_if(help))
    };
    if let Some((what, help)) = foreign::without_texts(&Start::new(&bytes, true)) {
        return Err(refuse(
            Code::ForeignInput,
            format!("this is {what}, which has no texts of shapes"),
            Some(help.to_owned()),
        ));
    }
    let list = ShapeList::of(&String::from_utf8_lossy(&bytes), limits.options().max_memory).map_err(|error| {
        refuse(Code::MemoryBudget, error.to_string(), Some("raise the limit with --max-memory".into()))
    })?;
    let list = if arguments.tpu_tiles { list.with_tpu_tiles() } else { list };
    let found = Listing::new(&list);
    io::write_stdout(limits.output(), &mut |out| match arguments.to {
        Some(LayoutTo::Json) => found.write_json(out),
        _ => found.write_table(out),
    })?;
    if list.shapes().len() == 0 {
        let start = Start::new(&bytes, true);
        let format = foreign::name_of(&start).map(|what| format!(": it is {what}")).unwrap_or_default();
        let help =
            "HLO prints shapes as f32[2,3]{1,0}, StableHLO as tensor<2x3xf32>; dumps in protobuf do not contain them";
        let message = format!("the input has no shapes of arrays{format}");
        if let Failure::Refused(found) = refuse(Code::ShapeNone, message, Some(help.to_owned())) {
            reporter.all(&found.sources, found.diagnostics);
        }
    }
    reporter.all(&Sources::new(), Diagnostics::default());
    reporter.summary();
    Ok(Status::Done)
}

//! The input notations: a table with a row for each. The reader of a notation is a file of this folder.

pub(crate) mod documents;
pub(crate) mod loops;
mod ncnn;
pub(crate) mod onnx;
mod pnnx;
mod weighed;

use std::path::Path;

use super::Refusal;
use super::looks::{self, Start};
use super::opened::Opened;
use super::settings::Settings;
use super::source::Source;
use crate::graph::Dialect;
use crate::model::ARCHIVES;

/// Reads an input to its end, without parsing it.
type InputReader = fn(Opened, &Settings) -> Result<Box<dyn Source>, Refusal>;

/// An input notation.
#[derive(Debug)]
pub(crate) struct Notation {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its inputs, for messages.
    pub(crate) title: &'static str,
    /// A short description.
    pub(crate) help: &'static str,
    /// The extensions of its files.
    extensions: &'static [&'static str],
    /// The extensions of files of many kinds, among which the first bytes find those in this notation.
    shared_extensions: &'static [&'static str],
    /// Whether the first bytes of an input are certainly in this notation.
    pub(super) looks: fn(&Start) -> bool,
    /// What malformed inputs look like: its reader explains what is wrong with them.
    pub(super) malformed: Option<&'static str>,
    /// The dialect of its documents, if it is one of NNEF. Documents are formatted, and may be whole models.
    pub(crate) dialect: Option<Dialect>,
    /// Whether its graphs have operations of NNEF, which are fused.
    pub(crate) evaluated: bool,
    /// Whose operations its flat graphs have: the name of a notation.
    pub(crate) operations: &'static str,
    /// Whether its operations become those of NNEF as `--lower all` asks for.
    pub(crate) lowers: bool,
    /// The output notation of its inputs if nothing else is asked for.
    pub(crate) output: &'static str,
    /// The output notations of whole models in folders and archives.
    pub(crate) whole: &'static [&'static str],
    /// The output notations for which its inputs are edited themselves, so that nothing of them is lost in a graph.
    pub(crate) edited: &'static [&'static str],
    /// Reads an input.
    pub(crate) read: InputReader,
}

const WHOLE_NNEF: &[&str] = &["nnef", "nnef-draft"];
const WHOLE_ONNX: &[&str] = &["onnx", "onnxtxt", "nnef"];
const EDITED_ONNX: &[&str] = &["onnx", "onnxtxt"];

/// All notations. The first one is that of inputs that say nothing.
pub(crate) static NOTATIONS: &[Notation] = &[
    Notation {
        name: "nnef",
        title: "documents of NNEF 1.0",
        help: "NNEF 1.0: a document, or a model in a folder or archive",
        extensions: &["nnef"],
        shared_extensions: &[],
        looks: looks::nnef,
        malformed: None,
        dialect: Some(Dialect::V1),
        evaluated: true,
        operations: "nnef",
        lowers: false,
        output: "nnef",
        whole: WHOLE_NNEF,
        edited: &[],
        read: documents::read,
    },
    Notation {
        name: "nnef-draft",
        title: "documents of the provisional NNEF",
        help: "The provisional NNEF of 2017",
        extensions: &[],
        shared_extensions: &[],
        looks: looks::nothing,
        malformed: None,
        dialect: Some(Dialect::Draft),
        evaluated: true,
        operations: "nnef",
        lowers: false,
        output: "nnef",
        whole: WHOLE_NNEF,
        edited: &[],
        read: documents::read,
    },
    Notation {
        name: "loops",
        title: "networks with loops",
        help: "A network with loops, as JSON",
        extensions: &[],
        shared_extensions: &["json"],
        looks: looks::loops,
        malformed: Some(looks::JSON),
        dialect: None,
        evaluated: true,
        operations: "nnef",
        lowers: false,
        output: "nnef",
        whole: WHOLE_NNEF,
        edited: &[],
        read: loops::read,
    },
    Notation {
        name: "onnx",
        title: "models of ONNX",
        help: "A model of ONNX, in protobuf",
        extensions: &["onnx"],
        shared_extensions: &[],
        looks: looks::onnx,
        malformed: Some(looks::PROTOBUF),
        dialect: None,
        evaluated: false,
        operations: "onnx",
        lowers: false,
        output: "onnx",
        whole: WHOLE_ONNX,
        edited: EDITED_ONNX,
        read: onnx::read_protobuf,
    },
    Notation {
        name: "onnxtxt",
        title: "models of ONNX as text",
        help: "A model of ONNX, or a part of one, as text",
        extensions: &["onnxtxt", "onnxtext"],
        shared_extensions: &[],
        looks: looks::onnxtxt,
        malformed: None,
        dialect: None,
        evaluated: false,
        operations: "onnx",
        lowers: false,
        output: "onnxtxt",
        whole: WHOLE_ONNX,
        edited: EDITED_ONNX,
        read: onnx::read_text,
    },
    Notation {
        name: "pnnx",
        title: "files of PNNX",
        help: "A file of PNNX (.pnnx.param), with its data next to it",
        extensions: &["param"],
        shared_extensions: &[],
        looks: looks::pnnx,
        malformed: None,
        dialect: None,
        evaluated: true,
        operations: "pnnx",
        lowers: true,
        output: "nnef",
        whole: WHOLE_NNEF,
        edited: &["pnnx"],
        read: pnnx::read,
    },
    Notation {
        name: "ncnn",
        title: "texts of ncnn",
        help: "A text of ncnn (.param), with its weights next to it (.bin)",
        // Files of PNNX have the same extension: the first bytes decide.
        extensions: &[],
        shared_extensions: &[],
        looks: looks::ncnn,
        malformed: None,
        dialect: None,
        evaluated: true,
        operations: "ncnn",
        lowers: true,
        output: "nnef",
        whole: WHOLE_NNEF,
        edited: &[],
        read: ncnn::read,
    },
];

impl Notation {
    /// The notation with a name.
    pub(crate) fn named(name: &str) -> Option<&'static Notation> {
        NOTATIONS.iter().find(|notation| notation.name == name)
    }

    /// The notation of the documents of a dialect.
    pub(crate) fn of_dialect(dialect: Dialect) -> &'static Notation {
        NOTATIONS.iter().find(|notation| notation.dialect == Some(dialect)).unwrap_or(&NOTATIONS[0])
    }

    /// The notation of files with the extension of a path.
    pub(crate) fn of_extension(path: &Path) -> Option<&'static Notation> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        NOTATIONS.iter().find(|notation| notation.extensions.contains(&extension.as_str()))
    }

    /// The endings of the names of files that are inputs, those that others share included.
    pub(crate) fn endings() -> impl Iterator<Item = String> {
        let extensions =
            NOTATIONS.iter().flat_map(|notation| notation.extensions.iter().chain(notation.shared_extensions));
        extensions.map(|extension| format!(".{extension}")).chain(ARCHIVES.map(str::to_owned))
    }

    /// Whether a file is an input by its extension, and where others share that, by its first bytes.
    pub(crate) fn is_file_of_any(path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        let sharing = || NOTATIONS.iter().find(|notation| notation.shared_extensions.contains(&extension.as_str()));
        let looks = |notation: &Notation| Opened::open(path).is_ok_and(|opened| (notation.looks)(&opened.start()));
        Self::of_extension(path).is_some() || sharing().is_some_and(looks)
    }

    /// The notation that the first bytes of an input certainly have.
    pub(super) fn of_start(start: &Start) -> Option<&'static Notation> {
        NOTATIONS.iter().find(|notation| (notation.looks)(start))
    }

    /// Its position in the table.
    pub(crate) fn index(&self) -> usize {
        NOTATIONS.iter().position(|notation| notation.name == self.name).unwrap_or_default()
    }
}

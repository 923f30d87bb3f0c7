//! The output notations: a row for each.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use super::{json, nnef};
use crate::graph::{Dialect, Graph};
#[cfg(feature = "pictures")]
use crate::picture::Picture;
#[cfg(feature = "pnnx")]
use crate::pnnx::export;

/// An output notation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Notation {
    /// Its name, for `--to`.
    pub name: &'static str,
    /// A short description.
    pub help: &'static str,
    /// The extensions of its files.
    pub extensions: &'static [&'static str],
    /// The dialect, if it is a notation of NNEF.
    pub dialect: Option<Dialect>,
    /// What graphs of documents have to be before they are written.
    pub(crate) needs: Needs,
    /// Which data are written with a graph.
    pub(super) data: With,
    /// Whether it tells what the data of variables are like.
    #[cfg_attr(not(feature = "kernels"), expect(dead_code, reason = "such builds read no data"))]
    pub(crate) summarizes: bool,
    /// The notation to use on a terminal instead, if it is binary.
    pub(crate) on_terminal: Option<&'static str>,
    /// The function that writes it.
    pub(super) writer: Writer,
}

/// What graphs of documents have to be before they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Documents of the provisional dialect are migrated.
    pub(crate) migrated: bool,
    /// Operations of registries become standard ones.
    pub(crate) standard: bool,
    /// The compounds that are not expanded; without it the options decide.
    pub(crate) compounds: Option<fn() -> Vec<&'static str>>,
}

const ANY_GRAPH: Needs = Needs { migrated: false, standard: false, compounds: None };

/// ONNX has operators for some compounds, and none for the operations of registries.
#[cfg(feature = "onnx")]
const OF_ONNX: Needs =
    Needs { migrated: true, standard: true, compounds: Some(|| crate::onnx::from_nnef::names().collect()) };

/// When the data of variables are written with a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    Never,
    /// In a file beside the graph, with this extension.
    Beside(&'static str),
    /// In the graph.
    Always,
}

/// The function that writes a notation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub(crate) enum Writer {
    /// Writes a graph with a number of threads; `None` means as many as the machine runs at once.
    Graph(fn(&Graph, Option<NonZeroUsize>, &mut dyn Write) -> io::Result<()>),
    /// Writes models of ONNX (`encode.rs`).
    #[cfg(feature = "onnx")]
    Onnx(OnnxForm),
    /// Writes a file of PNNX.
    #[cfg(feature = "pnnx")]
    Pnnx(fn(&Graph, &mut dyn Write) -> io::Result<()>),
    /// Writes a picture of a graph.
    #[cfg(feature = "pictures")]
    Picture(fn(&Picture, &mut dyn Write) -> io::Result<()>),
}

/// The forms of models of ONNX.
#[cfg(feature = "onnx")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnnxForm {
    /// Protobuf.
    Protobuf,
    /// The text notation.
    Text,
}

/// All notations. The first one is the default if neither a name nor an extension determines one.
pub static NOTATIONS: &[Notation] = &[
    Notation {
        name: "nnef",
        help: "Flat NNEF 1.0; documents of the provisional dialect are migrated",
        extensions: &["nnef"],
        dialect: Some(Dialect::V1),
        needs: Needs { migrated: true, ..ANY_GRAPH },
        data: With::Never,
        summarizes: false,
        on_terminal: None,
        writer: Writer::Graph(nnef::write),
    },
    Notation {
        name: "nnef-draft",
        help: "Flat NNEF of 2017, for documents of that dialect",
        extensions: &[],
        dialect: Some(Dialect::Draft),
        needs: ANY_GRAPH,
        data: With::Never,
        summarizes: false,
        on_terminal: None,
        writer: Writer::Graph(nnef::write),
    },
    Notation {
        name: "json",
        help: "The graph as JSON",
        extensions: &["json"],
        dialect: None,
        needs: ANY_GRAPH,
        data: With::Never,
        summarizes: false,
        on_terminal: None,
        writer: Writer::Graph(json::write),
    },
    Notation {
        name: "nnef-json",
        help: "The graph as JSON with the fields of the classes of Khronos' package nnef for Python",
        extensions: &[],
        dialect: None,
        needs: ANY_GRAPH,
        data: With::Never,
        summarizes: false,
        on_terminal: None,
        writer: Writer::Graph(json::write_khronos),
    },
    #[cfg(feature = "onnx")]
    Notation {
        name: "onnx",
        help: "Models of ONNX, in protobuf",
        extensions: &["onnx"],
        dialect: None,
        needs: OF_ONNX,
        data: With::Always,
        summarizes: false,
        on_terminal: Some("onnxtxt"),
        writer: Writer::Onnx(OnnxForm::Protobuf),
    },
    #[cfg(feature = "onnx")]
    Notation {
        name: "onnxtxt",
        help: "Models of ONNX, as text",
        extensions: &["onnxtxt", "onnxtext"],
        dialect: None,
        needs: OF_ONNX,
        data: With::Always,
        summarizes: false,
        on_terminal: None,
        writer: Writer::Onnx(OnnxForm::Text),
    },
    #[cfg(feature = "pnnx")]
    Notation {
        name: "pnnx",
        help: "A file of PNNX; element-wise operations of other graphs become expressions",
        extensions: &["param"],
        dialect: None,
        needs: Needs { standard: true, ..ANY_GRAPH },
        data: With::Beside("bin"),
        summarizes: false,
        on_terminal: None,
        writer: Writer::Pnnx(export::write),
    },
    #[cfg(feature = "pictures")]
    Notation {
        name: "dot",
        help: "A picture in the notation of Graphviz",
        extensions: &["dot", "gv"],
        dialect: None,
        needs: ANY_GRAPH,
        data: With::Never,
        summarizes: false,
        on_terminal: None,
        writer: Writer::Picture(|picture, out| picture.write_dot(out)),
    },
    #[cfg(feature = "pictures")]
    Notation {
        name: "svg",
        help: "A picture",
        extensions: &["svg"],
        dialect: None,
        needs: ANY_GRAPH,
        data: With::Never,
        summarizes: false,
        on_terminal: None,
        writer: Writer::Picture(|picture, out| picture.write_svg(out)),
    },
    #[cfg(feature = "pictures")]
    Notation {
        name: "html",
        help: "A page for browsers: a picture to search and to look into",
        extensions: &["html", "htm"],
        dialect: None,
        needs: ANY_GRAPH,
        data: With::Never,
        summarizes: true,
        on_terminal: None,
        writer: Writer::Picture(|picture, out| picture.write_html(out)),
    },
];

impl Notation {
    /// Whether it shows the graph as a picture.
    #[cfg(feature = "input")]
    pub(crate) fn is_picture(&self) -> bool {
        matches!(self.writer, Writer::Picture(_))
    }

    /// Whether what is written is not a text.
    ///
    /// ```
    /// let binary = nnef_flatten::write::NOTATIONS.iter().filter(|notation| notation.is_binary());
    /// assert!(binary.map(|notation| notation.name).eq(["onnx"]));
    /// ```
    pub fn is_binary(&self) -> bool {
        self.on_terminal.is_some()
    }

    /// The notation of a name.
    pub fn named(name: &str) -> Option<&'static Notation> {
        NOTATIONS.iter().find(|notation| notation.name == name)
    }

    /// The notation of flat documents in a dialect.
    pub(crate) fn of_dialect(dialect: Dialect) -> &'static Notation {
        NOTATIONS.iter().find(|notation| notation.dialect == Some(dialect)).unwrap_or(&NOTATIONS[0])
    }

    /// The notation of graphs as they are: nothing is migrated or translated for it.
    pub(crate) fn of_graphs() -> &'static Notation {
        Notation::named("json").unwrap_or(&NOTATIONS[0])
    }

    /// Whether the data of variables are written with a graph; `file` tells whether the result is a file.
    pub(crate) fn has_data(&self, file: bool) -> bool {
        match self.data {
            With::Never => false,
            With::Beside(_) => file,
            With::Always => true,
        }
    }

    /// The extension of the file with the data, if it is beside that of the graph.
    pub(crate) fn data_beside(&self) -> Option<&'static str> {
        if let With::Beside(extension) = self.data { Some(extension) } else { None }
    }

    /// The form in which models of ONNX are written, if it is a notation of them.
    #[cfg(feature = "onnx")]
    pub(crate) fn onnx_form(&self) -> Option<OnnxForm> {
        if let Writer::Onnx(form) = self.writer { Some(form) } else { None }
    }

    /// The notation of files with an extension, if one has it.
    pub fn of_extension(extension: &str) -> Option<&'static Notation> {
        let has = |notation: &&Notation| notation.extensions.iter().any(|known| extension.eq_ignore_ascii_case(known));
        NOTATIONS.iter().find(has)
    }
}

//! Pages with two graphs side by side, on which the changes between them are marked.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::{HtmlDocument, KEYS, STYLE, data, elements, name_of};
use crate::graph::TensorId;
use crate::picture::drawing::Picture;
use crate::picture::sheet::{escape, shown};

const BODY: &str = include_str!("../page/comparison.html");
pub(super) const COMPARISON_STYLE: &str = include_str!("../page/comparison.css");

pub(super) const COMPARISON_SCRIPT: &str = include_str!("../page/comparison.js");

/// What a change does to the operation or the tensor that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkKind {
    Added,
    Removed,
    Changed,
}

impl MarkKind {
    /// The name in the data of the page, which is also that of its colour.
    fn word(self) -> &'static str {
        match self {
            MarkKind::Added => "added",
            MarkKind::Removed => "removed",
            MarkKind::Changed => "changed",
        }
    }
}

/// A change between two graphs.
#[derive(Clone, Debug)]
pub(crate) struct MarkedChange {
    pub(crate) kind: MarkKind,
    /// The module around it; empty if there is none.
    pub(crate) module: String,
    pub(crate) text: String,
    /// In each graph, a result of the operation, or the input, that it is about.
    pub(crate) tensors: [Option<TensorId>; 2],
    /// Whether it is about an output of the graphs.
    pub(crate) is_output: bool,
}

/// What a page tells of the changes between two graphs.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// The names of the inputs.
    pub(crate) names: [String; 2],
    pub(crate) summary: String,
    pub(crate) notes: Vec<String>,
    /// In the order in which they are listed.
    pub(crate) changes: Vec<MarkedChange>,
}

/// Writes a page with two arranged graphs.
pub(in crate::picture) fn write(pictures: [&Picture; 2], told: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let [a, b] = &told.names;
    let mut title = String::new();
    escape(&mut title, &format!("{a} → {b}"));
    let [a, b] = pictures.map(|picture| elements(&name_of(&picture.scene), ""));
    let body = BODY.replace("<!--name-->", &title).replacen("<!--a-->", &a, 1).replacen("<!--b-->", &b, 1);
    let keys = KEYS.replacen(
        "<dl>\n",
        "<dl>\n<dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>the next change, the change before; \
         other keys are for the graph that was used last</dd>\n",
        1,
    );
    let document = HtmlDocument {
        title: &title,
        style: &[STYLE, COMPARISON_STYLE].concat(),
        body: &[&body, &keys],
        start: COMPARISON_SCRIPT,
    };
    document.write(out, |out| {
        let notes: Vec<String> = told.notes.iter().map(|note| visible(note)).collect();
        write!(out, "{{\"summary\":{},\"notes\":{},\"changes\":[", json!(visible(&told.summary)), json!(notes))?;
        for (i, change) in told.changes.iter().enumerate() {
            write!(out, "{}{}", if i > 0 { "," } else { "" }, row(change))?;
        }
        out.write_all(b"],\"pages\":[")?;
        for (i, picture) in pictures.iter().enumerate() {
            out.write_all(if i > 0 { b"," } else { b"" })?;
            data::write(&picture.scene, &picture.arrangement, picture.told(), out)?;
        }
        out.write_all(b"]}")
    })
}

/// A change as the script reads it.
fn row(change: &MarkedChange) -> Json {
    let [a, b] = change.tensors.map(|tensor| tensor.map_or(-1, |tensor| i64::from(tensor.0)));
    json!([change.kind.word(), visible(&change.module), visible(&change.text), a, b, change.is_output])
}

/// A text without characters that change how others are shown.
fn visible(text: &str) -> String {
    text.chars().map(shown).collect()
}

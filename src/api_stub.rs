//! TEMPORARY STUB of the library API which the command calls. It accepts any text that starts with
//! `version` and gives it back unchanged. To be deleted when the real functions are merged.
#![allow(missing_docs)]

use std::io::{self, Write};

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, Location, Sources, Span};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum From {
    #[default]
    Auto,
    Nnef,
    NnefDraft,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lower {
    #[default]
    Custom,
    All,
    None,
    Names(Vec<String>),
}

#[derive(Clone, Debug)]
pub struct Options {
    pub strict: bool,
    pub from: From,
    pub lower: Lower,
    pub keep: Vec<String>,
    pub keep_unused: bool,
    pub max_ops: u64,
    pub max_depth: u64,
    pub libraries: Vec<(String, String)>,
    pub input_shapes: Vec<(String, Vec<i64>)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strict: false,
            from: From::Auto,
            lower: Lower::Custom,
            keep: Vec::new(),
            keep_unused: false,
            max_ops: 10_000_000,
            max_depth: 1_000_000,
            libraries: Vec::new(),
            input_shapes: Vec::new(),
        }
    }
}

pub struct Document {
    sources: Sources,
    file: FileId,
}

impl Document {
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    pub fn format(&self) -> String {
        let mut text = self.sources.file(self.file).text().trim().to_owned();
        text.push('\n');
        text
    }
}

pub struct Parsed {
    pub document: Document,
    pub diagnostics: Diagnostics,
}

pub fn parse(name: &str, text: String, options: &Options) -> Parsed {
    let mut sources = Sources::new();
    for (name, text) in &options.libraries {
        sources.add(name.clone(), text.clone());
    }
    let file = sources.add(name, text);
    let document = Document { sources, file };
    let mut diagnostics = Diagnostics::new(options.strict);
    let text = document.sources.file(file).text();
    if !text.trim_start().starts_with("version") {
        let at = Location::new(file, Span::new(0, text.len().min(5) as u32));
        diagnostics.report(Diagnostic::new(Code::DocumentStructure, at, "a document starts with its version"));
    }
    for (at, _) in text.match_indices(['$', '@']) {
        let at = Location::new(file, Span::new(at as u32, at as u32 + 1));
        diagnostics.report(Diagnostic::new(Code::BadCharacter, at, "unexpected character"));
    }
    Parsed { document, diagnostics }
}

pub fn check(_document: &Document, options: &Options) -> Diagnostics {
    Diagnostics::new(options.strict)
}

pub struct Graph {
    text: String,
}

impl Graph {
    pub fn write_nnef(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.text.as_bytes())
    }

    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{{\"name\": \"G\"}}")
    }
}

pub struct Expansion {
    pub graph: Graph,
    pub diagnostics: Diagnostics,
}

pub fn expand(document: &Document, options: &Options) -> Result<Expansion, Diagnostics> {
    let text = document.sources.file(document.file).text().to_owned();
    Ok(Expansion { graph: Graph { text }, diagnostics: Diagnostics::new(options.strict) })
}

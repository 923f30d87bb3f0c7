//! Shared by property tests and robustness tests: running the library on a text, the conformance suite,
//! and a generator of random numbers with a fixed seed.

use std::fs;

use super::real::{RealDocument, repository, sorted_entries};
use nnef_flatten::{Diagnostic, Expansion, Graph, Lower, Options, expand, parse};

/// The directives of every document made here.
pub const HEADER: &str =
    "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n";

/// Parses and expands a text; the diagnostics if it is refused.
pub fn run(text: &str, options: &Options) -> Result<Expansion, Vec<Diagnostic>> {
    let parsed = parse("document", text.to_string(), options);
    if parsed.diagnostics.has_errors() {
        return Err(parsed.diagnostics.into_iter().collect());
    }
    expand(&parsed.document, options).map_err(|diagnostics| diagnostics.into_iter().collect())
}

/// The codes of the errors among diagnostics.
pub fn error_codes(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// The errors as a line each, for messages of failing tests.
pub fn tell(diagnostics: &[Diagnostic]) -> String {
    let line = |diagnostic: &Diagnostic| format!("{} {}", diagnostic.code.as_str(), diagnostic.message);
    diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).map(line).collect::<Vec<_>>().join("\n")
}

/// Texts of the numbers below a length, with something between them.
pub fn list(n: usize, between: &str, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(between)
}

/// The flat text of a graph.
pub fn flat_text(graph: &Graph) -> String {
    let mut out = Vec::new();
    graph.write_nnef(&mut out).expect("writing into memory");
    String::from_utf8(out).expect("flat text is UTF-8")
}

/// The JSON of a graph.
pub fn json_text(graph: &Graph) -> String {
    let mut out = Vec::new();
    graph.write_json(&mut out).expect("writing into memory");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// The complete outcome of a text: the messages, the flat text, and for each operation its results,
/// its place and the calls that it comes from.
pub fn outcome(text: &str, options: &Options) -> String {
    let expansion = match run(text, options) {
        Ok(expansion) => expansion,
        Err(found) => {
            let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
            let messages: Vec<&str> = errors.map(|diagnostic| diagnostic.message.as_str()).collect();
            return format!("refused: {messages:?}\n{found:#?}");
        }
    };
    let graph = &expansion.graph;
    let mut told = format!("{:#?}\n{}", expansion.diagnostics, flat_text(graph));
    for operation in graph.operations() {
        told += &format!("{:?} {:?}", operation.location(), operation.dtype());
        for tensor in operation.tensors() {
            told += &format!(" {:?} {:?}", graph.shape(tensor), graph.dtype(tensor));
        }
        operation.calls().for_each(|(fragment, at)| told += &format!(" {fragment}@{at:?}"));
        told.push('\n');
    }
    told
}

/// The outcome of two texts, after checking that it is the same.
pub fn same_outcome(texts: [String; 2], options: &Options) -> String {
    let [a, b] = texts.each_ref().map(|text| outcome(text, options));
    let differs = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None, "{}", texts[0]);
    assert_eq!(a.len(), b.len(), "{}", texts[0]);
    a
}

/// Options with a choice of what is lowered.
pub fn lowering(lower: Lower) -> Options {
    Options::default().with(|o| o.lower = lower)
}

/// A row of the conformance tables.
pub struct Case {
    /// Its text.
    pub document: RealDocument,
    /// `1.0` or `draft`.
    pub dialect: String,
    /// `valid`, `invalid` or `ambiguous`.
    pub kind: String,
}

/// The documents of the conformance suite.
pub fn conformance() -> Vec<Case> {
    let folder = repository("tests/conformance/tables/nnef");
    let mut found = Vec::new();
    for path in sorted_entries(&folder).iter().filter(|path| path.extension().is_some_and(|ext| ext == "json")) {
        let text = fs::read_to_string(path).expect("a table of cases");
        let rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for row in rows.as_array().into_iter().flatten() {
            let field = |key: &str| row[key].as_str().unwrap_or_default().to_string();
            let document = RealDocument { name: field("id"), text: field("source") };
            found.push(Case { document, dialect: field("dialect"), kind: field("kind") });
        }
    }
    assert!(!found.is_empty(), "no cases in {}", folder.display());
    found
}

/// Random numbers (splitmix64) that are the same in every run.
pub struct Random(u64);

impl Random {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

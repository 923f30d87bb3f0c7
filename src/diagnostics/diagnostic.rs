//! An error or a warning.

use std::error::Error;
use std::fmt;

use super::codes::Code;
use super::visible;
use crate::source::{Location, Span};

/// The message that a result has more operations than the budget allows.
pub(crate) fn too_many(what: &str, limit: u64, operations: &str) -> String {
    format!("{what} has more than {limit} {operations}")
}

/// A limit of memory in a message: in MB, in KB if it is less than 16 MB and not a whole number of them, or in bytes.
pub(crate) fn memory_text(bytes: u64) -> String {
    let in_megabytes = bytes >= 16 << 20 || bytes.trailing_zeros() >= 20;
    match bytes {
        _ if in_megabytes => format!("{} MB", bytes >> 20),
        0..1024 => format!("{bytes} bytes"),
        _ => format!("{} KB", bytes >> 10),
    }
}

/// The most calls that are shown besides the first one for a mistake that several calls reach.
const SHOWN: usize = 2;

/// How severe a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// The document is accepted in spite of it.
    Warning,
    /// The document is refused.
    Error,
}

/// `error` or `warning`.
impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A note at another location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The location.
    pub at: Location,
    /// The note.
    pub message: String,
}

/// One of the nested calls of fragments in which a diagnostic was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceFrame {
    /// The fragment that was called.
    pub fragment: String,
    /// The call.
    pub at: Location,
}

/// The place of a node, or of another part of a model, among the fields of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodePlace {
    /// The fields that lead to it, such as `graph.node[3]`.
    pub(crate) path: String,
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
    /// What of it is meant; none for all of it.
    pub(crate) part: Option<PlacePart>,
}

/// A part of a node, or of the head of a graph or a function, by its position among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlacePart {
    /// An input of a node.
    Operand(usize),
    /// An output of a node.
    Result(usize),
    /// An attribute of a node.
    Attribute(usize),
    /// The attribute of a function that an attribute of a node refers to.
    Reference(usize),
    /// An input of a graph or a function.
    Input(usize),
    /// An output of a graph or a function.
    Output(usize),
    /// A constant of a graph.
    Initializer(usize),
}

/// The path with the name, such as `graph.node[3] 'layer.4/softmax'`.
impl fmt::Display for NodePlace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.path)?;
        self.name.iter().try_for_each(|name| write!(f, " '{name}'"))
    }
}

/// A change of the text that solves the problem of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// The bytes that are replaced, in the file of [`Diagnostic::at`]; empty for an insertion.
    pub span: Span,
    /// What they are replaced by.
    pub replacement: String,
    /// Whether it can be applied without asking: the text means what its author evidently meant. What is probable only,
    /// such as the most similar name, is not certain.
    pub certain: bool,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The code: what kind of error or warning.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The location in the source.
    pub at: Location,
    /// What is found at that location; none if the location is a whole input.
    pub label: Option<String>,
    /// Notes at other locations that explain it.
    pub labels: Vec<Label>,
    /// How to solve the problem, if that is certain.
    pub help: Option<String>,
    /// The change of the text that does what the help says, if it is known.
    pub fix: Option<Fix>,
    /// The nested calls in which it was found, innermost first.
    pub expansion: Vec<TraceFrame>,
    /// The node of a model of ONNX that it is about.
    pub(crate) node: Option<Box<NodePlace>>,
    /// How many times the same was found for other calls.
    pub(crate) again: u32,
    /// How many calls were omitted from the middle of [`Diagnostic::expansion`], and before which of its
    /// frames.
    pub elided: Option<(usize, usize)>,
}

/// The most bytes of a file that are read, and the option that raises this limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadLimit {
    pub(crate) bytes: u64,
    what: &'static str,
    option: &'static str,
}

#[cfg(feature = "input")]
impl ReadLimit {
    /// The limit on a file of arrays, which are in memory once they are read.
    pub(crate) fn arrays(bytes: u64) -> Self {
        ReadLimit { bytes, what: "file", option: "--max-memory" }
    }
}

/// The limit on a text.
impl From<u64> for ReadLimit {
    fn from(bytes: u64) -> Self {
        ReadLimit { bytes, what: "text", option: "--max-text" }
    }
}

impl Diagnostic {
    /// A diagnostic with the default severity of its code.
    pub(crate) fn new(code: Code, at: Location, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.severity(false),
            message: message.into(),
            at,
            label: code.label().map(str::to_owned),
            labels: Vec::new(),
            help: None,
            fix: None,
            expansion: Vec::new(),
            node: None,
            again: 0,
            elided: None,
        }
    }

    /// The error for a file with more bytes than a limit.
    pub(crate) fn too_large(at: Location, limit: impl Into<ReadLimit>) -> Self {
        let ReadLimit { bytes, what, option } = limit.into();
        let message = format!("the {what} has more than {bytes} bytes");
        Diagnostic::new(Code::TooLarge, at, message).help(format!("raise the limit with {option}"))
    }

    /// Adds the text of the label at the location.
    pub(crate) fn label(mut self, message: impl Into<String>) -> Self {
        self.label = Some(message.into());
        self
    }

    /// Adds a label at another location.
    pub(crate) fn see(mut self, at: Location, message: impl Into<String>) -> Self {
        self.labels.push(Label { at, message: message.into() });
        self
    }

    /// Adds how to solve the problem.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds how to solve the problem, if that is known.
    pub(crate) fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Adds the node that it is about.
    pub(crate) fn about(mut self, node: Option<NodePlace>) -> Self {
        self.node = node.map(Box::new);
        self
    }

    /// Adds the change that certainly solves the problem.
    pub(crate) fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, replacement: replacement.into(), certain: true });
        self
    }

    /// Adds a change that probably solves the problem, if one is known.
    pub(crate) fn propose(mut self, span: Span, replacement: Option<impl Into<String>>) -> Self {
        if let Some(replacement) = replacement {
            self.fix = Some(Fix { span, replacement: replacement.into(), certain: false });
        }
        self
    }

    /// Proposes the name that was probably meant at a place of the file, if one is known.
    pub(crate) fn meant(self, span: Span, name: Option<&str>) -> Self {
        self.help_if(name.map(|name| format!("did you mean `{name}`?"))).propose(span, name)
    }

    /// The same diagnostic with its change, if any, as a certain one.
    pub(crate) fn certain(mut self) -> Self {
        self.fix.iter_mut().for_each(|fix| fix.certain = true);
        self
    }

    /// All locations that it refers to.
    pub(crate) fn locations(&self) -> impl Iterator<Item = Location> {
        let fix = self.fix.as_ref().map(|fix| Location { span: fix.span, ..self.at });
        let labels = self.labels.iter().map(|label| label.at);
        let calls = self.expansion.iter().map(|frame| frame.at);
        std::iter::once(self.at).chain(fix).chain(labels).chain(calls)
    }

    /// Whether another one tells the same mistake: one place, which several calls reach.
    pub(crate) fn is_same(&self, other: &Diagnostic) -> bool {
        let called = !self.expansion.is_empty() && !other.expansion.is_empty();
        called && (self.code, self.at) == (other.code, other.at) && self.message == other.message
    }

    /// Counts another one that tells the same mistake; the first few calls are shown.
    pub(crate) fn merge(&mut self, other: &Diagnostic) {
        self.again = self.again.saturating_add(other.again).saturating_add(1);
        let call = other.expansion.last().map(|frame| frame.at);
        if let Some(call) =
            call.filter(|call| self.labels.len() < SHOWN && self.expansion.iter().all(|own| own.at != *call))
        {
            self.labels.push(Label { at: call, message: "the same in this call".to_owned() });
        }
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [Some(&self.message), self.label.as_ref(), self.help.as_ref()].into_iter().flatten();
        let texts = texts.chain(self.labels.iter().map(|label| &label.message));
        let texts = texts.chain(self.expansion.iter().map(|frame| &frame.fragment));
        let parts = size_of_val(&*self.labels) + size_of_val(&*self.expansion);
        size_of::<Self>() + parts + texts.map(String::len).sum::<usize>()
    }

    /// Whether it is an error, for which the document is refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Code, message and help on one line. The location is omitted because it needs the sources;
/// [`Diagnostic::write_human`] shows it.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code, visible::clean(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "; {}", visible::clean(help)),
            None => Ok(()),
        }
    }
}

impl Error for Diagnostic {}

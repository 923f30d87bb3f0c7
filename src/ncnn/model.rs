//! The texts: a layer in each line.

use crate::diagnostics::{Code, Diagnostics, Policy};
use crate::pnnx::lines::{LineReader, LineWords};
use crate::pnnx::model::{OperatorParam, Role};
use crate::pnnx::notation::has_module;
use crate::source::word_lines::{Word, lines_of_words};
use crate::source::{FileId, Span};

/// The first line of a text, which files of PNNX have, too.
const MAGIC: &str = "7767517";

/// The number of parameters that a layer may have: their numbers are below it.
const PARAMETERS: u32 = 32;

/// An array has this number minus its own before the equals sign in older texts, and its length before its items.
const ARRAY: i64 = -23300;

/// A network.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NcnnModel {
    /// The layers in their order.
    pub(crate) layers: Vec<NcnnLayer>,
}

/// A layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NcnnLayer {
    /// Its kind, such as `Convolution`.
    pub(crate) kind: String,
    /// Its name.
    pub(crate) name: String,
    /// The names of the blobs that it reads.
    pub(crate) bottoms: Vec<String>,
    /// The names of the blobs that it makes.
    pub(crate) tops: Vec<String>,
    /// Its parameters in their order; their numbers are distinct.
    pub(crate) parameters: Vec<Parameter>,
    /// The parameters with names, which operators of PNNX have.
    pub(crate) settings: Vec<OperatorParam>,
    /// The location of its kind.
    pub(crate) span: Span,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    /// Its number.
    pub(crate) number: u32,
    /// Its value.
    pub(crate) value: ParameterValue,
    /// The location of the value.
    pub(crate) span: Span,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParameterValue {
    /// An integer.
    Integer(i64),
    /// A number with a point or an exponent.
    Scalar(f64),
    /// Integers.
    Integers(Vec<i64>),
    /// Numbers of which one has a point or an exponent.
    Scalars(Vec<f64>),
    /// A text.
    Text(String),
}

impl NcnnLayer {
    /// Whether it is an operator of PNNX that pnnx has left, because ncnn has no layer for it.
    pub(crate) fn is_left(&self) -> bool {
        has_module(&self.kind)
    }

    /// The parameter with a number.
    pub(crate) fn parameter(&self, number: u32) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.number == number)
    }
}

impl NcnnModel {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// Malformed lines, and blobs that are used before their definition or defined twice.
    pub(crate) fn read(
        text: &str,
        file: FileId,
        policy: impl Into<Policy>,
    ) -> Result<(NcnnModel, Diagnostics), Diagnostics> {
        let mut reader = LineReader::new(text, file, policy, &WORDS);
        let model = reader.network();
        if reader.found.has_errors() { Err(reader.found) } else { Ok((model, reader.found)) }
    }
}

const WORDS: LineWords = LineWords {
    codes: [Code::NcnnSyntax, Code::NcnnBlob],
    count: Code::NcnnCount,
    text: "text",
    line: "layer",
    value: "blob",
    quote: "`",
};

impl<'t> LineReader<'t> {
    fn network(&mut self) -> NcnnModel {
        let mut lines = lines_of_words(self.text);
        let first = lines.next().unwrap_or_default();
        if !matches!(first[..], [(MAGIC, _)]) {
            let at = first.first().map_or(Span::default(), |(_, span)| *span);
            self.error(Code::NcnnSyntax, at, format!("a text of ncnn begins with the number {MAGIC}"));
            return NcnnModel::default();
        }
        let counts = lines.next().unwrap_or_default();
        NcnnModel { layers: self.counted(&counts, lines, Self::layer) }
    }

    fn layer(&mut self, line: &[Word<'t>]) -> Option<NcnnLayer> {
        let [(kind, span), (name, _), bottoms, tops, rest @ ..] = line else {
            let span = line.first().map_or(Span::default(), |(_, span)| *span);
            self.error(
                Code::NcnnSyntax,
                span,
                "a line has a kind, a name, and the numbers of blobs before and after it",
            );
            return None;
        };
        let (bottoms, rest) = self.blobs(*bottoms, rest)?;
        let (tops, rest) = self.blobs(*tops, rest)?;
        self.note(bottoms, tops);
        let names = |words: &[Word]| words.iter().map(|(word, _)| (*word).to_owned()).collect();
        // ncnn itself reads numbers only.
        let is_named = |word: &&Word| {
            has_module(kind) && word.0.split_once('=').is_some_and(|(key, _)| key.parse::<i64>().is_err())
        };
        let (settings, rest): (Vec<Word>, Vec<Word>) = rest.iter().partition(is_named);
        Some(NcnnLayer {
            kind: (*kind).to_owned(),
            name: (*name).to_owned(),
            bottoms: names(bottoms),
            tops: names(tops),
            parameters: self.parameters(&rest),
            settings: settings.into_iter().filter_map(setting).collect(),
            span: *span,
        })
    }

    /// Splits words after a number of names of blobs.
    fn blobs<'l>(&mut self, count: Word, rest: &'l [Word<'t>]) -> Option<(&'l [Word<'t>], &'l [Word<'t>])> {
        let (names, rest) = self.names(count, rest)?;
        if let Some((word, at)) = names.iter().find(|(word, _)| word.contains('=')) {
            self.error(Code::NcnnSyntax, *at, format!("`{word}` is a parameter, not the name of a blob"));
            return None;
        }
        Some((names, rest))
    }

    fn parameters(&mut self, words: &[Word<'t>]) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut words = words.iter();
        while let Some((word, span)) = words.next() {
            let Some((key, value)) = word.split_once('=') else {
                self.error(Code::NcnnSyntax, *span, format!("`{word}` is not a parameter, such as 0=64"));
                continue;
            };
            let start = span.start + key.len() as u32 + 1;
            let (mut value, mut end) = (value, span.end);
            // A text in quotes may have blanks.
            while value.starts_with('"') && !is_closed(value) {
                let Some((_, next)) = words.next() else { break };
                end = next.end;
                value = self.text.get(start as usize..end as usize).unwrap_or(value);
            }
            let span = Span::new(start, end);
            match parameter(key, value) {
                Ok((number, value)) if parameters.iter().all(|other| other.number != number) => {
                    parameters.push(Parameter { number, value, span });
                }
                Ok((number, _)) => {
                    self.error(Code::NcnnSyntax, span, format!("parameter {number} is given twice"));
                }
                Err(message) => self.error(Code::NcnnSyntax, span, message),
            }
        }
        parameters
    }
}

/// A parameter with a name.
fn setting((word, span): Word) -> Option<OperatorParam> {
    let (key, text) = word.split_once('=')?;
    let span = Span::new(span.start + key.len() as u32 + 1, span.end);
    Some(OperatorParam { role: Role::Value, key: key.to_owned(), text: text.to_owned(), span })
}

/// Whether a text that begins with a quote ends with another one.
fn is_closed(text: &str) -> bool {
    text.len() > 1 && text.ends_with('"')
}

/// The number and the value of a parameter.
fn parameter(key: &str, value: &str) -> Result<(u32, ParameterValue), String> {
    let key: i64 = key.parse().map_err(|_| format!("`{key}` is not the number of a parameter"))?;
    let is_array = key <= ARRAY;
    let number = if is_array { ARRAY.saturating_sub(key) } else { key };
    let number = u32::try_from(number).ok().filter(|number| *number < PARAMETERS);
    let number =
        number.ok_or_else(|| format!("{key} is not the number of a parameter: these are below {PARAMETERS}"))?;
    if is_array {
        let (length, items) = value.split_once(',').unwrap_or((value, ""));
        let items = if items.is_empty() { Vec::new() } else { items.split(',').collect() };
        if length.parse() != Ok(items.len()) {
            return Err(format!("an array of {length} items has {}", items.len()));
        }
        return Ok((number, array(&items)?));
    }
    if value.starts_with('"') {
        let inside = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let inside = inside.filter(|inside| !inside.contains('"'));
        return inside.map(|text| (number, text_value(text))).ok_or_else(|| "a text has no closing quote".to_owned());
    }
    if value.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Ok((number, text_value(value)));
    }
    if value.contains(',') {
        // An array of one item ends with a comma.
        return Ok((number, array(&value.strip_suffix(',').unwrap_or(value).split(',').collect::<Vec<_>>())?));
    }
    Ok((
        number,
        match item(value)? {
            ParameterNumber::Integer(integer) => ParameterValue::Integer(integer),
            ParameterNumber::Scalar(scalar) => ParameterValue::Scalar(scalar),
        },
    ))
}

fn text_value(text: &str) -> ParameterValue {
    ParameterValue::Text(text.to_owned())
}

/// A number in a text.
enum ParameterNumber {
    Integer(i64),
    Scalar(f64),
}

fn item(text: &str) -> Result<ParameterNumber, String> {
    let is_scalar = text.contains(['.', 'e', 'E']);
    let scalar = || text.parse::<f64>().ok().filter(|value| value.is_finite()).map(ParameterNumber::Scalar);
    let integer = || text.parse::<i32>().ok().map(|value| ParameterNumber::Integer(value.into()));
    let number = if is_scalar { scalar() } else { integer() };
    number.ok_or_else(|| format!("`{text}` is not a number of 32 bits"))
}

fn array(items: &[&str]) -> Result<ParameterValue, String> {
    let items = items.iter().map(|text| item(text)).collect::<Result<Vec<ParameterNumber>, String>>()?;
    let integer =
        |item: &ParameterNumber| if let ParameterNumber::Integer(integer) = item { Some(*integer) } else { None };
    if let Some(integers) = items.iter().map(integer).collect() {
        return Ok(ParameterValue::Integers(integers));
    }
    let scalar = |item: &ParameterNumber| match item {
        ParameterNumber::Integer(integer) => *integer as f64,
        ParameterNumber::Scalar(scalar) => *scalar,
    };
    Ok(ParameterValue::Scalars(items.iter().map(scalar).collect()))
}

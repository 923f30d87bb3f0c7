//! PNNX files: one operator in each line.

use std::collections::VecDeque;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::lines::{LineReader, LineWords};
use super::notation::{has_module, layer_of_ncnn};
use super::tokens::{Literal, Token, TokenKind, literal, tokens};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Policy};
use crate::source::word_lines::{Word, lines_of_words};
use crate::source::{FileId, Location, Span};

/// The first line of a file.
const MAGIC: &str = "7767517";

/// The operator that contains an expression.
pub(crate) const EXPRESSION: &str = "pnnx.Expression";
/// The parameter with the text of the expression.
pub(crate) const EXPR: &str = "expr";
/// The operators of inputs, outputs and stored tensors.
pub(crate) const INPUT: &str = "pnnx.Input";
pub(crate) const OUTPUT: &str = "pnnx.Output";
pub(crate) const ATTRIBUTE: &str = "pnnx.Attribute";

/// The element types of floats.
pub(crate) const FLOATS: &[&str] = &["f16", "bf16", "f32", "f64"];
/// The element type where it is not known.
pub(crate) const UNKNOWN: &str = "null";

/// Operators that combine operands to a list or tuple.
pub(crate) const CONSTRUCTS: &[&str] = &["prim::TupleConstruct", "prim::ListConstruct"];

/// The numbers of operands and results of operators that have a meaning for the reader; any number of operands if
/// there is none.
fn counts(kind: &str) -> Option<(Option<usize>, usize)> {
    match kind {
        INPUT | ATTRIBUTE => Some((Some(0), 1)),
        OUTPUT => Some((None, 0)),
        EXPRESSION => Some((None, 1)),
        kind => CONSTRUCTS.contains(&kind).then_some((None, 1)),
    }
}

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PnnxModel {
    /// The operators in their order.
    pub(crate) operators: Vec<Operator>,
}

/// An operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Operator {
    /// Its kind, such as `nn.Linear`.
    pub(crate) kind: String,
    /// Its name.
    pub(crate) name: String,
    /// The names of its operands.
    pub(crate) inputs: Vec<String>,
    /// The names of its results.
    pub(crate) outputs: Vec<String>,
    /// The number of its first operands that are its stored data once more.
    pub(crate) repeated: usize,
    /// Its parameters in their order.
    pub(crate) params: Vec<OperatorParam>,
    /// The location of its kind.
    pub(crate) span: Span,
}

/// The role of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A value: `dim=1`.
    Value,
    /// Stored data: `@weight=(8,8)f32`.
    Data,
    /// The argument that an operand belongs to: `$input=3`.
    Argument,
    /// The shape of an operand or a result: `#3=(1,5,8)f32`.
    Shape,
}

/// The signs before the keys of parameters, by role.
const SIGNS: &[(char, Role)] = &[('@', Role::Data), ('$', Role::Argument), ('#', Role::Shape)];

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OperatorParam {
    /// Its role.
    pub(crate) role: Role,
    /// Its key.
    pub(crate) key: String,
    /// Its value.
    pub(crate) text: String,
    /// The location of the value.
    pub(crate) span: Span,
}

/// The shape and the type of an operand or of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// The extents; none for unknown extents.
    pub(crate) extents: Vec<Option<i64>>,
    /// The element type, such as `f32`.
    pub(crate) element: String,
}

impl Typed {
    /// The real numbers that complex ones have along a new last axis; others as they are.
    pub(crate) fn parts(&self) -> Typed {
        let element = match self.element.as_str() {
            "c32" => "f16",
            "c64" => "f32",
            "c128" => "f64",
            _ => return self.clone(),
        };
        let extents = self.extents.iter().copied().chain([Some(2)]).collect();
        Typed { extents, element: element.to_owned() }
    }
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    /// A literal.
    Literal(Literal),
    /// Any other word.
    Word(String),
    /// Several values.
    List(Vec<Setting>),
}

impl OperatorParam {
    /// A parameter without a location.
    pub(crate) fn new(role: Role, key: &str, text: impl Into<String>) -> OperatorParam {
        OperatorParam { role, key: key.to_owned(), text: text.into(), span: Span::default() }
    }

    /// The value.
    pub(crate) fn setting(&self) -> Setting {
        let inner = self.text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        match inner {
            Some("") => Setting::List(Vec::new()),
            Some(items) => Setting::List(items.split(',').map(setting).collect()),
            None => setting(&self.text),
        }
    }

    /// Parses the value as a shape and type, if it is one.
    pub(crate) fn typed(&self) -> Option<Typed> {
        let (extents, element) = self.text.strip_prefix('(')?.split_once(')')?;
        let extent = |text: &str| match text.parse::<i64>() {
            Ok(extent) if extent >= 0 => Some(Some(extent)),
            Ok(_) => None,
            // Names of unknown extents, and `?`.
            Err(_) if text.starts_with(|c: char| c == '?' || c == '%' || c.is_alphabetic()) => Some(None),
            Err(_) => None,
        };
        let extents = match extents {
            "" => Vec::new(),
            extents => extents.split(',').map(extent).collect::<Option<_>>()?,
        };
        let fits = !element.is_empty() && element.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Typed { extents, element: element.to_owned() })
    }
}

fn setting(text: &str) -> Setting {
    let (found, misread) = tokens(text, true);
    let single = matches!(found[..], [Token { kind: TokenKind::Literal, .. }]) && misread.is_empty();
    match literal(text).filter(|_| single) {
        Some(literal) => Setting::Literal(literal),
        None => Setting::Word(text.to_owned()),
    }
}

impl Operator {
    /// The first parameter with a role and a key.
    pub(crate) fn param(&self, role: Role, key: &str) -> Option<&OperatorParam> {
        self.params.iter().find(|param| param.role == role && param.key == key)
    }

    /// The parameters with a role.
    pub(crate) fn params(&self, role: Role) -> impl Iterator<Item = &OperatorParam> {
        self.params.iter().filter(move |param| param.role == role)
    }

    /// The parameters with the shapes of operands and results.
    pub(crate) fn shapes(&self) -> FxHashMap<&str, &OperatorParam> {
        // The first one of several for one operand is kept.
        let shapes: Vec<&OperatorParam> = self.params(Role::Shape).collect();
        shapes.into_iter().rev().map(|param| (param.key.as_str(), param)).collect()
    }

    /// The argument name of each operand; without names, they are `input`, `input1` and so on. Also returns the names
    /// that belong to no operand.
    pub(crate) fn argument_names(&self) -> (Vec<String>, Vec<&OperatorParam>) {
        let mut named: FxHashMap<&str, VecDeque<&OperatorParam>> = FxHashMap::default();
        for param in self.params(Role::Argument) {
            named.entry(&param.text).or_default().push_back(param);
        }
        let mut unnamed = 0;
        let mut name = |operand: &String| match named.get_mut(operand.as_str()).and_then(VecDeque::pop_front) {
            Some(param) => param.key.clone(),
            None => {
                unnamed += 1;
                if unnamed == 1 { "input".to_owned() } else { format!("input{}", unnamed - 1) }
            }
        };
        let names = self.inputs.iter().skip(self.repeated).map(&mut name).collect();
        // Names of operands that are stored data are those of the data.
        self.inputs.iter().take(self.repeated).for_each(|operand| drop(named.remove(operand.as_str())));
        let mut rest: Vec<&OperatorParam> = named.into_values().flatten().collect();
        rest.sort_unstable_by_key(|param| param.span.start);
        (names, rest)
    }
}

impl PnnxModel {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Malformed lines, and operands that are used before their definition or defined twice.
    pub(crate) fn read(
        text: &str,
        file: FileId,
        policy: impl Into<Policy>,
    ) -> Result<(PnnxModel, Diagnostics), Diagnostics> {
        let mut reader = LineReader::new(text, file, policy, &WORDS);
        let mut model = reader.model();
        model.find_repeated(&|_, _| true);
        if reader.found.has_errors() { Err(reader.found) } else { Ok((model, reader.found)) }
    }

    /// The text of the file, with the column layout of pnnx.
    pub(crate) fn print(&self) -> String {
        let operands: usize = self.operators.iter().map(|operator| operator.outputs.len()).sum();
        let mut out = format!("{MAGIC}\n{} {operands}\n", self.operators.len());
        for operator in &self.operators {
            let (inputs, outputs) = (operator.inputs.len(), operator.outputs.len());
            let _ = write!(out, "{:<24} {:<24} {inputs} {outputs}", operator.kind, operator.name);
            operator.inputs.iter().chain(&operator.outputs).for_each(|operand| {
                out.push(' ');
                out.push_str(operand);
            });
            for param in &operator.params {
                out.push(' ');
                out.extend(SIGNS.iter().find(|(_, role)| *role == param.role).map(|(sign, _)| *sign));
                out.push_str(&param.key);
                out.push('=');
                out.push_str(&param.text);
            }
            out.push('\n');
        }
        out
    }
}

const WORDS: LineWords = LineWords {
    codes: [Code::PnnxSyntax, Code::PnnxOperand],
    count: Code::PnnxCount,
    text: "file",
    line: "operator",
    value: "operand",
    quote: "",
};

impl<'t> LineReader<'t> {
    /// The first layer, if the file is one of ncnn: its first line is the same, and its layers have no module.
    fn of_ncnn(&self) -> Option<Word<'t>> {
        let kinds = || lines_of_words(self.text).skip(2).filter_map(|line| line.first().copied());
        let lines = self.text.lines().filter(|line| !line.trim().is_empty()).skip(2);
        let told = layer_of_ncnn(lines).is_some() || !kinds().any(|(kind, _)| has_module(kind));
        kinds().find(|(kind, _)| !has_module(kind)).filter(|_| told)
    }

    fn model(&mut self) -> PnnxModel {
        let mut lines = lines_of_words(self.text);
        let whole = Span::new(0, 0);
        match lines.next().as_deref() {
            Some([(MAGIC, _)]) => {}
            Some([(_, span), ..]) => {
                self.error(Code::PnnxSyntax, *span, format!("a file of PNNX begins with the number {MAGIC}"));
                return PnnxModel::default();
            }
            _ => {
                self.error(Code::PnnxSyntax, whole, "the file is empty");
                return PnnxModel::default();
            }
        }
        let counts = lines.next().unwrap_or_default();
        if let Some((kind, span)) = self.of_ncnn() {
            let message = format!(
                "this is a file of ncnn, not of PNNX: `{kind}` is a layer of ncnn, operators of PNNX are called `pnnx.Input`, `nn.ReLU`"
            );
            let diagnostic = Diagnostic::new(Code::PnnxSyntax, Location::new(self.file, span), message);
            self.found.report(diagnostic.help("read it with `--from ncnn`"));
            return PnnxModel::default();
        }
        PnnxModel { operators: self.counted(&counts, lines, Self::operator) }
    }

    fn operator(&mut self, line: &[Word<'t>]) -> Option<Operator> {
        let [(kind, span), (name, _), inputs, outputs, rest @ ..] = line else {
            let span = line.first().map_or(Span::default(), |(_, span)| *span);
            self.error(Code::PnnxSyntax, span, "a line has a kind, a name, and the numbers of operands and results");
            return None;
        };
        let (inputs, rest) = self.names(*inputs, rest)?;
        let (outputs, rest) = self.names(*outputs, rest)?;
        self.note(inputs, outputs);
        let found = (inputs.len(), outputs.len());
        if let Some(wanted) =
            counts(kind).filter(|wanted| wanted.0.unwrap_or(found.0) != found.0 || wanted.1 != found.1)
        {
            let operands = wanted.0.map_or("any number of operands".to_owned(), |count| format!("{count} operands"));
            let message = format!("`{kind}` has {operands} and {} results, not {} and {}", wanted.1, found.0, found.1);
            self.error(Code::PnnxSyntax, *span, message);
        }
        let params: Vec<OperatorParam> = rest.iter().filter_map(|word| self.param(*word)).collect();
        let names = |words: &[Word]| words.iter().map(|(word, _)| (*word).to_owned()).collect();
        let operator = Operator {
            kind: (*kind).to_owned(),
            name: (*name).to_owned(),
            inputs: names(inputs),
            outputs: names(outputs),
            repeated: 0,
            params,
            span: *span,
        };
        for param in operator.argument_names().1 {
            let message = format!("`{}` is not an operand of `{name}`, or already has another name", param.text);
            self.error(Code::PnnxOperand, param.span, message);
        }
        Some(operator)
    }

    fn param(&mut self, (word, span): Word<'t>) -> Option<OperatorParam> {
        let Some((key, text)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            self.error(Code::PnnxSyntax, span, format!("`{word}` is not a parameter, such as dim=1"));
            return None;
        };
        let sign = SIGNS.iter().find(|(sign, _)| key.starts_with(*sign));
        let (role, name) = sign.map_or((Role::Value, key), |(_, role)| (*role, &key[1..]));
        let span = Span::new(span.start + key.len() as u32 + 1, span.end);
        let param = OperatorParam { role, key: name.to_owned(), text: text.to_owned(), span };
        if matches!(role, Role::Data | Role::Shape) && param.typed().is_none() {
            self.error(Code::PnnxSyntax, span, format!("`{text}` is not a shape with a type, such as (3,4)f32"));
        }
        Some(param)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "7767517\n4 3\n\
        pnnx.Input               in                       0 1 0 #0=(2,?)f32\n\
        nn.Linear                m0                       1 1 0 1 bias=True dim=(-1) p=1.5 mode=zeros @weight=(8,6)f32\n\
        pnnx.Expression          e                        2 1 1 0 2 expr=mul(@0,@1)\n\
        pnnx.Output              out                      1 0 2\n";

    fn codes(text: &str) -> Vec<Code> {
        match PnnxModel::read(text, FileId::default(), false) {
            Ok((_, found)) | Err(found) => found.iter().map(|found| found.code).collect(),
        }
    }

    #[test]
    fn files_are_given_back() {
        let (model, found) = PnnxModel::read(TEXT, FileId::default(), true).unwrap();
        assert!(found.is_empty());
        assert_eq!(model.print(), TEXT);
        let linear = &model.operators[1];
        let setting = |key: &str| linear.param(Role::Value, key).map(OperatorParam::setting);
        assert_eq!(setting("dim"), Some(Setting::List(vec![Setting::Literal(Literal::Int(-1))])));
        assert_eq!(setting("p"), Some(Setting::Literal(Literal::Float(1.5))));
        assert_eq!(setting("mode"), Some(Setting::Word("zeros".into())));
        assert_eq!(model.operators[0].shapes()["0"].typed().unwrap().extents, [Some(2), None]);
    }

    #[test]
    fn malformed_lines_are_refused() {
        for (from, to, code) in [
            ("7767517", "7767518", Code::PnnxSyntax),
            ("4 3\n", "4\n", Code::PnnxSyntax),
            ("4 3\n", "5 3\n", Code::PnnxCount),
            ("1 1 0 1 bias", "99999999999 1 0 1 bias", Code::PnnxSyntax),
            ("1 1 0 1 bias", "x 1 0 1 bias", Code::PnnxSyntax),
            ("dim=(-1)", "dim", Code::PnnxSyntax),
            ("(8,6)f32", "(8,-6)f32", Code::PnnxSyntax),
            ("(8,6)f32", "8", Code::PnnxSyntax),
            ("2 1 1 0 2 expr", "2 1 1 7 2 expr", Code::PnnxOperand),
            ("2 1 1 0 2 expr", "2 1 1 0 1 expr", Code::PnnxOperand),
            ("m0                       1 1 0 1", "m0", Code::PnnxSyntax),
            ("in                       0 1 0", "in                       0 2 0 7", Code::PnnxSyntax),
            ("e                        2 1 1 0 2", "e                        2 2 1 0 2 7", Code::PnnxSyntax),
            ("out                      1 0 2", "out                      1 1 2 7", Code::PnnxSyntax),
            ("p=1.5", "$bias=7", Code::PnnxOperand),
            ("p=1.5", "$input=0 $bias=0", Code::PnnxOperand),
        ] {
            let text = TEXT.replace(from, to);
            assert_ne!(text, TEXT, "{from}");
            assert_eq!(codes(&text).first(), Some(&code), "{to}");
        }
        assert_eq!(codes(""), [Code::PnnxSyntax]);
        for at in 0..TEXT.len() {
            codes(&TEXT[..at]);
        }
    }
}

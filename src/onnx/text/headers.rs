//! Headers of models and functions.

use super::parser::{Reported, TextParser, TextResult};
use crate::diagnostics::Code;
use crate::diagnostics::suggest::did_you_mean;
use crate::onnx::model::{Fields, FunctionProto, ModelProto, OperatorSet, StringEntry};
use crate::source::Span;

/// The keys of the header of a model.
const MODEL_KEYS: [&str; 8] = [
    "ir_version",
    "opset_import",
    "producer_name",
    "producer_version",
    "domain",
    "model_version",
    "doc_string",
    "metadata_props",
];

/// The keys of the header of a function.
const FUNCTION_KEYS: [&str; 4] = ["opset_import", "doc_string", "domain", "overload"];

impl TextParser<'_> {
    /// Reads the header of a model, if there is one.
    pub(super) fn model_header(&mut self, model: &mut ModelProto) -> TextResult<()> {
        self.header(|parser, key, span| {
            match key {
                "ir_version" => model.ir_version = Some(parser.int("an integer")?),
                "model_version" => model.model_version = Some(parser.int("an integer")?),
                "producer_name" => model.producer_name = Some(parser.text()?.into()),
                "producer_version" => model.producer_version = Some(parser.text()?.into()),
                "domain" => model.domain = Some(parser.text()?.into()),
                "doc_string" => model.doc_string = Some(parser.text()?.into()),
                "opset_import" => parser.opsets(&mut model.opsets)?,
                "metadata_props" => parser.entries(&mut model.metadata)?,
                _ => return Err(parser.unknown_key(key, span, &MODEL_KEYS)),
            }
            Ok(())
        })
    }

    /// Reads the header of a function, if there is one.
    pub(super) fn function_header(&mut self, function: &mut FunctionProto) -> TextResult<()> {
        self.header(|parser, key, span| {
            match key {
                "doc_string" => function.doc_string = Some(parser.text()?.into()),
                "opset_import" => parser.opsets(&mut function.opsets)?,
                "domain" | "overload" => {
                    let text = parser.text()?;
                    let name = Some(parser.names.texts.intern(&text));
                    if key == "domain" {
                        function.domain = name;
                    } else {
                        function.overload = name;
                    }
                }
                _ => return Err(parser.unknown_key(key, span, &FUNCTION_KEYS)),
            }
            Ok(())
        })
    }

    fn header(&mut self, mut item: impl FnMut(&mut Self, &str, Span) -> TextResult<()>) -> TextResult<()> {
        if !self.cursor.eat(b'<') {
            return Ok(());
        }
        self.list(b'>', "`>` or `,`", |parser| {
            let (key, start) = (parser.cursor.identifier(), parser.cursor.at);
            parser.identifier("a key of the header")?;
            let span = Span::new(start as u32, parser.cursor.at as u32);
            parser.expect(b':', "`:`")?;
            item(parser, key, span)
        })
    }

    fn unknown_key(&mut self, key: &str, span: Span, known: &[&str]) -> Reported {
        let message = format!("`{key}` is not a key of this header");
        let help =
            did_you_mean(key, known.iter().copied()).unwrap_or_else(|| format!("its keys are {}", known.join(", ")));
        self.report_with_help(Code::OnnxKey, span, message, Some(help))
    }

    fn opsets(&mut self, opsets: &mut Vec<OperatorSet>) -> TextResult<()> {
        self.pairs(|parser, domain| {
            let domain = Some(parser.names.texts.intern(&domain));
            let version = Some(parser.int("the version of an operator set")?);
            opsets.push(OperatorSet { domain, version, rest: Fields::None });
            Ok(())
        })
    }

    /// Reads pairs of strings in brackets.
    pub(super) fn entries(&mut self, entries: &mut Vec<StringEntry>) -> TextResult<()> {
        self.pairs(|parser, key| {
            let value = Some(parser.text()?.into());
            entries.push(StringEntry { key: Some(key.into()), value, rest: Fields::None });
            Ok(())
        })
    }

    /// Reads pairs in brackets; the first part of each pair is a string.
    fn pairs(&mut self, mut value: impl FnMut(&mut Self, String) -> TextResult<()>) -> TextResult<()> {
        self.expect(b'[', "`[`")?;
        if self.cursor.eat(b']') {
            return Ok(());
        }
        self.list(b']', "`]` or `,`", |parser| {
            let key = parser.text()?;
            parser.expect(b':', "`:`")?;
            value(parser, key)
        })
    }
}

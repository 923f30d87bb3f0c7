//! What is asked about an expression, and its answer.

use std::path::Path;
use std::sync::Arc;

use super::told::Told;
use crate::cli::args::{self, ExprTo, Language};
use crate::cli::io;
use crate::cli::outcome::Failure;
use crate::diagnostics::{Code, Diagnostic};
use crate::pnnx::graph::ConversionOptions;
use crate::pnnx::parse::{ParsedExpression, Reading, parse};
use crate::pnnx::tree::Expression;
use crate::source::{FileId, Location, Sources, Span, json as reader, without_mark};
use crate::tensor::usage::Usage;
use crate::tensor::{Tensor, json as tensors};
use crate::write::Notation;
use crate::write::encode::{Encode, Made, VariableData, Within};
use crate::{Diagnostics, Graph, Options};

/// The text of an expression, its operands, and the options.
pub(super) struct Asked {
    pub(super) sources: Sources,
    file: FileId,
    language: Language,
    options: Options,
    usage: Usage,
    /// The operands of each set.
    sets: Option<Vec<Vec<Arc<Tensor>>>>,
    batch: bool,
}

impl Asked {
    pub(super) fn read(arguments: &args::Expr, language: &Language) -> Result<Asked, Failure> {
        let options = language.limits.options();
        let mut sources = Sources::new();
        let file = match (&arguments.text, &arguments.literal) {
            (Some(text), _) if text == "-" => {
                let input = io::read(Path::new("-"), options.max_text)?;
                sources.add(input.name, input.text)
            }
            (Some(text), _) | (None, Some(text)) if text.len() as u64 > options.max_text => {
                let refuse = |at| Diagnostic::too_large(at, options.max_text);
                return Err(io::refuse("<expression>".to_owned(), String::new(), refuse));
            }
            (Some(text), _) | (None, Some(text)) => sources.add("<expression>", text.clone()),
            (None, None) => sources.add("<expression>", ""),
        };
        let limits = language.limits.evaluation();
        let usage = Usage::new(limits.max_work, limits.max_items, 8);
        let sets = arguments.inputs.as_deref().map(|path| operands(path, arguments, language)).transpose()?;
        Ok(Asked { sources, file, language: language.clone(), options, usage, sets, batch: arguments.batch.is_some() })
    }

    /// The output; `None` if the text is refused.
    pub(super) fn answer(&self, arguments: &args::Expr, found: &mut Diagnostics) -> Option<Vec<u8>> {
        let reading =
            Reading { arity: arguments.arity, compat: arguments.compat, template: false, strict: found.strict() };
        let text = whole(&self.sources, self.file);
        let parsed = match parse(text, self.file, 0, reading) {
            Ok((parsed, warnings)) => {
                found.extend(warnings);
                parsed
            }
            Err(errors) => {
                found.extend(errors);
                return None;
            }
        };
        match arguments.to {
            Some(ExprTo::Graph(to)) => self.expanded(&parsed.expression, arguments, to, found),
            to => {
                let told = self.told(parsed, arguments, found)?;
                Some(
                    match to {
                        Some(ExprTo::Json) => told.json(text),
                        _ => told.listing(),
                    }
                    .into_bytes(),
                )
            }
        }
    }

    fn told(&self, parsed: ParsedExpression, arguments: &args::Expr, found: &mut Diagnostics) -> Option<Told> {
        let folded =
            arguments.fold.then(|| parsed.expression.folded(&|number| self.extents(number, arguments)).into_owned());
        let mut values = None;
        if let Some(sets) = &self.sets {
            let mut each = Vec::new();
            for operands in sets {
                match parsed.expression.evaluate(operands, &self.usage) {
                    Ok(value) => each.push(value),
                    Err((span, message)) => {
                        let at = Location::new(self.file, span);
                        found.report(Diagnostic::new(Code::ExpressionValue, at, message));
                        return None;
                    }
                }
            }
            values = Some((each, self.batch));
        }
        Some(Told { parsed, folded, values })
    }

    /// The extents of an operand in the options, or those of its tensor.
    fn extents(&self, number: u64, arguments: &args::Expr) -> Option<Vec<Option<i64>>> {
        let number = usize::try_from(number).ok()?;
        if let Some(shape) = arguments.shape.get(number) {
            return Some(shape.0.iter().map(|&extent| i64::try_from(extent).ok()).collect());
        }
        let tensor = self.sets.as_ref()?.first()?.get(number)?;
        Some(tensor.shape().iter().map(|&extent| Some(extent as i64)).collect())
    }

    /// The expression as a flat graph in an output notation.
    fn expanded(
        &self,
        expression: &Expression,
        arguments: &args::Expr,
        to: &str,
        found: &mut Diagnostics,
    ) -> Option<Vec<u8>> {
        let to = Notation::named(to)?;
        let shape = |shape: &args::Numbers| shape.0.iter().map(|&extent| extent.min(i64::MAX as u64) as i64).collect();
        let form = ConversionOptions {
            arity: arguments.arity,
            shapes: arguments.shape.iter().map(shape).collect(),
            share: arguments.share,
            strict: self.language.strict,
            max_ops: self.options.max_ops,
            exact: to.needs.standard,
        };
        let graph = match Graph::of_expression(expression, self.file, &form) {
            Ok(graph) => graph,
            Err(errors) => {
                found.extend(errors);
                return None;
            }
        };
        let within =
            Within { strict: self.language.strict, ..Within::of(&self.options, self.language.limits.evaluation()) };
        let encode = Encode::new(to, false, &graph, VariableData::default(), within);
        let made = found.take(Made::new(to, (&graph, &self.sources), encode))?;
        let mut text = Vec::new();
        made.write(None, &mut text).ok().map(|()| text)
    }
}

/// The text of a file.
fn whole(sources: &Sources, file: FileId) -> &str {
    sources.iter().find(|(id, _)| *id == file).map_or("", |(_, source)| source.text())
}

/// The operands in a file, for each set of the batch.
fn operands(path: &Path, arguments: &args::Expr, language: &Language) -> Result<Vec<Vec<Arc<Tensor>>>, Failure> {
    let input = io::read(path, language.limits.text())?;
    let text = without_mark(&input.text);
    let refuse = |at: Span, message: String| io::refused(input.name.clone(), text, at, Code::TensorFile, message);
    let json = reader::parse(text).map_err(|error| refuse(error.at, format!("not JSON: {}", error.message)))?;
    let Some(items) = json.as_array() else {
        return Err(refuse(json.at, "the operands are not a JSON array".to_owned()));
    };
    let read = |item: &reader::Json| tensors::tensor(item).map(|tensor| Arc::new(tensor.widened()));
    let all: Vec<Arc<Tensor>> =
        items.iter().map(read).collect::<Result<_, _>>().map_err(|(at, message)| refuse(at, message))?;
    let count = arguments.batch.map_or(1, std::num::NonZero::get);
    if !all.len().is_multiple_of(count) {
        return Err(refuse(json.at, format!("{} operands cannot be divided into sets of {count}", all.len())));
    }
    Ok((0..count).map(|set| all.iter().skip(set).step_by(count).cloned().collect()).collect())
}

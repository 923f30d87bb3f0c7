//! The public interface for expressions and files of PNNX.

use super::export;
use super::graph::ConversionOptions;
use super::model::PnnxModel;
use super::parse::{Reading, parse};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::graph::Graph;
use crate::nnef::expand::compounds::expand_compounds;
use crate::source::{FileId, Location};
use crate::{Lower, Options};

impl Graph {
    /// The graph of an expression of PNNX, with inputs `x0`, `x1` and so on of shape `[1]`, and the output `y`.
    ///
    /// ```
    /// use nnef_flatten::{Graph, Options};
    ///
    /// let graph = Graph::from_expression("mul(add(@0,@1),2)", &Options::default())?;
    /// let mut text = Vec::new();
    /// graph.write_nnef(&mut text)?;
    /// assert!(String::from_utf8(text)?.contains("y = mul(y_add1, 2.0);"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not a valid expression, or parts of it have no counterpart in NNEF.
    pub fn from_expression(text: &str, options: &Options) -> Result<Graph, Diagnostics> {
        too_large(text, options)?;
        let reading = Reading { strict: options.strict, compat: !options.strict, ..Reading::default() };
        let (parsed, _) = parse(text, FileId::default(), 0, reading)?;
        let (strict, max_ops) = (options.strict, options.max_ops);
        let form = ConversionOptions { strict, max_ops, ..ConversionOptions::default() };
        Graph::of_expression(&parsed.expression, FileId::default(), &form)
    }

    /// The graph of a PNNX file. Its expressions are expanded; with [`Lower::All`], operators are also lowered to
    /// operations of NNEF.
    ///
    /// ```
    /// use nnef_flatten::{Graph, Options};
    ///
    /// let text = "7767517\n3 2\npnnx.Input x 0 1 0 #0=(2,3)f32\n\
    ///     pnnx.Expression e 1 1 0 1 expr=exp(@0)\npnnx.Output y 1 0 1\n";
    /// let graph = Graph::from_pnnx(text, &Options::default())?;
    /// assert_eq!(graph.operations().nth(1).unwrap().name(), "exp");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The file is malformed, or an expression in it cannot be expanded.
    pub fn from_pnnx(text: &str, options: &Options) -> Result<Graph, Diagnostics> {
        too_large(text, options)?;
        let (model, mut found) = PnnxModel::read(text, FileId::default(), options.policy())?;
        let options = match options.lower {
            // Expressions must be expanded, since graphs have no expressions.
            Lower::None => options.clone().with(|options| options.lower = Lower::Custom),
            _ => options.clone(),
        };
        let (graph, _, warnings) = model.graph(FileId::default(), &options)?;
        found.extend(warnings);
        let graph = found.take(expand_compounds(graph, &options));
        graph.filter(|_| !found.has_errors()).ok_or(found)
    }

    /// The text of a PNNX file: element-wise operations become expressions.
    ///
    /// # Errors
    ///
    /// Arguments have no form in such files: lists of tensors and numbers, texts with blanks, values without a name.
    pub fn to_pnnx(&self) -> Result<String, Diagnostics> {
        export::check(self)?;
        Ok(PnnxModel::of_graph(self).print())
    }
}

fn too_large(text: &str, options: &Options) -> Result<(), Diagnostics> {
    if text.len() as u64 <= options.max_text.min(u32::MAX.into()) {
        return Ok(());
    }
    let mut found = Diagnostics::of(options.policy());
    found.report(Diagnostic::too_large(Location::default(), options.max_text));
    Err(found)
}

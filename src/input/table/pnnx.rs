//! Files of PNNX, with their data beside them.

use std::path::PathBuf;

use super::weighed::Weighed;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::input::edit::{Edited, File};
use crate::input::opened::Opened;
use crate::input::passes::lowered;
use crate::input::settings::Settings;
use crate::input::source::{Evaluable, Expanded, Flat, Source};
use crate::input::text::{Text, read_bytes};
use crate::input::{Findings, Refusal};
use crate::pnnx::data::{Archive, Weights};
use crate::pnnx::model::PnnxModel;
use crate::progress::{self, Phase};
use crate::source::facts::Facts;
use crate::source::{FileId, Location, Sources, Span};
use crate::{Lower, Options, write};

/// The extension of files with data.
const DATA: &str = "bin";

/// Reads the text of a file.
pub(super) fn read(opened: Opened, settings: &Settings) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(PnnxText::new(opened, settings)?))
}

/// The text of a file, and where its data are.
struct PnnxText {
    text: Text,
    data: Option<PathBuf>,
}

/// A file that was parsed, with its data.
struct ParsedPnnx {
    sources: Sources,
    file: FileId,
    model: Option<PnnxModel>,
    archive: Option<Archive>,
    found: Diagnostics,
}

/// The options, with the values of symbols in the shapes of inputs.
fn options(settings: &Settings) -> Options {
    let shapes = &settings.options.shapes;
    Options { shapes: shapes.resolved().unwrap_or_else(|_| shapes.clone()), ..settings.options.clone() }
}

impl PnnxText {
    fn new(opened: Opened, settings: &Settings) -> Result<Self, Refusal> {
        let data = opened.path.as_ref().map(|path| path.with_extension(DATA));
        Ok(PnnxText { text: opened.text(settings.options.max_text)?, data })
    }

    fn parse(self, settings: &Settings) -> Result<ParsedPnnx, Refusal> {
        let policy = settings.options.policy();
        let mut sources = Sources::new();
        let file = sources.add(self.text.name, self.text.text);
        let mut found = Diagnostics::of(policy);
        let mut model = found.take(PnnxModel::read(sources.file(file).text(), file, policy));
        let mut archive = None;
        if let (Some(model), Some(path)) = (&mut model, self.data.filter(|path| path.is_file())) {
            let (name, bytes) = read_bytes(&path, settings.arrays())?;
            match Archive::new(bytes) {
                Ok(read) => {
                    for (at, key, message) in read.check(model) {
                        let span = model.operators.get(at).map_or(Span::default(), |operator| {
                            let param = operator.params.iter().find(|param| param.key == key);
                            param.map_or(operator.span, |param| param.span)
                        });
                        found.report(Diagnostic::new(Code::PnnxData, Location::new(file, span), message));
                    }
                    model.find_repeated(&|members, typed| read.same(members, typed));
                    archive = Some(read);
                }
                Err(error) => {
                    let at = Location::new(sources.add(name, ""), Span::default());
                    found.report(Diagnostic::new(Code::PnnxData, at, error.to_string()));
                }
            }
        }
        Ok(ParsedPnnx { sources, file, model, archive, found })
    }
}

impl ParsedPnnx {
    /// The flat graph.
    fn expanded(self, options: &Options) -> (Weighed<Weights>, Expanded) {
        let ParsedPnnx { sources, file, model, archive, mut found } = self;
        progress::enter(Phase::Translating);
        let model = model.filter(|_| !found.has_errors());
        let graph = model.and_then(|model| {
            let graph = model.graph(file, options).map(|(graph, members, warnings)| ((graph, members), warnings));
            found.take(graph)
        });
        let (data, result) = match graph {
            Some((graph, members)) => (Weights { archive, members }, Ok((graph, found))),
            None => (Weights::default(), Err(found)),
        };
        (Weighed { sources, data, before: None, is_bound: false, facts: Facts::of_notation("PNNX") }, result)
    }

    /// The text of the file with its expressions expanded; none if it is refused.
    fn rewritten(&mut self, settings: &Settings) -> Option<String> {
        progress::enter(Phase::Expanding);
        let options = options(settings);
        let found = &mut self.found;
        let model = self.model.take().filter(|_| !found.has_errors()).and_then(|model| match options.lower {
            Lower::None => Some(model),
            _ => found.take(model.flattened(self.file, &options)),
        });
        model.map(|model| model.print())
    }
}

impl Source for PnnxText {
    fn check(self: Box<Self>, settings: &Settings) -> Result<Findings, Refusal> {
        let (weighed, result) = self.parse(settings)?.expanded(&options(settings));
        let found = result.map_or_else(|errors| errors, |(_, found)| found);
        Ok(Findings::new(weighed.sources, found))
    }

    fn flatten(self: Box<Self>, to: &write::Notation, settings: &Settings) -> Result<Flat, Refusal> {
        let exact = to.needs.standard;
        let Flat { backing, result } = self.graph(&settings.with(|options| options.internal.exact = exact))?;
        Ok(Flat { backing, result: lowered(result, to, settings) })
    }

    fn edit(self: Box<Self>, settings: &Settings) -> Result<Edited, Refusal> {
        let mut parsed = self.parse(settings)?;
        let text = parsed.rewritten(settings);
        let ParsedPnnx { sources, archive, found, .. } = parsed;
        Ok(Edited::File(Box::new(File { sources, found, text, archive })))
    }

    fn graph(self: Box<Self>, settings: &Settings) -> Result<Flat, Refusal> {
        let (weighed, result) = self.parse(settings)?.expanded(&options(settings));
        Ok(Flat::new(weighed, result))
    }

    fn again(&self) -> Box<dyn Source> {
        Box::new(PnnxText { text: self.text.clone(), data: self.data.clone() })
    }

    /// All operators become operations of NNEF.
    fn evaluable(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        let settings = settings.with(|options| {
            options.lower = Lower::All;
            options.internal.exact = true;
        });
        self.graph(&settings).map(|flat| Evaluable::Graph(Box::new(flat)))
    }
}

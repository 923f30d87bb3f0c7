//! The options that say how documents are read and expanded.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::From;
use crate::cli::limits::RunLimits;
use crate::cli::options::Asked;
use crate::cli::outcome::Failure;
use crate::diagnostics::Code;
use crate::graph::{Cut, Extent};
use crate::input::settings::Settings;
use crate::input::table::Notation;
use crate::onnx::text::Production;
use crate::options::{GivenShapes, input_name, input_shape, symbol};
use crate::source::{FileId, Location, Span};
use crate::{Diagnostics, Lower, Options};

/// The diagnostics about a name in an option, with the options that have such names.
const NAMING: &[(Code, &[&str])] = &[
    (Code::OptionOperation, &["--lower", "--keep"]),
    (Code::OptionPrimitive, &["--lower"]),
    (Code::OptionKept, &["--keep"]),
    (Code::OptionSymbol, &["--set"]),
    (Code::OptionInput, &["--input-shape", "--bind"]),
    (Code::OptionTensor, &["--outputs", "--inputs-at"]),
];

/// How documents are read and expanded.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Language {
    /// The notation of the input [default: auto].
    #[arg(long, value_name = "NOTATION")]
    pub(crate) from: Option<From>,
    /// The part of a model that an ONNX text contains [default: model].
    #[arg(long, value_name = "PART")]
    pub(crate) production: Option<Production>,
    /// What to expand: custom fragments and functions (default), standard compounds too, nothing, or
    /// only the named operations (`DOMAIN.*`: those of a domain of ONNX).
    #[arg(long, value_name = "custom|all|none|NAME,…", value_parser = lower)]
    pub(crate) lower: Option<Lower>,
    /// Operations that are not expanded.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = operation)]
    pub(crate) keep: Vec<String>,
    /// Accept only what the standard allows: tolerated deviations become errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// A file of additional declarations, which may replace standard ones; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) fragments: Vec<PathBuf>,
    /// Override the shape of a graph input, as in image=1,3,224,224 or tokens=1,S; repeatable.
    ///
    /// Forms of other programs are read, too: image:1,3,224,224, [1,3,224,224] for the only input, 1x3x224x224.
    #[arg(long, value_name = "NAME=SHAPE", value_parser = input_shape)]
    pub(crate) input_shape: Vec<(String, Vec<Extent>)>,
    /// Give a dimension symbol a value, as in S=5, or an expression on others, as in T=2*S+1; repeatable.
    #[arg(long, value_name = "SYMBOL=N", value_parser = symbol)]
    pub(crate) set: Vec<(String, Extent)>,
    /// Make a graph input a constant with this value: JSON, as in rate=16000 or mask=[1,0], or a .npy file; repeatable.
    #[arg(long, value_name = "NAME=VALUE|FILE", value_parser = binding)]
    pub(crate) bind: Vec<(String, String)>,
    /// Keep only what these tensors of the flat graph need; they become the outputs.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) outputs: Vec<String>,
    /// Make these tensors of the flat graph inputs, and drop what only they need.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) inputs_at: Vec<String>,
    /// Keep operations that no output needs.
    #[arg(long)]
    pub(crate) keep_unused: bool,
    /// Unroll loops and scans.
    #[arg(long)]
    pub(crate) unroll: bool,
    /// The maximum number of trips of a loop whose trip count depends on run-time data [default: none].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_trips: Option<u64>,
    /// Refuse loops that cannot be unrolled.
    #[arg(long)]
    pub(crate) flat: bool,
    /// Limits on the resources of a run.
    #[command(flatten)]
    pub(crate) limits: RunLimits,
    /// The subcommand, and all options that are given.
    #[arg(skip)]
    pub(crate) asked: Asked,
    /// Whether all findings are kept.
    #[arg(skip)]
    pub(crate) all_findings: bool,
}

impl Language {
    /// Refuses options that contradict each other, or that have no effect on an input in a notation; without one, on
    /// what the subcommand does.
    ///
    /// # Errors
    ///
    /// The contradiction, or the first option without an effect.
    pub(crate) fn usable(&self, from: Option<&Notation>) -> Result<(), Failure> {
        self.consistent()?;
        self.asked.usable(from, self)
    }

    fn consistent(&self) -> Result<(), Failure> {
        let fail = |message: String| Err(Failure::Message(message));
        if let Some(Lower::Names(names)) = &self.lower
            && let Some(name) = names.iter().find(|name| self.keep.contains(name))
        {
            return fail(format!("--lower and --keep both name `{name}`: an operation is either expanded or kept"));
        }
        if let Some(name) = twice(&self.bind, |_, _| true) {
            return fail(format!("--bind gives two values for `{name}`"));
        }
        if let Some(name) = twice(&self.input_shape, |shape, before| shape != before) {
            return fail(format!("--input-shape gives two shapes for `{name}`"));
        }
        if let Err(conflict) = self.shapes().resolved() {
            return fail(format!("--set gives {conflict}"));
        }
        Ok(())
    }

    /// The names in an option.
    fn named(&self, option: &str) -> Vec<&str> {
        match (option, &self.lower) {
            ("--lower", Some(Lower::Names(names))) => names.iter().map(String::as_str).collect(),
            ("--keep", _) => self.keep.iter().map(String::as_str).collect(),
            ("--set", _) => self.set.iter().map(|(name, _)| name.as_str()).collect(),
            ("--input-shape", _) => self.input_shape.iter().map(|(name, _)| name.as_str()).collect(),
            ("--bind", _) => self.bind.iter().map(|(name, _)| name.as_str()).collect(),
            ("--outputs", _) => self.outputs.iter().map(String::as_str).collect(),
            ("--inputs-at", _) => self.inputs_at.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Moves diagnostics about names in the options to the options, which `add` makes a source.
    pub(crate) fn locate(&self, found: &mut Diagnostics, mut add: impl FnMut(&str, &str) -> FileId) {
        for diagnostic in found.iter_mut() {
            let Some((_, options)) = NAMING.iter().find(|(code, _)| *code == diagnostic.code) else { continue };
            let named =
                options.iter().flat_map(|option| self.named(option).into_iter().map(move |name| (option, name)));
            // The name is the first one in the message; others are those that may be meant.
            let told = named.filter_map(|named| Some((diagnostic.message.find(&format!("`{}`", named.1))?, named)));
            if let Some((_, (option, name))) = told.min_by_key(|(at, _)| *at) {
                let span = Span::new(0, name.len() as u32);
                diagnostic.at = Location::new(add(option, name), span);
            }
        }
    }

    /// The options of the library, without declaration files.
    pub(crate) fn options(&self) -> Options {
        Options {
            strict: self.strict,
            lower: self.lower.clone().unwrap_or_default(),
            dialect: self.from.and_then(|from| from.0?.dialect),
            keep: self.keep.clone(),
            keep_unused: self.keep_unused,
            shapes: self.shapes(),
            unroll: self.unroll,
            max_trips: self.max_trips,
            flat: self.flat,
            ..self.limits.options()
        }
        .with(|options| {
            options.internal.all_findings = self.all_findings;
            options.internal.cut = Cut { inputs: self.inputs_at.clone(), outputs: self.outputs.clone() };
        })
    }

    /// The settings of the library, without declaration files.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            model: self.limits.model(),
            evaluation: self.limits.evaluation(),
            data_count: self.limits.data_count(),
            production: self.production.unwrap_or_default(),
            ..Settings::new(&self.options())
        }
    }

    /// The name of the part of a model that the input is; none if it is a model.
    pub(crate) fn part_of_model(&self) -> Option<String> {
        let part = self.production.filter(|part| *part != Production::Model)?;
        part.to_possible_value().map(|part| part.get_name().to_owned())
    }

    /// The shapes of inputs and values of symbols.
    pub(crate) fn shapes(&self) -> GivenShapes {
        GivenShapes { inputs: self.input_shape.clone(), symbols: self.set.clone() }
    }

    /// These options and those given after a subcommand, which take precedence.
    pub(crate) fn merge(mut self, later: Language) -> Language {
        self.keep.extend(later.keep);
        self.fragments.extend(later.fragments);
        self.input_shape.extend(later.input_shape);
        self.set.extend(later.set);
        self.bind.extend(later.bind);
        self.outputs.extend(later.outputs);
        self.inputs_at.extend(later.inputs_at);
        Language {
            from: later.from.or(self.from),
            production: later.production.or(self.production),
            lower: later.lower.or(self.lower),
            strict: later.strict || self.strict,
            keep_unused: later.keep_unused || self.keep_unused,
            unroll: later.unroll || self.unroll,
            max_trips: later.max_trips.or(self.max_trips),
            flat: later.flat || self.flat,
            limits: self.limits.merge(later.limits),
            asked: self.asked,
            all_findings: self.all_findings || later.all_findings,
            keep: self.keep,
            fragments: self.fragments,
            input_shape: self.input_shape,
            set: self.set,
            bind: self.bind,
            outputs: self.outputs,
            inputs_at: self.inputs_at,
        }
    }
}

/// The first name that is given twice, with values that differ.
fn twice<T>(given: &[(String, T)], differ: impl Fn(&T, &T) -> bool) -> Option<&str> {
    let again = |(i, (name, value)): &(usize, &(String, T))| {
        given[..*i].iter().any(|(other, before)| name == other && differ(value, before))
    };
    given.iter().enumerate().find(again).map(|(_, (name, _))| name.as_str())
}

fn lower(text: &str) -> Result<Lower, String> {
    Ok(match text {
        "custom" => Lower::Custom,
        "all" => Lower::All,
        "none" => Lower::None,
        names => Lower::Names(names.split(',').map(operation).collect::<Result<_, _>>()?),
    })
}

/// The name of an operation. Notations differ in what a name is (`local.dense:v2`, `aten::relu`, `a-b`), so that only
/// the document states whether there is such an operation.
fn operation(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_wrong = |c: char| c.is_control() || c == ',';
    if name.is_empty() || name.contains(is_wrong) {
        return Err(format!("`{}` is not the name of an operation", name.escape_debug()));
    }
    Ok(name.to_owned())
}

fn binding(text: &str) -> Result<(String, String), String> {
    let form = "expected NAME=VALUE, as in rate=16000 or mask=mask.npy";
    let (input, value) = text.split_once('=').ok_or(form)?;
    Ok((input_name(input).ok_or(form)?, value.to_owned()))
}

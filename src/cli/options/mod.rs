//! The options of the command as one table: what each of them is for, and what it applies to.
//!
//! `table.rs` has a row for each option of each subcommand. From the rows come the refusals of options that would have
//! no effect, the headings of `--help`, what its texts say about applicability, and `docs/options.md`.

#[cfg(test)]
mod document;
mod help;
mod table;

use super::Failure;
use super::args::Language;
use crate::input::table::{NOTATIONS, Notation};
pub(crate) use help::{command, name};
use table::OPTIONS;

/// A set of subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Commands(u16);

impl Commands {
    pub(crate) const FLATTEN: Self = Commands(1);
    pub(crate) const CHECK: Self = Commands(2);
    pub(crate) const RUN: Self = Commands(4);
    pub(crate) const FMT: Self = Commands(8);
    /// `expr` on an expression.
    pub(crate) const EXPR: Self = Commands(16);
    /// `expr --fuse`.
    pub(crate) const FUSE: Self = Commands(32);
    /// `layout` on a shape.
    pub(crate) const LAYOUT: Self = Commands(64);
    /// `layout` on a text with shapes.
    pub(crate) const LISTING: Self = Commands(128);
    pub(crate) const EXPLAIN: Self = Commands(256);
    pub(crate) const COMPLETIONS: Self = Commands(512);
    pub(crate) const MAN: Self = Commands(1024);

    /// Each subcommand, with its name for clap and with what distinguishes it from another one of that name.
    pub(crate) const ALL: &[(Self, &str, &str)] = &[
        (Self::FLATTEN, "", ""),
        (Self::CHECK, "check", ""),
        (Self::RUN, "run", ""),
        (Self::FMT, "fmt", ""),
        (Self::EXPR, "expr", ""),
        (Self::FUSE, "expr", " --fuse"),
        (Self::LAYOUT, "layout", " SHAPE"),
        (Self::LISTING, "layout", " -"),
        (Self::EXPLAIN, "explain", ""),
        (Self::COMPLETIONS, "completions", ""),
        (Self::MAN, "man", ""),
    ];

    const fn and(self, other: Self) -> Self {
        Commands(self.0 | other.0)
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The subcommands of a name; none has the name of the command itself.
    fn named(name: &str) -> Self {
        Self::ALL.iter().filter(|(_, known, _)| *known == name).fold(Commands(0), |all, (one, ..)| all.and(*one))
    }

    /// Their names as words of a command line, without that of flattening.
    fn names(self) -> Vec<String> {
        let named = Self::ALL.iter().filter(|(one, name, _)| self.has(*one) && !name.is_empty());
        named.map(|(_, name, rest)| format!("{name}{rest}")).collect()
    }
}

/// Whether two names are equal, for constants.
const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// A set of input notations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inputs(u16);

impl Inputs {
    const NNEF: Self = Self::of("nnef");
    const DRAFT: Self = Self::of("nnef-draft");
    const LOOPS: Self = Self::of("loops");
    const ONNX: Self = Self::of("onnx");
    const ONNXTXT: Self = Self::of("onnxtxt");
    const PNNX: Self = Self::of("pnnx");
    const DOCUMENTS: Self = Self::NNEF.and(Self::DRAFT);
    const MODELS: Self = Self::ONNX.and(Self::ONNXTXT);
    const ALL: Self = Inputs(u16::MAX);

    /// The notation with a name, which has to be in the table.
    const fn of(name: &str) -> Self {
        let mut i = 0;
        while !equal(NOTATIONS[i].name.as_bytes(), name.as_bytes()) {
            i += 1;
        }
        Inputs(1 << i)
    }

    const fn and(self, other: Self) -> Self {
        Inputs(self.0 | other.0)
    }

    /// Whether a notation is one of them; what has no notation is in all sets.
    fn has(self, from: Option<&Notation>) -> bool {
        from.is_none_or(|from| self.0 & (1 << from.index()) != 0)
    }

    /// Their names as values of `--from`.
    fn names(self) -> Vec<&'static str> {
        NOTATIONS.iter().filter(|from| self.has(Some(from))).map(|from| from.name).collect()
    }
}

/// A set of output notations, or of forms of an answer, by their names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outputs {
    Any,
    Of(&'static [&'static str]),
    Not(&'static [&'static str]),
}

impl Outputs {
    fn has(self, output: &str) -> bool {
        match self {
            Outputs::Any => true,
            Outputs::Of(names) => names.contains(&output),
            Outputs::Not(names) => !names.contains(&output),
        }
    }
}

/// Where an option has an effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    commands: Commands,
    inputs: Inputs,
    outputs: Outputs,
    /// Options of which one has to be given, too; none if it needs no other one.
    with: &'static [&'static str],
}

/// Values with which an option has no effect.
#[derive(Clone, Copy)]
pub(crate) struct NoEffect {
    inputs: Inputs,
    outputs: Outputs,
    /// The option with such a value.
    what: &'static str,
    is: fn(&Language) -> bool,
}

/// An option, in one or several subcommands.
pub(crate) struct OptionRow {
    /// Its name without the dashes.
    pub(crate) name: &'static str,
    /// The heading of `--help` under which it stands; empty for the options of a subcommand itself.
    heading: &'static str,
    uses: &'static [Use],
    no_effect: &'static [NoEffect],
    /// Inputs with which it holds anyway, and why; that is told.
    held: &'static [(Inputs, &'static str)],
    /// Why some inputs do not take it.
    because: &'static [(Inputs, &'static str)],
}

impl OptionRow {
    /// Whether an option with its id in clap stands in this row for a subcommand.
    fn is(&self, id: &str, commands: Commands) -> bool {
        self.name.len() == id.len()
            && self.name.bytes().zip(id.bytes()).all(|(a, b)| a == b || a == b'-' && b == b'_')
            && self.commands().has(commands)
    }

    /// The subcommands that have the option.
    fn commands(&self) -> Commands {
        self.uses.iter().fold(Commands(0), |all, one| all.and(one.commands))
    }

    /// Why what the option asks for holds anyway with an input notation.
    fn holds(&self, command: Commands, from: Option<&Notation>) -> Option<&'static str> {
        let of_command = self.commands().has(command);
        let held = self.held.iter().find(|(inputs, _)| of_command && from.is_some() && inputs.has(from));
        held.map(|(_, why)| *why)
    }
}

/// The row of an option of a subcommand, by its id in clap.
pub(crate) fn row(id: &str, commands: Commands) -> Option<&'static OptionRow> {
    OPTIONS.iter().find(|row| row.is(id, commands))
}

/// What was asked for: a subcommand, and the options that were given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    command: Option<Commands>,
    /// The ids of the options.
    given: Vec<String>,
    /// The output notation or form.
    pub(crate) output: String,
}

impl Asked {
    pub(crate) fn new(command: Option<Commands>, given: Vec<String>) -> Self {
        Asked { command, given, ..Asked::default() }
    }

    /// Whether an option is given.
    fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.replace('_', "-") == name)
    }

    /// Refuses options that have no effect whatever the input is.
    ///
    /// # Errors
    ///
    /// The first option that the subcommand does not use, or that needs another one.
    pub(crate) fn consistent(&self) -> Result<(), Failure> {
        let Some(command) = self.command else { return Ok(()) };
        for id in &self.given {
            let Some(row) = row(id, command) else { return Err(Failure::Message(unknown(id, command))) };
            let uses: Vec<&Use> = row.uses.iter().filter(|one| one.commands.has(command)).collect();
            if let Some(with) = self.missing(&uses) {
                return Err(Failure::Message(format!("--{} has no effect without {with}", row.name)));
            }
        }
        Ok(())
    }

    /// The options of which some uses need one; none if one is given, or not needed.
    fn missing(&self, uses: &[&Use]) -> Option<String> {
        let fits = |one: &&Use| one.with.is_empty() || one.with.iter().any(|other| self.has(other));
        if uses.iter().any(fits) {
            return None;
        }
        let mut with: Vec<String> = uses.iter().flat_map(|one| one.with).map(|other| format!("--{other}")).collect();
        with.dedup();
        Some(listed(&with))
    }

    /// Refuses options that have no effect with an input notation, if there is an input.
    ///
    /// # Errors
    ///
    /// The first such option, and what it applies to.
    pub(crate) fn usable(&self, from: Option<&Notation>, language: &Language) -> Result<(), Failure> {
        let Some(command) = self.command else { return Ok(()) };
        if !self.output.is_empty() && !written(&self.output, command, from) {
            return Err(Failure::Message(self.unwritten(command, from)));
        }
        for id in &self.given {
            let Some(row) = row(id, command).filter(|row| row.holds(command, from).is_none()) else { continue };
            if let Some(message) = self.refusal(row, command, from) {
                return Err(Failure::Message(message));
            }
            let no_effect = row
                .no_effect
                .iter()
                .filter(|no_effect| no_effect.inputs.has(from) && no_effect.outputs.has(&self.output));
            if let Some(no_effect) = no_effect.filter(|_| from.is_some()).find(|no_effect| (no_effect.is)(language)) {
                let output = if matches!(no_effect.outputs, Outputs::Any) { "" } else { &self.output };
                let output = if output.is_empty() { String::new() } else { format!(" with --to {output}") };
                return Err(Failure::Message(format!("{} does not apply to {}{output}", no_effect.what, title(from))));
            }
        }
        Ok(())
    }

    /// What options ask for that holds anyway with an input notation.
    pub(crate) fn held(&self, from: &Notation) -> Vec<String> {
        let Some(command) = self.command else { return Vec::new() };
        let rows = self.given.iter().filter_map(|id| row(id, command));
        let held = rows.filter_map(|row| Some((row.name, row.holds(command, Some(from))?)));
        held.map(|(name, why)| format!("--{name} changes nothing: {why} in {}", title(Some(from)))).collect()
    }

    /// Why an option has no effect; none if it has one.
    fn refusal(&self, row: &OptionRow, command: Commands, from: Option<&Notation>) -> Option<String> {
        let name = row.name;
        let of_command: Vec<&Use> = row.uses.iter().filter(|one| one.commands.has(command)).collect();
        let of_input: Vec<&Use> = of_command.iter().copied().filter(|one| one.inputs.has(from)).collect();
        if of_input.is_empty() {
            let title = title(from);
            if let Some((_, why)) = row.because.iter().find(|(inputs, _)| inputs.has(from)) {
                return Some(format!("--{name} does not apply to {title}: {why}"));
            }
            let inputs = of_command.iter().fold(Inputs(0), |all, one| all.and(one.inputs));
            return Some(format!("--{name} does not apply to {title}: it is for {}", listed(&inputs.names())));
        }
        let of_output: Vec<&Use> = of_input.iter().copied().filter(|one| one.outputs.has(&self.output)).collect();
        if of_output.is_empty() {
            let (title, output) = (title(from), &self.output);
            let input = if from.is_some() { format!("{title} with ") } else { String::new() };
            let outputs = listed(&forms(&of_input, command, from));
            return Some(format!("--{name} does not apply to {input}--to {output}: it is for --to {outputs}"));
        }
        let with = self.missing(&of_output)?;
        let shown: Vec<&Use> = of_input.iter().copied().filter(|one| one.with.is_empty()).collect();
        let shown = forms(&shown, command, from);
        let shown = if shown.is_empty() { String::new() } else { format!(", or --to {}", listed(&shown)) };
        Some(format!("--{name} has no effect here without {with}{shown}"))
    }

    /// Why an output cannot be made of an input.
    fn unwritten(&self, command: Commands, from: Option<&Notation>) -> String {
        let known = help::forms(command).into_iter().filter(|known| written(known, command, from));
        let known = listed(&known.collect::<Vec<_>>());
        let said = if self.has("to") { "--to" } else { "-o in" };
        let here = command.names().first().map(|name| format!("`{name}`"));
        let what = match (from, here) {
            (Some(from), Some(here)) => format!("{here} on {}", from.title),
            (Some(from), None) => from.title.to_owned(),
            (None, here) => here.unwrap_or_default(),
        };
        format!("{said} {} does not apply to {what}: the result is {known}", self.output)
    }
}

/// The inputs of a notation, for messages.
fn title(from: Option<&Notation>) -> &'static str {
    from.map_or("this input", |from| from.title)
}

/// The names of the outputs to which uses apply.
fn forms(uses: &[&Use], command: Commands, from: Option<&Notation>) -> Vec<String> {
    let known = help::forms(command).into_iter().filter(|known| written(known, command, from));
    known.filter(|known| uses.iter().any(|one| one.outputs.has(known))).collect()
}

/// Whether a subcommand writes an output for an input.
fn written(output: &str, command: Commands, from: Option<&Notation>) -> bool {
    let uses = row("to", command).map_or(&[][..], |row| row.uses);
    uses.iter().any(|one| one.commands.has(command) && one.inputs.has(from) && one.outputs.has(output))
}

/// Why a subcommand does not have an option that it could have.
fn unknown(id: &str, command: Commands) -> String {
    let name = id.replace('_', "-");
    let here = command.names();
    let here = here.first().map_or("nnef-flatten INPUT", String::as_str);
    let others = OPTIONS.iter().filter(|row| row.is(id, Commands(u16::MAX)));
    let others = others.fold(Commands(0), |all, row| all.and(row.commands()));
    let flattening = others.has(Commands::FLATTEN).then(|| "flattening".to_owned());
    let others: Vec<String> = others.names().into_iter().map(|name| format!("`{name}`")).chain(flattening).collect();
    format!("--{name} does not apply to `{here}`: it is for {}", listed(&others))
}

/// `a, b or c`.
pub(crate) fn listed(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items[..] {
        [] => "nothing".to_owned(),
        [one] => one.to_owned(),
        [ref before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

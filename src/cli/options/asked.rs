//! What was asked for, and the refusals of options that have no effect on it.

use super::forms;
use super::listed::listed;
use super::lookup::{row, written};
use super::option_table::OPTIONS;
use super::row::{OptionRow, Use};
use super::sets::{Commands, Inputs, Outputs};
use crate::cli::args::Language;
use crate::cli::outcome::Failure;
use crate::input::table::Notation;

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

    /// Whether a subcommand is asked for.
    pub(crate) fn is_of(&self, command: Commands) -> bool {
        self.command == Some(command)
    }

    /// Notes that an option is given.
    pub(crate) fn add(&mut self, name: &str) {
        if !self.has(name) {
            self.given.push(name.to_owned());
        }
    }

    /// Whether an option is given.
    pub(super) fn has(&self, name: &str) -> bool {
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
            let Some(row) = row(id, command).filter(|row| row.holds(command, from, &self.output).is_none()) else {
                continue;
            };
            if let Some(message) = self.refusal(row, command, from) {
                return Err(Failure::Message(message));
            }
            if let Some(part) = language.part_of_model().filter(|_| !(row.of_parts)(language)) {
                let message =
                    format!("--{} does not apply to --production {part}: a part is read, and written again", row.name);
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

    /// Whether an option has an effect with an input notation.
    pub(crate) fn takes(&self, name: &str, from: &Notation, language: &Language) -> bool {
        Asked { given: vec![name.to_owned()], ..self.clone() }.usable(Some(from), language).is_ok()
    }

    /// What options ask for that holds anyway with an input notation.
    pub(crate) fn held(&self, from: &Notation) -> Vec<String> {
        let Some(command) = self.command else { return Vec::new() };
        let has_no_effect = |row: &&OptionRow| self.refusal(row, command, Some(from)).is_some();
        let rows = self.given.iter().filter_map(|id| row(id, command)).filter(has_no_effect);
        let held = rows.filter_map(|row| Some((row.name, row.holds(command, Some(from), &self.output)?)));
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
        let known = forms::forms(command).into_iter().filter(|known| written(known, command, from));
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
    let known = forms::forms(command).into_iter().filter(|known| written(known, command, from));
    known.filter(|known| uses.iter().any(|one| one.outputs.has(known))).collect()
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

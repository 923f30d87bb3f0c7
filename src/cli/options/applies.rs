//! What options apply to, as `docs/options.md` tells it.

use super::listed::listed;
use super::row::{OptionRow, Use};
use super::sets::{Commands, Inputs, Outputs};
use crate::input::table::NOTATIONS;

impl OptionRow {
    /// What the option applies to in some subcommands, if not to everything.
    pub(super) fn applies(&self, commands: Commands) -> Option<String> {
        let mut told: Vec<(Inputs, String)> = Vec::new();
        for one in self.uses.iter().filter(|one| one.commands.has(commands)) {
            let rest = one.rest();
            match told.iter_mut().find(|(_, known)| *known == rest) {
                Some((inputs, _)) => *inputs = inputs.and(one.inputs),
                None => told.push((one.inputs, rest)),
            }
        }
        let parts = told.into_iter().map(|(inputs, rest)| {
            let inputs = inputs.told();
            let comma = if inputs.is_empty() || rest.is_empty() { "" } else { ", " };
            inputs + comma + &rest
        });
        let held = self.held.iter().filter_map(|(inputs, outputs, _)| {
            let inputs = listed(&inputs.names());
            match outputs {
                Outputs::Of(_) | Outputs::Not(_) if !commands.has(Commands::FLATTEN) => None,
                Outputs::Of(names) => Some(format!("changes nothing for {inputs} with --to {}", listed(names))),
                Outputs::Not(names) => Some(format!("changes nothing for {inputs} without --to {}", listed(names))),
                Outputs::Any => Some(format!("changes nothing for {inputs}")),
            }
        });
        let parts: Vec<String> = parts.chain(held).collect();
        parts.iter().all(|part| !part.is_empty()).then(|| parts.join("; "))
    }
}

impl Inputs {
    fn told(self) -> String {
        let names = self.names();
        if names.len() == NOTATIONS.len() { String::new() } else { format!("for {}", listed(&names)) }
    }
}

impl Use {
    /// What it needs besides an input in one of its notations.
    fn rest(&self) -> String {
        let outputs = match self.outputs {
            Outputs::Any => String::new(),
            Outputs::Of(names) => format!("--to {}", listed(names)),
            Outputs::Not(names) => format!("not --to {}", listed(names)),
        };
        let with: Vec<String> = self.with.iter().map(|other| format!("--{other}")).collect();
        let with = if with.is_empty() { String::new() } else { format!("with {}", listed(&with)) };
        let comma = if outputs.is_empty() || with.is_empty() { "" } else { ", " };
        outputs + comma + &with
    }
}

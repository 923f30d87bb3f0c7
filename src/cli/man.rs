//! `nnef-flatten man`: the manual pages, of the command and of each subcommand.

use std::path::Path;

use clap::Command;

use crate::diagnostics::suggest;
use crate::sink::OutputLimit;

use super::outcome::{Failure, RunResult, Status};
use super::{io, options};

/// Writes a manual page, in roff: that of the command, or of a subcommand; or all pages into a folder.
pub(crate) fn run(subcommand: Option<&str>, folder: Option<&Path>) -> RunResult {
    let mut command = options::command().disable_help_subcommand(true);
    command.build();
    if let Some(folder) = folder {
        let shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
        for page in [&command].into_iter().chain(shown) {
            let name = page.get_display_name().unwrap_or(page.get_name());
            io::write_file(&folder.join(format!("{name}.1")), OutputLimit::NONE, &mut |out| render(page, out))?;
        }
        return Ok(Status::Done);
    }
    let page = match subcommand {
        None => &command,
        Some(name) => command.find_subcommand(name).ok_or_else(|| {
            let known = command.get_subcommands().filter(|known| !known.is_hide_set()).map(Command::get_name);
            let known: Vec<&str> = known.collect();
            let help = suggest::did_you_mean(name, known.iter().copied());
            let help = help.unwrap_or_else(|| format!("there are {}", known.join(", ")));
            Failure::Message(format!("no subcommand `{name}`; {help}"))
        })?,
    };
    io::write_stdout(OutputLimit::NONE, &mut |out| render(page, out))?;
    Ok(Status::Done)
}

fn render(page: &Command, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    clap_mangen::Man::new(page.clone()).render(&mut &mut *out)
}

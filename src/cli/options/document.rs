//! `docs/options.md` and the documentation of the module of Python have the options as they are in the code, and every option
//! has a row.

use std::fmt::Write;

use clap::{Arg, Command};

use super::lookup::row;
use super::option_table::OPTIONS;
use super::sets::Commands;
use super::{command, whole_command};
use crate::input::passes::rows::{PASSES, PassStep};

const BEFORE: &str = "\
# Options

Which option applies to what: to which input notations (`--from`), to which output notations or forms (`--to`), and
with which other options. Where nothing is said, an option applies to everything. An option that would have no effect
is refused with exit status 2, and a message that says what it is for.

This page is made from the table of options, `src/cli/options/option_table.rs`. A test compares them;
`UPDATE_SNAPSHOTS=1 cargo test --lib options` writes the page again.
";

/// The shown options of a subcommand.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let known = |arg: &&Arg| !arg.is_positional() && !["help", "version"].contains(&arg.get_id().as_str());
    command.get_arguments().filter(known)
}

fn shown(arg: &Arg) -> String {
    let long = arg.get_long().unwrap_or_default();
    let short = arg.get_short().map(|letter| format!("-{letter}, ")).unwrap_or_default();
    let names = arg.get_value_names().filter(|_| arg.get_action().takes_values()).unwrap_or_default();
    let is_optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    let value = names.first().map(|name| if is_optional { format!("[={name}]") } else { format!(" {name}") });
    let value = value.unwrap_or_default();
    format!("`{short}--{long}{value}`").replace('|', "\\|")
}

fn page() -> String {
    let root = whole_command();
    let mut text = BEFORE.to_owned();
    let mut sections: Vec<(&str, Commands)> = Vec::new();
    for (one, name, _) in Commands::ALL {
        match sections.iter_mut().find(|(known, _)| known == name) {
            Some((_, all)) => *all = all.and(*one),
            None => sections.push((name, *one)),
        }
    }
    for (name, commands) in sections {
        let of = if name.is_empty() { &root } else { root.find_subcommand(name).unwrap() };
        let heading = if name.is_empty() { "nnef-flatten INPUT".to_owned() } else { format!("nnef-flatten {name}") };
        let _ = write!(text, "\n## `{heading}`\n\n| option | meaning | applies |\n|---|---|---|\n");
        for arg in options(of).filter(|arg| !arg.is_hide_set()) {
            let applies = row(arg.get_id().as_str(), commands).and_then(|row| row.applies(commands));
            let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
            let help = help.replace("\n\n", if help.ends_with('.') { " " } else { ". " }).replace('\n', " ");
            let help = help.trim_end_matches('.').replace('|', "\\|");
            let _ = writeln!(text, "| {} | {help} | {} |", shown(arg), applies.unwrap_or_default());
        }
    }
    text + &passes()
}

/// The table of passes.
fn passes() -> String {
    let mut text = "\n## The order of passes\n\nPasses run in this order, whatever the order of the options is: two of them in one \
                    command give what two\ncommands give, up to names of inner tensors. The table is `src/input/passes/rows.rs`.\n\n\
                    | pass | takes | behind it | flat graphs | models of ONNX |\n|---|---|---|---|---|\n"
        .to_owned();
    let told = |runs: bool, is_refused: bool| match (runs, is_refused) {
        (true, _) => "yes",
        (_, true) => "refused",
        _ => "while they are expanded",
    };
    for row in PASSES {
        let graphs = told(matches!(row.on_graph, PassStep::Runs(_)), matches!(row.on_graph, PassStep::Refused));
        let models = told(matches!(row.on_model, PassStep::Runs(_)), matches!(row.on_model, PassStep::Refused));
        let _ = writeln!(text, "| `--{}` | {} | {} | {graphs} | {models} |", row.option, row.takes, row.changes);
    }
    text
}

/// Compares a file with what is made of the table, or writes it.
fn is_made(path: &str, wanted: impl Fn(&str) -> String) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let wanted = wanted(&found);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        return std::fs::write(&file, &wanted).unwrap();
    }
    assert!(found == wanted, "{path} does not have the table of options; UPDATE_SNAPSHOTS=1 writes it again");
}

#[test]
fn the_page_is_the_table() {
    is_made("docs/options.md", |_| page());
}

/// An item of a list in the documentation of Python, in lines of at most 120 characters.
fn item(keyword: &str, help: &str) -> String {
    let option = |word: &str| {
        let Some(at) = word.find("--") else { return word.to_owned() };
        let name = word[at + 2..].replace('-', "_");
        word[..at].to_owned() + if name == "from" { "from_" } else { &name }
    };
    let help = help.replace("; repeatable", "").replace('\n', " ");
    let words = help.split(' ').map(option);
    let (mut text, mut width) = (format!("    * `{keyword}`:"), keyword.len() + 9);
    for word in words {
        if width + 1 + word.chars().count() > 119 {
            text.push_str("\n     ");
            width = 5;
        }
        width += 1 + word.chars().count();
        text = text + " " + &word;
    }
    text + "\n"
}

/// The keyword arguments of `flatten` are documented by the texts of the options, in the order of the signature.
#[test]
fn the_module_of_python_documents_the_table() {
    is_made("python/nnef_flatten/_api.py", |module| {
        let signature = module.split("@_described\ndef flatten(\n    x: Input,\n    *,\n").nth(1).unwrap();
        let keywords = signature.lines().take_while(|line| !line.starts_with(')'));
        let root = whole_command();
        let items = keywords.map(|line| {
            let keyword = line.trim().split(':').next().unwrap();
            let arg = root.get_arguments().find(|arg| arg.get_id() == keyword.trim_end_matches('_')).unwrap();
            item(keyword, &arg.get_help().unwrap().to_string())
        });
        let start = module.find("    * `").unwrap();
        let end = start + module[start..].find("\n\n").unwrap() + 1;
        module[..start].to_owned() + &items.collect::<String>() + &module[end..]
    });
}

#[test]
fn the_page_names_every_option() {
    let page = include_str!("../../../docs/command.md");
    for arg in options(&command()) {
        let name = arg.get_long().unwrap();
        assert!(page.contains(&format!("`--{name}")), "docs/command.md does not name --{name}");
    }
}

/// An option without a row would be refused everywhere, a row without an option would say nothing.
#[test]
fn options_and_rows_are_the_same() {
    let root = whole_command();
    let mut known = Vec::new();
    for of in std::iter::once(&root).chain(root.get_subcommands()) {
        let name = if of.get_name() == root.get_name() { "" } else { of.get_name() };
        let commands = Commands::named(name);
        for arg in options(of) {
            known.push(arg.get_id().as_str().replace('_', "-"));
            let own = of.get_arguments().count() > 0 && commands != Commands(0);
            let has = OPTIONS.iter().any(|row| row.is(arg.get_id().as_str(), Commands(u16::MAX)));
            assert!(has || !own, "{name}: --{} has no row", arg.get_id());
        }
    }
    for row in OPTIONS {
        assert!(known.iter().any(|name| name == row.name), "there is no option --{}", row.name);
        let others = row.uses.iter().flat_map(|one| one.with);
        others.for_each(|other| assert!(known.iter().any(|name| name == other), "{}: --{other}", row.name));
        for (i, other) in OPTIONS.iter().enumerate().filter(|(_, other)| other.name == row.name) {
            assert!(std::ptr::eq(&OPTIONS[i], row) || !row.commands().has(other.commands()), "{} twice", row.name);
        }
    }
}

/// Names of outputs in the table are those that there are.
#[test]
fn outputs_of_rows_exist() {
    use super::sets::Outputs;
    for one in OPTIONS.iter().flat_map(|row| row.uses) {
        let (Outputs::Of(names) | Outputs::Not(names)) = one.outputs else { continue };
        let commands = Commands::ALL.iter().filter(|(command, ..)| one.commands.has(*command));
        let known: Vec<String> = commands.flat_map(|(command, ..)| super::forms::forms(*command)).collect();
        names.iter().for_each(|name| assert!(known.iter().any(|known| known == name), "{name}"));
    }
}

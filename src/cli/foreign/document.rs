//! `docs/from-other-tools.md` and the table of words agree: the page lists all words, and what its rows name is what
//! the command tells.

use std::fmt::Write;

use super::foreign_table::FOREIGN;
use super::lookup::{foreign, stands_for};
use crate::cli::options;

/// The heading of the section that is made from the table.
const HEADING: &str = "## All words\n";

const BEFORE: &str = "
What the command tells when it meets a word of another program: an option, a key of pnnx, or a first word. Underscores are
hyphens, and `*` stands for the rest of a word. The table is `src/cli/foreign/foreign_table.rs`; `UPDATE_SNAPSHOTS=1 cargo test --lib
foreign` writes it here.

| there | here |
|---|---|
";

fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/from-other-tools.md")
}

fn section() -> String {
    let mut text = format!("{HEADING}{BEFORE}");
    for row in FOREIGN {
        let words: Vec<String> = row.words.iter().map(|word| format!("`{word}`")).collect();
        let _ = writeln!(text, "| {} | {} |", words.join(", "), row.here.replace('|', "\\|"));
    }
    text
}

#[test]
fn the_page_lists_all_words() {
    let page = std::fs::read_to_string(path()).unwrap();
    let (by_hand, made) = page.split_at(page.find(HEADING).unwrap_or(page.len()));
    let wanted = section();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(path(), format!("{}\n\n{wanted}", by_hand.trim_end())).unwrap();
        return;
    }
    assert!(made == wanted, "docs/from-other-tools.md does not list the words; UPDATE_SNAPSHOTS=1 writes them again");
}

/// The names of options in the code of a cell.
fn names(cell: &str) -> Vec<String> {
    let code = cell.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let names = code.filter_map(|word| word.strip_prefix("--")?.split('=').next());
    names.map(|name| name.replace('_', "-")).filter(|name| !name.is_empty()).collect()
}

/// What a row of the page has for an option of another program is what the command tells about it: one of its options.
#[test]
fn rows_of_the_page_are_what_the_command_tells() {
    let page = std::fs::read_to_string(path()).unwrap();
    let by_hand = &page[..page.find(HEADING).unwrap_or(page.len())];
    let mut compared = 0;
    for line in by_hand.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [there, here, ..] = cells[..] else { continue };
        // A row of links has the call behind them.
        let here = names(if here.starts_with('[') { cells.last().copied().unwrap_or(here) } else { here });
        for name in names(there).into_iter().filter(|name| !options::has(name)) {
            let told = foreign(&format!("--{name}"));
            let Some(told) = told else { panic!("--{name} is on the page, but not in the table") };
            let agrees = here.is_empty() || here.iter().any(|own| told.contains(&format!("--{own}")));
            assert!(agrees, "--{name}: the page has {here:?}, the command tells: {told}");
            compared += usize::from(!here.is_empty());
        }
    }
    assert!(compared > 25, "{compared}");
}

/// The table has words of others only, each once, and tells options that there are.
#[test]
fn words_are_foreign_and_told_options_are_own() {
    let words: Vec<&str> = FOREIGN.iter().flat_map(|row| row.words).copied().collect();
    let command = options::command();
    let is_own = |name: &str| command.get_arguments().any(|option| option.get_long() == Some(name));
    for (i, word) in words.iter().enumerate() {
        assert!(!word.strip_prefix("--").is_some_and(is_own), "{word} is an option of this program");
        let again = words[..i].iter().find(|before| stands_for(before, word));
        assert!(again.is_none(), "{word} stands behind {again:?}");
        let is_letter = word.len() == 2 && word.starts_with('-');
        assert!(is_letter || !word.contains(|c: char| c == '_' || c.is_uppercase()), "{word} is never looked up so");
    }
    let subcommands: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        assert!(!subcommands.contains(word), "`{word}` is a subcommand");
    }
    for row in FOREIGN {
        let own =
            row.here.split(|c: char| c.is_whitespace() || ",;:".contains(c)).filter_map(|word| word.strip_prefix("--"));
        let outside = ["help", "version"];
        own.for_each(|own| assert!(options::has(own) || outside.contains(&own), "{:?}: --{own}", row.words));
    }
}

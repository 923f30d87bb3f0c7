//! What the pages of the documentation name exists: files, headings, options, subcommands. Every page is in the index,
//! begins with what it is for, and is not longer than people read.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::common::files_below;

/// The most words of prose in README and in any other page: tables and blocks of code do not count.
const README_WORDS: usize = 900;
const PAGE_WORDS: usize = 2500;
/// The most words of the page for whoever begins to change the program, tables included: details are decisions.
const ARCHITECTURE_WORDS: usize = 2500;
/// Pages that are tables in another form: a section for each code, a line for each failure.
const LISTS: &[&str] = &["docs/diagnostics.md", "docs/matrix.md"];
/// The lines of a page that are seen at once.
const SCREEN: usize = 30;
/// What is made by commands of the pages, and is not in the repository.
const MADE: &[&str] = &["web/target", "fuzz/corpus", "fuzz/target"];
/// Options of cargo, git and compilers in commands of the pages. Those of the scripts are found in them.
const OTHERS: &[&str] = &["bench", "cached", "compress-relocations", "dry-run", "hard", "lib", "path", "xla"];
/// Whose items with `::` are not of this library.
const FOREIGN: &[&str] = &["aten", "prim", "nnef", "torchvision", "std", "pnnx"];
/// The headings of the tables of what a person wants who knows only other tools, and the number of their rows.
const TASKS: &[&str] = &["\n## Ten tasks of onnxsim\n", "\n## Ten tasks of onnxslim, polygraphy and onnx\n"];
const TASKS_OF_EACH: usize = 10;
/// The most links from README to the page that tells a task.
const MOST_LINKS: usize = 2;

/// Figures of README, and where they come from: what the page or the test says.
const FIGURES: &[(&str, &str, &str)] = &[
    ("Of 52 models with functions", "docs/from-other-tools.md", "| nnef-flatten | 52 | 0 | 0 | 0 | 0 |"),
    (
        "onnx.inliner leaves functions in 8, and its results for 6",
        "docs/from-other-tools.md",
        "| onnx.inliner | 38 | 0 | 8 | 6 | 0 |",
    ),
    ("onnxsim leaves them in the same 8 and breaks 7", "docs/from-other-tools.md", "| onnxsim | 37 | 4 | 8 | 3 | 0 |"),
    ("Of 20 exports", "docs/from-other-tools.md", "| nnef-flatten --fold --share | 20 | 0 | 0 | 0 | 0 |"),
    ("onnxslim fails on 1", "docs/from-other-tools.md", "| onnxslim | 15 | 1 | 0 | 4 | 0 |"),
    ("15.7 times", "docs/performance.md", "| inlining 1e5 calls | 0.043 s | 0.679 s | 15.7 |"),
    ("12.8\n  times", "docs/performance.md", "| 12.8 |"),
    ("1.9 GB takes 13 MB", "docs/performance.md", "with 13 MB of"),
    ("600 generated attacks", "tests/hostile/adversarial.rs", "const INPUTS: usize = 600;"),
    ("within 2 s", "tests/hostile/adversarial.rs", "const SECONDS: u32 = 2;"),
    ("Khronos' parser: 366", "docs/matrix.md", "| `nnef` | 519/520 | 366/420 |"),
    ("56 of 56\n  about inlining", "docs/matrix.md", "| `onnx/inline` | 56/56 | – | – | 44/56 |"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names in a folder of the repository, in order.
fn listed(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The pages: those of `docs`, those beside the manifest, and the README of each folder that has one.
pub(crate) fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for (folder, only_readme) in
        [("", false), ("docs", false), ("examples", true), ("examples/bulk", true), ("fuzz", true)].into_iter().chain([
            ("python", true),
            ("tests/conformance", true),
            ("tests/networks", true),
            ("tests/operators", true),
            ("editors/vscode", true),
        ])
    {
        let is_page = |name: &String| name.ends_with(".md") && (!only_readme || name == "README.md");
        let path = |name| if folder.is_empty() { name } else { format!("{folder}/{name}") };
        pages.extend(listed(folder).into_iter().filter(is_page).map(path));
    }
    pages
}

/// A path relative to the folder of a page, without `..`, relative to the repository.
fn resolved(page: &str, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in Path::new(page).parent().unwrap().join(target).components() {
        match part {
            Component::ParentDir => assert!(path.pop(), "{page}: {target} leads out of the repository"),
            part => path.push(part),
        }
    }
    path
}

/// The targets of the links of a text.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The lines of a page that are not in blocks of code.
fn outside_of_code(text: &str) -> impl Iterator<Item = &str> {
    let mut open = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        open ^= fence;
        !open && !fence
    })
}

/// The headings of a page.
fn headings(text: &str) -> impl Iterator<Item = &str> {
    outside_of_code(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim())
}

/// What a link to a heading ends with.
fn anchor(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    // Of a link, the text is shown.
    while let Some((before, link)) = rest.split_once('[') {
        let (shown, after) = link.split_once(']').unwrap();
        text += before;
        text += shown;
        rest = after.split_once(')').map_or(after, |(_, after)| after);
    }
    text += rest;
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    text.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The words of a page that are neither in tables nor in blocks of code.
fn prose(text: &str) -> usize {
    outside_of_code(text).filter(|line| !line.starts_with('|')).map(|line| line.split_whitespace().count()).sum()
}

/// A page without what others call things: in tables with a column `here`, what stands before it.
fn ours(text: &str) -> String {
    let mut found = String::new();
    let mut column = None;
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        if !line.starts_with('|') {
            column = None;
        } else if let Some(at) = cells.iter().position(|cell| cell.trim() == "here") {
            column = Some(at);
        }
        found += &cells[column.unwrap_or(0).min(cells.len())..].join("|");
        found.push('\n');
    }
    found
}

/// What follows each occurrence of a text that is not behind a name, as far as its characters are those of a name.
fn names_after<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.match_indices(start).filter(move |(at, _)| !text[..*at].ends_with(of_name)).map(move |(at, _)| {
        let rest = &text[at + start.len()..];
        &rest[..rest.find(|c| !of_name(c)).unwrap_or(rest.len())]
    })
}

/// The pages that tell what is there now: a history names what there was.
fn present() -> impl Iterator<Item = String> {
    pages().into_iter().filter(|name| name != "CHANGELOG.md")
}

/// The texts of the scripts and tests of the repository, which have options of their own.
fn scripts(folder: &Path, texts: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["target", "node_modules", "corpus"].contains(&name) && !path.is_symlink() {
                scripts(&path, texts);
            }
        } else if [".py", ".sh", ".rs"].iter().any(|ending| name.ends_with(ending)) || path.ends_with(".ci/run") {
            texts.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    for name in pages() {
        let text = read(&name);
        for link in links(&text).filter(|link| !link.starts_with("http")) {
            count += 1;
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            let path = if target.is_empty() { PathBuf::from(&name) } else { resolved(&name, target) };
            assert!(root().join(&path).exists(), "{name}: {link}");
            if !heading.is_empty() && path.extension().is_some_and(|extension| extension == "md") {
                let page = fs::read_to_string(root().join(&path)).unwrap();
                assert!(headings(&page).any(|found| anchor(found) == heading), "{name}: {link}: no such heading");
            }
        }
    }
    assert!(count > 300, "only {count} links");
}

#[test]
fn paths_that_pages_name_exist() {
    let folders: BTreeSet<String> =
        listed("").into_iter().filter(|name| root().join(name).is_dir() && name != "target").collect();
    let (mut missing, mut count) = (Vec::new(), 0);
    for name in present() {
        let text = read(&name);
        let folder = Path::new(&name).parent().unwrap();
        for word in text.split(|c: char| !(c.is_alphanumeric() || "._-/*{}<>$".contains(c))) {
            let word = word.trim_end_matches(['.', '/']);
            let pattern = word.contains(['*', '{', '<', '$']) || word.split(['/', '.']).any(|part| part == "NAME");
            let Some((top, _)) = word.split_once('/') else { continue };
            if !folders.contains(top) || pattern || MADE.iter().any(|made| word.starts_with(made)) {
                continue;
            }
            count += 1;
            if !root().join(word).exists() && !root().join(folder).join(word).exists() {
                missing.push(format!("{name}: {word}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 400, "only {count} paths are named");
}

/// The texts of the modules of the library, by their paths below `src`.
fn modules() -> Vec<(String, String)> {
    let folder = root().join("src");
    let module = |path: PathBuf| {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        Some((name, fs::read_to_string(&path).ok()?))
    };
    files_below(&folder).into_iter().filter_map(module).collect()
}

/// Whether a text declares a name: as an item, a field, a variant or a row of a table.
fn declares(text: &str, name: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let item = ["fn ", "struct ", "enum ", "trait ", "const ", "type ", "mod ", "static ", "macro_rules! "];
        let starts = item.iter().any(|word| before.ends_with(word)) && !after.starts_with(of_name);
        let alone =
            before.rsplit('\n').next().is_some_and(|line| ["", "pub ", "pub(crate) "].contains(&line.trim_start()));
        starts || alone && after.trim_start_matches(' ').starts_with([',', '(', '{', '"', '=', ':'])
    })
}

/// Modules are named by their paths below `src` or the end of them, items as `Type::item` or `module::item`.
#[test]
fn source_that_pages_name_exists() {
    let source = modules();
    let (mut missing, mut files, mut items) = (Vec::new(), 0, 0);
    for name in present() {
        let text = read(&name);
        let prose: String = outside_of_code(&text).flat_map(|line| [line, "\n"]).collect();
        // In a line, every second part between back quotes is code.
        for code in prose.lines().flat_map(|line| line.split('`').skip(1).step_by(2)) {
            let is_module = code.ends_with(".rs") && code.contains('/') && !code.contains(['*', ' ', '<', '{']);
            let ends = |path: &str| path == code || path.ends_with(&format!("/{code}"));
            files += usize::from(is_module);
            let is_there = || root().join(code).exists() || root().join(resolved(&name, code)).exists();
            if is_module && !is_there() && !source.iter().any(|(path, _)| ends(path)) {
                missing.push(format!("{name}: {code}"));
            }
            let words = code.split(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
            for (owner, item) in words.filter_map(|word| word.rsplit_once("::")) {
                let is_ours = !FOREIGN.iter().any(|foreign| owner.starts_with(foreign)) && !item.is_empty();
                items += usize::from(is_ours);
                let owner = owner.rsplit("::").next().unwrap();
                let is_declared = |name: &str| source.iter().any(|(_, text)| declares(text, name));
                if is_ours && !(is_declared(owner) && is_declared(item)) {
                    missing.push(format!("{name}: {code}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(files > 150 && items > 50, "only {files} files and {items} items are named");
}

#[test]
fn options_that_pages_name_exist() {
    let table = read("docs/options.md");
    let mut texts = String::new();
    for folder in ["tests", "bench", "benches", "web", "fuzz", "python", ".ci", "examples", "editors", "release"] {
        scripts(&root().join(folder), &mut texts);
    }
    let known: BTreeSet<&str> =
        names_after(&table, "--").chain(names_after(&texts, "--")).chain(OTHERS.iter().copied()).collect();
    let (mut unknown, mut count) = (BTreeSet::new(), 0);
    for name in present() {
        let text = ours(&read(&name));
        for option in names_after(&text, "--") {
            // Dashes of tables and of other notations are no options.
            let is_option = option.starts_with(|c: char| c.is_ascii_lowercase());
            count += usize::from(is_option);
            if is_option && !known.contains(option) {
                unknown.insert(format!("{name}: --{option}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(count > 1000, "only {count} options are named");
}

#[test]
fn commands_of_scripts_give_what_these_require() {
    let (mut missing, mut count) = (Vec::new(), 0);
    for name in present() {
        let text = read(&name);
        for (at, _) in text.match_indices("python3 ") {
            let command = text[at..].split(['`', '\n', '#', '|']).next().unwrap();
            let Some(script) = command.split_whitespace().nth(1).filter(|path| path.ends_with(".py")) else { continue };
            let Ok(source) = fs::read_to_string(root().join(script)) else { continue };
            let required = source.lines().filter(|line| line.contains("required=True"));
            let options: Vec<&str> = required.filter_map(|line| line.split('"').nth(1)).collect();
            count += options.len();
            let absent = options.iter().filter(|option| !command.contains(**option));
            missing.extend(absent.map(|option| format!("{command}: {option}")));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 5, "only {count} options are required");
}

#[test]
fn subcommands_that_pages_name_exist() {
    let table = read("docs/options.md");
    let known: BTreeSet<&str> = names_after(&table, "## `nnef-flatten ").chain(["help"]).collect();
    assert!(known.contains("check"), "{known:?}");
    let mut count = 0;
    for name in present() {
        let text = read(&name);
        for (at, _) in text.match_indices("`nnef-flatten ").chain(text.match_indices("\n$ nnef-flatten ")) {
            let rest = text[at..].trim_start().trim_start_matches(['`', '$', ' ']);
            let word = rest["nnef-flatten ".len()..].split([' ', '`', '\n']).next().unwrap();
            let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
            count += usize::from(is_word);
            assert!(!is_word || known.contains(word), "{name}: nnef-flatten {word}");
        }
    }
    assert!(count > 50, "only {count} subcommands are named");
}

#[test]
fn every_page_is_in_the_index() {
    let index = read("docs/README.md");
    let named: BTreeSet<PathBuf> =
        links(&index).map(|link| resolved("docs/README.md", link.split('#').next().unwrap())).collect();
    let missing: Vec<String> = pages()
        .into_iter()
        .filter(|name| !["README.md", "docs/README.md"].contains(&name.as_str()) && !named.contains(Path::new(name)))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(links(&read("README.md")).any(|link| link == "docs/README.md"));
}

#[test]
fn pages_are_short() {
    for name in pages().iter().filter(|name| name.starts_with("docs/") && !LISTS.contains(&name.as_str())) {
        let words = prose(&read(name));
        assert!(words <= PAGE_WORDS, "{name} has {words} words: move a task to a page of its own");
    }
    let words = read("docs/architecture.md").split_whitespace().count();
    assert!(words <= ARCHITECTURE_WORDS, "docs/architecture.md has {words} words with its tables");
    let words = prose(&read("README.md"));
    assert!(words <= README_WORDS, "README.md has {words} words");
}

#[test]
fn pages_begin_with_what_they_are_for() {
    for name in pages().iter().filter(|name| name.starts_with("docs/")) {
        let text = read(name);
        let shown = |line: &str| {
            line.starts_with("```") || line.starts_with("| ") || line.starts_with(|c: char| c.is_ascii_digit())
        };
        assert!(text.lines().take(SCREEN).any(shown), "{name}: no command, table or list on the first screen");
        assert_eq!(headings(&text).count(), headings(&text).collect::<BTreeSet<_>>().len(), "{name}: a heading twice");
    }
}

/// The part of a page under a heading, up to the next one of its level, as links name it; the whole page without one.
fn section<'t>(text: &'t str, heading: &str) -> Option<&'t str> {
    if heading.is_empty() {
        return Some(text);
    }
    let mut sections = text.split("\n## ").skip(1);
    sections.find(|section| section.lines().next().is_some_and(|line| anchor(line) == heading))
}

/// The lines of commands in the consoles of a text, and its lines of Python.
fn typed(text: &str) -> impl Iterator<Item = &str> {
    let mut language = "";
    text.lines().filter_map(move |line| {
        if let Some(fence) = line.strip_prefix("```") {
            language = fence;
            return None;
        }
        match language {
            "console" => line.strip_prefix("$ "),
            "python" => Some(line),
            _ => None,
        }
    })
}

/// Each way of the table leads from README by links to the command, which the consoles of pages and the tests of Python run.
#[test]
fn people_from_other_tools_find_their_tasks() {
    let table = "docs/from-other-tools.md";
    let text = read(table);
    let rows = |heading: &&str| {
        let below = text.split_once(heading).unwrap().1.lines().skip_while(|line| !line.starts_with("|-")).skip(1);
        let rows: Vec<&str> = below.take_while(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), TASKS_OF_EACH, "{heading}");
        rows
    };
    for row in TASKS.iter().flat_map(rows) {
        let [_, task, way, command, _] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}: not three cells")
        };
        let command = command.trim().trim_matches('`');
        let (mut page, mut heading) = ("README.md".to_owned(), "");
        let way: Vec<&str> = links(way).collect();
        assert!((1..=MOST_LINKS).contains(&way.len()), "{task}: {way:?}");
        for link in way {
            let (target, at) = link.split_once('#').unwrap_or((link, ""));
            let next = resolved(table, target);
            let text = read(&page);
            let mut found = links(&text).filter(|link| !link.starts_with("http"));
            let leads = found.any(|link| resolved(&page, link.split('#').next().unwrap()) == next);
            assert!(leads, "{task}: {page} has no link to {}", next.display());
            (page, heading) = (next.to_str().unwrap().to_owned(), at);
        }
        let text = read(&page);
        let section = section(&text, heading).unwrap_or_else(|| panic!("{task}: {page} has no heading {heading}"));
        assert!(typed(section).any(|line| line.contains(command)), "{task}: {page} #{heading} does not type {command}");
    }
}

/// Commands run as the consoles of all pages do; what is written in other languages runs where its page is named.
#[test]
fn examples_of_pages_run() {
    let places = [("```rust", read("src/lib.rs")), ("```python", read("python/tests/test_docs.py"))];
    for name in pages() {
        let text = read(&name);
        for (fence, place) in &places {
            let runs = text.lines().all(|line| line != *fence) || place.contains(&name);
            assert!(runs, "{name}: its {fence} are not tested");
        }
        assert!(!text.contains("```sh\nnnef-flatten "), "{name}: show the command in a console, with what it writes");
    }
}

#[test]
fn figures_of_the_readme_are_those_that_were_measured() {
    let readme = read("README.md");
    for (figure, page, row) in FIGURES {
        assert!(readme.contains(figure), "README.md does not say {figure}");
        assert!(read(page).contains(row), "README.md says {figure}, but {page} does not say {row}");
    }
}

/// Figures can be measured again: each part of the page names the script and the commit.
#[test]
fn measurements_name_their_script_and_commit() {
    let page = read("docs/performance.md");
    let is_commit = |word: &str| word.len() == 8 && word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let parts = page.split("\n## ").skip(1).filter(|part| part.contains("\n|---"));
    let mut count = 0;
    for part in parts {
        let heading = part.lines().next().unwrap();
        let commit = names_after(part, "commit ").chain(names_after(part, "commits ")).any(is_commit);
        assert!(commit, "{heading}: no commit");
        assert!(["`bench/", "`examples/bulk/"].iter().any(|script| part.contains(script)), "{heading}: no script");
        count += 1;
    }
    assert!(count > 2, "{count} parts have tables");
}

#[test]
fn the_size_of_the_page_in_the_browser_is_that_of_its_build() {
    let bytes: u32 = read("web/size.txt").trim().parse().unwrap();
    let told = format!("The page has {} KB as a server sends it", (bytes + 500) / 1000);
    assert!(read("docs/browser.md").contains(&told), "docs/browser.md does not say: {told}");
}

#[test]
fn words_are_counted_outside_of_tables_and_code() {
    let page = "# One two\n\nthree `four`\n\n| five |\n|---|\n\n```console\nsix\n```\n\n* seven\n";
    assert_eq!(prose(page), 7);
    assert_eq!(anchor("`Gelu` and [more](x.md), 2"), "gelu-and-more-2");
    let page = "a\n\n## B c\n\n```console\n$ d\ne\n```\n\n## F\n\n```python\n>>> g\n```\n";
    assert_eq!(typed(page).collect::<Vec<_>>(), ["d", ">>> g"]);
    assert_eq!(section(page, "b-c").map(|section| typed(section).count()), Some(1));
    assert_eq!(ours("a --x\n| y | here |\n| --y | --z |\n"), "a --x\n here |\n --z |\n");
    assert_eq!(names_after("--ab-c=1 --d x#e1--f", "--").collect::<Vec<_>>(), ["ab-c", "d"]);
}

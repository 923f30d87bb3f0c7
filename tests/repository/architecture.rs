//! The allowed dependencies between the folders and files of the crate, and limits on sizes of types.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "architecture/definitions.rs"]
mod definitions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::files_of;
use definitions::{Definitions, bare, defined_by, ids};

/// Each folder or file of `src`, with those that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("room", &[]),
    ("cancel", &[]),
    ("progress", &["cancel"]),
    ("sink", &["progress"]),
    ("live", &[]),
    ("threads", &["cancel", "live"]),
    ("files", &[]),
    ("source", &["room"]),
    ("diagnostics", &["live", "source"]),
    ("dictionary", &[]),
    ("extents", &[]),
    ("tensor", &["cancel", "diagnostics", "dictionary", "extents", "live", "source"]),
    ("outline", &["source"]),
    ("graph", &["diagnostics", "dictionary", "extents", "live", "outline", "progress", "room", "source", "tensor"]),
    ("parts", &["diagnostics", "source"]),
    ("options", &["diagnostics", "graph"]),
    ("core", &["cancel", "diagnostics", "graph", "live", "room", "source"]),
    ("library", &["diagnostics", "extents", "graph", "source"]),
    ("nnef", &["core", "diagnostics", "dictionary", "graph", "library", "options", "progress", "room", "source"]),
    (
        "eval",
        &[
            "diagnostics",
            "dictionary",
            "extents",
            "graph",
            "library",
            "live",
            "nnef",
            "options",
            "parts",
            "progress",
            "source",
            "tensor",
        ],
    ),
    ("model", &["diagnostics", "eval", "files", "graph", "nnef", "source", "tensor"]),
    (
        "loops",
        &[
            "diagnostics",
            "dictionary",
            "extents",
            "graph",
            "library",
            "nnef",
            "options",
            "progress",
            "room",
            "source",
            "tensor",
        ],
    ),
    ("layout", &["graph", "library", "options", "tensor"]),
    (
        "onnx",
        &[
            "cancel",
            "core",
            "diagnostics",
            "dictionary",
            "eval",
            "extents",
            "graph",
            "library",
            "live",
            "options",
            "outline",
            "parts",
            "progress",
            "room",
            "sink",
            "source",
            "tensor",
            "threads",
        ],
    ),
    (
        "pnnx",
        &[
            "diagnostics",
            "dictionary",
            "eval",
            "extents",
            "graph",
            "library",
            "nnef",
            "options",
            "parts",
            "room",
            "source",
            "tensor",
        ],
    ),
    (
        "ncnn",
        &["diagnostics", "eval", "extents", "graph", "library", "onnx", "options", "parts", "pnnx", "source", "tensor"],
    ),
    ("picture", &["diagnostics", "dictionary", "graph", "progress", "source"]),
    (
        "write",
        &[
            "core",
            "diagnostics",
            "eval",
            "graph",
            "model",
            "onnx",
            "options",
            "picture",
            "pnnx",
            "progress",
            "source",
            "tensor",
            "threads",
        ],
    ),
    ("diff", &["diagnostics", "graph", "source", "threads", "write"]),
    (
        "input",
        &[
            "diagnostics",
            "dictionary",
            "diff",
            "eval",
            "files",
            "graph",
            "layout",
            "live",
            "loops",
            "model",
            "ncnn",
            "nnef",
            "onnx",
            "options",
            "parts",
            "picture",
            "pnnx",
            "progress",
            "sink",
            "source",
            "tensor",
            "threads",
            "write",
        ],
    ),
    (
        "lsp",
        &[
            "diagnostics",
            "dictionary",
            "diff",
            "graph",
            "input",
            "library",
            "live",
            "nnef",
            "onnx",
            "options",
            "source",
            "write",
        ],
    ),
    (
        "cli",
        &[
            "cancel",
            "core",
            "diagnostics",
            "diff",
            "eval",
            "files",
            "graph",
            "input",
            "layout",
            "library",
            "live",
            "loops",
            "lsp",
            "model",
            "nnef",
            "onnx",
            "options",
            "picture",
            "pnnx",
            "progress",
            "sink",
            "source",
            "tensor",
            "threads",
            "write",
        ],
    ),
];

/// The folders of the items that the root declares or re-exports.
const AT_ROOT: &[(&str, &str)] = &[
    ("Diagnostic", "diagnostics"),
    ("Diagnostics", "diagnostics"),
    ("Graph", "graph"),
    ("Document", "nnef"),
    ("Parsed", "nnef"),
    ("Expansion", "nnef"),
    ("Dialect", "graph"),
    ("Lower", "options"),
    ("Options", "options"),
    ("parse", "nnef"),
    ("parse_library", "nnef"),
    ("check", "nnef"),
    ("expand", "nnef"),
    ("open", "input"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files but those of tests: the path in `src` without its ending, and the text before the tests in it.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in files_of(&root(), "rs") {
        let name = path.strip_prefix(root()).unwrap().with_extension("").to_string_lossy().into_owned();
        if name.split('/').any(|part| part == "tests") || ["lib", "main"].contains(&name.as_str()) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_string();
        found.push((name.trim_end_matches("/mod").to_string(), text));
    }
    found.sort();
    found
}

/// The text without comments.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The paths in a text that start with a prefix such as `crate::`, with groups of names resolved.
fn paths(text: &str, start: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(start) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
            continue;
        }
        let rest = &text[at + start.len()..];
        let end =
            |rest: &str| rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
        let head = &rest[..end(rest)];
        let parts = |path: &str| path.split("::").filter(|part| !part.is_empty()).map(str::to_string).collect();
        match rest[head.len()..].strip_prefix('{').filter(|_| head.is_empty() || head.ends_with("::")) {
            Some(group) => {
                for item in group.split(['{', '}', ';']).next().unwrap().split(',') {
                    found.push(parts(&format!("{head}{}", item.trim())));
                }
            }
            None => found.push(parts(head)),
        }
    }
    found
}

fn folder(name: &str) -> &str {
    name.split('/').next().unwrap()
}

#[test]
fn folders_depend_one_way() {
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ALLOWED.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect();
    let order: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    for (at, (name, uses)) in ALLOWED.iter().enumerate() {
        assert!(uses.iter().all(|used| order[..at].contains(used)), "{name} uses what stands below it");
    }
    let (mut wrong, mut count) = (BTreeSet::new(), 0);
    for (name, text) in sources() {
        let own = folder(&name);
        for path in paths(&code(&text), "crate::") {
            let Some(first) = path.first() else { continue };
            let at_root = AT_ROOT.iter().find(|(item, _)| item == first).map(|(_, folder)| *folder);
            let used = at_root.unwrap_or(first);
            count += usize::from(used != own);
            let known = allowed.get(own).unwrap_or_else(|| panic!("{name} is in no folder that is known"));
            if used != own && !known.contains(used) {
                wrong.insert(format!("{name} uses {}", path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 1000, "only {count} uses of other folders are found");
}

/// The file of a path: the longest beginning of it that is one.
fn file_of(files: &BTreeSet<String>, base: &str, path: &[String]) -> Option<String> {
    let mut current: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    let mut found = None;
    for part in path {
        match part.as_str() {
            "super" => drop(current.pop()),
            "self" => {}
            part => current.push(part),
        }
        match files.get(&current.join("/")) {
            Some(file) => found = Some(file.clone()),
            None if part == "super" || part == "self" => {}
            None => break,
        }
    }
    found
}

/// There are uses: what finds none finds no circles.
fn are_found(uses: &BTreeMap<String, BTreeSet<String>>) {
    let count = uses.values().filter(|used| !used.is_empty()).count();
    assert!(count > 100, "only {count} files use others of their folder");
}

/// Which files of a folder use which.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let sources = sources();
    let files: BTreeSet<String> = sources.iter().map(|(name, _)| name.clone()).collect();
    let mut uses = BTreeMap::new();
    for (name, text) in &sources {
        let text = code(text);
        let mut found = BTreeSet::new();
        for path in paths(&text, "crate::") {
            found.extend(file_of(&files, "", &path));
        }
        for path in paths(&text, "super::") {
            let up = [&["super".to_string()][..], &path].concat();
            found.extend(file_of(&files, name, &up));
        }
        // Uses of the file of the folder itself (`mod.rs`), which declares the others, do not count.
        found.retain(|used| folder(used) == folder(name) && used != name && !name.starts_with(&format!("{used}/")));
        uses.insert(name.clone(), found);
    }
    are_found(&uses);
    uses
}

/// The groups of files that use each other, directly or indirectly.
fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<&str>> {
    let reach = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_string()]);
        while let Some(file) = open.pop() {
            for used in uses.get(&file).into_iter().flatten() {
                if seen.insert(used.clone()) {
                    open.push(used.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<String>> = uses.keys().map(|name| (name.as_str(), reach(name))).collect();
    let mut found: Vec<Vec<&str>> = Vec::new();
    for name in uses.keys() {
        if found.iter().flatten().any(|other| other == name) {
            continue;
        }
        let both = |other: &&str| reached[name.as_str()].contains(*other) && reached[*other].contains(name);
        let circle: Vec<&str> = reached.keys().copied().filter(both).collect();
        found.extend((circle.len() > 1).then_some(circle));
    }
    found
}

/// The largest cycle of files that a folder may have.
const LARGEST: usize = 4;
#[test]
fn circles_of_files_are_small() {
    let uses = uses();
    let circles = circles(&uses);
    let mut wrong = Vec::new();
    for circle in &circles {
        if circle.len() > LARGEST {
            wrong.push(format!("{}: {}", circle.len(), circle.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The largest cycle of files that a folder may have if uses are followed to definitions (see [`Definitions`]): a
/// `mod.rs` says what a folder is and re-exports, and definitions have files of their own.
const LARGEST_OF_DEFINITIONS: usize = 8;

/// Folders with larger cycles: these may become smaller, not larger.
const LARGER: &[(&str, usize)] = &[];

/// Which files of a folder use the definitions of which.
fn uses_of_definitions() -> BTreeMap<String, BTreeSet<String>> {
    let mut sources: Vec<(String, String)> = sources().into_iter().map(|(name, text)| (name, code(&text))).collect();
    let own = |name: &str, file: &str| folder(name) == folder(file);
    let crate_root = code(&fs::read_to_string(root().join("lib.rs")).unwrap());
    sources.push((String::new(), crate_root));
    let definitions = Definitions::of(&sources);
    let mut uses = BTreeMap::new();
    for (name, text) in sources.iter().filter(|(name, _)| !name.is_empty()) {
        let mut used = definitions.used_by(name, text);
        used.retain(|file| own(name, file));
        uses.insert(name.clone(), used);
    }
    are_found(&uses);
    uses
}

#[test]
fn circles_of_definitions_are_small() {
    let uses = uses_of_definitions();
    let circles = circles(&uses);
    for (name, _) in ALLOWED {
        let own: Vec<&Vec<&str>> = circles.iter().filter(|circle| folder(circle[0]) == *name).collect();
        let found = own.iter().map(|circle| circle.len()).max().unwrap_or(0);
        let larger = LARGER.iter().find(|(folder, _)| folder == name);
        println!("{name}: {found} files in the largest cycle of definitions");
        assert!(found <= larger.map_or(LARGEST_OF_DEFINITIONS, |(_, largest)| *largest), "{name}: {own:#?}");
        assert!(larger.is_none_or(|(_, largest)| found == *largest), "{name} has {found}: lower its limit");
    }
}

/// The rooms of a folder, the lowest first, each with the beginnings of the paths of its files: what is in a room uses its
/// own files and those of the rooms below it. The longest beginning decides.
type Rooms = &'static [(&'static str, &'static [&'static str])];

const ROOMS: &[(&str, Rooms)] = &[
    (
        "onnx",
        &[
            (
                "file",
                &[
                    "assignment",
                    "auto_pad",
                    "constant",
                    "contents",
                    "elements",
                    "external",
                    "model",
                    "places",
                    "protobuf",
                    "scan_form",
                    "scopes",
                    "text",
                    "types",
                    "walk",
                ],
            ),
            ("called", &["functions", "schema"]),
            (
                "rules",
                &["infer/infer_call", "infer/declared", "infer/facts", "infer/merge", "infer/rules", "infer/shown"],
            ),
            (
                "kernels",
                &[
                    "run/activation",
                    "run/attributes",
                    "run/broadcast",
                    "run/node_call",
                    "run/element",
                    "run/kernels",
                    "run/patterns",
                    "run/sparse",
                    "run/stored",
                    "run/value",
                ],
            ),
            ("operators", &["operators"]),
            ("bodies", &["standard"]),
            ("known", &["check", "infer"]),
            (
                "change",
                &["inline", "provenance", "standard/lower", "standard/plan", "standard/selection", "standard/visible"],
            ),
            ("run", &["run"]),
            ("edit", &["edit", "view"]),
            ("nnef", &["from_nnef", "to_nnef"]),
            ("door", &["document", "evaluation", "facts"]),
        ],
    ),
    (
        "nnef",
        &[
            ("words", &["dialect", "lexer", "operators", "registries", "reserved"]),
            ("tree", &["ast", "document", "grammar", "print"]),
            ("types", &["datatypes", "types"]),
            ("checks", &["check"]),
            ("code", &["compile"]),
            ("graph", &[""]),
        ],
    ),
    (
        "pnnx",
        &[
            ("words", &["elements", "item", "number", "expression_table", "tokens", "tree"]),
            ("file", &["data", "lines", "model", "notation", "repeated"]),
            ("expressions", &["arguments", "evaluate", "fold", "fuse", "given", "parse", "standard"]),
            ("graph", &["expand", "graph", "import", "lower"]),
            ("door", &[""]),
        ],
    ),
    (
        "eval",
        &[
            (
                "base",
                &[
                    "error",
                    "budget",
                    "array",
                    "boundary",
                    "random",
                    "variables",
                    "stored",
                    "joined",
                    "kernels",
                    "suppression",
                ],
            ),
            ("run", &["eval_call", "run", "definition", "quantized"]),
            ("operations", &[""]),
            ("table", &["kernel_table"]),
            ("evaluator", &["evaluator"]),
            ("passes", &["fold", "bind", "verify"]),
        ],
    ),
];

/// The room of a file: its number and its name.
fn room_of<'r>(rooms: &'r [(&'static str, &'static [&'static str])], file: &str) -> Option<(usize, &'r str)> {
    let path = file.split_once('/').map_or("", |(_, path)| path);
    let within = |start: &str| {
        start.is_empty() || path == start || path.strip_prefix(start).is_some_and(|rest| rest.starts_with('/'))
    };
    let all =
        rooms.iter().enumerate().flat_map(|(at, (name, starts))| starts.iter().map(move |start| (*start, at, *name)));
    all.filter(|(start, ..)| within(start)).max_by_key(|(start, ..)| start.len()).map(|(_, at, name)| (at, name))
}

#[test]
fn rooms_depend_one_way() {
    let uses = uses_of_definitions();
    let mut wrong = BTreeSet::new();
    for (of, rooms) in ROOMS {
        for (name, used) in uses.iter().filter(|(name, _)| folder(name) == *of && name.contains('/')) {
            let Some((own, room)) = room_of(rooms, name) else {
                wrong.insert(format!("{name} is in no room"));
                continue;
            };
            // A `mod.rs` re-exports what its folder has, in whichever room that is.
            for used in used.iter().filter(|used| used.contains('/') && !used.starts_with(&format!("{name}/"))) {
                if let Some((other, above)) = room_of(rooms, used).filter(|(other, _)| *other > own) {
                    wrong.insert(format!("{room} < {above} ({}): {name} uses {used}", other - own));
                }
            }
        }
    }
    println!("{} arrows up between rooms", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The most names of types with several meanings.
const AMBIGUOUS: usize = 10;

/// A reader knows a type by its name if few names are defined in three or more files.
#[test]
fn few_names_of_types_have_several_meanings() {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in sources() {
        let text = code(&text);
        let types = text.lines().filter_map(defined_by);
        let types = types.filter(|(kind, _)| ["struct", "enum", "trait", "type", "union"].contains(kind));
        for name in types.map(|(_, name)| name.to_string()).chain(ids(&text)) {
            files.entry(name).or_default().insert(file.clone());
        }
    }
    assert!(files.len() > 800, "only {} names of types are found", files.len());
    files.retain(|_, files| files.len() > 2);
    println!("{} names of types have three or more meanings: {files:#?}", files.len());
    assert!(files.len() <= AMBIGUOUS, "{files:#?}");
}

/// Declarations of a kind: their names, and how many lines of their bodies are members.
fn members(text: &str, kind: &str, is_member: impl Fn(&str) -> bool) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let declares = line.ends_with('{') && !line.starts_with(' ');
        let Some(rest) = bare(line).strip_prefix(kind).filter(|_| declares) else { continue };
        let name = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let body = lines.by_ref().take_while(|line| *line != "}");
        found.push((name, body.filter(|line| is_member(line)).count()));
    }
    found
}

/// Whether a line is directly in the body of a declaration.
fn direct(line: &str) -> Option<&str> {
    line.strip_prefix("    ").filter(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// What tells output notations apart: variants of what writes them.
const VARIANTS: &[&str] =
    &["Writer::Graph", "Writer::Onnx", "Writer::Pnnx", "Writer::Picture", "OnnxForm::Protobuf", "OnnxForm::Text"];

/// The names of notations.
const NAMES: &[&str] = &["nnef", "nnef-draft", "loops", "onnx", "onnxtxt", "pnnx", "ncnn", "dot", "svg", "html"];

/// The tables of notations: of inputs and outputs, and what encodes the latter.
const TABLES: &[&str] = &["input/table", "write/notation", "write/encode"];

/// What differs between notations is a column of their rows, or a method of what they read: nothing else asks which
/// notation it has.
#[test]
fn only_tables_tell_notations_apart() {
    let comparisons = ["== \"NAME\"", "!= \"NAME\"", "\"NAME\" =>", "\"NAME\" |", "(\"NAME\")) =>"];
    let of_name = |name: &&str| comparisons.map(|form| form.replace("NAME", name));
    let forms: Vec<String> = NAMES.iter().flat_map(of_name).collect();
    let mut found = Vec::new();
    // What no table has any more is not looked for.
    let (tables, others): (Vec<_>, Vec<_>) =
        sources().into_iter().partition(|(file, _)| TABLES.contains(&file.as_str()));
    let has = |text: &str| tables.iter().any(|(_, table)| table.contains(text));
    assert_eq!(tables.len(), TABLES.len());
    assert!(VARIANTS.iter().all(|variant| has(variant)), "{VARIANTS:?}");
    assert!(NAMES.iter().all(|name| has(&format!("\"{name}\""))), "{NAMES:?}");
    for (file, text) in others {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let compares = line.contains('"') && forms.iter().any(|form| line.contains(form));
            if compares || line.contains("::") && VARIANTS.iter().any(|variant| line.contains(variant)) {
                found.push(format!("{file}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn structs_and_instructions_are_few() {
    let text = "struct A {\n}\npub(in crate::b) struct B<'b> {\n    pub(crate) c: D,\n}\npub struct E(F);\n";
    let found = members(text, "struct ", |line| direct(line).is_some());
    assert_eq!(found, [("A", 0), ("B", 1)].map(|(name, count)| (name.to_owned(), count)));
    let (mut structs, mut instructions) = (0, 0);
    for (file, text) in sources() {
        let text = code(&text);
        for (name, fields) in members(&text, "struct ", |line| direct(line).is_some_and(|line| line.contains(": "))) {
            assert!(fields <= 20, "{file}: {name} has {fields} fields");
            structs += usize::from(fields > 0);
        }
        for (name, variants) in
            members(&text, "enum ", |line| direct(line).is_some_and(|line| line.starts_with(char::is_uppercase)))
        {
            assert!(name != "Instr" || variants <= 30, "{file}: {name} has {variants} variants");
            instructions += if name == "Instr" { variants } else { 0 };
        }
    }
    assert!(structs > 500 && instructions > 10, "only {structs} structs and {instructions} instructions are found");
}

/// Files `mod.rs` with definitions, and why.
const WITH_DEFINITIONS: &[(&str, &str)] =
    &[("dictionary", "its tables use the macro, which has to stand above their declarations")];

/// A `mod.rs` says what its folder is, declares the modules and re-exports; what is defined has a file with its name.
#[test]
fn folders_are_declared_and_files_define() {
    let mut found = Vec::new();
    for (name, text) in sources() {
        if !root().join(&name).join("mod.rs").exists() {
            continue;
        }
        let text = code(&text);
        // Lines in groups of re-exports are indented, or end a group.
        let outer = text.lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '#', '}']));
        let declares = |line: &str| ["mod ", "use "].iter().any(|kind| bare(line).starts_with(kind));
        let defined: Vec<&str> = outer.filter(|line| !declares(line)).collect();
        let excepted = WITH_DEFINITIONS.iter().any(|(folder, _)| *folder == name);
        if defined.is_empty() == excepted {
            found.push(format!("{name}/mod.rs defines {defined:#?}"));
        }
    }
    assert!(found.is_empty(), "definitions in a file of their own, exceptions that are left: {found:#?}");
}

/// The most functions that take an anonymous tuple apart in their parameters: what its parts are can be read in the
/// function only, not at its calls. It may become smaller, not larger.
const TUPLES: usize = 51;

/// The parameters of each function of a text: what stands between the parentheses behind its name and its generic
/// parameters.
fn parameters(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("fn ") {
        let rest = &text[at + "fn ".len()..];
        let Some(open) = rest.find(['<', '(']).filter(|open| *open > 0) else { continue };
        let (mut depth, mut start, mut before) = (0, None, ' ');
        for (i, c) in rest.char_indices().filter(|(i, _)| *i >= open) {
            match c {
                '(' if depth == 0 && start.is_none() => (start, depth) = (Some(i + 1), 1),
                '<' | '(' | '[' => depth += 1,
                '>' if before == '-' || before == '=' => {}
                '>' | ')' | ']' => depth -= 1,
                _ => {}
            }
            before = c;
            if let (Some(start), 0) = (start, depth) {
                found.push(&rest[start..i]);
                break;
            }
        }
    }
    found
}

/// Whether a parameter is a tuple that is taken apart.
fn takes_apart(parameters: &str) -> bool {
    let mut depth = 0;
    let mut is_first = true;
    for c in parameters.chars().filter(|c| !c.is_whitespace()) {
        if depth == 0 && is_first && c == '(' {
            return true;
        }
        is_first = depth == 0 && c == ',';
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
    }
    false
}

#[test]
fn few_functions_take_tuples_apart() {
    assert_eq!(parameters("fn f<T: Fn(u8) -> u8>((a, b): (u8, T)) {} fn g(x: &[u8]) -> (u8, u8)").len(), 2);
    assert!(takes_apart("a: u8, (b, c): (u8, u8)") && !takes_apart("a: (u8, u8), b: u8"));
    let mut found = Vec::new();
    for (file, text) in sources() {
        let text = code(&text);
        found.extend(parameters(&text).into_iter().filter(|of| takes_apart(of)).map(|of| format!("{file}: {of}")));
    }
    println!("{} functions take tuples apart", found.len());
    assert!(found.len() <= TUPLES, "{} functions take tuples apart: {found:#?}", found.len());
}

/// Structs with fields of these names that are no lists.
fn structs_with(text: &str, fields: &[&str]) -> Vec<String> {
    let is_field = |line: &str, field: &str| {
        let declared = line.trim().rsplit("pub(crate) ").next().unwrap();
        declared.split(':').next() == Some(field) && !line.contains("Vec<")
    };
    let has = |body: &str, field: &str| body.split("\n}").next().unwrap().lines().any(|line| is_field(line, field));
    let structs = text.split("struct ").skip(1).filter_map(|part| part.split_once(" {"));
    structs.filter(|(_, body)| fields.iter().all(|field| has(body, field))).map(|(name, _)| name.to_string()).collect()
}

/// What a window is, and how many places it has, is said once (`extents/window.rs`): others read settings and report.
#[test]
fn a_window_along_an_axis_is_one_type() {
    let all: Vec<String> = sources()
        .iter()
        .flat_map(|(name, text)| {
            let found = structs_with(&code(text), &["size", "stride"]);
            found.into_iter().map(move |found| format!("{name}: {found}"))
        })
        .collect();
    assert_eq!(all, ["extents/window: Window<N = i64, P = (N, N)>"]);
}

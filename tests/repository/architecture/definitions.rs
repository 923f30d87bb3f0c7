//! Which file uses an item that which other file defines. A re-export is followed to the definition, so that a folder
//! whose `mod.rs` re-exports everything counts like one whose files name each other.

use std::collections::{BTreeMap, BTreeSet};

/// The names that a file gives a meaning.
#[derive(Default)]
struct Names {
    /// Those of items that it defines.
    defined: BTreeSet<String>,
    /// Those that it imports or re-exports: the path from the root.
    imported: BTreeMap<String, Vec<String>>,
    /// The modules whose items it imports all.
    globs: Vec<Vec<String>>,
}

/// The files of the crate by their module paths, joined by `/`.
pub struct Definitions(BTreeMap<String, Names>);

/// The text of an identifier at the start.
fn identifier(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())]
}

/// A declaration without its visibility.
pub fn bare(line: &str) -> &str {
    let line = line.trim_start();
    match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(line, |(_, rest)| rest.trim_start()),
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        _ => line,
    }
}

/// The item that a line defines. Of lines that are indented, only types and visible constants count: a macro has them.
pub fn defined_by(line: &str) -> Option<(&'static str, &str)> {
    const KINDS: &[&str] =
        &["struct", "enum", "trait", "type", "union", "fn", "const fn", "const", "static", "macro_rules!"];
    let declaration = bare(line);
    let (kind, rest) = KINDS.iter().find_map(|kind| {
        let rest = declaration.strip_prefix(kind)?.strip_prefix(' ')?;
        Some((*kind, rest))
    })?;
    let indented = line.starts_with(' ');
    let in_macro = match kind {
        "struct" | "enum" | "trait" | "union" => true,
        "const" | "static" => declaration.len() < line.trim_start().len(),
        _ => false,
    };
    let name = identifier(rest);
    (!name.is_empty() && (!indented || in_macro)).then_some((kind, name))
}

/// The names of the types that `table_id!` and `position_id!` define in a text.
pub fn ids(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["\ntable_id! {", "\nposition_id! {"] {
        for block in text.split(start).skip(1) {
            let block = block.split("\n}").next().unwrap_or_default();
            let names = block.lines().map(|line| bare(line).trim_end_matches(';'));
            let names = names.filter(|line| line.starts_with(char::is_uppercase) && identifier(line) == *line);
            found.extend(names.map(str::to_string));
        }
    }
    found
}

/// The paths of a tree of imports, with the name that each gets.
fn branches(prefix: &[String], tree: &str, found: &mut Vec<(String, Vec<String>)>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        let segments = |text: &str| -> Vec<String> {
            let own = text.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_string);
            prefix.iter().cloned().chain(own).collect()
        };
        if let Some((head, group)) = part.split_once('{') {
            branches(&segments(head), group.trim_end().trim_end_matches('}'), found);
            continue;
        }
        let (path, alias) = part.split_once(" as ").map_or((part, None), |(path, alias)| (path, Some(alias.trim())));
        let mut path = segments(path);
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = alias.map(str::to_string).or_else(|| path.last().cloned());
        found.extend(name.map(|name| (name, path)));
    }
}

/// The trees of the `use` declarations in a text.
fn imports(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if bare(line).starts_with("use ") {
            let start = at + line.find("use ").map_or(0, |start| start + "use ".len());
            let tree = text[start..].split(';').next().unwrap_or_default();
            branches(&[], tree, &mut found);
        }
        at += line.len();
    }
    found
}

/// The paths of at least two segments in a text.
fn paths(text: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in text.split(|c| !is_part(c)).filter(|word| word.contains("::")) {
        let path: Vec<String> = word.split("::").filter(|part| !part.is_empty()).map(str::to_string).collect();
        if path.len() > 1 && !word.starts_with(':') {
            found.insert(path);
        }
    }
    found
}

impl Definitions {
    /// The definitions of files, given their module paths and texts without comments.
    pub fn of(sources: &[(String, String)]) -> Definitions {
        let mut all = Definitions(BTreeMap::new());
        for (file, text) in sources {
            let mut names = Names::default();
            names.defined.extend(text.lines().filter_map(defined_by).map(|(_, name)| name.to_string()));
            names.defined.extend(ids(text));
            all.0.insert(file.clone(), names);
        }
        for (file, text) in sources {
            let imports = imports(text);
            for (name, path) in &imports {
                // Imports can start with names that other imports of the file declare.
                let start = imports.iter().find(|(name, other)| Some(name) == path.first() && other != path);
                let path = all.absolute(file, path).or_else(|| {
                    let (_, start) = start?;
                    Some([all.absolute(file, start)?, path[1..].to_vec()].concat())
                });
                let (Some(mut path), Some(names)) = (path, all.0.get_mut(file)) else { continue };
                if name == "*" {
                    path.pop();
                    names.globs.push(path);
                } else {
                    names.imported.insert(name.clone(), path);
                }
            }
        }
        all
    }

    /// A path from the root, if it starts in the crate.
    fn absolute(&self, file: &str, path: &[String]) -> Option<Vec<String>> {
        let mut current: Vec<String> = file.split('/').filter(|part| !part.is_empty()).map(str::to_string).collect();
        let first = path.first()?;
        match first.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" | "super" => {}
            first => {
                let names = self.0.get(file)?;
                if let Some(start) = names.imported.get(first) {
                    return Some([&start[..], &path[1..]].concat());
                }
                if !self.0.contains_key(&[&current[..], &[first.to_string()]].concat().join("/")) {
                    return None;
                }
            }
        }
        for part in path {
            match part.as_str() {
                "super" => drop(current.pop()),
                "self" => {}
                part => current.push(part.to_string()),
            }
        }
        Some(current)
    }

    /// The file that defines the item of a path from the root. Paths of modules have none.
    fn definer(&self, path: &[String], depth: usize) -> Option<String> {
        const DEEPEST: usize = 16;
        let mut module = Vec::new();
        let mut at = 0;
        while at + 1 < path.len() && self.0.contains_key(&[&module[..], &path[at..=at]].concat().join("/")) {
            module.push(path[at].clone());
            at += 1;
        }
        let file = module.join("/");
        let (names, item) = (self.0.get(&file)?, path.get(at)?);
        if names.defined.contains(item) {
            return Some(file);
        }
        if depth == DEEPEST {
            return None;
        }
        let follow = |start: &[String]| self.definer(&[start, &path[at + 1..]].concat(), depth + 1);
        match names.imported.get(item) {
            Some(import) => follow(import),
            None => names.globs.iter().find_map(|glob| follow(&[&glob[..], &path[at..=at]].concat())),
        }
    }

    /// The files that a file uses.
    pub fn used_by(&self, file: &str, text: &str) -> BTreeSet<String> {
        let names = &self.0[file];
        let mut found = BTreeSet::new();
        for import in names.imported.values() {
            found.extend(self.definer(import, 0));
        }
        found.extend(names.globs.iter().map(|glob| glob.join("/")));
        for path in paths(text) {
            found.extend(self.absolute(file, &path).and_then(|path| self.definer(&path, 0)));
        }
        found.remove(file);
        found
    }
}

//! Rendered diagnostics.
//!
//! Each file of `tests/snapshots` is a case: lines `key: value` (see [`Case::read`]), then the
//! sections `--- source`, `--- human` and `--- json`. With `UPDATE_SNAPSHOTS=1` in the environment the
//! last two are rewritten; look at the difference before committing it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use nnef_flatten::diagnostics::{Code, Diagnostics};
use nnef_flatten::{Dialect, Document, Lower, Options, check, expand, parse};

const SECTIONS: [&str; 3] = ["source", "human", "json"];

struct Case {
    head: String,
    options: Options,
    sections: BTreeMap<String, String>,
}

impl Case {
    /// Reads a case. Keys of the head: `about` (a sentence, required), `strict` (`true`), `from`,
    /// `lower`, `keep-unused` (`true`), `max-ops`, `max-depth`.
    fn read(text: &str) -> Result<Case, String> {
        let mut parts = text.split_inclusive('\n').collect::<Vec<_>>().into_iter().peekable();
        let mut head = String::new();
        while let Some(line) = parts.next_if(|line| !line.starts_with("--- ")) {
            head.push_str(line);
        }
        let mut sections: BTreeMap<String, String> = BTreeMap::new();
        let mut current = String::new();
        for line in parts {
            match line.strip_prefix("--- ").map(str::trim) {
                Some(name) if !SECTIONS.contains(&name) => return Err(format!("unknown section `{name}`")),
                Some(name) if sections.contains_key(name) => return Err(format!("section `{name}` twice")),
                Some(name) => {
                    current = name.to_string();
                    sections.insert(current.clone(), String::new());
                }
                None => sections.get_mut(&current).unwrap().push_str(line),
            }
        }
        if !sections.contains_key("source") {
            return Err("no section `source`".into());
        }
        let options = Self::options(&head)?;
        Ok(Case { head, options, sections })
    }

    fn options(head: &str) -> Result<Options, String> {
        let mut options = Options::default();
        let mut about = false;
        for line in head.lines() {
            let (key, value) = line.split_once(": ").ok_or_else(|| format!("`{line}` is not `key: value`"))?;
            let number = || value.parse::<u64>().map_err(|error| format!("{line}: {error}"));
            match (key, value) {
                ("about", _) => about = true,
                ("strict", "true") => options.strict = true,
                ("keep-unused", "true") => options.keep_unused = true,
                ("from", "nnef") => options.dialect = Some(Dialect::V1),
                ("from", "nnef-draft") => options.dialect = Some(Dialect::Draft),
                ("lower", "all") => options.lower = Lower::All,
                ("max-ops", _) => options.max_ops = number()?,
                ("max-depth", _) => options.max_depth = number()?,
                _ => return Err(format!("`{line}` means nothing")),
            }
        }
        if about { Ok(options) } else { Err("no `about`".into()) }
    }

    /// The document and its diagnostics, as the command reports them.
    fn run(&self) -> (Document, Diagnostics) {
        let options = &self.options;
        let parsed = parse("case.nnef", self.sections["source"].clone(), options);
        let mut diagnostics = Diagnostics::new(options.strict);
        let refused = parsed.diagnostics.has_errors();
        diagnostics.extend(parsed.diagnostics);
        if refused {
            diagnostics.extend(check(&parsed.document, options));
        } else {
            diagnostics.extend(match expand(&parsed.document, options) {
                Ok(expansion) => expansion.diagnostics,
                Err(errors) => errors,
            });
        }
        (parsed.document, diagnostics)
    }

    /// The sections `human` and `json`, and the codes of the diagnostics.
    fn render(&self) -> (String, String, BTreeSet<Code>) {
        let (document, diagnostics) = self.run();
        let (mut human, mut objects, mut codes) = (Vec::new(), Vec::new(), BTreeSet::new());
        for diagnostic in diagnostics.into_sorted() {
            diagnostic.write_human(&mut human, document.sources(), false).unwrap();
            diagnostic.write_json(&mut objects, document.sources()).unwrap();
            codes.insert(diagnostic.code);
        }
        (String::from_utf8(human).unwrap(), String::from_utf8(objects).unwrap(), codes)
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn updating() -> bool {
    std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1")
}

#[test]
fn renderings_are_as_recorded() {
    let mut failed = String::new();
    for path in files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.ends_with(".txt"), "{name} is not a case");
        let case =
            Case::read(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (human, json, codes) = case.render();
        if codes.is_empty() {
            failed += &format!("{name}: nothing is found\n");
        }
        if updating() {
            let source = &case.sections["source"];
            let text = format!("{}--- source\n{source}--- human\n{human}--- json\n{json}", case.head);
            std::fs::write(&path, text).unwrap();
            continue;
        }
        for (section, found) in [("human", &human), ("json", &json)] {
            match case.sections.get(section) {
                None => failed += &format!("{name}: no section `{section}`\n"),
                Some(wanted) if wanted != found => {
                    failed += &format!("{name}: section `{section}` differs; wanted:\n{wanted}found:\n{found}\n");
                }
                Some(_) => {}
            }
        }
    }
    assert!(failed.is_empty(), "{failed}set UPDATE_SNAPSHOTS=1 to record what is found");
}

#[test]
fn every_family_of_rules_is_seen() {
    let mut codes = BTreeSet::new();
    let mut messages = BTreeSet::new();
    for path in files() {
        let case = Case::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let (_, diagnostics) = case.run();
        codes.extend(diagnostics.iter().map(|diagnostic| diagnostic.code));
        messages.extend(diagnostics.iter().map(|diagnostic| diagnostic.message.clone()));
    }
    let families: BTreeSet<char> = codes.iter().filter_map(|code| code.rule()?.chars().next()).collect();
    assert_eq!(families.into_iter().collect::<String>(), "ADEGHILSTU");
    assert!(codes.len() >= 60 && messages.len() >= 60, "{} codes, {} messages", codes.len(), messages.len());
}

#[test]
fn cases_with_mistakes_are_refused() {
    for (text, wanted) in [
        ("about: x\n", "no section `source`"),
        ("about: x\n--- source\n--- sauce\n", "unknown section `sauce`"),
        ("about: x\n--- source\n--- source\n", "section `source` twice"),
        ("--- source\n", "no `about`"),
        ("about: x\nstrict: maybe\n--- source\n", "`strict: maybe` means nothing"),
        ("about\n--- source\n", "`about` is not `key: value`"),
    ] {
        assert_eq!(Case::read(text).err().as_deref(), Some(wanted), "{text}");
    }
}

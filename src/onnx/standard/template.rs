//! Templates of function bodies.
//!
//! A file has a section for each body, with a head `== NAME VERSION`, the line of attributes, inputs and outputs, and a
//! line for each node. `#` starts a comment line. In a line, `$key` is replaced by a value of the settings. A line that
//! starts with flags in brackets, such as `[bias !scale]`, is there only if the settings have the first and not the
//! second. Two forms of lines make constants:
//!
//! - `one = const $T (1)`: a constant of an element type, or `int64[2] (0, 1)` for several items
//! - `alpha = attribute $T (alpha)`: the value of a float attribute as a constant of an element type

use crate::onnx::types::{ElementType, Storage};

/// The name of an element type that is not known.
pub(super) const UNKNOWN: &str = "?";

/// The line that stands for those that a builder assembles.
const ASSEMBLED: &str = "...";

/// What a builder fills in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct TemplateSettings {
    flags: Vec<&'static str>,
    values: Vec<(&'static str, String)>,
    /// Lines that a builder assembles, for the place of [`ASSEMBLED`].
    lines: Vec<String>,
}

impl TemplateSettings {
    /// Sets a flag if a condition holds.
    pub(super) fn flag(&mut self, name: &'static str, is_set: bool) -> &mut Self {
        self.flags.extend(is_set.then_some(name));
        self
    }

    /// Sets the value of a key.
    pub(super) fn set(&mut self, key: &'static str, value: impl ToString) -> &mut Self {
        self.values.push((key, value.to_string()));
        self
    }

    /// Adds a line at the place of [`ASSEMBLED`].
    pub(super) fn line(&mut self, line: String) -> &mut Self {
        self.lines.push(line);
        self
    }

    /// The number of lines that a builder assembled.
    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The value of a key; empty if it has none.
    pub(super) fn value(&self, key: &str) -> &str {
        self.values.iter().rev().find(|value| value.0 == key).map_or("", |value| &value.1)
    }

    fn has(&self, flags: &str) -> bool {
        flags.split_whitespace().all(|flag| match flag.strip_prefix('!') {
            Some(flag) => !self.flags.contains(&flag),
            None => self.flags.contains(&flag),
        })
    }

    /// The text with values in place of their keys; none if a key has no value.
    fn filled(&self, text: &str) -> Option<String> {
        let mut parts = text.split('$');
        let mut filled = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let end = part.find(|symbol: char| !symbol.is_ascii_alphanumeric()).unwrap_or(part.len());
            let (key, rest) = part.split_at(end);
            filled.push_str(&self.values.iter().rev().find(|value| value.0 == key)?.1);
            filled.push_str(rest);
        }
        Some(filled)
    }
}

/// The section of a body in a file; none if there is none.
pub(super) fn section<'t>(file: &'t str, name: &str, version: i64) -> Option<&'t str> {
    let mut sections = file.split("\n== ");
    sections.find_map(|section| {
        let (head, body) = section.trim_start_matches("== ").split_once('\n')?;
        (head.split_once(' ')? == (name, version.to_string().as_str())).then_some(body)
    })
}

/// The function in the text notation; none if the settings lack a value.
pub(super) fn assemble(name: &str, section: &str, settings: &TemplateSettings) -> Option<String> {
    let mut lines = section.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let head = lines.next()?;
    let head = settings.filled(head)?;
    let like = first_input(&head);
    let mut body = format!("{name} {head} {{\n");
    let assembled = |line| match line {
        ASSEMBLED => settings.lines.iter().map(String::as_str).collect(),
        line => vec![line],
    };
    for line in lines.flat_map(assembled) {
        let line = match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((flags, _)) if !settings.has(flags) => continue,
            Some((_, rest)) => rest,
            None => line,
        };
        let line = settings.filled(line)?;
        body.push_str(&constant(&line, like).unwrap_or(line));
        body.push('\n');
    }
    body.push('}');
    Some(body)
}

/// The name of the first input of a function.
fn first_input(head: &str) -> &str {
    let inputs = head.split_once("=>").map_or(head, |parts| parts.0);
    let inputs = inputs.rsplit_once('(').map_or("", |parts| parts.1);
    inputs.split([',', ')']).next().unwrap_or("").trim()
}

/// The nodes for a line that makes a constant; none for another line.
fn constant(line: &str, like: &str) -> Option<String> {
    let (name, rest) = line.split_once(" = ")?;
    let (form, rest) = rest.split_once(' ')?;
    let (ty, items) = rest.split_once(" (")?;
    let items = items.strip_suffix(')')?;
    let of_float = match form {
        "const" if is_direct(ty, items) => {
            return Some(format!("{name} = Constant <value: tensor = {ty} {{{items}}}> ()"));
        }
        "const" => format!("<value: tensor = float {{{items}}}>"),
        "attribute" => format!("<value_float: float = @{items}>"),
        _ => return None,
    };
    if ty == "float" {
        return Some(format!("{name} = Constant {of_float} ()"));
    }
    let cast = match ElementType::named(ty) {
        Some(element) => format!("Cast <to: int = {}> ({name}_float)", element.number),
        None => format!("CastLike ({name}_float, {like})"),
    };
    Some(format!("{name}_float = Constant {of_float} ()\n{name} = {cast}"))
}

/// Whether the text notation has these items for constants of a type as they are: it has bits for floats of 16 bits.
fn is_direct(ty: &str, items: &str) -> bool {
    let Some(element) = ElementType::named(ty.split('[').next().unwrap_or(ty)) else { return false };
    match element.storage {
        Storage::Float | Storage::Double => element.bits == if element.storage == Storage::Float { 32 } else { 64 },
        Storage::String => false,
        _ => !element.name.contains("float") && !items.contains(['.', 'e', 'i', 'n']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        let file = "# A comment.\n== F 1\n<a> (X, Y) => (Z)\n[more] Z = Add (X, $k)\n[!more] Z = Neg (X)\n== F 12\n(X) => (Y)\none = const $T (1)\nY = Add (X, one)\n";
        let filled = |name: &str, version, settings: &mut TemplateSettings| {
            assemble(name, section(file, name, version)?, settings)
        };
        let mut one = TemplateSettings::default();
        assert_eq!(filled("F", 1, &mut one).unwrap(), "F <a> (X, Y) => (Z) {\nZ = Neg (X)\n}");
        assert_eq!(filled("F", 1, one.flag("more", true)), None);
        assert_eq!(filled("F", 1, one.set("k", "Y")).unwrap(), "F <a> (X, Y) => (Z) {\nZ = Add (X, Y)\n}");
        assert_eq!(filled("F", 2, &mut TemplateSettings::default()), None);
        for (ty, constant) in [
            ("float", "one = Constant <value: tensor = float {1}> ()"),
            ("int64", "one = Constant <value: tensor = int64 {1}> ()"),
            ("float16", "one_float = Constant <value: tensor = float {1}> ()\none = Cast <to: int = 10> (one_float)"),
            (UNKNOWN, "one_float = Constant <value: tensor = float {1}> ()\none = CastLike (one_float, X)"),
        ] {
            let text = filled("F", 12, TemplateSettings::default().set("T", ty)).unwrap();
            assert_eq!(text, format!("F (X) => (Y) {{\n{constant}\nY = Add (X, one)\n}}"));
        }
    }
}

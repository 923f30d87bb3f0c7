//! Templates of function bodies.
//!
//! A file has a section for each body, with a head `== NAME VERSION`, the line of attributes, inputs and outputs, and a
//! line for each node. `#` starts a comment line. In a line, `$key` is replaced by a value of the settings. A line that
//! starts with flags in brackets, such as `[bias !scale]`, is there only if the settings have the first and not the
//! second. Two forms of lines make constants:
//!
//! - `one = const $T (1)`: a constant of an element type, or `int64[2] (0, 1)` for several items
//! - `alpha = attribute $T (alpha)`: the value of a float attribute as a constant of an element type
//!
//! `mean = along ReduceMean (-1) (X)` is a node whose axes are an attribute, or an operand from some version on.

use std::borrow::Cow;

use crate::onnx::types::{ElementType, Storage};

/// The name of an element type that is not known.
pub(super) const UNKNOWN: &str = "?";

/// The line that stands for those that a builder assembles.
const ASSEMBLED: &str = "...";

/// The length of the text of most bodies.
const USUAL_LENGTH: usize = 1 << 10;

/// What a key can be replaced by.
pub(super) trait SettingValue {
    /// The text in place of the key.
    fn into_text(self) -> Cow<'static, str>;
}

impl SettingValue for &'static str {
    fn into_text(self) -> Cow<'static, str> {
        Cow::Borrowed(self)
    }
}

impl SettingValue for Cow<'static, str> {
    fn into_text(self) -> Cow<'static, str> {
        self
    }
}

impl SettingValue for String {
    fn into_text(self) -> Cow<'static, str> {
        Cow::Owned(self)
    }
}

macro_rules! numbers_are_setting_values {
    ($($number:ty)*) => {
        $(impl SettingValue for $number {
            fn into_text(self) -> Cow<'static, str> {
                Cow::Owned(self.to_string())
            }
        })*
    };
}

numbers_are_setting_values!(i32 i64 usize);

/// What a builder fills in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct TemplateSettings {
    flags: Vec<&'static str>,
    values: Vec<(&'static str, Cow<'static, str>)>,
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
    pub(super) fn set(&mut self, key: &'static str, value: impl SettingValue) -> &mut Self {
        self.values.push((key, value.into_text()));
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
    pub(super) fn value(&self, key: &str) -> Cow<'static, str> {
        self.values.iter().rev().find(|value| value.0 == key).map(|value| value.1.clone()).unwrap_or_default()
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }
}

/// A text with keys, which values replace.
#[derive(Debug)]
struct KeyedText<'t> {
    start: &'t str,
    /// The keys, each with the text after it.
    parts: Vec<(&'t str, &'t str)>,
}

impl<'t> KeyedText<'t> {
    fn of(text: &'t str) -> Self {
        let mut parts = text.split('$');
        let start = parts.next().unwrap_or("");
        let keyed = |part: &'t str| {
            let end = part.find(|symbol: char| !symbol.is_ascii_alphanumeric()).unwrap_or(part.len());
            part.split_at(end)
        };
        KeyedText { start, parts: parts.map(keyed).collect() }
    }

    /// Adds the text with values in place of their keys; none if a key has no value.
    fn fill(&self, settings: &TemplateSettings, text: &mut String) -> Option<()> {
        text.push_str(self.start);
        for (key, rest) in &self.parts {
            text.push_str(&settings.values.iter().rev().find(|value| value.0 == *key)?.1);
            text.push_str(rest);
        }
        Some(())
    }
}

/// A line of a template.
#[derive(Debug)]
struct TemplateLine<'t> {
    /// The flags that decide whether it is there: whether the settings must have them.
    flags: Vec<(&'t str, bool)>,
    text: KeyedText<'t>,
    /// Whether it has one of the forms that make constants, or operands of axes.
    has_form: bool,
}

impl<'t> TemplateLine<'t> {
    fn of(line: &'t str) -> Self {
        let (flags, line) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).unwrap_or(("", line));
        let flag = |flag: &'t str| flag.strip_prefix('!').map_or((flag, true), |flag| (flag, false));
        let has_form = [" = const ", " = attribute ", " = along "].iter().any(|form| line.contains(form));
        TemplateLine { flags: flags.split_whitespace().map(flag).collect(), text: KeyedText::of(line), has_form }
    }

    /// Adds the nodes of the line, if the settings have its flags; none if they lack a value.
    fn add(&self, settings: &TemplateSettings, like: &str, body: &mut String) -> Option<()> {
        if !self.flags.iter().all(|(flag, wanted)| settings.has(flag) == *wanted) {
            return Some(());
        }
        if self.has_form {
            let mut line = String::new();
            self.text.fill(settings, &mut line)?;
            body.push_str(&constant(&line, like).or_else(|| along(&line, settings)).unwrap_or(line));
        } else {
            self.text.fill(settings, body)?;
        }
        body.push('\n');
        Some(())
    }
}

/// A template, of which most is read before it is filled in.
#[derive(Debug)]
pub(super) struct Template<'t> {
    /// Attributes, inputs and outputs.
    head: KeyedText<'t>,
    lines: Vec<TemplateLine<'t>>,
    /// The keys in it, each once.
    keys: Vec<&'t str>,
}

impl<'t> Template<'t> {
    /// The templates in a file with their names and versions.
    pub(super) fn all_of(file: &'t str) -> impl Iterator<Item = ((&'t str, i64), Template<'t>)> {
        file.split("\n== ").filter_map(|section| {
            let (head, body) = section.trim_start_matches("== ").split_once('\n')?;
            let (name, version) = head.split_once(' ')?;
            Some(((name, version.parse().ok()?), Template::of(body)?))
        })
    }

    fn of(section: &'t str) -> Option<Self> {
        let mut lines = section.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let head = KeyedText::of(lines.next()?);
        let lines: Vec<TemplateLine> = lines.map(TemplateLine::of).collect();
        let texts = lines.iter().map(|line| &line.text).chain([&head]);
        let mut keys: Vec<&str> = texts.flat_map(|text| &text.parts).map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        Some(Template { head, lines, keys })
    }

    /// Whether a key is in it; always if a builder assembles lines, which may have it.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.keys.contains(&key) || self.lines.iter().any(|line| line.text.start == ASSEMBLED)
    }

    /// The function in the text notation; none if the settings lack a value.
    pub(super) fn assemble(&self, name: &str, settings: &TemplateSettings) -> Option<String> {
        let mut body = String::with_capacity(USUAL_LENGTH);
        body.extend([name, " "]);
        self.head.fill(settings, &mut body)?;
        let like = first_input(&body).to_owned();
        body.push_str(" {\n");
        for line in &self.lines {
            if line.text.start == ASSEMBLED {
                let mut lines = settings.lines.iter();
                lines.try_for_each(|line| TemplateLine::of(line).add(settings, &like, &mut body))?;
            } else {
                line.add(settings, &like, &mut body)?;
            }
        }
        body.push('}');
        Some(body)
    }
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

/// The operators whose axes are an operand, with the flag of the version from which on they are.
const ALONG: &[(&str, &str)] = &[
    ("ReduceMax", "v18"),
    ("ReduceMean", "v18"),
    ("ReduceMin", "v18"),
    ("ReduceProd", "v18"),
    ("ReduceSum", "v13"),
    ("Squeeze", "v13"),
    ("Unsqueeze", "v13"),
];

/// The nodes for a line of an operator with axes; none for another line.
fn along(line: &str, settings: &TemplateSettings) -> Option<String> {
    let (name, rest) = line.split_once(" = along ")?;
    let (operator, rest) = rest.split_once(" (")?;
    let (axes, operand) = rest.split_once(") (")?;
    let (operator, attributes) = operator.split_once(" <").map_or((operator, None), |(name, rest)| (name, Some(rest)));
    let (_, flag) = ALONG.iter().find(|row| row.0 == operator)?;
    if !settings.has(flag) {
        let others = attributes.map_or(">".to_owned(), |attributes| format!(", {attributes}"));
        return Some(format!("{name} = {operator} <axes: ints = [{axes}]{others} ({operand}"));
    }
    let operand = operand.strip_suffix(')')?;
    let operator = attributes.map_or(operator.to_owned(), |attributes| format!("{operator} <{attributes}"));
    let count = axes.split(',').count();
    let axes = format!("{name}_axes = Constant <value: tensor = int64[{count}] {{{axes}}}> ()");
    Some(format!("{axes}\n{name} = {operator} ({operand}, {name}_axes)"))
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
        let templates: Vec<_> = Template::all_of(file).collect();
        let filled = |name: &str, version, settings: &mut TemplateSettings| {
            templates.iter().find(|template| template.0 == (name, version))?.1.assemble(name, settings)
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

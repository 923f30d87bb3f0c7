//! Checks the syntax of a shape, and converts it to a [`Shape`].

use chumsky::Parser as _;
use chumsky::error::{Rich, RichPattern, RichReason};

use super::grammar::{self, AttributeGroup, Raw, RawArray, RawDimension, RawLayout, ShapeAttribute, ShapeParser, Word};
use super::layout::{permutation, tile_is_usable};
use super::{ArrayShape, Dimension, ElementType, Layout, MAX_MEMORY_SPACE, Shape};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, suggest};
use crate::source::{FileId, Location, Span};

/// The maximum nesting depth of tuples.
const MAX_NESTING: usize = 200;

/// Reads a shape.
pub(super) fn read(text: &str, file: FileId) -> Result<Shape, Diagnostics> {
    let mut checker = Checker { file, found: Diagnostics::default() };
    let raw = checker.parse(text, grammar::shape());
    let shape = raw.and_then(|raw| checker.shape(&raw));
    match shape {
        Some(shape) if !checker.found.has_errors() => Ok(shape),
        _ => Err(checker.found),
    }
}

/// Reads a layout without a shape; its rank is the number of its dimensions.
pub(super) fn read_layout(text: &str, start: usize, file: FileId) -> Result<Layout, Diagnostics> {
    let mut checker = Checker { file, found: Diagnostics::default() };
    let raw = checker.parse(text, grammar::whole_layout(start));
    match raw.and_then(|raw| checker.layout(&raw, raw.order.len())) {
        Some(layout) if !checker.found.has_errors() => Ok(layout),
        _ => Err(checker.found),
    }
}

/// Reads an array at the start of a text; none if its syntax is not valid.
pub(super) fn array(text: &str) -> Option<ArrayShape> {
    let mut checker = Checker { file: FileId::default(), found: Diagnostics::default() };
    match grammar::shape().lazy().parse(text).into_output()? {
        Raw::Array(raw) => checker.array(&raw).filter(|_| !checker.found.has_errors()),
        _ => None,
    }
}

struct Checker {
    file: FileId,
    found: Diagnostics,
}

impl Checker {
    fn refuse<T>(&mut self, code: Code, at: Span, message: impl Into<String>) -> Option<T> {
        self.help(code, at, message, None)
    }

    fn help<T>(&mut self, code: Code, at: Span, message: impl Into<String>, help: Option<String>) -> Option<T> {
        self.found.report(Diagnostic::new(code, Location::new(self.file, at), message).help_if(help));
        None
    }

    fn parse<'t, O>(&mut self, text: &'t str, rule: impl ShapeParser<'t, O>) -> Option<O> {
        let mut depth = 0usize;
        for (at, byte) in text.bytes().enumerate() {
            depth = match byte {
                b'(' => depth + 1,
                b')' => depth.saturating_sub(1),
                _ => depth,
            };
            if depth > MAX_NESTING {
                let at = Span::new(at as u32, at as u32 + 1);
                let message = format!("shapes are nested more than {MAX_NESTING} deep");
                return self.refuse(Code::ShapeSyntax, at, message);
            }
        }
        match rule.parse(text).into_result() {
            Ok(raw) => Some(raw),
            Err(errors) => {
                let error = errors.first()?;
                let at = Span::new(error.span().start as u32, error.span().end as u32);
                let label = match error.found() {
                    Some(found) => format!("unexpected `{found}`"),
                    None => "the text ends".to_owned(),
                };
                let at = Location::new(self.file, at);
                self.found.report(Diagnostic::new(Code::ShapeSyntax, at, expected(error)).label(label));
                None
            }
        }
    }

    fn shape(&mut self, raw: &Raw) -> Option<Shape> {
        match raw {
            Raw::Array(raw) if matches!(raw.element.0, "token" | "opaque") => {
                let name = raw.element.0;
                if !raw.dims.is_empty() || raw.layout.is_some() {
                    return self.refuse(
                        Code::ShapeSyntax,
                        raw.at,
                        format!("`{name}` has no dimensions and no layout"),
                    )?;
                }
                Some(if name == "token" { Shape::Token } else { Shape::Opaque })
            }
            Raw::Array(raw) => self.array(raw).map(Shape::Array),
            Raw::Tuple(items) => {
                let items: Vec<Option<Shape>> = items.iter().map(|item| self.part(item)).collect();
                items.into_iter().collect::<Option<Vec<Shape>>>().map(Shape::Tuple)
            }
            Raw::Buffer(of, at) => match self.shape(of)? {
                array @ Shape::Array(_) => Some(Shape::Buffer(Box::new(array))),
                other => {
                    self.refuse(Code::ShapeSyntax, *at, format!("a buffer holds an array, not a {}", other.kind()))
                }
            },
        }
    }

    /// A part of a tuple. Its size must fit into 63 bits, where unknown dimensions count as 1, as in XLA.
    fn part(&mut self, raw: &Raw) -> Option<Shape> {
        let shape = self.shape(raw)?;
        let array = match &shape {
            Shape::Array(array) => Some(array),
            Shape::Buffer(of) => of.array(),
            _ => None,
        };
        if let Some(array) = array
            && !array.fits()
        {
            let at = raw.at().unwrap_or_default();
            return self.refuse(Code::ShapeNumber, at, "the bytes of an array in a tuple do not fit into 63 bits");
        }
        Some(shape)
    }

    fn array(&mut self, raw: &RawArray) -> Option<ArrayShape> {
        let element = self.element(raw.element);
        let dims: Vec<Option<Dimension>> = raw
            .dims
            .iter()
            .map(|(dimension, _)| match dimension {
                RawDimension::Static(size) => self.number(*size).map(Dimension::Static),
                RawDimension::Bounded(size) => self.number(*size).map(Dimension::Bounded),
                RawDimension::Unbounded => Some(Dimension::Unbounded),
            })
            .collect();
        let layout = match &raw.layout {
            Some(layout) => self.layout(layout, raw.dims.len()),
            None => Some(Layout::row_major(raw.dims.len())),
        };
        let dims = dims.into_iter().collect::<Option<Vec<Dimension>>>()?;
        Some(ArrayShape { element: element?, dims, layout: layout? })
    }

    fn element(&mut self, (name, at): Word) -> Option<ElementType> {
        let found = ElementType::from_name(name);
        if found.is_none() {
            let help = suggest::did_you_mean(name, ElementType::names());
            return self.help(Code::ShapeElement, at, format!("`{name}` is not an element type"), help);
        }
        found
    }

    /// A non-negative number that fits into 63 bits.
    fn number(&mut self, (text, at): Word) -> Option<u64> {
        let wrong = match text.parse::<i64>() {
            Ok(number) if number >= 0 && !text.starts_with('-') => return Some(number as u64),
            _ if text.starts_with('-') => "is negative",
            _ if text.bytes().all(|byte| byte.is_ascii_digit()) => "does not fit into 64 bits",
            _ => "is not a number",
        };
        self.refuse(Code::ShapeNumber, at, format!("`{text}` {wrong}"))
    }

    fn layout(&mut self, raw: &RawLayout, rank: usize) -> Option<Layout> {
        let order: Vec<Option<u64>> = raw.order.iter().map(|word| self.number(*word)).collect();
        let order: Vec<usize> = order.into_iter().map(|number| number.map(|n| n as usize)).collect::<Option<_>>()?;
        if let Err(error) = permutation(&order, rank) {
            let at = raw.order.first().zip(raw.order.last()).map_or(raw.at, |(first, last)| first.1.to(last.1));
            return self.refuse(Code::ShapeOrder, at, format!("minor_to_major {error}"));
        }
        let mut layout = Layout { minor_to_major: order, ..Layout::default() };
        let mut before: Option<(usize, &ShapeAttribute)> = None;
        for attribute in &raw.attributes {
            let (name, at) = attribute.name;
            let Some(place) = ATTRIBUTES.iter().position(|(known, ..)| *known == name) else {
                let known = ATTRIBUTES.iter().map(|(known, ..)| *known).collect::<Vec<_>>().join(" ");
                return self.refuse(
                    Code::ShapeAttribute,
                    at,
                    format!("`{name}` is not an attribute of layouts: {known}"),
                );
            };
            let last = before.filter(|(last, _)| *last >= place);
            if let Some((last, _)) = last {
                let message = match last == place {
                    true => format!("`{name}` is given twice"),
                    false => format!("`{name}` must precede `{}`", ATTRIBUTES[last].0),
                };
                return self.refuse(Code::ShapeAttribute, at, message);
            }
            before = Some((place, attribute));
            (ATTRIBUTES[place].2)(self, attribute, &mut layout)?;
        }
        if let Some(split) = layout.splits.iter().find(|(dimension, _)| *dimension >= rank as u64) {
            return self.refuse(Code::ShapeAttribute, raw.at, format!("`SC` divides a dimension {}", split.0));
        }
        Some(layout)
    }

    /// The item of an attribute with exactly one item.
    fn only<'t>(&mut self, attribute: &ShapeAttribute<'t>, what: &str) -> Option<Word<'t>> {
        match attribute.groups.as_slice() {
            [AttributeGroup { key: None, items, .. }] if items.len() == 1 => Some(items[0]),
            _ => {
                let (name, at) = attribute.name;
                self.refuse(Code::ShapeAttribute, at, format!("`{name}` has {what} in parentheses"))
            }
        }
    }

    fn only_number(&mut self, attribute: &ShapeAttribute) -> Option<u64> {
        self.only(attribute, "a number").and_then(|word| self.number(word))
    }

    fn unsigned(&mut self, attribute: &ShapeAttribute) -> Option<ElementType> {
        let word = self.only(attribute, "an unsigned type")?;
        let element = self.element(word)?;
        if !element.is_unsigned() {
            return self.refuse(Code::ShapeElement, word.1, format!("`{element}` is not an unsigned type"));
        }
        Some(element)
    }

    fn numbers(&mut self, words: &[Word]) -> Option<Vec<u64>> {
        let numbers: Vec<Option<u64>> = words.iter().map(|word| self.number(*word)).collect();
        numbers.into_iter().collect()
    }
}

/// The function that reads an attribute. [`ATTRIBUTES`] has name, description and function of each, in order.
type Reading = fn(&mut Checker, &ShapeAttribute, &mut Layout) -> Option<()>;
const ATTRIBUTES: &[(&str, &str, Reading)] = &[
    ("D", "levels of sparse dimensions", levels),
    ("T", "tiles", tiles),
    ("L", "alignment of the tail", tail),
    ("#", "type of indices", |checker, attribute, layout| {
        layout.index_type = Some(checker.unsigned(attribute)?);
        Some(())
    }),
    ("*", "type of pointers", |checker, attribute, layout| {
        layout.pointer_type = Some(checker.unsigned(attribute)?);
        Some(())
    }),
    ("E", "bits of an element", |checker, attribute, layout| {
        layout.element_bits = checker.only_number(attribute)?;
        Some(())
    }),
    ("S", "memory", memory_space),
    ("SC", "divided dimensions", splits),
    ("P", "physical shape", |checker, attribute, _| {
        checker.refuse(Code::ShapeAttribute, attribute.name.1, "sparse arrays, which `P` describes, are not supported")
    }),
    ("M", "bytes of metadata before the array", |checker, attribute, layout| {
        layout.metadata_prefix = checker.only_number(attribute)?;
        Some(())
    }),
];

/// The levels of sparse arrays are checked and dropped, as in XLA.
fn levels(checker: &mut Checker, attribute: &ShapeAttribute, _: &mut Layout) -> Option<()> {
    let is_level = |(word, _): &Word| {
        let marks = word.trim_start_matches(['D', 'C', 'S']);
        word.len() == marks.len() + 1 && ["", "+", "~", "+~"].contains(&marks)
    };
    match attribute.groups.as_slice() {
        [AttributeGroup { key: None, items, .. }] if !items.is_empty() && items.iter().all(is_level) => Some(()),
        _ => checker.refuse(Code::ShapeAttribute, attribute.name.1, "`D` has levels in parentheses: D, C or S"),
    }
}

fn tiles(checker: &mut Checker, attribute: &ShapeAttribute, layout: &mut Layout) -> Option<()> {
    if attribute.groups.is_empty() {
        return checker.refuse(Code::ShapeTile, attribute.name.1, "`T` has sizes in parentheses");
    }
    for group in &attribute.groups {
        let size = |checker: &mut Checker, word: &Word| match word.0 {
            "*" => Some(None),
            _ => checker.number(*word).map(Some),
        };
        let tile: Vec<Option<Option<u64>>> = group.items.iter().map(|word| size(checker, word)).collect();
        let tile: Vec<Option<u64>> = tile.into_iter().collect::<Option<_>>()?;
        let usable = if group.key.is_some() { Err("a tile has no colon") } else { tile_is_usable(&tile) };
        if let Err(message) = usable {
            return checker.refuse(Code::ShapeTile, group.at, message);
        }
        layout.tiles.push(tile);
    }
    Some(())
}

fn memory_space(checker: &mut Checker, attribute: &ShapeAttribute, layout: &mut Layout) -> Option<()> {
    layout.memory_space = checker.only_number(attribute)?;
    if layout.memory_space > MAX_MEMORY_SPACE {
        let message = format!("the numbers of memories end at {MAX_MEMORY_SPACE}");
        return checker.refuse(Code::ShapeAttribute, attribute.name.1, message);
    }
    Some(())
}

fn tail(checker: &mut Checker, attribute: &ShapeAttribute, layout: &mut Layout) -> Option<()> {
    let alignment = checker.only_number(attribute)?;
    if alignment == 0 {
        return checker.refuse(Code::ShapeAttribute, attribute.name.1, "`L` aligns to a multiple of 0");
    }
    layout.tail_alignment = if alignment == 1 { 0 } else { alignment };
    Some(())
}

fn splits(checker: &mut Checker, attribute: &ShapeAttribute, layout: &mut Layout) -> Option<()> {
    for group in &attribute.groups {
        let Some(dimension) = group.key.filter(|_| !group.items.is_empty()) else {
            return checker.refuse(Code::ShapeAttribute, group.at, "`SC` has a dimension, a colon and indices");
        };
        let split = (checker.number(dimension)?, checker.numbers(&group.items)?);
        layout.splits.push(split);
    }
    match attribute.groups.is_empty() {
        true => checker.refuse(Code::ShapeAttribute, attribute.name.1, "`SC` has a dimension, a colon and indices"),
        false => Some(()),
    }
}

/// The message of a syntax error.
fn expected(error: &Rich<char>) -> String {
    let found = error.found().map_or("the end of the text".to_owned(), |found| format!("`{found}`"));
    let RichReason::ExpectedFound { expected, .. } = error.reason() else { return format!("unexpected {found}") };
    let text = |pattern: &RichPattern<char>| match pattern {
        RichPattern::Label(label) if label == "a blank" || label == "digit" => None,
        RichPattern::Label(label) => Some(label.to_string()),
        RichPattern::Token(token) => Some(format!("`{}`", **token)),
        RichPattern::EndOfInput => Some("the end of the text".to_owned()),
        _ => None,
    };
    let mut wanted: Vec<String> = expected.iter().filter_map(text).collect();
    wanted.retain(|wanted| !["` `", "`\t`", "`\r`", "`\n`", "`/`"].contains(&wanted.as_str()));
    wanted.sort_unstable();
    wanted.dedup();
    match wanted.split_last() {
        None => format!("unexpected {found}"),
        Some((last, [])) => format!("expected {last}, found {found}"),
        Some((last, others)) => format!("expected {} or {last}, found {found}", others.join(", ")),
    }
}

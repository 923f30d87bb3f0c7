//! The grammar of XLA shapes.
//!
//! ```text
//! shape      ::= array | "(" [shape ("," shape)*] ")" | "b" "(" shape ")"
//! array      ::= word "[" [dimension ("," dimension)*] "]" [layout]
//! dimension  ::= number | "<=" number | "?"
//! layout     ::= "{" [number ("," number)*] [":" attribute*] "}"
//! attribute  ::= (word | "#" | "*") (group+ | "(" shape ")")
//! group      ::= "(" [[number ":"] item ("," item)*] ")"
//! item       ::= number | "*" | word
//! ```
//! Blanks and comments are allowed between tokens. Words and numbers are checked afterwards (`check.rs`), so that all
//! errors of a text are reported.

use chumsky::prelude::*;

use crate::source::Span;

/// A part of the text with its span.
pub(super) type Word<'t> = (&'t str, Span);

/// The syntax of a shape.
#[derive(Clone, Debug)]
pub(super) enum Raw<'t> {
    Array(RawArray<'t>),
    Tuple(Vec<Raw<'t>>),
    Buffer(Box<Raw<'t>>, Span),
}

impl Raw<'_> {
    /// The span of an array or a buffer.
    pub(super) fn at(&self) -> Option<Span> {
        match self {
            Raw::Array(array) => Some(array.at),
            Raw::Buffer(_, at) => Some(*at),
            Raw::Tuple(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct RawArray<'t> {
    pub(super) element: Word<'t>,
    pub(super) dims: Vec<(RawDimension<'t>, Span)>,
    pub(super) layout: Option<RawLayout<'t>>,
    pub(super) at: Span,
}

#[derive(Clone, Debug)]
pub(super) enum RawDimension<'t> {
    Static(Word<'t>),
    Bounded(Word<'t>),
    Unbounded,
}

#[derive(Clone, Debug)]
pub(super) struct RawLayout<'t> {
    pub(super) order: Vec<Word<'t>>,
    pub(super) attributes: Vec<ShapeAttribute<'t>>,
    pub(super) at: Span,
}

/// A name with groups of items in parentheses; none for a shape in parentheses.
#[derive(Clone, Debug)]
pub(super) struct ShapeAttribute<'t> {
    pub(super) name: Word<'t>,
    pub(super) groups: Vec<AttributeGroup<'t>>,
}

#[derive(Clone, Debug)]
pub(super) struct AttributeGroup<'t> {
    /// The number before a colon.
    pub(super) key: Option<Word<'t>>,
    pub(super) items: Vec<Word<'t>>,
    pub(super) at: Span,
}

type Extra<'t> = extra::Err<Rich<'t, char>>;

/// A parser of this grammar.
pub(super) trait ShapeParser<'t, O>: Parser<'t, &'t str, O, Extra<'t>> + Clone + 't {}
impl<'t, O, P: Parser<'t, &'t str, O, Extra<'t>> + Clone + 't> ShapeParser<'t, O> for P {}

/// A rule whose type does not contain the types of its parts: their names would take 40 MB of debugging information in
/// every program that uses this library.
type Boxed<'t, O> = chumsky::Boxed<'t, 't, &'t str, O, Extra<'t>>;

fn span(span: SimpleSpan) -> Span {
    Span::new(span.start as u32, span.end as u32)
}

/// Blanks and comments.
fn blank<'t>() -> Boxed<'t, ()> {
    let comment = just("/*").then(any().and_is(just("*/").not()).repeated()).then(just("*/")).ignored();
    let line = just("//").then(none_of("\r\n").repeated()).ignored();
    let space = one_of(" \t\r\n").ignored();
    choice((space, comment, line)).repeated().labelled("a blank").boxed()
}

fn token<'t>(text: &'static str) -> Boxed<'t, ()> {
    just(text).ignored().then_ignore(blank()).boxed()
}

fn slice<'t, O: 't>(rule: impl ShapeParser<'t, O>) -> Boxed<'t, Word<'t>> {
    rule.map_with(|_, extra| (extra.slice(), span(extra.span()))).then_ignore(blank()).boxed()
}

/// `12`; also `-1`, which is refused later.
fn number<'t>() -> Boxed<'t, Word<'t>> {
    slice(just('-').or_not().then(text::digits(10))).labelled("a number").boxed()
}

/// A name, optionally followed by marks of sparse dimension levels.
fn word<'t>(what: &'static str) -> Boxed<'t, Word<'t>> {
    slice(text::ascii::ident().then(one_of("+~").repeated())).labelled(what).boxed()
}

fn list<'t, O: 't>(item: impl ShapeParser<'t, O>) -> Boxed<'t, Vec<O>> {
    item.separated_by(token(",")).collect::<Vec<O>>().boxed()
}

fn attribute<'t>(shape: impl ShapeParser<'t, Raw<'t>>) -> Boxed<'t, ShapeAttribute<'t>> {
    let item = choice((number(), slice(just('*')), word("a word")));
    let key = number().then_ignore(token(":")).or_not();
    let group = just("(").then(blank()).ignore_then(key.then(list(item))).then_ignore(just(")"));
    let group = group.map_with(|(key, items), extra| AttributeGroup { key, items, at: span(extra.span()) });
    let groups = group.boxed().then_ignore(blank()).repeated().at_least(1).collect::<Vec<AttributeGroup>>();
    let sparse = shape.delimited_by(token("("), token(")")).to(Vec::new());
    let name = choice((word("an attribute"), slice(one_of("#*"))));
    name.then(choice((groups, sparse))).map(|(name, groups)| ShapeAttribute { name, groups }).boxed()
}

fn layout<'t>(shape: impl ShapeParser<'t, Raw<'t>>) -> Boxed<'t, RawLayout<'t>> {
    let attributes = token(":").ignore_then(attribute(shape).repeated().collect::<Vec<ShapeAttribute>>()).or_not();
    let inside = list(number()).then(attributes);
    let whole = token("{").ignore_then(inside).then_ignore(just("}"));
    let made = whole.map_with(|(order, attributes), extra| RawLayout {
        order,
        attributes: attributes.unwrap_or_default(),
        at: span(extra.span()),
    });
    made.then_ignore(blank()).boxed()
}

/// An array, or `token[]` or `opaque[]`, which have the same syntax.
fn array<'t>(shape: impl ShapeParser<'t, Raw<'t>>) -> Boxed<'t, RawArray<'t>> {
    let bounded = token("<=").ignore_then(number()).map(RawDimension::Bounded);
    let open = token("?").to(RawDimension::Unbounded);
    let dimension = choice((number().map(RawDimension::Static), bounded, open)).labelled("a dimension");
    let dimension = dimension.map_with(|dimension, extra| (dimension, span(extra.span()))).boxed();
    let dims = list(dimension).delimited_by(token("["), token("]"));
    let whole = word("an element type").then(dims).then(layout(shape).or_not());
    let made =
        whole.map_with(|((element, dims), layout), extra| RawArray { element, dims, layout, at: span(extra.span()) });
    made.boxed()
}

/// A layout that begins after `start` characters, with blanks before and after it.
pub(super) fn whole_layout<'t>(start: usize) -> impl ShapeParser<'t, RawLayout<'t>> {
    any().repeated().exactly(start).ignore_then(blank()).ignore_then(layout(shape()))
}

/// A shape, with blanks before and after it.
pub(super) fn shape<'t>() -> impl ShapeParser<'t, Raw<'t>> {
    let shape = recursive(|shape| {
        let tuple = list(shape.clone()).delimited_by(token("("), token(")")).map(Raw::Tuple);
        let buffer = token("b").ignore_then(shape.clone().delimited_by(token("("), token(")")));
        let buffer = buffer.map_with(|shape, extra| Raw::Buffer(Box::new(shape), span(extra.span())));
        choice((tuple, buffer, array(shape).map(Raw::Array))).labelled("a shape")
    });
    blank().ignore_then(shape)
}

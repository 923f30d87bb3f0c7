//! Syntax trees as bytes: those of the standard libraries are in the program, so that no process parses them.
//!
//! A number has seven bits in each byte, the lowest ones first; the highest bit says that another byte follows. What has
//! a fixed order is written in this order, a list with its length before it.

use smallvec::{Array, SmallVec};

use super::nodes::Nodes;
use super::{
    Assignment, Ast, Body, Comprehension, Element, ExprId, Fragment, Generic, Ident, Iterator, ListRange, Module,
    Param, ResultDecl, TopLevelItem, TypeSpec, TypeSpecId,
};
use crate::graph::Primitive;
use crate::source::names::Name;
use crate::source::{FileId, Span};

/// The bytes that are not read yet.
pub(crate) struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Bytes(bytes)
    }

    /// The next number; 0 behind the end. A test compares the trees with the texts that they were made of.
    #[inline]
    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((byte, rest)) = self.0.split_first() {
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
            shift = (shift + 7) % u64::BITS;
        }
        number
    }

    /// A text.
    pub(crate) fn text(&mut self) -> &'b str {
        let len = (self.number() as usize).min(self.0.len());
        let (text, rest) = self.0.split_at(len);
        self.0 = rest;
        std::str::from_utf8(text).unwrap_or_default()
    }
}

/// What is written as bytes.
pub(crate) trait TreePart: Sized {
    /// Reads it.
    fn read(from: &mut Bytes) -> Self;

    /// Writes it.
    #[cfg(test)]
    fn write(&self, to: &mut Vec<u8>);
}

/// Writes a number.
#[cfg(test)]
pub(crate) fn write_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Numbers, and what is one.
macro_rules! numbers {
    ($($ty:ty: $read:expr, $write:expr;)*) => {$(
        impl TreePart for $ty {
            #[inline]
            fn read(from: &mut Bytes) -> Self {
                let read: fn(u64) -> Self = $read;
                read(from.number())
            }

            #[cfg(test)]
            fn write(&self, to: &mut Vec<u8>) {
                let write: fn(&Self) -> u64 = $write;
                write_number(write(self), to);
            }
        }
    )*};
}

numbers! {
    u32: |number| number as u32, |number| u64::from(*number);
    i64: |number| number as i64, |number| *number as u64;
    f64: f64::from_bits, |number| number.to_bits();
    Name: |index| Name::new(index as usize), |name| name.index() as u64;
    ExprId: |index| ExprId::at(index as usize), |id| id.index() as u64;
    TypeSpecId: |index| TypeSpecId(index as u32), |id| u64::from(id.0);
    Option<Primitive>: |number| Primitive::of_number(number as u32), |of| u64::from(Primitive::number_of(*of));
}

/// Structures, by their fields.
macro_rules! structures {
    ($($ty:ident { $($field:ident),* })*) => {$(
        impl TreePart for $ty {
            fn read(from: &mut Bytes) -> Self {
                $(let $field = TreePart::read(from);)*
                $ty { $($field),* }
            }

            #[cfg(test)]
            fn write(&self, to: &mut Vec<u8>) {
                $(self.$field.write(to);)*
            }
        }
    )*};
}
pub(super) use structures;

structures! {
    Span { start, end }
    Ident { name, span }
    ListRange { start, len }
    Assignment { target, value, span }
    Body { assignments, span }
    Param { name, ty, default }
    ResultDecl { name, ty }
    Fragment { name, generic, params, results, body, span }
    Comprehension { iterators, filter, item }
    Iterator { name, iterable }
}

impl<T: TreePart> TreePart for Vec<T> {
    fn read(from: &mut Bytes) -> Self {
        (0..from.number()).map(|_| T::read(from)).collect()
    }

    #[cfg(test)]
    fn write(&self, to: &mut Vec<u8>) {
        write_number(self.len() as u64, to);
        self.iter().for_each(|item| item.write(to));
    }
}

impl<A: Array<Item: TreePart>> TreePart for SmallVec<A> {
    fn read(from: &mut Bytes) -> Self {
        (0..from.number()).map(|_| TreePart::read(from)).collect()
    }

    #[cfg(test)]
    fn write(&self, to: &mut Vec<u8>) {
        write_number(self.len() as u64, to);
        self.iter().for_each(|item| item.write(to));
    }
}

/// What may be absent: 0, or 1 and what it is.
macro_rules! options {
    ($($ty:ty)*) => {$(
        impl TreePart for Option<$ty> {
            fn read(from: &mut Bytes) -> Self {
                (from.number() != 0).then(|| TreePart::read(from))
            }

            #[cfg(test)]
            fn write(&self, to: &mut Vec<u8>) {
                write_number(u64::from(self.is_some()), to);
                self.iter().for_each(|it| it.write(to));
            }
        }
    )*};
}

options!(ExprId Body);

impl TreePart for Generic {
    fn read(from: &mut Bytes) -> Self {
        match from.number() {
            0 => Generic::No,
            _ => Generic::Yes(TreePart::read(from)),
        }
    }

    #[cfg(test)]
    fn write(&self, to: &mut Vec<u8>) {
        write_number(u64::from(*self != Generic::No), to);
        if let Generic::Yes(default) = self {
            default.write(to);
        }
    }
}

/// The numbers of the kinds of types.
mod kind {
    pub(super) const PRIMITIVE: u64 = 0;
    pub(super) const TENSOR: u64 = 1;
    pub(super) const ANY_TENSOR: u64 = 2;
    pub(super) const UNKNOWN_TENSOR: u64 = 3;
    pub(super) const ARRAY: u64 = 4;
    #[cfg(test)]
    pub(super) const TUPLE: u64 = 5;
}

impl TreePart for TypeSpec {
    fn read(from: &mut Bytes) -> Self {
        let primitive = |from: &mut Bytes| Option::<Primitive>::read(from).unwrap_or(Primitive::Generic);
        match from.number() {
            kind::PRIMITIVE => TypeSpec::Primitive(primitive(from)),
            kind::TENSOR => TypeSpec::Tensor(Element::Of(primitive(from))),
            kind::ANY_TENSOR => TypeSpec::Tensor(Element::Any),
            kind::UNKNOWN_TENSOR => TypeSpec::Tensor(Element::Unknown),
            kind::ARRAY => TypeSpec::Array(TreePart::read(from)),
            _ => TypeSpec::Tuple(TreePart::read(from)),
        }
    }

    #[cfg(test)]
    fn write(&self, to: &mut Vec<u8>) {
        let mut put = |kind: u64, rest: &dyn Fn(&mut Vec<u8>)| {
            write_number(kind, to);
            rest(to);
        };
        match self {
            TypeSpec::Primitive(of) => put(kind::PRIMITIVE, &|to| Some(*of).write(to)),
            TypeSpec::Tensor(Element::Of(of)) => put(kind::TENSOR, &|to| Some(*of).write(to)),
            TypeSpec::Tensor(Element::Any) => put(kind::ANY_TENSOR, &|_| {}),
            TypeSpec::Tensor(Element::Unknown) => put(kind::UNKNOWN_TENSOR, &|_| {}),
            TypeSpec::Array(of) => put(kind::ARRAY, &|to| of.write(to)),
            TypeSpec::Tuple(items) => put(kind::TUPLE, &|to| items.write(to)),
        }
    }
}

impl TreePart for Ast {
    /// A library has no long arrays of numbers and no loops.
    fn read(from: &mut Bytes) -> Self {
        Ast {
            nodes: Nodes::read(from),
            lists: TreePart::read(from),
            ints: TreePart::read(from),
            scalars: TreePart::read(from),
            comprehensions: TreePart::read(from),
            iterators: TreePart::read(from),
            types: TreePart::read(from),
            type_spans: TreePart::read(from),
            type_lists: TreePart::read(from),
            ..Ast::default()
        }
    }

    #[cfg(test)]
    fn write(&self, to: &mut Vec<u8>) {
        assert!(self.numbers.is_empty() && self.loops.is_empty() && self.recurrences.is_empty());
        self.nodes.write(to);
        self.lists.write(to);
        self.ints.write(to);
        self.scalars.write(to);
        self.comprehensions.write(to);
        self.iterators.write(to);
        self.types.write(to);
        self.type_spans.write(to);
        self.type_lists.write(to);
    }
}

impl Module {
    /// Reads a library, whose items are fragments.
    pub(crate) fn stored(file: FileId, from: &mut Bytes) -> Self {
        let (ast, fragments, comments) = (TreePart::read(from), Vec::<Fragment>::read(from), TreePart::read(from));
        let items = (0..fragments.len() as u32).map(TopLevelItem::Fragment).collect();
        Module { ast, fragments, comments, items, ..Module::empty(file) }
    }

    /// Writes a library.
    #[cfg(test)]
    pub(crate) fn store(&self, to: &mut Vec<u8>) {
        assert!(
            self.graphs.is_empty() && self.extensions.is_empty() && self.broken.is_empty() && self.version.is_none()
        );
        self.ast.write(to);
        self.fragments.write(to);
        self.comments.write(to);
    }
}

//! Types of expressions, and the implicit conversions between them (3.3.2).

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

pub(crate) use super::ast::Element;
use super::ast::{Ast, TypeSpec, TypeSpecId};
use crate::core::wanted::WantedNumbers;
use crate::graph::Primitive;
use crate::room::with_stack;

/// A type; arrays and tuples are interned in [`Types`], so equal types are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    /// Any type: a dimension symbol, or an expression with an error that is already reported.
    Unknown,
    /// A compile-time value.
    Primitive(Primitive),
    /// A tensor.
    Tensor(Element),
    /// An array; its item type is [`Types::item`].
    Array(ArrayType),
    /// The type of `[]`, which becomes any array.
    EmptyArray,
    /// A tuple; its item types are [`Types::items`].
    Tuple(TupleType),
}

/// An interned array type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArrayType(u32);

/// An interned tuple type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TupleType(u32);

/// The maximum number of types in an array or tuple type, counted with repetition. Larger types, which
/// sharing makes easily (`b = (a, a); c = (b, b); ..`), are [`Type::Unknown`]: their values are checked
/// while expanding, and the time to walk over a type is bounded.
const MAX_SIZE: u32 = 50_000;

/// Something that can occur in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypePart {
    /// A tensor.
    Tensor,
    /// `tensor<>`.
    AnyTensor,
    /// An attribute.
    Attribute,
    /// The type argument `?`.
    Generic,
    /// An unknown type: a symbol, the items of `[]`, or the elements of an undeclared operation's result.
    Unknown,
    /// A type that cannot become a tensor: all but primitives other than strings, and nested arrays of these.
    NotLiteral,
}

/// The number of types in an array or tuple type, and a bit for each [`TypePart`] that occurs in it.
#[derive(Clone, Copy, Debug)]
struct Content {
    size: u32,
    parts: u8,
}

impl Content {
    /// The content of a single type.
    const fn of(parts: &[TypePart]) -> Content {
        let (mut bits, mut i) = (0, 0);
        while i < parts.len() {
            bits |= 1 << parts[i] as u8;
            i += 1;
        }
        Content { size: 1, parts: bits }
    }

    fn with(self, other: Content) -> Content {
        Content { size: self.size.saturating_add(other.size), parts: self.parts | other.parts }
    }
}

/// The table of array and tuple types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    arrays: IndexMap<Type, Content, FxBuildHasher>,
    tuples: IndexMap<Box<[Type]>, Content, FxBuildHasher>,
}

/// How well a value suits a parameter. A worse fit is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// Equal, or an implicit conversion of the specification.
    Exact,
    /// A tensor with another element type.
    Elements,
    /// An extent where a scalar is declared, in the draft.
    ExtentAsScalar,
    /// A constant of another type, or an array of constants, where a tensor is declared.
    LiteralAsTensor,
    /// A single value where an array is declared, or an array where a tuple is.
    Structure,
    /// A tensor where an attribute is declared.
    TensorAsAttribute,
    /// Not at all.
    None,
}

impl Type {
    /// Whether it is a tensor.
    pub(crate) fn is_tensor(self) -> bool {
        matches!(self, Type::Tensor(_))
    }

    /// Whether it is a primitive type or a tensor of one, neither of them generic.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        let (Type::Primitive(primitive) | Type::Tensor(Element::Of(primitive))) = self else { return false };
        primitive != Primitive::Generic
    }
}

/// Shorthands for the primitive types.
impl Type {
    /// `integer`
    pub(crate) const INTEGER: Type = Type::Primitive(Primitive::Integer);
    /// `scalar`
    pub(crate) const SCALAR: Type = Type::Primitive(Primitive::Scalar);
    /// `logical`
    pub(crate) const LOGICAL: Type = Type::Primitive(Primitive::Logical);
    /// `string`
    pub(crate) const STRING: Type = Type::Primitive(Primitive::String);
}

impl Types {
    /// The type of arrays of `item`.
    pub(crate) fn array(&mut self, item: Type) -> Type {
        let content = Content::of(&[]).with(self.content(item));
        if content.size > MAX_SIZE {
            return Type::Unknown;
        }
        Type::Array(ArrayType(self.arrays.insert_full(item, content).0 as u32))
    }

    /// The type of tuples of `items`.
    pub(crate) fn tuple(&mut self, items: &[Type]) -> Type {
        if let Some(index) = self.tuples.get_index_of(items) {
            return Type::Tuple(TupleType(index as u32));
        }
        let tuple = Content::of(&[TypePart::NotLiteral]);
        let content = items.iter().fold(tuple, |content, &item| content.with(self.content(item)));
        if content.size > MAX_SIZE {
            return Type::Unknown;
        }
        Type::Tuple(TupleType(self.tuples.insert_full(items.into(), content).0 as u32))
    }

    fn content(&self, ty: Type) -> Content {
        use TypePart::{AnyTensor, Attribute, Generic, NotLiteral, Tensor, Unknown};
        match ty {
            Type::Array(array) => self.arrays[array.0 as usize],
            Type::Tuple(tuple) => self.tuples[tuple.0 as usize],
            Type::Unknown => const { Content::of(&[Unknown, NotLiteral]) },
            Type::EmptyArray => const { Content::of(&[Unknown]) },
            Type::Primitive(Primitive::Generic) => const { Content::of(&[Attribute, Generic]) },
            Type::Primitive(Primitive::String) => const { Content::of(&[Attribute, NotLiteral]) },
            Type::Primitive(_) => const { Content::of(&[Attribute]) },
            Type::Tensor(Element::Of(Primitive::Generic)) => const { Content::of(&[Tensor, Generic, NotLiteral]) },
            Type::Tensor(Element::Of(_)) => const { Content::of(&[Tensor, NotLiteral]) },
            Type::Tensor(Element::Any) => const { Content::of(&[Tensor, AnyTensor, NotLiteral]) },
            Type::Tensor(Element::Unknown) => const { Content::of(&[Tensor, Unknown, NotLiteral]) },
        }
    }

    /// Whether something occurs anywhere in a type.
    pub(crate) fn has(&self, ty: Type, part: TypePart) -> bool {
        self.content(ty).parts & 1 << part as u8 != 0
    }

    /// The item type of an array type.
    pub(crate) fn item(&self, array: ArrayType) -> Type {
        self.arrays.get_index(array.0 as usize).map_or(Type::Unknown, |(item, _)| *item)
    }

    /// The item types of a tuple type.
    pub(crate) fn items(&self, tuple: TupleType) -> &[Type] {
        self.tuples.get_index(tuple.0 as usize).map_or(&[], |(items, _)| items)
    }

    /// The type that a specification names.
    pub(crate) fn type_of_spec(&mut self, ast: &Ast, id: TypeSpecId) -> Type {
        match ast.type_spec(id) {
            TypeSpec::Primitive(primitive) => Type::Primitive(primitive),
            TypeSpec::Tensor(element) => Type::Tensor(element),
            TypeSpec::Array(item) => {
                let item = with_stack(|| self.type_of_spec(ast, item));
                self.array(item)
            }
            TypeSpec::Tuple(range) => with_stack(|| {
                let items: Vec<Type> =
                    ast.type_lists[range.range()].iter().map(|&item| self.type_of_spec(ast, item)).collect();
                self.tuple(&items)
            }),
        }
    }

    /// The primitive that nested arrays are made of.
    fn leaf_primitive(&self, mut ty: Type) -> Option<Primitive> {
        loop {
            match ty {
                Type::Array(array) => ty = self.item(array),
                Type::Primitive(primitive) => return Some(primitive),
                _ => return None,
            }
        }
    }

    /// What arguments of a type without tensors consist of: numbers in arrays or tuples.
    pub(crate) fn numbers(&self, mut ty: Type) -> WantedNumbers {
        let mut depth = 0u8;
        loop {
            ty = match ty {
                Type::Array(array) => self.item(array),
                Type::Tuple(tuple) => self.items(tuple).first().copied().unwrap_or(Type::Unknown),
                Type::Primitive(primitive) => return WantedNumbers { of: Some(primitive), depth },
                _ => return WantedNumbers { of: None, depth },
            };
            depth = depth.saturating_add(1);
        }
    }

    /// How well a value of type `actual` suits a parameter of type `formal`, whose `?` is `generic`: if
    /// that is `None`, it is bound by the first value that determines it.
    pub(crate) fn fit(&self, formal: Type, actual: Type, generic: &mut Option<Primitive>) -> Fit {
        match (formal, actual) {
            (Type::Unknown, _) | (_, Type::Unknown) => Fit::Exact,
            (Type::Array(_) | Type::Tuple(_), _) if formal == actual && !self.has(formal, TypePart::Generic) => {
                Fit::Exact
            }
            (Type::Primitive(formal), Type::Primitive(actual)) => same_primitive(formal, actual, generic, Fit::None),
            (Type::Tensor(Element::Of(formal)), Type::Tensor(Element::Of(actual))) => {
                same_primitive(formal, actual, generic, Fit::Elements)
            }
            (Type::Tensor(_), Type::Tensor(_)) => Fit::Exact,
            (Type::Tensor(Element::Of(formal)), Type::Primitive(actual)) => {
                same_primitive(formal, actual, generic, Fit::LiteralAsTensor)
            }
            (Type::Tensor(_), Type::Primitive(_)) => Fit::Exact,
            (Type::Tensor(element), other) if !self.has(other, TypePart::NotLiteral) => {
                if let (Element::Of(formal), Some(actual)) = (element, self.leaf_primitive(other)) {
                    same_primitive(formal, actual, generic, Fit::LiteralAsTensor);
                }
                Fit::LiteralAsTensor
            }
            (Type::Primitive(_), Type::Tensor(_)) => Fit::TensorAsAttribute,
            (Type::Array(_), Type::EmptyArray) | (Type::EmptyArray, Type::EmptyArray) => Fit::Exact,
            (Type::Array(formal), Type::Array(actual)) => {
                with_stack(|| self.fit(self.item(formal), self.item(actual), generic))
            }
            (Type::Array(formal), Type::Primitive(_))
                if with_stack(|| self.fit(self.item(formal), actual, generic)) == Fit::Exact =>
            {
                Fit::Structure
            }
            (Type::Tuple(formal), Type::Array(actual)) => {
                let mut suits = |&item: &Type| with_stack(|| self.fit(item, self.item(actual), generic)) == Fit::Exact;
                if self.items(formal).iter().all(&mut suits) { Fit::Structure } else { Fit::None }
            }
            (Type::Array(formal), Type::Tensor(_)) if !self.has(self.item(formal), TypePart::Tensor) => {
                Fit::TensorAsAttribute
            }
            (Type::Tuple(formal), Type::Tuple(actual)) => with_stack(|| {
                let (formal, actual) = (self.items(formal), self.items(actual));
                if formal.len() != actual.len() {
                    return Fit::None;
                }
                formal.iter().zip(actual).map(|(&f, &a)| self.fit(f, a, generic)).max().unwrap_or(Fit::Exact)
            }),
            _ => Fit::None,
        }
    }

    /// Adjusts the result of [`Types::fit`] for the draft, which does not declare element types: scalars and
    /// logicals convert to tensors, extents and strings do not; and an extent converts to a scalar, as in
    /// the draft's own examples.
    pub(crate) fn fit_in_draft(&self, formal: Type, actual: Type, fit: Fit) -> Fit {
        if fit == Fit::None && formal == Type::SCALAR && actual == Type::INTEGER {
            return Fit::ExtentAsScalar;
        }
        if fit == Fit::Exact && self.extent_as_tensor(formal, actual) { Fit::LiteralAsTensor } else { fit }
    }

    /// Whether an integer or a string stands where a tensor is expected.
    pub(crate) fn extent_as_tensor(&self, formal: Type, actual: Type) -> bool {
        match (formal, actual) {
            (Type::Tensor(_), Type::INTEGER | Type::STRING) => true,
            (Type::Array(formal), Type::Array(actual)) => {
                with_stack(|| self.extent_as_tensor(self.item(formal), self.item(actual)))
            }
            (Type::Tuple(formal), Type::Tuple(actual)) => with_stack(|| {
                let pairs = self.items(formal).iter().zip(self.items(actual));
                pairs.into_iter().any(|(&formal, &actual)| self.extent_as_tensor(formal, actual))
            }),
            _ => false,
        }
    }

    /// Whether a value converts implicitly to another type.
    pub(crate) fn castable(&self, from: Type, to: Type) -> bool {
        // `?` is a type like any other here, so it must not be bound.
        self.fit(to, from, &mut Some(Primitive::Generic)) == Fit::Exact
    }

    /// The common type to which both convert (3.3.2).
    #[inline]
    pub(crate) fn common(&mut self, a: Type, b: Type) -> Option<Type> {
        if a == b {
            return Some(a);
        }
        with_stack(|| match (a, b) {
            (Type::Unknown, other) | (other, Type::Unknown) => Some(other),
            _ if self.castable(a, b) => Some(b),
            _ if self.castable(b, a) => Some(a),
            (Type::Array(x), Type::Array(y)) => {
                let item = self.common(self.item(x), self.item(y))?;
                Some(self.array(item))
            }
            (Type::Tuple(x), Type::Tuple(y)) if self.items(x).len() == self.items(y).len() => {
                let pairs: Vec<_> = self.items(x).iter().copied().zip(self.items(y).iter().copied()).collect();
                let items: Option<Vec<Type>> = pairs.into_iter().map(|(x, y)| self.common(x, y)).collect();
                Some(self.tuple(&items?))
            }
            _ => None,
        })
    }

    /// A type with `?` replaced.
    pub(crate) fn instantiate(&mut self, ty: Type, generic: Option<Primitive>) -> Type {
        if ty.is_plain() || !self.has(ty, TypePart::Generic) {
            return ty;
        }
        with_stack(|| match ty {
            Type::Primitive(Primitive::Generic) => generic.map_or(Type::Unknown, Type::Primitive),
            Type::Tensor(Element::Of(Primitive::Generic)) => {
                Type::Tensor(generic.map_or(Element::Unknown, Element::Of))
            }
            Type::Array(array) => {
                let item = self.instantiate(self.item(array), generic);
                self.array(item)
            }
            Type::Tuple(tuple) => {
                let items: Vec<Type> = self.items(tuple).to_vec();
                let items: Vec<Type> = items.into_iter().map(|item| self.instantiate(item, generic)).collect();
                self.tuple(&items)
            }
            other => other,
        })
    }

    /// The type as the specification writes it.
    pub(crate) fn describe(&self, ty: Type) -> String {
        self.describe_within(ty, false)
    }

    /// The text of a type; tuples within tuples are abbreviated.
    fn describe_within(&self, ty: Type, tuple: bool) -> String {
        match ty {
            Type::Tuple(_) if tuple => "(…)".into(),
            Type::Unknown => "unknown".into(),
            Type::Primitive(primitive) => primitive.text().into(),
            Type::Tensor(Element::Of(primitive)) => format!("tensor<{}>", primitive.text()),
            Type::Tensor(Element::Any) => "tensor<>".into(),
            Type::Tensor(Element::Unknown) => "tensor".into(),
            Type::EmptyArray => "[]".into(),
            Type::Array(array) => {
                let mut item = self.item(array);
                let mut depth = 1;
                while let Type::Array(inner) = item {
                    item = self.item(inner);
                    depth += 1;
                }
                let brackets = if depth > 8 { format!("[]…[] ({depth} deep)") } else { "[]".repeat(depth) };
                format!("{}{brackets}", self.describe_within(item, tuple))
            }
            Type::Tuple(tuple) => {
                let items = self.items(tuple).iter().take(12).map(|&item| self.describe_within(item, true));
                let items: Vec<String> = items.collect();
                let more = if self.items(tuple).len() > 12 { ",…" } else { "" };
                format!("({}{more})", items.join(","))
            }
        }
    }
}

/// Compares primitives, binding `?`; returns `otherwise` if they differ.
fn same_primitive(formal: Primitive, actual: Primitive, generic: &mut Option<Primitive>, otherwise: Fit) -> Fit {
    let formal = match formal {
        Primitive::Generic => *generic.get_or_insert(actual),
        formal => formal,
    };
    // Inside a generic fragment `?` stays open; any value is converted to it (3.3.2).
    let open = formal == Primitive::Generic && otherwise != Fit::Elements;
    if formal == actual || open { Fit::Exact } else { otherwise }
}

#[cfg(test)]
mod tests;

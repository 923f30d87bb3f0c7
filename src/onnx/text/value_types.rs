//! Types, extents, and typed values.

use super::cursor::NumberToken;
use super::marks::NameRole;
use super::parser::{TextParser, TextResult};
use crate::diagnostics::Code;
use crate::onnx::model::{Dim, Extent, Fields, ShapeProto, TensorType, TypeForm, TypeProto, ValueInfo};
use crate::onnx::protobuf::texts;
use crate::onnx::types::ElementType;
use crate::source::Span;
use crate::source::names::Name;

/// The words that start a type other than a tensor type.
const CONTAINERS: [&str; 5] = ["seq", "map", "optional", "sparse_tensor", "opaque"];

impl TextParser<'_> {
    /// Whether a word starts a type.
    pub(super) fn is_type(word: &str) -> bool {
        CONTAINERS.contains(&word) || ElementType::named(word).is_some()
    }

    /// Reads an identifier.
    #[inline]
    pub(super) fn identifier(&mut self, expected: &str) -> TextResult<Name> {
        if !self.cursor.at_identifier() {
            return Err(self.unexpected(expected));
        }
        let (name, end) = self.names.texts.intern_word(self.cursor.text(), self.cursor.at);
        self.cursor.at = end;
        Ok(name)
    }

    /// Reads an identifier, or any name in quotes.
    #[inline]
    pub(super) fn name(&mut self, expected: &str) -> TextResult<Name> {
        if self.cursor.peek() != b'"' {
            return self.identifier(expected);
        }
        let text = self.text()?;
        Ok(self.names.texts.intern(&text))
    }

    /// Reads a string that is a name or another text of a model, see [`texts`].
    pub(super) fn text(&mut self) -> TextResult<String> {
        let text = self.string()?;
        Ok(match texts::represents(&text) {
            true => texts::decode(text.as_bytes()).into_owned(),
            false => text,
        })
    }

    /// Reads a string. A backslash escapes the next character.
    pub(super) fn string(&mut self) -> TextResult<String> {
        if self.cursor.peek() != b'"' {
            return Err(self.unexpected("a string"));
        }
        let start = self.cursor.at;
        let rest = &self.cursor.text()[start + 1..];
        let mut text = String::new();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.cursor.at = start + 1 + at + 1;
                    return Ok(text);
                }
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                '\0' => break,
                c => text.push(c),
            }
        }
        let line = rest.find('\n').unwrap_or(rest.len());
        let span = Span::new(start as u32, (start + 1 + line) as u32);
        Err(self.report(Code::OnnxString, span, "this string does not end"))
    }

    /// Reads a 64-bit integer.
    pub(super) fn int(&mut self, expected: &str) -> TextResult<i64> {
        let start = self.cursor;
        match self.cursor.number() {
            Some(number) if !number.is_float => self.integer(number),
            _ => {
                self.cursor = start;
                Err(self.unexpected(expected))
            }
        }
    }

    /// The value of a 64-bit integer token.
    #[inline]
    pub(super) fn integer(&mut self, number: NumberToken) -> TextResult<i64> {
        match number.text.parse() {
            Ok(value) => Ok(value),
            Err(_) => {
                let message = format!("`{}` is not an integer of 64 bits", number.text);
                Err(self.report(Code::OnnxNumber, number.span, message))
            }
        }
    }

    /// Reads a type.
    pub(super) fn ty(&mut self) -> TextResult<TypeProto> {
        self.nested(2, Self::type_within)
    }

    fn type_within(&mut self) -> TextResult<TypeProto> {
        let word = self.cursor.identifier();
        if let Some(element) = ElementType::named(word) {
            return self.tensor_type(element).map(|ty| TypeProto { form: TypeForm::Tensor(ty), rest: Fields::None });
        }
        if !CONTAINERS.contains(&word) {
            return Err(self.unexpected("a type"));
        }
        self.cursor.at += word.len();
        self.expect(b'(', "`(`")?;
        let form = match word {
            "seq" => TypeForm::Sequence(Some(Box::new(self.ty()?)), Fields::None),
            "optional" => TypeForm::Optional(Some(Box::new(self.ty()?)), Fields::None),
            "map" => {
                let key = Some(self.element("an element type as the type of keys")?.number);
                self.expect(b',', "`,`")?;
                TypeForm::Map { key, value: Some(Box::new(self.ty()?)), rest: Fields::None }
            }
            "sparse_tensor" => {
                let word = self.cursor.identifier();
                let Some(element) = ElementType::named(word) else { return Err(self.unexpected("an element type")) };
                TypeForm::SparseTensor(self.tensor_type(element)?)
            }
            _ => self.opaque()?,
        };
        self.expect(b')', "`)`")?;
        Ok(TypeProto { form, rest: Fields::None })
    }

    fn element(&mut self, expected: &str) -> TextResult<&'static ElementType> {
        let word = self.cursor.identifier();
        let Some(element) = ElementType::named(word) else { return Err(self.unexpected(expected)) };
        self.cursor.at += word.len();
        Ok(element)
    }

    /// Reads `opaque()`, `opaque(a.name)` or `opaque(a.domain, name)`.
    fn opaque(&mut self) -> TextResult<TypeForm> {
        if self.cursor.peek() == b')' {
            return Ok(TypeForm::Opaque { domain: None, name: None, rest: Fields::None });
        }
        let mut first = self.cursor.identifier().to_owned();
        self.identifier("a name")?;
        while self.cursor.eat(b'.') {
            first.push('.');
            first.push_str(self.cursor.identifier());
            self.identifier("a name")?;
        }
        let first = self.names.texts.intern(&first);
        let form = match self.cursor.eat(b',') {
            true => {
                TypeForm::Opaque { domain: Some(first), name: Some(self.identifier("a name")?), rest: Fields::None }
            }
            false => TypeForm::Opaque { domain: None, name: Some(first), rest: Fields::None },
        };
        Ok(form)
    }

    /// Reads the type of a tensor from its element type on. Without brackets it has rank 0, with empty brackets
    /// any rank.
    pub(super) fn tensor_type(&mut self, element: &ElementType) -> TextResult<TensorType> {
        self.cursor.at += element.name.len();
        let mut dims = Vec::new();
        let mut ranked = true;
        if self.cursor.eat(b'[') {
            ranked = !self.cursor.eat(b']');
            if ranked {
                self.list(b']', "`]`", |parser| {
                    dims.push(parser.dim()?);
                    Ok(())
                })?;
            }
        }
        let shape = ranked.then_some(ShapeProto { dims, rest: Fields::None });
        Ok(TensorType { element: Some(element.number), shape, rest: Fields::None })
    }

    fn dim(&mut self) -> TextResult<Dim> {
        let extent = match self.cursor.peek() {
            b'?' => {
                self.cursor.at += 1;
                Extent::Unknown
            }
            b'"' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => Extent::Symbol(self.name("an extent")?),
            _ => Extent::Value(self.int("an extent (an integer, a name or `?`)")?),
        };
        Ok(Dim { extent, rest: Fields::None })
    }

    /// Reads a value: an optional type and a name. A name that is the word of a type must be quoted if no type
    /// precedes it.
    pub(super) fn value_info(&mut self) -> TextResult<ValueInfo> {
        let typed = Self::is_type(self.cursor.identifier());
        let ty = if typed { Some(self.nested(1, Self::ty)?) } else { None };
        self.cursor.skip();
        let start = self.cursor.at as u32;
        let name = self.name(if typed { "the name of a value" } else { "a type or the name of a value" })?;
        self.mark(start, (NameRole::Use, None), name);
        Ok(ValueInfo { name: Some(self.names.value(name)), ty, rest: Fields::None })
    }
}

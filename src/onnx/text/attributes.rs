//! Attributes of nodes and functions.

use bytes::Bytes;

use super::marks::NameRole;
use super::parser::{Reported, TextParser, TextResult};
use crate::diagnostics::suggest::did_you_mean;
use crate::diagnostics::{Code, PlacePart};
use crate::onnx::model::{AttributeProto, AttributeValue, Fields, FunctionProto, TensorProto, TypeForm, TypeProto};
use crate::onnx::types::{ATTRIBUTE_TYPES, AttributeType, ElementType};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;

/// A value of an attribute, or a reference.
enum Single {
    Value(AttributeValue),
    Reference(Name),
}

impl TextParser<'_> {
    /// Reads the attributes of a node, if there are any.
    pub(super) fn attributes(&mut self, attributes: &mut Vec<AttributeProto>) -> TextResult<bool> {
        if self.cursor.peek() != b'<' {
            return Ok(false);
        }
        self.cursor.at += 1;
        self.list(b'>', "`>` or `,`", |parser| {
            parser.mark_place(|place| (place.1, place.2) = (attributes.len(), 0));
            parser.cursor.skip();
            let start = parser.cursor.at as u32;
            let name = parser.identifier("the name of an attribute")?;
            parser.mark(start, (NameRole::Attribute, Some(PlacePart::Attribute(attributes.len()))), name);
            let attribute = parser.attribute(name)?;
            room::push_few(attributes, attribute);
            Ok(())
        })?;
        Ok(true)
    }

    /// Reads the attributes of a function, if there are any.
    pub(super) fn parameters(&mut self, function: &mut FunctionProto) -> TextResult<()> {
        if !self.cursor.eat(b'<') {
            return Ok(());
        }
        self.list(b'>', "`>` or `,`", |parser| {
            parser.cursor.skip();
            let start = parser.cursor.at as u32;
            let name = parser.name("the name of an attribute")?;
            parser.mark(start, (NameRole::Parameter, None), name);
            if matches!(parser.cursor.peek(), b',' | b'>') {
                function.attributes.push(name);
            } else {
                let attribute = parser.attribute(name)?;
                function.defaults.push(attribute);
            }
            Ok(())
        })
    }

    /// Reads the optional type and the value of an attribute.
    fn attribute(&mut self, name: Name) -> TextResult<AttributeProto> {
        let declared = if self.cursor.eat(b':') { Some(self.attribute_type()?) } else { None };
        self.expect(b'=', "`=`")?;
        let start = self.cursor.peek();
        let at = self.cursor.at;
        let attribute = |kind: Option<AttributeType>, value, reference| AttributeProto {
            name: Some(name),
            kind: Some(kind.map_or(0, |kind| kind as i32)),
            value,
            reference,
            rest: Fields::None,
        };
        if start == b'[' {
            let (kind, value) = self.attribute_list(declared)?;
            return Ok(attribute(Some(kind), value, None));
        }
        match self.attribute_value(declared, at)? {
            Single::Value(value) => Ok(attribute(declared.or_else(|| value.kind()), value, None)),
            // Without a declared type, the type is that of the call's attribute.
            Single::Reference(reference) => Ok(AttributeProto {
                kind: declared.map(|kind| kind as i32),
                ..attribute(declared, AttributeValue::None, Some(reference))
            }),
        }
    }

    fn attribute_type(&mut self) -> TextResult<AttributeType> {
        let (word, start) = (self.cursor.identifier(), self.cursor.at);
        self.identifier("the type of an attribute")?;
        AttributeType::named(word).ok_or_else(|| {
            let names = || ATTRIBUTE_TYPES.iter().map(|row| row.0);
            let all = || format!("the types are {}", names().collect::<Vec<_>>().join(", "));
            let help = did_you_mean(word, names()).unwrap_or_else(all);
            let span = Span::new(start as u32, self.cursor.at as u32);
            let message = format!("`{word}` is not a type of attributes");
            self.report_with_help(Code::OnnxAttribute, span, message, Some(help))
        })
    }

    /// Reads a list. Without a declared type, the type is that of the first item.
    fn attribute_list(&mut self, declared: Option<AttributeType>) -> TextResult<(AttributeType, AttributeValue)> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let mut item = declared.and_then(AttributeType::item);
        if let (Some(declared), None) = (declared, item) {
            let span = Span::new(start as u32, self.cursor.at as u32);
            let message = format!("an attribute of type `{}` has one value, not a list", declared.name());
            return Err(self.report(Code::OnnxAttribute, span, message));
        }
        let mut values = AttributeValue::None;
        if !self.cursor.eat(b']') {
            self.list(b']', "`]` or `,`", |parser| {
                parser.cursor.skip();
                let at = parser.cursor.at;
                match parser.attribute_value(item, at)? {
                    Single::Value(value) => {
                        parser.mark_place(|place| place.2 += 1);
                        item = item.or_else(|| value.kind());
                        values.add(value);
                        Ok(())
                    }
                    Single::Reference(_) => {
                        let span = Span::new(at as u32, parser.cursor.at as u32);
                        let message = "a reference denotes a whole attribute, not an item of a list";
                        Err(parser.report(Code::OnnxAttribute, span, message))
                    }
                }
            })?;
        }
        match item.and_then(AttributeType::list) {
            Some(kind) => Ok((kind, values)),
            None => {
                let span = Span::new(start as u32, self.cursor.at as u32);
                let message = "the type of an empty list must be written, for instance `: ints`";
                Err(self.report(Code::OnnxAttribute, span, message))
            }
        }
    }

    /// Reads a value of the type `wanted`, if that is known.
    fn attribute_value(&mut self, wanted: Option<AttributeType>, at: usize) -> TextResult<Single> {
        let value = match self.cursor.peek() {
            b'@' => {
                self.cursor.at += 1;
                self.cursor.skip();
                let start = self.cursor.at as u32;
                let name = self.name("the name of an attribute")?;
                self.mark(start, (NameRole::Reference, None), name);
                return Ok(Single::Reference(name));
            }
            b'"' => AttributeValue::String(Box::new(Bytes::from(self.string()?))),
            b'-' | b'0'..=b'9' => self.number_value(wanted)?,
            _ => self.word_value()?,
        };
        match (wanted, value.kind()) {
            (Some(wanted), Some(found)) if wanted != found => Err(self.other_type(wanted, found, at)),
            _ => Ok(Single::Value(value)),
        }
    }

    fn other_type(&mut self, wanted: AttributeType, found: AttributeType, at: usize) -> Reported {
        let span = Span::new(at as u32, self.cursor.at as u32);
        let message =
            format!("the value is of type `{}`, the type of the attribute is `{}`", found.name(), wanted.name());
        self.report(Code::OnnxAttribute, span, message)
    }

    /// Reads a number. An integer becomes a float if the type is float.
    fn number_value(&mut self, wanted: Option<AttributeType>) -> TextResult<AttributeValue> {
        if let Some(float) = self.special_float() {
            return Ok(AttributeValue::Float(float));
        }
        match self.cursor.number() {
            Some(number) if !number.is_float && wanted != Some(AttributeType::Float) => {
                Ok(AttributeValue::Int(self.integer(number)?))
            }
            Some(number) => Ok(AttributeValue::Float(self.parsed(number, f32::is_finite)?)),
            None => Err(self.unexpected("a value")),
        }
    }

    /// Reads a value that starts with a word: infinity or NaN, a tensor, a type, or a graph.
    fn word_value(&mut self) -> TextResult<AttributeValue> {
        if let Some(float) = self.special_float() {
            return Ok(AttributeValue::Float(float));
        }
        let word = self.cursor.identifier();
        if word.is_empty() {
            return Err(self.unexpected("a value"));
        }
        if !Self::is_type(word) {
            let graph = self.nested(3, Self::graph)?;
            return Ok(AttributeValue::Graph(Box::new(graph)));
        }
        let start = self.cursor.at;
        let ty = self.nested(2, Self::ty)?;
        let span = Span::new(start as u32, self.cursor.at as u32);
        let data = matches!(self.cursor.peek(), b'{' | b'=' | b'"') || self.cursor.at_identifier();
        if !data {
            return Ok(AttributeValue::Type(Box::new(ty)));
        }
        if !matches!(ty.form, TypeForm::Tensor(_)) || ElementType::named(word).is_none() {
            return Err(self.unexpected("`>` or `,`"));
        }
        Ok(AttributeValue::Tensor(Box::new(self.attribute_tensor(&ty, span)?)))
    }

    /// Reads the optional name and the data of a tensor.
    fn attribute_tensor(&mut self, ty: &TypeProto, span: Span) -> TextResult<TensorProto> {
        let name = match self.cursor.peek() {
            b'{' | b'=' => self.names.texts.intern(""),
            _ => self.name("a name")?,
        };
        let name = self.names.value(name);
        self.cursor.eat(b'=');
        let TypeForm::Tensor(ty) = &ty.form else { return Err(Reported) };
        Ok(TensorProto { name: Some(name), ..self.tensor_data(ty, span)? })
    }
}

impl AttributeValue {
    /// The value of an attribute of a type that has none: files may omit zeros and empty texts.
    pub(crate) fn implied(kind: AttributeType) -> Option<AttributeValue> {
        match kind {
            AttributeType::Int => Some(AttributeValue::Int(0)),
            AttributeType::Float => Some(AttributeValue::Float(0.0)),
            AttributeType::String => Some(AttributeValue::String(Box::default())),
            _ => None,
        }
    }

    /// The type of an attribute with this value; none if there is no value.
    pub(crate) fn kind(&self) -> Option<AttributeType> {
        use AttributeType as T;
        Some(match self {
            AttributeValue::None => return None,
            AttributeValue::Float(_) => T::Float,
            AttributeValue::Int(_) => T::Int,
            AttributeValue::String(_) => T::String,
            AttributeValue::Tensor(_) => T::Tensor,
            AttributeValue::Graph(_) => T::Graph,
            AttributeValue::Type(_) => T::Type,
            AttributeValue::Floats(_) => T::Floats,
            AttributeValue::Ints(_) => T::Ints,
            AttributeValue::Strings(_) => T::Strings,
            AttributeValue::Tensors(_) => T::Tensors,
            AttributeValue::Graphs(_) => T::Graphs,
            AttributeValue::Types(_) => T::Types,
        })
    }

    /// Adds an item to a list of values of its type.
    fn add(&mut self, item: AttributeValue) {
        match (self, item) {
            (AttributeValue::Floats(items), AttributeValue::Float(item)) => items.push(item),
            (AttributeValue::Ints(items), AttributeValue::Int(item)) => items.push(item),
            (AttributeValue::Strings(items), AttributeValue::String(item)) => items.push(*item),
            (AttributeValue::Tensors(items), AttributeValue::Tensor(item)) => items.push(*item),
            (AttributeValue::Graphs(items), AttributeValue::Graph(item)) => items.push(*item),
            (AttributeValue::Types(items), AttributeValue::Type(item)) => items.push(*item),
            (list, item) => {
                *list = match item {
                    AttributeValue::Float(item) => AttributeValue::Floats(vec![item]),
                    AttributeValue::Int(item) => AttributeValue::Ints(vec![item]),
                    AttributeValue::String(item) => AttributeValue::Strings(vec![*item]),
                    AttributeValue::Tensor(item) => AttributeValue::Tensors(vec![*item]),
                    AttributeValue::Graph(item) => AttributeValue::Graphs(vec![*item]),
                    AttributeValue::Type(item) => AttributeValue::Types(vec![*item]),
                    other => other,
                };
            }
        }
    }
}

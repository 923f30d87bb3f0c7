//! Reads the headers of declarations, without the language.
//!
//! The texts are this program's own, so what it does not read is a defect of a text, which tests report: they compare
//! each declaration with the one that the language reads.

use super::datatypes::data_type;
use super::declared::{Declared, DeclaredParam, DeclaredResult};
use crate::graph::{Dialect, Primitive, Value};

/// The start of a declaration.
const FRAGMENT: &str = "fragment ";

/// The names of primitive types.
const PRIMITIVES: &[(&str, Primitive)] = &[
    ("integer", Primitive::Integer),
    ("extent", Primitive::Integer),
    ("scalar", Primitive::Scalar),
    ("logical", Primitive::Logical),
    ("string", Primitive::String),
    ("?", Primitive::Generic),
];

/// The declarations in a text; `dialect` is that of a standard library, and none for a registry.
pub(super) fn declarations(text: &'static str, dialect: Option<Dialect>) -> impl Iterator<Item = Declared> {
    texts(text).filter_map(move |(_, text)| TextCursor { rest: text }.declaration(text, dialect))
}

/// The names and the texts of the declarations in a text.
pub(super) fn texts(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let starts = text.match_indices(FRAGMENT).map(|(at, _)| at);
    let starts = starts.filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    starts.filter_map(move |at| {
        let name = TextCursor { rest: &text[at + FRAGMENT.len()..] }.word()?;
        Some((name, &text[at..at + end_of(&text[at..])]))
    })
}

/// A type: whether it contains tensors, and its primitive type or that of the elements of a tensor.
struct DeclaredType {
    tensor: bool,
    of: Option<Primitive>,
}

/// What is left of a text.
struct TextCursor {
    rest: &'static str,
}

impl TextCursor {
    /// Skips white space.
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Reads a token if it is next.
    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.eat(token).then_some(())
    }

    /// Reads the characters that belong to a token.
    fn take(&mut self, belongs: impl Fn(char) -> bool) -> Option<&'static str> {
        self.skip();
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(token).filter(|token| !token.is_empty())
    }

    fn word(&mut self) -> Option<&'static str> {
        self.take(|c| c == '_' || c.is_ascii_alphanumeric())
    }

    /// Reads items up to a closing bracket.
    fn items<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Some(items)
    }

    fn declaration(mut self, text: &'static str, dialect: Option<Dialect>) -> Option<Declared> {
        self.expect(FRAGMENT)?;
        let name = self.word()?;
        let mut generic = self.eat("<");
        if generic {
            self.expect("?")?;
            if self.eat("=") {
                self.word()?;
            }
            self.expect(">")?;
        }
        let draft = dialect == Some(Dialect::Draft);
        self.expect("(")?;
        let mut params = self.items(")", |cursor| {
            let (name, ty) = cursor.named()?;
            let default = if cursor.eat("=") { Some(cursor.value()?) } else { None };
            Some(DeclaredParam { name, tensor: ty.tensor, takes: ty.of, default })
        })?;
        self.expect("->")?;
        self.expect("(")?;
        let mut results = self.items(")", |cursor| {
            let (name, ty) = cursor.named()?;
            Some((DeclaredResult { name, gives: ty.of }, ty.tensor))
        })?;
        if draft {
            // The draft cannot declare element types; a table has those of its operations.
            let of = |param: &str, of: &mut Option<Primitive>, tensor: bool| {
                let elements = data_type(name, param);
                if tensor && of.is_some() {
                    *of = Some(elements);
                }
                elements == Primitive::Generic
            };
            for param in &mut params {
                generic |= of(param.name, &mut param.takes, param.tensor);
            }
            for (result, tensor) in &mut results {
                generic |= of(result.name, &mut result.gives, *tensor);
            }
        }
        Some(Declared {
            name,
            text,
            standard: dialect.is_some(),
            generic,
            params,
            results: results.into_iter().map(|(result, _)| result).collect(),
        })
    }

    fn named(&mut self) -> Option<(&'static str, DeclaredType)> {
        let name = self.word()?;
        self.expect(":")?;
        Some((name, self.ty()?))
    }

    fn ty(&mut self) -> Option<DeclaredType> {
        let mut ty = if self.eat("(") {
            let items = self.items(")", Self::ty)?;
            DeclaredType { tensor: items.iter().any(|item| item.tensor), of: None }
        } else if self.eat("tensor") {
            // In the draft, a table has the element type.
            let of = if self.eat("<") {
                let of = self.primitive();
                self.expect(">")?;
                of
            } else {
                Some(Primitive::Scalar)
            };
            DeclaredType { tensor: true, of }
        } else {
            DeclaredType { tensor: false, of: Some(self.primitive()?) }
        };
        while self.eat("[") {
            self.expect("]")?;
            ty.of = None;
        }
        Some(ty)
    }

    fn primitive(&mut self) -> Option<Primitive> {
        PRIMITIVES.iter().find(|(name, _)| self.eat(name)).map(|(_, of)| *of)
    }

    /// Reads a default.
    fn value(&mut self) -> Option<Value> {
        if self.eat("[") {
            return Some(Value::list(self.items("]", Self::value)?));
        }
        if self.eat("(") {
            return Some(Value::Tuple(self.items(")", Self::value)?.into()));
        }
        if self.eat("'") {
            let (text, rest) = self.rest.split_once('\'')?;
            self.rest = rest;
            return Some(Value::String(text.into()));
        }
        match self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))? {
            "true" => Some(Value::Logical(true)),
            "false" => Some(Value::Logical(false)),
            number => match number.parse() {
                Ok(integer) => Some(Value::Int(integer)),
                Err(_) => number.parse().map(Value::Scalar).ok(),
            },
        }
    }
}

/// The length of the declaration at the start of a text: the closing bracket of a body starts a line.
fn end_of(text: &str) -> usize {
    let header = text.find([';', '{']).unwrap_or(text.len());
    match text[header..].starts_with('{') {
        true => text.find("\n}").map_or(text.len(), |at| at + 2),
        false => text.len().min(header + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read() {
        let text = "# c\nfragment f<? = scalar>( x: tensor<?>, xs: tensor<>[], p: (integer, integer)[] = [(0, -1)],\n\
            s: string = 'a', e: scalar = 1e-5 ) -> ( y: tensor<?>, ys: tensor<scalar>[] );\nfragment g( x: ?[] ) -> ( y: tensor<> )\n{\n    y = x;\n}\n";
        let found: Vec<Declared> = declarations(text, None).collect();
        let [first, second] = &found[..] else { panic!("{found:?}") };
        assert_eq!((first.name, first.generic, first.standard), ("f", true, false));
        assert!(first.text.starts_with("fragment f<") && first.text.ends_with("[] );"));
        let takes: Vec<_> = first.params.iter().map(|param| (param.name, param.tensor, param.takes)).collect();
        let (generic, scalar) = (Some(Primitive::Generic), Some(Primitive::Scalar));
        let string = Some(Primitive::String);
        let expected = [("x", true, generic), ("xs", true, None), ("p", false, None), ("s", false, string)];
        assert_eq!(takes, [&expected[..], &[("e", false, scalar)]].concat());
        let defaults: Vec<_> = first.params.iter().map(|param| param.default.clone()).collect();
        let pair = Value::Tuple([Value::Int(0), Value::Int(-1)].into());
        let given = [Value::Array([pair].into()), Value::String("a".into()), Value::Scalar(1e-5)];
        assert_eq!(defaults, [vec![None, None], given.map(Some).to_vec()].concat());
        assert_eq!(first.results.iter().map(|result| result.gives).collect::<Vec<_>>(), [generic, None]);
        assert!(second.text.ends_with("\n}") && !second.generic);
    }
}

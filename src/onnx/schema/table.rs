//! The table of operators, of which the lines are parsed when they are looked up.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::operator::{AttributeRow, Parameter, ParameterType, Presence, Schema};
use super::type_set::{TypeId, TypeSet};
use crate::onnx::types::AttributeType;

const TABLE: &str = include_str!("operators.txt");

/// The result of a lookup in the table.
#[derive(Clone, Debug)]
pub(crate) enum SchemaLookup {
    /// The operator in the version of the operator set.
    Schema(Rc<Schema>),
    /// The operator exists only in later versions of the operator set, from this one on.
    Later(i64),
    /// There is no operator with this name.
    Unknown,
    /// The domain is not a standard one.
    Foreign,
}

/// A domain and the name of an operator in it.
type OperatorKey = (&'static str, &'static str);

/// The table of operators.
#[derive(Debug)]
pub(crate) struct Schemas {
    types: FxHashMap<String, TypeId>,
    names: Vec<String>,
    sets: Vec<TypeSet>,
    /// The versions of each operator, the oldest first: number and line.
    rows: FxHashMap<OperatorKey, Vec<(i64, &'static str)>>,
    domains: Vec<&'static str>,
    /// The operators that the standard defines as functions, and the versions from which on it does.
    functions: FxHashMap<OperatorKey, i64>,
    /// The schemas of the lines that were parsed.
    read: FxHashMap<&'static str, Rc<Schema>>,
}

impl Schemas {
    /// Loads the table. The lines of operators are parsed on their first lookup.
    pub(crate) fn new() -> Self {
        let mut schemas = Schemas {
            types: FxHashMap::default(),
            names: Vec::new(),
            sets: Vec::new(),
            rows: FxHashMap::default(),
            domains: Vec::new(),
            functions: FxHashMap::default(),
            read: FxHashMap::default(),
        };
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            schemas.line(line);
        }
        schemas
    }

    fn line(&mut self, line: &'static str) -> Option<()> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "set" => {
                let (_, types) = rest.split_once(' ')?;
                let set = self.set(types);
                self.sets.push(set);
            }
            "domain" => self.domains.push(if rest == "-" { "" } else { rest }),
            "functions" => {
                let domain = self.domains.last()?;
                for (name, version) in rest.split(' ').filter_map(|function| function.split_once(':')) {
                    self.functions.insert((domain, name), version.parse().ok()?);
                }
            }
            name => {
                let (version, _) = rest.split_once(' ')?;
                let domain = self.domains.last()?;
                self.rows.entry((domain, name)).or_default().push((version.parse().ok()?, line));
            }
        }
        Some(())
    }

    /// Parses a set of types; `tensor(a|b)` means two types.
    fn set(&mut self, text: &str) -> TypeSet {
        let mut set = TypeSet::default();
        for group in text.split(' ') {
            let start = group.rfind('(').map_or(0, |at| at + 1);
            let end = group.find(')').unwrap_or(group.len());
            for element in group[start..end].split('|') {
                set.0 |= 1 << self.type_named(&format!("{}{element}{}", &group[..start], &group[end..])).0;
            }
        }
        set
    }

    fn type_named(&mut self, name: &str) -> TypeId {
        *self.types.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(name.to_owned());
            TypeId((self.names.len() - 1) as u8)
        })
    }

    /// The type with this spelling, without blanks; none if no operator has it.
    pub(crate) fn type_id(&self, name: &str) -> Option<TypeId> {
        self.types.get(name).copied()
    }

    /// The spelling of a type.
    pub(crate) fn type_name(&self, of: TypeId) -> &str {
        &self.names[usize::from(of.0)]
    }

    /// The spellings of the types of a set.
    pub(crate) fn type_names(&self, set: TypeSet) -> impl Iterator<Item = &str> {
        (0..self.names.len()).filter(move |i| set.has(TypeId(*i as u8))).map(|i| &*self.names[i])
    }

    /// The names of the operators of a domain, in unspecified order.
    pub(crate) fn operators(&self, domain: &str) -> impl Iterator<Item = &'static str> {
        self.rows.keys().filter(move |row| row.0 == domain).map(|row| row.1)
    }

    /// The names of the operators of all domains, in unspecified order.
    pub(crate) fn all_operators(&self) -> impl Iterator<Item = &'static str> {
        self.rows.keys().map(|row| row.1)
    }

    /// Whether there is an operator in any version. The standard domain is the empty text.
    pub(crate) fn has(&self, domain: &str, name: &str) -> bool {
        // Keys are static, and the texts of a model are not.
        self.rows.keys().any(|key| *key == (domain, name))
    }

    /// The latest version in which an operator of a domain was added or changed.
    pub(crate) fn latest(&self, domain: &str) -> i64 {
        let versions = self.rows.iter().filter(|row| row.0.0 == domain).filter_map(|row| row.1.last());
        versions.map(|version| version.0).max().unwrap_or(0)
    }

    /// The schema of an operator in a version of its operator set. The standard domain is the empty text.
    pub(crate) fn find(&mut self, domain: &str, name: &str, version: i64) -> SchemaLookup {
        if !self.domains.contains(&domain) {
            return SchemaLookup::Foreign;
        }
        let Some(versions) = self.rows.get(&(domain, name)) else { return SchemaLookup::Unknown };
        let Some(&(since, line)) = versions.iter().rev().find(|row| row.0 <= version) else {
            return versions.first().map_or(SchemaLookup::Unknown, |row| SchemaLookup::Later(row.0));
        };
        if let Some(schema) = self.read.get(line) {
            return SchemaLookup::Schema(schema.clone());
        }
        let Some(schema) = self.schema(since, line) else { return SchemaLookup::Unknown };
        let schema = Rc::new(schema);
        self.read.insert(line, schema.clone());
        SchemaLookup::Schema(schema)
    }

    /// The operators that the standard defines as functions, with their domains, in unspecified order.
    #[cfg(test)]
    pub(crate) fn functions(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.functions.keys().copied()
    }

    /// Parses the line of an operator.
    fn schema(&mut self, version: i64, line: &'static str) -> Option<Schema> {
        let rest = line.splitn(3, ' ').nth(2)?;
        if rest == "deprecated" {
            return Some(Schema { version, deprecated: true, ..Schema::default() });
        }
        let mut parts = rest.split(';').map(str::trim);
        let (inputs, outputs) = parts.next()?.split_once("->")?;
        let variable = |text: &'static str| {
            let (name, set) = text.split_once('=')?;
            Some((name, *self.sets.get(set.parse::<usize>().ok()?)?))
        };
        let variables: Vec<_> = parts.next().unwrap_or("").split_whitespace().map(variable).collect::<Option<_>>()?;
        let attributes = parts.next().unwrap_or("").split_whitespace().map(attribute).collect::<Option<_>>()?;
        let mut parameters = |text: &'static str| -> Option<Vec<Parameter>> {
            text.split_whitespace().map(|text| self.parameter(text, &variables)).collect()
        };
        let (inputs, outputs) = (parameters(inputs)?, parameters(outputs)?);
        Some(Schema { version, deprecated: false, inputs, outputs, variables, attributes })
    }

    fn parameter(&mut self, text: &'static str, variables: &[(&str, TypeSet)]) -> Option<Parameter> {
        let (name, ty) = text.rsplit_once(':')?;
        let (ty, presence) = if let Some(ty) = ty.strip_suffix('?') {
            (ty, Presence::Optional)
        } else if let Some((ty, least)) = ty.split_once('*') {
            let count = least.trim_end_matches('~');
            (ty, Presence::Variadic { least: count.parse().ok()?, alike: count == least })
        } else {
            (ty, Presence::Required)
        };
        let ty = match variables.iter().position(|variable| variable.0 == ty) {
            Some(variable) => ParameterType::Variable(variable),
            None => ParameterType::Fixed(self.set(ty)),
        };
        Some(Parameter { name, ty, presence })
    }
}

fn attribute(text: &'static str) -> Option<AttributeRow> {
    let (name, kind) = text.split_once(':')?;
    let (kind, default) = kind.split_once('=').map_or((kind, None), |(kind, default)| (kind, Some(default)));
    let required = kind.ends_with('!');
    Some(AttributeRow { name, kind: AttributeType::named(kind.trim_end_matches('!'))?, required, default })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::model::AttributeValue;
    use crate::onnx::schema::counts;

    fn schema(name: &str, version: i64) -> Rc<Schema> {
        match Schemas::new().find("", name, version) {
            SchemaLookup::Schema(schema) => schema,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn every_line_is_read() {
        let mut schemas = Schemas::new();
        assert_eq!(schemas.sets.len(), TABLE.lines().filter(|line| line.starts_with("set ")).count());
        let rows: Vec<_> = schemas.rows.clone().into_iter().collect();
        assert!(rows.len() > 200);
        for ((domain, name), versions) in rows {
            assert!(versions.is_sorted_by(|a, b| a.0 < b.0), "{name}");
            for (version, _) in versions {
                let found = schemas.find(domain, name, version);
                assert!(
                    matches!(&found, SchemaLookup::Schema(schema) if schema.version == version),
                    "{name} {version}"
                );
            }
        }
        assert!(schemas.names.len() <= 128);
    }

    #[test]
    fn operators_have_versions() {
        assert_eq!(schema("Clip", 10).inputs.len(), 1);
        assert_eq!(counts(&schema("Clip", 11).inputs), (1, 3));
        assert_eq!(schema("Clip", 12).version, 12);
        assert!(schema("Upsample", 21).deprecated);
        assert!(matches!(Schemas::new().find("", "Gelu", 17), SchemaLookup::Later(20)));
        assert!(matches!(Schemas::new().find("", "Gelo", 17), SchemaLookup::Unknown));
        assert!(matches!(Schemas::new().find("my", "Gelu", 17), SchemaLookup::Foreign));
    }

    #[test]
    fn parameters_say_how_many_operands_there_are() {
        assert_eq!(counts(&schema("Concat", 13).inputs), (1, usize::MAX));
        assert_eq!(counts(&schema("Loop", 13).inputs), (2, usize::MAX));
        assert_eq!(counts(&schema("Dropout", 13).outputs), (1, 2));
        assert_eq!(schema("If", 13).inputs[0].name, "cond");
    }

    #[test]
    fn attributes_have_defaults() {
        let leaky = schema("LeakyRelu", 16);
        assert!(leaky.attributes[0].is_default(&AttributeValue::Float(0.01)));
        assert!(!leaky.attributes[0].is_default(&AttributeValue::Float(0.1)));
        let conv = schema("Conv", 11);
        let of = |name: &str| conv.attributes.iter().find(|attribute| attribute.name == name).unwrap();
        assert!(of("group").is_default(&AttributeValue::Int(1)));
        assert_eq!(of("pads").default, None);
    }

    #[test]
    fn types_are_sets() {
        let mut schemas = Schemas::new();
        let SchemaLookup::Schema(conv) = schemas.find("", "Conv", 11) else { panic!() };
        let names: Vec<_> = schemas.type_names(conv.variables[0].1).collect();
        assert_eq!(names, ["tensor(double)", "tensor(float)", "tensor(float16)"]);
        let float = schemas.type_id("tensor(float)").unwrap();
        assert!(conv.variables[0].1.has(float));
        assert_eq!(schemas.type_name(float), "tensor(float)");
    }
}

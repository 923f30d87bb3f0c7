//! The table of operators, of which the lines are parsed when they are looked up.

use std::sync::{LazyLock, OnceLock};

use rustc_hash::FxHashMap;

use super::operator::{AttributeRow, Parameter, ParameterType, Presence, Schema};
use super::type_set::{TypeId, TypeSet};
use crate::onnx::types::AttributeType;

const TABLE: &str = include_str!("operators.txt");

/// The operators of onnxruntime.
const MICROSOFT: &str = include_str!("microsoft.txt");

/// The domain of the operators of onnxruntime.
pub(crate) const MICROSOFT_DOMAIN: &str = "com.microsoft";

/// The result of a lookup in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SchemaLookup {
    /// The operator in the version of the operator set.
    Schema(&'static Schema),
    /// The operator exists only in later versions of the operator set, from this one on.
    Later(i64),
    /// There is no operator with this name.
    Unknown,
    /// The domain is not a standard one.
    Foreign,
}

/// A domain and the name of an operator in it.
type OperatorKey = (&'static str, &'static str);

/// The table of operators, which is read once for all uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schemas(&'static SchemaTable);

/// A version of an operator.
#[derive(Debug)]
struct SchemaRow {
    number: usize,
    since: i64,
    /// Whether it is of onnxruntime, and not of the standard.
    of_vendor: bool,
    /// The number of sets of types before those of its table.
    sets_from: usize,
    line: &'static str,
    /// The schema, once it was looked up; none if the line is malformed, which a test excludes.
    schema: OnceLock<Option<Schema>>,
}

/// A set of types.
#[derive(Debug)]
struct SetRow {
    text: &'static str,
    /// The set, once it was looked up; none if it has a type that the table does not name, which a test excludes.
    set: OnceLock<Option<TypeSet>>,
}

/// The contents of the table.
#[derive(Debug, Default)]
struct SchemaTable {
    types: FxHashMap<String, TypeId>,
    names: Vec<String>,
    /// The sets of types, which are parsed when they are looked up.
    sets: Vec<SetRow>,
    /// The place of each operator in `versions`.
    rows: FxHashMap<OperatorKey, usize>,
    /// The versions of each operator, the oldest first.
    versions: Vec<Vec<SchemaRow>>,
    /// The number of versions of all operators.
    count: usize,
    domains: Vec<&'static str>,
}

impl SchemaTable {
    /// Reads the table. The lines of operators are parsed on their first lookup.
    fn read() -> Self {
        let mut table = SchemaTable::default();
        for (text, of_vendor) in [(TABLE, false), (MICROSOFT, true)] {
            let sets_from = table.sets.len();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                table.line(line, of_vendor, sets_from);
            }
        }
        table
    }

    fn line(&mut self, line: &'static str, of_vendor: bool, sets_from: usize) -> Option<()> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "set" => {
                let (_, text) = rest.split_once(' ')?;
                self.sets.push(SetRow { text, set: OnceLock::new() });
            }
            "types" => each_type(rest, &mut |name| self.add_type(name)),
            "domain" => self.domains.push(if rest == "-" { "" } else { rest }),
            // Only a test looks at them.
            "functions" => {}
            name => {
                let (version, _) = rest.split_once(' ')?;
                let domain = self.domains.last()?;
                let (number, since) = (self.count, version.parse().ok()?);
                let row = SchemaRow { number, since, of_vendor, sets_from, line, schema: OnceLock::new() };
                self.count += 1;
                let place = *self.rows.entry((domain, name)).or_insert(self.versions.len());
                match self.versions.get_mut(place) {
                    // Those of onnxruntime in the standard domain are older than those of the standard.
                    Some(versions) if of_vendor => versions.insert(0, row),
                    Some(versions) => versions.push(row),
                    None => self.versions.push(vec![row]),
                }
            }
        }
        Some(())
    }

    /// The set of types with a number.
    fn set(&self, number: usize) -> Option<TypeSet> {
        let row = self.sets.get(number)?;
        *row.set.get_or_init(|| self.known_set(row.text))
    }

    /// Parses a set of types; `tensor(a|b)` means two types.
    fn known_set(&self, text: &str) -> Option<TypeSet> {
        let (mut set, mut known) = (TypeSet::default(), true);
        each_type(text, &mut |name| match self.types.get(&name) {
            Some(id) => set.0 |= 1 << id.0,
            None => known = false,
        });
        known.then_some(set)
    }

    fn add_type(&mut self, name: String) {
        self.types.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            TypeId((self.names.len() - 1) as u8)
        });
    }

    /// Parses the line of an operator.
    fn schema(&self, row: &SchemaRow) -> Option<Schema> {
        let &SchemaRow { number, since: version, of_vendor, sets_from, line, .. } = row;
        let rest = line.splitn(3, ' ').nth(2)?;
        if rest == "deprecated" {
            return Some(Schema { number, version, of_vendor, deprecated: true, ..Schema::default() });
        }
        let mut parts = rest.split(';').map(str::trim);
        let (inputs, outputs) = parts.next()?.split_once("->")?;
        let variable = |text: &'static str| {
            let (name, set) = text.split_once('=')?;
            Some((name, self.set(sets_from.checked_add(set.parse().ok()?)?)?))
        };
        let variables: Vec<_> = parts.next().unwrap_or("").split_whitespace().map(variable).collect::<Option<_>>()?;
        let attributes = parts.next().unwrap_or("").split_whitespace().map(attribute).collect::<Option<_>>()?;
        let parameters = |text: &'static str| -> Option<Vec<Parameter>> {
            text.split_whitespace().map(|text| self.parameter(text, &variables)).collect()
        };
        let (inputs, outputs) = (parameters(inputs)?, parameters(outputs)?);
        Some(Schema { number, version, of_vendor, deprecated: false, inputs, outputs, variables, attributes })
    }

    fn parameter(&self, text: &'static str, variables: &[(&str, TypeSet)]) -> Option<Parameter> {
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
            None => ParameterType::Fixed(self.known_set(ty)?),
        };
        Some(Parameter { name, ty, presence })
    }
}

/// The table, read on its first use.
static SHARED: LazyLock<SchemaTable> = LazyLock::new(SchemaTable::read);

impl Schemas {
    /// The table.
    pub(crate) fn new() -> Self {
        Schemas(&SHARED)
    }

    /// The number of schemas, of which each has a number below it.
    pub(crate) fn count(self) -> usize {
        self.0.count
    }

    /// The type with this spelling, without blanks; none if no operator has it.
    pub(crate) fn type_id(self, name: &str) -> Option<TypeId> {
        self.0.types.get(name).copied()
    }

    /// The spelling of a type.
    pub(crate) fn type_name(self, of: TypeId) -> &'static str {
        &self.0.names[usize::from(of.0)]
    }

    /// The spellings of the types of a set.
    pub(crate) fn type_names(self, set: TypeSet) -> impl Iterator<Item = &'static str> {
        (0..self.0.names.len()).filter(move |i| set.has(TypeId(*i as u8))).map(|i| &*self.0.names[i])
    }

    /// The names of the operators of a domain, in unspecified order.
    pub(crate) fn operators(self, domain: &str) -> impl Iterator<Item = &'static str> {
        self.0.rows.keys().filter(move |row| row.0 == domain).map(|row| row.1)
    }

    /// Whether all versions of an operator are of onnxruntime.
    #[cfg(test)]
    pub(crate) fn is_of_vendor(self, domain: &str, name: &str) -> bool {
        let place = self.0.rows.get(&(domain, name)).copied();
        place.and_then(|place| self.0.versions.get(place)).is_some_and(|rows| rows.iter().all(|row| row.of_vendor))
    }

    /// The names of the operators of all domains, in unspecified order.
    pub(crate) fn all_operators(self) -> impl Iterator<Item = &'static str> {
        self.0.rows.keys().map(|row| row.1)
    }

    /// Whether there is an operator in any version. The standard domain is the empty text.
    pub(crate) fn has(self, domain: &str, name: &str) -> bool {
        self.0.rows.contains_key(&(domain, name))
    }

    /// The latest version in which an operator of a domain was added or changed.
    pub(crate) fn latest(self, domain: &str) -> i64 {
        let places = self.0.rows.iter().filter(|row| row.0.0 == domain).map(|row| *row.1);
        let latest = places.filter_map(|place| self.0.versions.get(place)?.last());
        latest.map(|row| row.since).max().unwrap_or(0)
    }

    /// The schema of an operator in a version of its operator set. The standard domain is the empty text.
    pub(crate) fn find(self, domain: &str, name: &str, version: i64) -> SchemaLookup {
        if !self.0.domains.contains(&domain) {
            return SchemaLookup::Foreign;
        }
        let place = self.0.rows.get(&(domain, name)).copied();
        let Some(versions) = place.and_then(|place| self.0.versions.get(place)) else { return SchemaLookup::Unknown };
        let Some(row) = versions.iter().rev().find(|row| row.since <= version) else {
            return versions.first().map_or(SchemaLookup::Unknown, |row| SchemaLookup::Later(row.since));
        };
        let schema = row.schema.get_or_init(|| self.0.schema(row));
        schema.as_ref().map_or(SchemaLookup::Unknown, SchemaLookup::Schema)
    }

    /// Whether a version of an operator has an attribute.
    pub(crate) fn has_attribute(self, domain: &str, name: &str, attribute: &str) -> bool {
        let place = self.0.rows.get(&(domain, name)).copied();
        let versions = place.and_then(|place| self.0.versions.get(place));
        let mut schemas =
            versions.into_iter().flatten().filter_map(|row| row.schema.get_or_init(|| self.0.schema(row)).as_ref());
        schemas.any(|schema| schema.attributes.iter().any(|row| row.name == attribute))
    }

    /// The version that introduced an operator as it is in a version of its operator set.
    pub(crate) fn since(self, domain: &str, name: &str, version: i64) -> Option<i64> {
        match self.find(domain, name, version) {
            SchemaLookup::Schema(schema) => Some(schema.version),
            SchemaLookup::Later(_) | SchemaLookup::Unknown | SchemaLookup::Foreign => None,
        }
    }

    /// The first version behind another one in which an operator was added or changed.
    pub(crate) fn next_change(self, domain: &str, name: &str, version: i64) -> Option<i64> {
        let place = self.0.rows.get(&(domain, name)).copied();
        let versions = place.and_then(|place| self.0.versions.get(place))?;
        versions.iter().map(|row| row.since).find(|since| *since > version)
    }

    /// The operators that the standard defines as functions, with their domains.
    #[cfg(test)]
    pub(crate) fn functions(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let mut domain = "";
        let named = TABLE.lines().filter_map(move |line| {
            let (word, rest) = line.split_once(' ')?;
            if word == "domain" {
                domain = if rest == "-" { "" } else { rest };
            }
            (word == "functions").then_some((domain, rest))
        });
        named.flat_map(|(domain, rest)| {
            rest.split(' ').filter_map(move |function| Some((domain, function.split_once(':')?.0)))
        })
    }
}

/// The latest version of the standard operator set.
#[cfg(feature = "cli")]
pub(crate) fn latest_opset() -> i64 {
    Schemas::new().latest("")
}

/// Calls a function with each type of a set; `tensor(a|b)` means two types.
fn each_type(text: &str, visit: &mut dyn FnMut(String)) {
    for group in text.split(' ') {
        let start = group.rfind('(').map_or(0, |at| at + 1);
        let end = group.find(')').unwrap_or(group.len());
        for element in group[start..end].split('|') {
            visit(format!("{}{element}{}", &group[..start], &group[end..]));
        }
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

    fn schema(name: &str, version: i64) -> &'static Schema {
        match Schemas::new().find("", name, version) {
            SchemaLookup::Schema(schema) => schema,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn every_line_is_read() {
        let table = SchemaTable::read();
        let lines = TABLE.lines().chain(MICROSOFT.lines());
        assert_eq!(table.sets.len(), lines.filter(|line| line.starts_with("set ")).count());
        assert!((0..table.sets.len()).all(|number| table.set(number).is_some()));
        assert!(table.rows.len() > 200);
        for ((domain, name), place) in &table.rows {
            let versions = &table.versions[*place];
            assert!(versions.is_sorted_by(|a, b| a.since < b.since), "{name}");
            for row in versions {
                let found = Schemas::new().find(domain, name, row.since);
                assert!(
                    matches!(found, SchemaLookup::Schema(schema) if schema.version == row.since),
                    "{name} {}",
                    row.since
                );
            }
        }
        assert!(table.names.len() <= 128);
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
        let schemas = Schemas::new();
        let SchemaLookup::Schema(conv) = schemas.find("", "Conv", 11) else { panic!() };
        let names: Vec<_> = schemas.type_names(conv.variables[0].1).collect();
        assert_eq!(names, ["tensor(double)", "tensor(float)", "tensor(float16)"]);
        let float = schemas.type_id("tensor(float)").unwrap();
        assert!(conv.variables[0].1.has(float));
        assert_eq!(schemas.type_name(float), "tensor(float)");
    }
}

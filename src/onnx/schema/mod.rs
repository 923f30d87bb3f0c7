//! The standard operators of ONNX: what each of their versions takes and gives.
//!
//! The table `operators.txt` is data, written by `generate.py` from the published schemas.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::types::AttributeType;

const TABLE: &str = include_str!("operators.txt");

/// A type of values, as the schemas spell it (`tensor(float)`), by its number in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeId(u8);

/// A set of types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeSet(u128);

impl TypeSet {
    pub(crate) fn has(self, of: TypeId) -> bool {
        self.0 >> of.0 & 1 == 1
    }

    /// The only type of the set.
    pub(crate) fn single(self) -> Option<TypeId> {
        self.0.is_power_of_two().then(|| TypeId(self.0.trailing_zeros() as u8))
    }
}

/// How many operands a parameter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// So many or more, of the same type where `alike`.
    Variadic {
        least: usize,
        alike: bool,
    },
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterType {
    /// That of a variable, by its position: all parameters of the variable have the same type.
    Variable(usize),
    /// One that stands in the table.
    Fixed(TypeSet),
}

/// An input or an output of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) ty: ParameterType,
    pub(crate) presence: Presence,
}

/// An attribute of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeRow {
    pub(crate) name: &'static str,
    pub(crate) kind: AttributeType,
    pub(crate) required: bool,
}

/// A version of an operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    pub(crate) version: i64,
    pub(crate) deprecated: bool,
    pub(crate) inputs: Vec<Parameter>,
    pub(crate) outputs: Vec<Parameter>,
    /// The types that each variable may stand for.
    pub(crate) variables: Vec<(&'static str, TypeSet)>,
    pub(crate) attributes: Vec<AttributeRow>,
}

/// The fewest and the most operands that parameters take.
pub(crate) fn counts(parameters: &[Parameter]) -> (usize, usize) {
    let least = parameters.iter().enumerate().map(|(i, parameter)| match parameter.presence {
        Presence::Required => i + 1,
        Presence::Optional => 0,
        Presence::Variadic { least, .. } => i + least,
    });
    let open = parameters.last().is_some_and(|last| matches!(last.presence, Presence::Variadic { .. }));
    (least.max().unwrap_or(0), if open { usize::MAX } else { parameters.len() })
}

/// What the table says of an operator.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// The version that an operator set has.
    Schema(Rc<Schema>),
    /// There is one in a later version of the operator set only.
    Later(i64),
    /// There is none of this name.
    Unknown,
    /// The domain is none of the standard ones.
    Foreign,
}

/// A domain and an operator of it.
type Operator = (&'static str, &'static str);

/// The table of operators.
#[derive(Debug)]
pub(crate) struct Schemas {
    types: FxHashMap<String, TypeId>,
    names: Vec<String>,
    sets: Vec<TypeSet>,
    /// The versions of each operator, the oldest one first: their numbers and lines.
    rows: FxHashMap<Operator, Vec<(i64, &'static str)>>,
    domains: Vec<&'static str>,
    /// The lines that were read.
    read: FxHashMap<&'static str, Rc<Schema>>,
}

impl Schemas {
    /// The table. Operators are read where they are asked for.
    pub(crate) fn new() -> Self {
        let mut schemas = Schemas {
            types: FxHashMap::default(),
            names: Vec::new(),
            sets: Vec::new(),
            rows: FxHashMap::default(),
            domains: Vec::new(),
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
            name => {
                let (version, _) = rest.split_once(' ')?;
                let domain = self.domains.last()?;
                self.rows.entry((domain, name)).or_default().push((version.parse().ok()?, line));
            }
        }
        Some(())
    }

    /// A set of types: `tensor(a|b)` stands for two.
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

    /// The type of this spelling, without blanks; none if no operator takes it.
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

    /// The names of the operators of a domain, in no certain order.
    pub(crate) fn operators(&self, domain: &str) -> impl Iterator<Item = &'static str> {
        self.rows.keys().filter(move |row| row.0 == domain).map(|row| row.1)
    }

    /// An operator as a version of its operator set has it. The standard domain is the empty one here.
    pub(crate) fn find(&mut self, domain: &str, name: &str, version: i64) -> Found {
        if !self.domains.contains(&domain) {
            return Found::Foreign;
        }
        let Some(versions) = self.rows.get(&(domain, name)) else { return Found::Unknown };
        let Some(&(since, line)) = versions.iter().rev().find(|row| row.0 <= version) else {
            return versions.first().map_or(Found::Unknown, |row| Found::Later(row.0));
        };
        if let Some(schema) = self.read.get(line) {
            return Found::Schema(schema.clone());
        }
        let Some(schema) = self.schema(since, line) else { return Found::Unknown };
        let schema = Rc::new(schema);
        self.read.insert(line, schema.clone());
        Found::Schema(schema)
    }

    /// Reads the line of an operator.
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
    let required = kind.ends_with('!');
    Some(AttributeRow { name, kind: AttributeType::named(kind.trim_end_matches('!'))?, required })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(name: &str, version: i64) -> Rc<Schema> {
        match Schemas::new().find("", name, version) {
            Found::Schema(schema) => schema,
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
                assert!(matches!(&found, Found::Schema(schema) if schema.version == version), "{name} {version}");
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
        assert!(matches!(Schemas::new().find("", "Gelu", 17), Found::Later(20)));
        assert!(matches!(Schemas::new().find("", "Gelo", 17), Found::Unknown));
        assert!(matches!(Schemas::new().find("my", "Gelu", 17), Found::Foreign));
    }

    #[test]
    fn parameters_say_how_many_operands_there_are() {
        assert_eq!(counts(&schema("Concat", 13).inputs), (1, usize::MAX));
        assert_eq!(counts(&schema("Loop", 13).inputs), (2, usize::MAX));
        assert_eq!(counts(&schema("Dropout", 13).outputs), (1, 2));
        assert_eq!(schema("If", 13).inputs[0].name, "cond");
    }

    #[test]
    fn types_are_sets() {
        let mut schemas = Schemas::new();
        let Found::Schema(conv) = schemas.find("", "Conv", 11) else { panic!() };
        let names: Vec<_> = schemas.type_names(conv.variables[0].1).collect();
        assert_eq!(names, ["tensor(double)", "tensor(float)", "tensor(float16)"]);
        let float = schemas.type_id("tensor(float)").unwrap();
        assert!(conv.variables[0].1.has(float));
        assert_eq!(schemas.type_name(float), "tensor(float)");
    }
}

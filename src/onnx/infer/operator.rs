//! What inference knows of an operator in a version: its rule, and how element types of results follow from those of
//! operands.

use std::sync::{LazyLock, OnceLock};

use smallvec::SmallVec;

use super::facts::{TensorFacts, ValueType};
use crate::graph::Element;
use crate::onnx::operators::{OperatorRow, row_of};
use crate::onnx::schema::{Parameter, ParameterType, Presence, Schema, SchemaLookup, Schemas};
use crate::onnx::standard::is_its_body;
use crate::onnx::types::ElementType;

/// An operator in a version of its operator set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operator {
    pub(super) version: i64,
    /// What is known of it; none if it is not an operator of the standard.
    meaning: Option<&'static Meaning>,
}

/// What inference knows of a schema.
#[derive(Debug)]
struct Meaning {
    row: Option<&'static OperatorRow>,
    /// The type of each result of the schema.
    outputs: Vec<OutputType>,
    /// Whether the last result of the schema stands for any number of results.
    open: bool,
    /// The number of operands of the schema.
    inputs: usize,
    constant: Option<ConstantSource>,
    /// Whether all that is known of it is its body.
    is_its_body: bool,
}

/// Where the constant is that an operator has as its result.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConstantSource {
    Attribute,
    /// The operand is passed on.
    Operand,
}

/// The meanings of all schemas by their numbers, each made when it is looked up.
static MEANINGS: LazyLock<Vec<OnceLock<Meaning>>> =
    LazyLock::new(|| (0..Schemas::new().count()).map(|_| OnceLock::new()).collect());

/// How the type of a result is found.
#[derive(Clone, Debug)]
enum OutputType {
    /// It is always the same.
    Fixed(ValueType),
    /// It is that of one of these operands.
    Of(SmallVec<[usize; 2]>),
    /// The schema does not say.
    Open,
}

impl Meaning {
    fn of(schema: &Schema, domain: &str, name: &str) -> Meaning {
        let output = |parameter: &Parameter| output_type(Schemas::new(), schema, parameter);
        let open = schema.outputs.last().is_some_and(|last| matches!(last.presence, Presence::Variadic { .. }));
        let outputs = schema.outputs.iter().map(output).collect();
        let constant = match (domain, name) {
            ("", "Constant") => Some(ConstantSource::Attribute),
            ("", "Identity") => Some(ConstantSource::Operand),
            _ => None,
        };
        let (row, is_its_body) = (row_of(domain, name), is_its_body(domain, name));
        Meaning { row, outputs, open, inputs: schema.inputs.len(), constant, is_its_body }
    }
}

impl Operator {
    /// Looks an operator up.
    pub(super) fn find(domain: &str, name: &str, version: i64) -> Operator {
        let SchemaLookup::Schema(schema) = Schemas::new().find(domain, name, version) else {
            return Operator { version, meaning: None };
        };
        let meaning = MEANINGS.get(schema.number);
        let meaning = meaning.map(|meaning| meaning.get_or_init(|| Meaning::of(schema, domain, name)));
        Operator { version, meaning }
    }

    /// The row of the table of operators.
    pub(super) fn row(&self) -> Option<&'static OperatorRow> {
        self.meaning?.row
    }

    /// The type of a result as far as the schema determines it, given the types of operands.
    pub(super) fn result<'t>(&self, result: usize, operand: impl Fn(usize) -> Option<&'t ValueType>) -> ValueType {
        let Some(Meaning { outputs, open, .. }) = self.meaning else { return ValueType::Unknown };
        let last = outputs.len().saturating_sub(1);
        match outputs.get(if *open { result.min(last) } else { result }) {
            Some(OutputType::Fixed(ty)) => ty.clone(),
            Some(OutputType::Of(inputs)) => {
                let mut types = inputs.iter().filter_map(|input| type_of_variable(operand(*input)?));
                types.next().unwrap_or_default()
            }
            Some(OutputType::Open) | None => ValueType::Unknown,
        }
    }

    /// Where the constant is that is the result; none if results are computed.
    pub(super) fn constant(&self) -> Option<ConstantSource> {
        self.meaning?.constant
    }

    /// Whether all that is known of it is its body.
    pub(super) fn is_its_body(&self) -> bool {
        self.meaning.is_some_and(|meaning| meaning.is_its_body)
    }

    /// The number of operands of the schema.
    pub(super) fn inputs(&self) -> usize {
        self.meaning.map_or(0, |meaning| meaning.inputs)
    }
}

/// What an operand says about the results of the same type variable: its type, without shape or items.
fn type_of_variable(operand: &ValueType) -> Option<ValueType> {
    match operand {
        ValueType::Unknown => None,
        ValueType::Tensor(facts) => Some(ValueType::tensor(Some(facts.element?), None)),
        other => Some(other.clone()),
    }
}

fn output_type(schemas: Schemas, schema: &Schema, parameter: &Parameter) -> OutputType {
    let set = match parameter.ty {
        ParameterType::Fixed(set) => set,
        ParameterType::Variable(variable) => {
            let alike = !matches!(parameter.presence, Presence::Variadic { alike: false, .. });
            let set = schema.variables.get(variable).map(|variable| variable.1).unwrap_or_default();
            if set.single().is_none() && alike {
                let same = |input: &Parameter| matches!(input.ty, ParameterType::Variable(own) if own == variable);
                let inputs = schema.inputs.iter().enumerate().filter(|(_, input)| same(input)).map(|(i, _)| i);
                return OutputType::Of(inputs.collect());
            }
            set
        }
    };
    match set.single() {
        Some(only) => spelled(schemas.type_name(only)).map_or(OutputType::Open, OutputType::Fixed),
        None => OutputType::Open,
    }
}

/// The type with a spelling such as `seq(tensor(float))`.
fn spelled(text: &str) -> Option<ValueType> {
    let (form, inner) = text.strip_suffix(')')?.split_once('(')?;
    Some(match form {
        "tensor" => {
            let element = Element::numbered(ElementType::named(inner)?.number.into())?;
            ValueType::Tensor(TensorFacts { element: Some(element), ..TensorFacts::default() })
        }
        "seq" => ValueType::Sequence(Box::new(spelled(inner)?)),
        "optional" => ValueType::Optional(Box::new(spelled(inner)?)),
        _ => ValueType::Other,
    })
}

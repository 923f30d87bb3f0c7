//! What inference knows of an operator in a version: its rule, and how element types of results follow from those of
//! operands.

use std::rc::Rc;

use smallvec::SmallVec;

use super::facts::{TensorFacts, ValueType};
use crate::graph::Element;
use crate::onnx::operators::{OperatorRow, row_of};
use crate::onnx::schema::{Parameter, ParameterType, Presence, Schema, SchemaLookup, Schemas};
use crate::onnx::types::ElementType;

/// An operator in a version of its operator set.
#[derive(Debug, Default)]
pub(super) struct Operator {
    pub(super) version: i64,
    pub(super) row: Option<&'static OperatorRow>,
    /// The type of each result of the schema.
    outputs: Vec<OutputType>,
    /// Whether the last result of the schema stands for any number of results.
    open: bool,
    /// The number of operands of the schema.
    inputs: usize,
}

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

impl Operator {
    /// Looks an operator up.
    pub(super) fn find((domain, name): (&str, &str), version: i64) -> Rc<Operator> {
        let schemas = Schemas::new();
        let SchemaLookup::Schema(schema) = schemas.find(domain, name, version) else {
            return Rc::new(Operator { version, ..Operator::default() });
        };
        let output = |parameter: &Parameter| output_type(schemas, schema, parameter);
        let open = schema.outputs.last().is_some_and(|last| matches!(last.presence, Presence::Variadic { .. }));
        let outputs = schema.outputs.iter().map(output).collect();
        Rc::new(Operator { version, row: row_of(domain, name), outputs, open, inputs: schema.inputs.len() })
    }

    /// The type of a result as far as the schema determines it, given the types of operands.
    pub(super) fn result<'t>(&self, result: usize, operand: impl Fn(usize) -> Option<&'t ValueType>) -> ValueType {
        let last = self.outputs.len().saturating_sub(1);
        let output = self.outputs.get(if self.open { result.min(last) } else { result });
        match output {
            Some(OutputType::Fixed(ty)) => ty.clone(),
            Some(OutputType::Of(inputs)) => {
                let types = inputs.iter().filter_map(|input| type_of_variable(operand(*input)?));
                types.into_iter().next().unwrap_or_default()
            }
            Some(OutputType::Open) | None => ValueType::Unknown,
        }
    }

    /// The number of operands of the schema.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
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

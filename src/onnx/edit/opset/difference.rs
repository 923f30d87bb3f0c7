//! What follows from the difference of two schemas of an operator.

use smallvec::SmallVec;

use super::step::{OpsetStep, Stepped, text_value};
use crate::graph::names::NameId;
use crate::onnx::infer::ValueType;
use crate::onnx::model::AttributeValue;
use crate::onnx::schema::{AttributeRow, Parameter, ParameterType, Presence, Schema, Schemas, TypeId, counts};
use crate::onnx::types::{AttributeType, ElementType};

/// Attributes that said which buffers a program may overwrite: they mean nothing.
const WITHOUT_MEANING: &[&str] = &["consumed_inputs"];

/// Writes a node of one schema as one of another one.
pub(super) fn cross(step: &mut OpsetStep, from: &Schema, to: &Schema) -> Stepped {
    removed_attributes(step, from, to)?;
    defaults(step, from, to)?;
    fits(step, to)
}

/// Refuses operands, results and types that a schema does not have.
pub(super) fn fits(step: &mut OpsetStep, to: &Schema) -> Stepped {
    operands(step, to)?;
    results(step, to)?;
    types(step, to)
}

fn row<'s>(schema: &'s Schema, name: &str) -> Option<&'s AttributeRow> {
    schema.attributes.iter().find(|row| row.name == name)
}

/// Leaves out attributes that the other schema does not have, and that have their defaults.
fn removed_attributes(step: &mut OpsetStep, from: &Schema, to: &Schema) -> Stepped {
    for attribute in from.attributes.iter().filter(|attribute| row(to, attribute.name).is_none()) {
        let name = attribute.name;
        if WITHOUT_MEANING.contains(&name) {
            step.take(name)?;
            continue;
        }
        let is_default = match step.value(name)? {
            None => continue,
            // Files omit zeros.
            Some(AttributeValue::None) => attribute.default.is_some_and(|default| matches!(default, "0" | "0.0" | "")),
            Some(value) => attribute.is_default(value),
        };
        if !is_default {
            return Err(format!("it has no attribute `{name}` there"));
        }
        step.take(name)?;
    }
    Ok(())
}

/// Writes the defaults that are others in the other schema, and those of attributes that have to be given there.
fn defaults(step: &mut OpsetStep, from: &Schema, to: &Schema) -> Stepped {
    for attribute in &to.attributes {
        let own = row(from, attribute.name);
        if step.has(attribute.name) {
            if own.is_some_and(|own| own.kind != attribute.kind) && !has_kind(step, attribute)? {
                return Err(format!("the attribute `{}` is of another type there", attribute.name));
            }
            continue;
        }
        let default = own.and_then(|own| own.default);
        match default.filter(|default| attribute.default != Some(default)) {
            Some(default) => {
                let value = value_of(attribute.kind, default);
                step.put(attribute.name, value.ok_or_else(|| format!("`{}` has another default", attribute.name))?);
            }
            None if attribute.required => {
                return Err(format!("the attribute `{}` has to be given there", attribute.name));
            }
            None => {}
        }
    }
    Ok(())
}

/// Whether an attribute has a value of its type.
fn has_kind(step: &OpsetStep, attribute: &AttributeRow) -> Stepped<bool> {
    Ok(step.value(attribute.name)?.is_some_and(|value| value.kind().is_none_or(|kind| kind == attribute.kind)))
}

/// A default as a value.
fn value_of(kind: AttributeType, default: &str) -> Option<AttributeValue> {
    Some(match kind {
        AttributeType::Int => AttributeValue::Int(default.parse().ok()?),
        AttributeType::Float => AttributeValue::Float(default.parse().ok()?),
        AttributeType::String => text_value(default),
        _ => return None,
    })
}

/// Refuses operands that the other schema does not have, and the lack of those that it needs.
fn operands(step: &mut OpsetStep, to: &Schema) -> Stepped {
    while step.node.inputs.last() == Some(&NameId::ROOT) && step.node.inputs.len() > counts(&to.inputs).0 {
        step.node.inputs.pop();
    }
    let (least, most) = counts(&to.inputs);
    let given = step.node.inputs.len();
    if given > most {
        return Err(format!("it has no operand {} there", given - 1));
    }
    let missing = (0..least.min(to.inputs.len())).find(|at| {
        step.operand(*at).is_none() && to.inputs.get(*at).is_some_and(|input| input.presence == Presence::Required)
    });
    match missing {
        Some(at) => Err(format!("the operand `{}` has to be given there", to.inputs[at].name)),
        None if given < least => Err(format!("it has {least} operands or more there")),
        None => Ok(()),
    }
}

/// Refuses results that the other schema does not have.
fn results(step: &mut OpsetStep, to: &Schema) -> Stepped {
    let (_, most) = counts(&to.outputs);
    while step.node.outputs.len() > most {
        if step.node.outputs.last() != Some(&NameId::ROOT) {
            return Err(format!("it has no result {} there", step.node.outputs.len() - 1));
        }
        step.node.outputs.pop();
    }
    Ok(())
}

/// Refuses operands and results of types that the other schema does not have.
fn types(step: &OpsetStep, to: &Schema) -> Stepped {
    let schemas = Schemas::new();
    let mut bound: SmallVec<[Option<TypeId>; 4]> = SmallVec::from_elem(None, to.variables.len());
    for (what, names, parameters) in
        [("operand", &step.node.inputs, &to.inputs), ("result", &step.node.outputs, &to.outputs)]
    {
        for (at, name) in names.iter().enumerate().filter(|(_, name)| **name != NameId::ROOT) {
            let Some(parameter) = parameters.get(at).or_else(|| parameters.last()) else { continue };
            let Some(spelled) = step.scope.value_type(*name).and_then(spelling) else { continue };
            let ty = schemas.type_id(&spelled);
            if !ty.is_some_and(|ty| parameter.allowed(to).has(ty)) {
                return Err(format!("the {what} `{}` is `{spelled}`, which it does not have there", parameter.name));
            }
            if is_other(parameter, ty, &mut bound) {
                let message =
                    format!("the {what} `{}` is `{spelled}`, and others of one type there are not", parameter.name);
                return Err(message);
            }
        }
    }
    Ok(())
}

/// Whether a parameter shares its type with one that has another type.
fn is_other(parameter: &Parameter, ty: Option<TypeId>, bound: &mut [Option<TypeId>]) -> bool {
    let (ParameterType::Variable(variable), false) =
        (parameter.ty, matches!(parameter.presence, Presence::Variadic { alike: false, .. }))
    else {
        return false;
    };
    let first = bound[variable];
    bound[variable] = first.or(ty);
    first.is_some() && first != ty
}

/// The spelling of a type in the table of operators; none if it is not known.
fn spelling(ty: &ValueType) -> Option<String> {
    Some(match ty {
        ValueType::Tensor(facts) => format!("tensor({})", ElementType::numbered(facts.element? as i32)?.name),
        ValueType::Sequence(item) => format!("seq({})", spelling(item)?),
        ValueType::Optional(content) => format!("optional({})", spelling(content)?),
        ValueType::Unknown | ValueType::Other => return None,
    })
}

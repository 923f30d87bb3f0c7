//! Runs a model on tensors by the names of its inputs.

use rustc_hash::FxHashMap;

use super::element::dtype_of;
use super::failure::RunFailure;
use super::interpreter::Interpreter;
use super::stored::Stores;
use crate::Options;
use crate::diagnostics::{Code, suggest};
use crate::eval::{Budget, EvalError};
use crate::graph::names::NameId;
use crate::onnx::model::{Extent, GraphProto, ModelNames, ModelProto, TensorType, TypeForm, TypeProto, ValueInfo};
use crate::parts::KERNELS;
use crate::source::names::Name;
use crate::tensor::value::RunValue;
use crate::tensor::value::ValueForm;

/// What runs a model: its limits, and where its external data are.
pub(crate) struct Runner<'r> {
    pub(crate) stores: &'r Stores,
    pub(crate) budget: &'r Budget,
    pub(crate) options: &'r Options,
}

/// An input of a model, as it is declared.
pub(crate) struct DeclaredInput<'m> {
    pub(crate) name: &'m str,
    /// What its value is, if that is declared.
    pub(crate) form: Option<ValueForm>,
    id: NameId,
    /// The extents of a tensor, or of the tensors that it is made of, if the rank is declared.
    extents: Option<Vec<Extent>>,
    /// Whether an initializer is its value if none is given.
    pub(crate) has_default: bool,
}

/// The inputs of a model.
pub(crate) fn declared_inputs(model: &ModelProto) -> Vec<DeclaredInput<'_>> {
    let Some(graph) = &model.graph else { return Vec::new() };
    graph.inputs.iter().filter_map(|input| declared(&model.names, graph, input)).collect()
}

fn declared<'m>(names: &'m ModelNames, graph: &GraphProto, input: &ValueInfo) -> Option<DeclaredInput<'m>> {
    let id = input.name?;
    let has_default = graph.initializers.iter().any(|tensor| tensor.name == Some(id));
    let ty = input.ty.as_ref().map(|ty| &ty.form);
    let extents = ty.and_then(tensor_in).and_then(|tensor| tensor.shape.as_ref());
    let extents = extents.map(|shape| shape.dims.iter().map(|dim| dim.extent).collect());
    Some(DeclaredInput { name: names.text(id), form: ty.and_then(form), id, extents, has_default })
}

/// The type of the tensors that a value is made of.
fn tensor_in(mut ty: &TypeForm) -> Option<&TensorType> {
    loop {
        match ty {
            TypeForm::Tensor(tensor) => return Some(tensor),
            TypeForm::Sequence(item, _) | TypeForm::Optional(item, _) => ty = &item.as_ref()?.form,
            _ => return None,
        }
    }
}

/// What a value of a type is; none if the type is not whole, or there are no such values.
fn form(ty: &TypeForm) -> Option<ValueForm> {
    let within = |ty: &Option<Box<TypeProto>>| Some(Box::new(form(&ty.as_ref()?.form)?));
    match ty {
        TypeForm::Tensor(tensor) => Some(ValueForm::Tensor(tensor.element.and_then(dtype_of))),
        TypeForm::Sequence(item, _) => Some(ValueForm::Sequence(within(item)?)),
        TypeForm::Optional(value, _) => Some(ValueForm::Optional(within(value)?)),
        TypeForm::Map { key, value, .. } => {
            let of = within(value)?.dtype()?;
            Some(ValueForm::Map { key: dtype_of((*key)?)?, value: of })
        }
        _ => None,
    }
}

fn unfit(message: String) -> RunFailure {
    RunFailure::new(Code::EvalInput, message)
}

impl DeclaredInput<'_> {
    /// The shape of random data: symbols are 1.
    pub(crate) fn shape(&self) -> Option<Vec<usize>> {
        let extent = |extent: &Extent| match extent {
            Extent::Value(extent) => usize::try_from(*extent).ok(),
            Extent::Unknown | Extent::Symbol(_) => Some(1),
        };
        self.extents.as_ref()?.iter().map(extent).collect()
    }

    /// The extents that random data have 1 for: symbols by their names, others by their axes, such as `x[0]`.
    pub(crate) fn open_extents(&self, names: &ModelNames) -> Vec<String> {
        let open = |(axis, extent): (usize, &Extent)| match extent {
            Extent::Value(_) => None,
            Extent::Symbol(symbol) => Some(names.texts.text(*symbol).to_owned()),
            Extent::Unknown => Some(format!("{}[{axis}]", self.name)),
        };
        self.extents.iter().flatten().enumerate().filter_map(open).collect()
    }

    /// A value in the declared type. Equal symbols must have equal extents; those of items of a sequence may differ.
    fn fit(
        &self,
        given: RunValue,
        names: &ModelNames,
        known: &mut FxHashMap<Name, usize>,
    ) -> Result<RunValue, RunFailure> {
        let name = self.name;
        let fitted = match &self.form {
            Some(form) => form.fit(given).map_err(|error| unfit(format!("input `{name}`: {}", error.0)))?,
            None => given,
        };
        let (Some(extents), RunValue::Tensor(given)) = (&self.extents, &fitted) else { return Ok(fitted) };
        if extents.len() != given.rank() {
            let (rank, wanted) = (given.rank(), extents.len());
            return Err(unfit(format!("input `{name}` has rank {rank}, the model declares {wanted}")));
        }
        for (axis, (extent, &found)) in extents.iter().zip(given.shape()).enumerate() {
            let (wanted, what) = match extent {
                Extent::Unknown => continue,
                Extent::Value(wanted) => (usize::try_from(*wanted).unwrap_or(found), String::new()),
                Extent::Symbol(symbol) => {
                    (*known.entry(*symbol).or_insert(found), format!(" for `{}`", names.texts.text(*symbol)))
                }
            };
            if wanted != found {
                let message = format!("axis {axis} of input `{name}` has extent {found}, the model {wanted}{what}");
                return Err(unfit(message));
            }
        }
        Ok(fitted)
    }
}

impl Runner<'_> {
    /// Runs a model. Returns its outputs by name.
    ///
    /// # Errors
    ///
    /// An input is missing, unknown or does not fit, or a node cannot be evaluated.
    pub(crate) fn run(
        &self,
        model: &ModelProto,
        inputs: &[(String, RunValue)],
    ) -> Result<Vec<(String, RunValue)>, RunFailure> {
        if let Some(part) = KERNELS.missing() {
            return Err(EvalError::missing(part).into());
        }
        let declared = declared_inputs(model);
        // A recording has the outputs, too.
        let outputs: Vec<&str> = named_outputs(model).map(|name| model.names.text(name)).collect();
        let is_known = |name: &str| declared.iter().any(|input| input.name == name) || outputs.contains(&name);
        if let Some((name, _)) = inputs.iter().find(|(name, _)| !is_known(name)) {
            let known: Vec<&str> = declared.iter().map(|input| input.name).collect();
            return Err(unfit(suggest::no_input("model", name, &known)));
        }
        let mut symbols = FxHashMap::default();
        let mut values = Vec::new();
        for input in &declared {
            let mut given = inputs.iter().filter(|(name, _)| name == input.name);
            match given.next() {
                Some(_) if given.next().is_some() => return Err(unfit(suggest::given_twice(input.name))),
                Some((_, given)) => {
                    self.budget.operation(|| match given.tensor() {
                        Some(tensor) => self.budget.extents(tensor.shape()).map(drop),
                        None => Ok(()),
                    })?;
                    values.push((input.id, input.fit(given.clone(), &model.names, &mut symbols)?));
                }
                None if input.has_default => {}
                None => return Err(unfit(suggest::no_value(input.name))),
            }
        }
        let interpreter = Interpreter::new(model, self.stores, self.budget, self.options)?;
        let results = interpreter.run(values)?;
        Ok(outputs.into_iter().map(str::to_owned).zip(results).collect())
    }
}

fn named_outputs(model: &ModelProto) -> impl Iterator<Item = NameId> {
    model.graph.iter().flat_map(|graph| &graph.outputs).filter_map(|output| output.name)
}

//! Runs a model on tensors by the names of its inputs.

use rustc_hash::FxHashMap;

use super::element::dtype_of;
use super::failure::RunFailure;
use super::interpreter::Interpreter;
use super::stored::Stores;
use super::value::RunValue;
use crate::Options;
use crate::diagnostics::{Code, suggest};
use crate::eval::{Budget, EvalError};
use crate::graph::names::NameId;
use crate::onnx::model::{Extent, GraphProto, ModelNames, ModelProto, TypeForm, ValueInfo};
use crate::parts::KERNELS;
use crate::source::names::Name;
use crate::tensor::{DType, Tensor};

/// What runs a model: its limits, and where its external data are.
pub(crate) struct Runner<'r> {
    pub(crate) stores: &'r Stores,
    pub(crate) budget: &'r Budget,
    pub(crate) options: &'r Options,
}

/// An input of a model, as it is declared.
pub(crate) struct DeclaredInput<'m> {
    pub(crate) name: &'m str,
    pub(crate) dtype: Option<DType>,
    id: NameId,
    /// The extents, if the rank is declared.
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
    let tensor = match input.ty.as_ref().map(|ty| &ty.form) {
        Some(TypeForm::Tensor(tensor)) => Some(tensor),
        _ => None,
    };
    let extents = tensor.and_then(|tensor| tensor.shape.as_ref());
    let extents = extents.map(|shape| shape.dims.iter().map(|dim| dim.extent).collect());
    let dtype = tensor.and_then(|tensor| dtype_of(tensor.element?));
    Some(DeclaredInput { name: names.text(id), dtype, id, extents, has_default })
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

    /// A value in the declared type. Equal symbols must have equal extents.
    fn fit(&self, given: Tensor, names: &ModelNames, known: &mut FxHashMap<Name, usize>) -> Result<Tensor, RunFailure> {
        let name = self.name;
        let given = match self.dtype {
            Some(dtype) => given.exactly(dtype).map_err(|error| unfit(format!("input `{name}`: {}", error.0)))?,
            None => given,
        };
        let Some(extents) = &self.extents else { return Ok(given) };
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
        Ok(given)
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
        inputs: &[(String, Tensor)],
    ) -> Result<Vec<(String, RunValue)>, RunFailure> {
        if let Some(part) = KERNELS.missing() {
            return Err(EvalError::missing(part).into());
        }
        let declared = declared_inputs(model);
        if let Some((name, _)) = inputs.iter().find(|(name, _)| !declared.iter().any(|input| input.name == *name)) {
            let known: Vec<&str> = declared.iter().map(|input| input.name).collect();
            return Err(unfit(suggest::no_input("model", name, &known)));
        }
        let mut symbols = FxHashMap::default();
        let mut values = Vec::new();
        for input in &declared {
            match inputs.iter().find(|(name, _)| name == input.name) {
                Some((_, given)) => {
                    self.budget.operation(|| self.budget.extents(given.shape()))?;
                    let value = input.fit(given.clone(), &model.names, &mut symbols)?;
                    values.push((input.id, value.into()));
                }
                None if input.has_default => {}
                None => return Err(unfit(format!("there is no value for the input `{}`", input.name))),
            }
        }
        let interpreter = Interpreter::new(model, self.stores, self.budget, self.options)?;
        let results = interpreter.run(values)?;
        let outputs = model.graph.iter().flat_map(|graph| &graph.outputs).filter_map(|output| output.name);
        Ok(outputs.map(|name| model.names.text(name).to_owned()).zip(results).collect())
    }
}

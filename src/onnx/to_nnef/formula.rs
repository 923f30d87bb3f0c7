//! Formulas of the dictionary as operations: meanings applied to tensors and numbers.

use super::emit::Emitter;
use super::item::FlatTensor;
use super::refusal::{Lowered, NodeRefusal};
use crate::dictionary::formula::{self, Part};
use crate::dictionary::{InNnef, Kernel, Row};
use crate::graph::Value;
use crate::tensor::DType;

/// An operand of a formula.
#[derive(Clone, Copy, Debug)]
pub(super) enum FormulaTerm {
    Number(f64, DType),
    FlatTensor(FlatTensor),
}

impl From<FlatTensor> for FormulaTerm {
    fn from(flat: FlatTensor) -> Self {
        FormulaTerm::FlatTensor(flat)
    }
}

impl FormulaTerm {
    /// A number of a formula.
    pub(super) fn of(number: f64) -> FormulaTerm {
        FormulaTerm::Number(number, DType::Float32)
    }

    pub(super) fn dtype(self) -> DType {
        match self {
            FormulaTerm::Number(_, dtype) => dtype,
            FormulaTerm::FlatTensor(flat) => flat.dtype,
        }
    }

    fn flat(self) -> Option<FlatTensor> {
        match self {
            FormulaTerm::FlatTensor(flat) => Some(flat),
            FormulaTerm::Number(..) => None,
        }
    }

    /// The number as an argument beside operands with elements of a type.
    fn value(self, beside: DType) -> Value {
        match self {
            FormulaTerm::FlatTensor(flat) => Value::Tensor(flat.id),
            FormulaTerm::Number(number, _) if beside == DType::Bool => Value::Logical(number != 0.0),
            FormulaTerm::Number(number, _) if beside.is_integer() && number.fract() == 0.0 => Value::Int(number as i64),
            FormulaTerm::Number(number, _) => Value::Scalar(number),
        }
    }
}

impl Emitter<'_> {
    /// Adds a formula on operands, which are broadcast already.
    pub(super) fn formula<T: Copy + Into<FormulaTerm>>(&mut self, text: &str, terms: &[T]) -> Lowered<FlatTensor> {
        let parts = formula::read(text).ok_or(NodeRefusal::because("its formula is malformed"))?;
        let terms: Vec<FormulaTerm> = terms.iter().map(|term| (*term).into()).collect();
        self.parts(&parts, &terms)
    }

    fn parts(&mut self, parts: &[Part], terms: &[FormulaTerm]) -> Lowered<FlatTensor> {
        let mut uses = FormulaUse { parts, terms, made: vec![None; parts.len()] };
        match uses.part(self, parts.len().saturating_sub(1))? {
            FormulaTerm::FlatTensor(flat) => Ok(flat),
            FormulaTerm::Number(..) => Err(NodeRefusal::because("its result is known")),
        }
    }

    /// Applies the meaning of an operator to operands, which are broadcast already: by the operation that one would write
    /// for it, unless exact forms are asked for.
    pub(super) fn operator(&mut self, row: &'static Row, terms: &[FormulaTerm]) -> Lowered<FormulaTerm> {
        let floats = || terms.iter().filter_map(|term| term.flat()).all(|flat| flat.dtype.is_float());
        // The smaller or larger one of a tensor and a number is exact as one operation.
        let has_one = || row.is_extreme() && terms.iter().any(|term| term.flat().is_none());
        match row.near {
            Some(near) if self.is_plain() && !has_one() && (row.is_extreme() || floats()) => {
                self.apply(near.name, row, terms)
            }
            _ => self.meaning(row, terms),
        }
    }

    /// Applies a meaning to operands, which are broadcast already.
    pub(super) fn meaning(&mut self, row: &'static Row, terms: &[FormulaTerm]) -> Lowered<FormulaTerm> {
        let numbers: Option<Vec<f64>> = terms
            .iter()
            .map(|term| match term {
                FormulaTerm::Number(number, _) => Some(*number),
                FormulaTerm::FlatTensor(_) => None,
            })
            .collect();
        if let Some(number) = numbers.and_then(|numbers| row.kernel?.of_floats(&numbers)) {
            return Ok(FormulaTerm::Number(number, result(row, terms)));
        }
        // A number as the second operand is not NaN, so that one operation is sufficient.
        if let (true, [number @ FormulaTerm::Number(..), tensor @ FormulaTerm::FlatTensor(_)]) =
            (row.is_extreme(), terms)
        {
            return self.meaning(row, &[*tensor, *number]);
        }
        let never_negative = || match terms {
            [FormulaTerm::FlatTensor(only)] => row.if_positive().filter(|_| self.builder.graph.never_negative(only.id)),
            _ => None,
        };
        let of_registry = || row.registry.split(' ').find(|name| self.has_registries() && !name.is_empty());
        if let Some(operation) = never_negative().or_else(of_registry) {
            return self.apply(operation, row, terms);
        }
        match row.nnef {
            InNnef::Operation(operation) => self.apply(operation, row, terms),
            InNnef::Formula(_) => {
                let parts = formula::of(row).map(Vec::as_slice).unwrap_or_default();
                self.parts(parts, terms).map(FormulaTerm::FlatTensor)
            }
            InNnef::Missing => {
                let operation = row.vendor.split(' ').find(|name| !name.is_empty());
                let operation = operation.ok_or(NodeRefusal::because("NNEF has no counterpart"))?;
                self.apply(self.registry(operation)?, row, terms)
            }
        }
    }

    fn apply(&mut self, operation: &'static str, row: &'static Row, terms: &[FormulaTerm]) -> Lowered<FormulaTerm> {
        let condition = usize::from(matches!(row.kernel, Some(Kernel::Select)));
        let others = terms.get(condition..).unwrap_or_default();
        let beside = others.iter().find_map(|term| term.flat()).map_or(DType::Float32, |flat| flat.dtype);
        let beside = if others.iter().any(|term| term.flat().is_some()) { beside } else { result(row, terms) };
        let values: Vec<Value> = terms
            .iter()
            .enumerate()
            .map(|(i, term)| term.value(if i < condition { DType::Bool } else { beside }))
            .collect();
        self.add(operation, values, result(row, terms)).map(FormulaTerm::FlatTensor)
    }
}

/// The element type of a result.
fn result(row: &Row, terms: &[FormulaTerm]) -> DType {
    let skipped = match row.kernel {
        Some(Kernel::Compare(_) | Kernel::Logic(_) | Kernel::Not) => return DType::Bool,
        Some(Kernel::Select) => 1,
        _ => 0,
    };
    let others = terms.get(skipped..).unwrap_or_default();
    let flat = others.iter().find_map(|term| term.flat()).map(|flat| flat.dtype);
    flat.or_else(|| others.first().map(|term| term.dtype())).unwrap_or(DType::Float32)
}

/// A formula with its operands, and what has been added.
struct FormulaUse<'f> {
    parts: &'f [Part],
    terms: &'f [FormulaTerm],
    made: Vec<Option<FormulaTerm>>,
}

impl FormulaUse<'_> {
    /// Adds a part, and those that it is made of. Of a selection by a known condition, that is the chosen branch only.
    fn part(&mut self, emit: &mut Emitter, at: usize) -> Lowered<FormulaTerm> {
        if let Some(Some(term)) = self.made.get(at) {
            return Ok(*term);
        }
        let broken = || NodeRefusal::because("its formula has too few operands");
        let term = match self.parts.get(at) {
            Some(Part::Operand(place)) => *self.terms.get(*place).ok_or_else(broken)?,
            Some(Part::Number(number)) => FormulaTerm::of(*number),
            Some(Part::Apply(row, of)) => {
                if let (Some(Kernel::Select), [condition, yes, no]) = (row.kernel, &of[..])
                    && let FormulaTerm::Number(condition, _) = self.part(emit, *condition)?
                {
                    return self.part(emit, if condition == 0.0 { *no } else { *yes });
                }
                let of = of.iter().map(|at| self.part(emit, *at)).collect::<Lowered<Vec<FormulaTerm>>>()?;
                emit.meaning(row, &of)?
            }
            None => return Err(broken()),
        };
        if let Some(place) = self.made.get_mut(at) {
            *place = Some(term);
        }
        Ok(term)
    }
}

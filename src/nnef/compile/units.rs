//! Fragments as units of the core.

use std::sync::{Arc, OnceLock};

use super::constants::literal;
use crate::core::budget::Budget;
use crate::core::unit::{Param, ResultForm, Unit, UnitResult, Units};
use crate::graph::{Dialect, Primitive};
use crate::nnef::ast::Generic;
use crate::nnef::check::{Checked, FragmentInfo};
use crate::nnef::document::ModuleId;
use crate::nnef::types::{Element, Type, TypePart};

/// The units of the standard libraries of 1.0 and of the draft, which are the same for all documents.
static STANDARD: [OnceLock<Vec<Unit>>; 2] = [const { OnceLock::new() }; 2];

/// The units of a document and its libraries.
pub(crate) fn of(checked: &Checked) -> Units {
    let standard = STANDARD[usize::from(checked.document.dialect() == Dialect::Draft)].get_or_init(|| {
        let standard = checked.fragments.iter().take_while(|info| info.module == ModuleId::STANDARD);
        standard.map(|info| unit(checked, info)).collect()
    });
    let own = checked.fragments.iter().skip(standard.len()).map(|info| unit(checked, info)).collect();
    Units::new(standard, own, Arc::clone(checked.document.shared_names()))
}

/// A fragment as a unit.
pub(crate) fn unit(checked: &Checked, info: &FragmentInfo) -> Unit {
    let budget = Budget::unlimited();
    let default = |id| literal(checked, info.module, id).freeze(&budget).ok();
    let params = info.params.iter().map(|param| Param {
        name: param.name,
        tensor: param.tensor,
        decides: info.generic == Generic::Yes(None) && checked.types.has(param.ty, TypePart::Generic),
        default: param.default.and_then(default),
    });
    let form = |ty| match ty {
        Type::Array(array) => ResultForm::Tensors(elements(checked.types.item(array))),
        Type::Tuple(_) => ResultForm::Tuple,
        ty => ResultForm::Tensor(elements(ty)),
    };
    let results = info.results.iter().map(|result| UnitResult { name: result.name, form: form(result.ty) });
    Unit {
        name: info.name,
        params: params.collect(),
        results: results.collect(),
        generic: info.generic != Generic::No,
        standard: info.module == ModuleId::STANDARD,
        has_body: info.has_body,
        open_results: info.open_results,
        file: checked.module(info.module).file,
    }
}

/// The element type of a tensor result.
fn elements(ty: Type) -> Option<Primitive> {
    match ty {
        Type::Tensor(Element::Of(primitive)) => Some(primitive),
        _ => None,
    }
}

//! Unrolling of `tract_core_scan`: reads its arguments as those of a repeated call of its body.

use std::rc::Rc;

use crate::core::budget::{Failure, Outcome};
use crate::core::machine::Machine;
use crate::core::program::Site;
use crate::core::repetition::{Gathered, OutputForm, Planned, Repetition, Section};
use crate::core::unit::UnitId;
use crate::core::value::{GIVE_SHAPES, Value};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::graph::scan::{self, Scan, ScanValue};

impl ScanValue for Value {
    fn items(&self) -> Option<Vec<Self>> {
        match self {
            Value::Array(list) | Value::Tuple(list) => Some(list.to_values()),
            _ => None,
        }
    }

    fn text(&self) -> Option<String> {
        match self {
            Value::String(list) => Some(list.text()),
            _ => None,
        }
    }

    fn integer(&self) -> Option<i64> {
        match self {
            Value::Int(item) => Some(*item),
            Value::Scalar(item) => scan::whole(*item),
            _ => None,
        }
    }
}

/// The reason why a scan cannot be unrolled yet, or at all.
enum Hindrance {
    /// The body is not compiled yet.
    Missing(UnitId),
    /// The document has an error.
    Mistake(Box<Failure>),
    /// The scan is not unrolled: the reason, and advice.
    Stays(String, Option<&'static str>),
}

impl From<Box<Failure>> for Hindrance {
    fn from(failure: Box<Failure>) -> Self {
        Hindrance::Mistake(failure)
    }
}

fn mistake(message: impl Into<String>) -> Box<Failure> {
    Failure::new(Code::ScanArguments, message)
}

/// Plans the steps of a scan whose arguments are on the stack.
pub(super) fn plan(machine: &mut Machine, site: &Site) -> Outcome<Planned> {
    match steps(machine, site) {
        Ok(repetition) => Ok(Planned::Steps(repetition)),
        Err(Hindrance::Missing(unit)) => Ok(Planned::Missing(unit)),
        Err(Hindrance::Mistake(failure)) => Err(failure),
        Err(Hindrance::Stays(reason, help)) => {
            let (code, what) = match machine.settings.flat {
                true => (Code::LoopNotFlat, "cannot be made flat"),
                false => (Code::LoopKept, "is not unrolled"),
            };
            let message = format!("this scan {what}: {reason}");
            let failure = Box::new(Failure { help: help.map(str::to_owned), ..*Failure::new(code, message) });
            if machine.settings.flat { Err(failure) } else { Ok(Planned::Stays(failure)) }
        }
    }
}

/// Reads the arguments of a scan.
fn steps(machine: &mut Machine, site: &Site) -> Result<Repetition, Hindrance> {
    if !machine.settings.unroll {
        return Err(Hindrance::Stays("unrolling is not enabled".to_owned(), Some("enable it with --unroll")));
    }
    let of = Scan::read(|place, name| machine.argument(site, place, name)).map_err(mistake)?;
    let unit = body(machine, &of.body)?;
    if !machine.is_defined(unit) {
        return Err(Hindrance::Missing(unit));
    }
    if of.skip != 0 {
        return Err(Hindrance::Stays(format!("it skips {} steps, which leaves items undefined", of.skip), None));
    }
    let extents = of.scanned.iter().map(|scanned| extent(machine, scanned)).collect::<Result<Vec<_>, _>>()?;
    let count = scan::steps(&of.scanned, &extents).map_err(mistake)?;
    if count == 0 {
        return Err(Hindrance::Stays("it has no steps".to_owned(), None));
    }
    let (path, names) = names(machine, site, &of)?;
    let gather = |(of, name): (&scan::Collected, NameId)| {
        let form = match of.last {
            true => OutputForm::Last,
            false => OutputForm::Along { axis: of.axis as i64, reverse: of.reverse },
        };
        Ok(Gathered { result: result(machine, unit, &of.result)?, name, form, parts: Vec::new() })
    };
    let gathered = of.outputs.iter().zip(names).map(gather).collect::<Outcome<_>>()?;
    let (args, sections, states) = (Vec::new(), Vec::new(), Vec::new());
    let mut repetition = Repetition { unit, path, count, args, sections, states, gathered };
    bind_params(machine, &mut repetition, &of)?;
    Ok(repetition)
}

/// The body of a scan.
fn body(machine: &Machine, name: &str) -> Result<UnitId, Hindrance> {
    let Some(unit) = machine.units.find(name) else {
        return Err(mistake(format!("there is no fragment `{name}` for the body of this scan")).into());
    };
    if machine.settings.kept.contains(&unit) {
        return Err(Hindrance::Stays(format!("its body `{name}` is kept by an option"), None));
    }
    if !machine.units.get(unit).has_body {
        return Err(Hindrance::Stays(format!("the fragment `{name}` has no body"), None));
    }
    Ok(unit)
}

/// The extent of the axis along which an input is scanned.
fn extent(machine: &mut Machine, scanned: &scan::Scanned<Value>) -> Result<usize, Hindrance> {
    let param = &scanned.param;
    let Value::Tensor(tensor) = machine.as_tensor(scanned.tensor.clone())? else {
        return Err(mistake(format!("what is scanned for `{param}` is not a tensor")).into());
    };
    let name = machine.graph.tensor_name(tensor);
    let Some(shape) = machine.graph.shape(tensor) else {
        return Err(Hindrance::Stays(format!("the shape of `{name}` is not known"), Some(GIVE_SHAPES)));
    };
    let Some(extent) = shape.extents().get(scanned.axis) else {
        let message = format!("`{name}` of shape {shape:?} is scanned along axis {}", scanned.axis);
        return Err(mistake(message).into());
    };
    let known = extent.known().and_then(|extent| usize::try_from(extent).ok());
    let unknown = || format!("the extent of `{name}` along axis {} is not known", scanned.axis);
    known.ok_or_else(|| Hindrance::Stays(unknown(), Some(GIVE_SHAPES)))
}

/// The common name prefix of the steps, and the names of the outputs.
fn names(machine: &mut Machine, site: &Site, of: &Scan<Value>) -> Outcome<(NameId, Vec<NameId>)> {
    let name = |of: &scan::Collected| machine.units.names().get(&of.result).unwrap_or(site.name);
    let names: Vec<_> = of.outputs.iter().map(name).collect();
    machine
        .names_of_outputs(site, &names)
        .map_err(|count| mistake(format!("the left side has {count} names, the scan {} outputs", names.len())))
}

fn result(machine: &Machine, unit: UnitId, name: &str) -> Outcome<usize> {
    let results = &machine.units.get(unit).results;
    let found = results.iter().position(|result| scan::is_named(name, machine.units.text(result.name)));
    found.ok_or_else(|| mistake(format!("the body of this scan has no result `{name}`")))
}

/// Determines the argument of each parameter of the body.
fn bind_params(machine: &mut Machine, repetition: &mut Repetition, of: &Scan<Value>) -> Outcome<()> {
    let unit = repetition.unit;
    let units = Rc::clone(&machine.units);
    let info = units.get(unit);
    let names = of.scanned.iter().map(|scanned| &scanned.param).chain(of.full.iter().map(|(param, _)| param));
    for name in names.chain(of.states.iter().map(|state| &state.param)) {
        if !info.params.iter().any(|param| scan::is_named(name, machine.units.text(param.name))) {
            return Err(mistake(format!("the body of this scan has no parameter `{name}`")));
        }
    }
    for (i, param) in info.params.iter().enumerate() {
        let text = units.text(param.name);
        let named = |name: &str| scan::is_named(name, text);
        let value = if let Some(scanned) = of.scanned.iter().find(|scanned| named(&scanned.param)) {
            let value = machine.as_tensor(scanned.tensor.clone())?;
            if let Value::Tensor(tensor) = value {
                let axes = [scanned.axis as i64].into();
                repetition.sections.push(Section { param: i, tensor, axes, chunk: scanned.chunk });
            }
            value
        } else if let Some((_, value)) = of.full.iter().find(|(name, _)| named(name)) {
            if param.tensor { machine.as_tensor(value.clone())? } else { value.clone() }
        } else if let Some(state) = of.states.iter().find(|state| named(&state.param)) {
            repetition.states.push((i, result(machine, unit, &state.result)?));
            machine.as_tensor(state.initial.clone())?
        } else if let Some(default) = &param.default {
            Value::from(default)
        } else {
            return Err(mistake(format!("this scan has no argument for the parameter `{text}` of its body")));
        };
        repetition.args.push(value);
    }
    Ok(())
}

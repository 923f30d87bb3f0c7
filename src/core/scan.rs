//! Unrolling of `tract_core_scan`: the body is called once for each step.
//!
//! [`Instr::Scan`](super::program::Instr::Scan) reads the arguments and decides whether the scan can be
//! unrolled. It is followed by [`Instr::Trip`](super::program::Instr::Trip), which runs before the first step
//! and after each step: it takes the results of the previous step, and starts the next step or ends the scan.

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::budget::{Failure, Outcome};
use super::calls::Naming;
use super::frame::{Target, first_name};
use super::iteration::{Gathered, Section, Unrolling};
use super::list::List;
use super::machine::Machine;
use super::program::{Body, Hint, Site};
use super::unit::UnitId;
use super::value::{GIVE_SHAPES, Value};
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::graph::scan::{self, Item, Scan};
use crate::graph::standard;
use crate::graph::{self, Key};

impl Item for Value {
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

impl Machine {
    /// Starts to unroll a scan whose arguments are on the stack, or adds it to the graph as an operation.
    /// Returns the body if it is not compiled yet.
    pub(super) fn scan(&mut self, index: u32) -> Outcome<Option<UnitId>> {
        let site = self.program.sites[index as usize];
        let first = self.stack.len() - site.keys.1 as usize;
        match self.unrolling(index, &site, first) {
            Err(Hindrance::Missing(unit)) => Ok(Some(unit)),
            Ok(unrolling) => {
                self.stack.truncate(first);
                self.iterations.scans.push(unrolling);
                Ok(None)
            }
            Err(Hindrance::Mistake(failure)) => Err(failure),
            Err(Hindrance::Stays(reason, help)) => {
                let (code, what) = match self.settings.flat {
                    true => (Code::LoopNotFlat, "cannot be made flat"),
                    false => (Code::LoopKept, "is not unrolled"),
                };
                let message = format!("this scan {what}: {reason}");
                let failure = Failure { help: help.map(str::to_owned), ..*Failure::new(code, message) };
                if self.settings.flat {
                    return Err(failure.into());
                }
                let unit = self.frame().unit;
                let at = self.location_in(unit, site.span);
                let diagnostic = self.diagnose_at(at, failure);
                self.shapes.report(diagnostic);
                self.pc += 1;
                self.emit(index)?;
                Ok(None)
            }
        }
    }

    /// Reads the arguments of a scan.
    fn unrolling(&mut self, index: u32, site: &Site, first: usize) -> Result<Unrolling, Hindrance> {
        if !self.settings.unroll {
            return Err(Hindrance::Stays("unrolling is not enabled".to_owned(), Some("enable it with --unroll")));
        }
        let of = self.read_scan(site, first)?;
        let unit = self.scan_body(&of.body)?;
        let Some(Body { head, .. }) = self.calls.bodies[unit.index()] else {
            return Err(Hindrance::Missing(unit));
        };
        if of.skip != 0 {
            return Err(Hindrance::Stays(format!("it skips {} steps, which leaves items undefined", of.skip), None));
        }
        let extents = of.scanned.iter().map(|scanned| self.scanned_extent(scanned)).collect::<Result<Vec<_>, _>>()?;
        let count = scan::steps(&of.scanned, &extents).map_err(mistake)?;
        if count == 0 {
            return Err(Hindrance::Stays("it has no steps".to_owned(), None));
        }
        let (path, names) = self.scan_names(site, &of)?;
        let gather = |(of, name): (&scan::Collected, NameId)| {
            let result = self.body_result(unit, &of.result)?;
            Ok(Gathered { of: of.clone(), result, name, parts: Vec::new() })
        };
        let gathered = of.outputs.iter().zip(names).map(gather).collect::<Outcome<_>>()?;
        let mut unrolling = Unrolling {
            site: index,
            unit,
            head,
            path,
            count,
            started: 0,
            args: Vec::new(),
            sections: Vec::new(),
            states: Vec::new(),
            gathered,
            bounds: SmallVec::new(),
        };
        self.bind_params(&mut unrolling, &of)?;
        Ok(unrolling)
    }

    fn read_scan(&self, site: &Site, first: usize) -> Outcome<Scan<Value>> {
        let keys = self.program.keys_of(site);
        let argument = |place: usize, name: &str| {
            let positional = || keys.get(place).is_some_and(|key| *key == Key::Positional).then_some(place);
            let named = keys.iter().position(|key| self.units.is_for(site.unit, *key, name));
            let place = named.or_else(positional)?;
            Some(self.stack[first + place].clone())
        };
        Scan::read(argument).map_err(mistake)
    }

    /// The body of a scan.
    fn scan_body(&self, name: &str) -> Result<UnitId, Hindrance> {
        let Some(unit) = self.units.find(name) else {
            return Err(mistake(format!("there is no fragment `{name}` for the body of this scan")).into());
        };
        if self.settings.kept.contains(&unit) {
            return Err(Hindrance::Stays(format!("its body `{name}` is kept by an option"), None));
        }
        if !self.units.get(unit).has_body {
            return Err(Hindrance::Stays(format!("the fragment `{name}` has no body"), None));
        }
        Ok(unit)
    }

    /// The extent of the axis along which an input is scanned.
    fn scanned_extent(&mut self, scanned: &scan::Scanned<Value>) -> Result<usize, Hindrance> {
        let param = &scanned.param;
        let Value::Tensor(tensor) = self.as_tensor(scanned.tensor.clone())? else {
            return Err(mistake(format!("what is scanned for `{param}` is not a tensor")).into());
        };
        let name = self.graph.tensor_name(tensor);
        let Some(shape) = self.graph.shape(tensor) else {
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
    fn scan_names(&mut self, site: &Site, of: &Scan<Value>) -> Outcome<(NameId, Vec<NameId>)> {
        let count = of.outputs.len();
        let hints: SmallVec<[Hint; 4]> = self.program.items_of(&site.hint).into();
        if hints.len() != count {
            let message = format!("the left side has {} names, the scan {count} outputs", hints.len());
            return Err(mistake(message));
        }
        let targets: Vec<Target> = hints.into_iter().map(|hint| self.target(hint, 0, 1)).collect();
        let path = match targets.iter().find_map(first_name) {
            Some(path) => path,
            None => self.child(site.name, site.ordinal),
        };
        let name = |(target, of): (&Target, &scan::Collected)| match (first_name(target), count) {
            (Some(name), _) => name,
            (None, 1) => path,
            (None, _) => {
                let result = self.units.names().get(&of.result).unwrap_or(site.name);
                self.graph.names.child(path, result, 0, false)
            }
        };
        Ok((path, targets.iter().zip(&of.outputs).map(name).collect()))
    }

    fn body_result(&self, unit: UnitId, name: &str) -> Outcome<usize> {
        let results = &self.units.get(unit).results;
        let found = results.iter().position(|result| scan::is_named(name, self.units.text(result.name)));
        found.ok_or_else(|| mistake(format!("the body of this scan has no result `{name}`")))
    }

    /// Determines the argument of each parameter of the body.
    fn bind_params(&mut self, unrolling: &mut Unrolling, of: &Scan<Value>) -> Outcome<()> {
        let unit = unrolling.unit;
        let units = Rc::clone(&self.units);
        let info = units.get(unit);
        let names = of.scanned.iter().map(|scanned| &scanned.param).chain(of.full.iter().map(|(param, _)| param));
        for name in names.chain(of.states.iter().map(|state| &state.param)) {
            if !info.params.iter().any(|param| scan::is_named(name, self.units.text(param.name))) {
                return Err(mistake(format!("the body of this scan has no parameter `{name}`")));
            }
        }
        for (i, param) in info.params.iter().enumerate() {
            let text = units.text(param.name);
            let named = |name: &str| scan::is_named(name, text);
            let value = if let Some(scanned) = of.scanned.iter().find(|scanned| named(&scanned.param)) {
                let value = self.as_tensor(scanned.tensor.clone())?;
                if let Value::Tensor(tensor) = value {
                    let axes = [scanned.axis as i64].into();
                    unrolling.sections.push(Section { param: i, tensor, axes, chunk: scanned.chunk });
                }
                value
            } else if let Some((_, value)) = of.full.iter().find(|(name, _)| named(name)) {
                if param.tensor { self.as_tensor(value.clone())? } else { value.clone() }
            } else if let Some(state) = of.states.iter().find(|state| named(&state.param)) {
                unrolling.states.push((i, self.body_result(unit, &state.result)?));
                self.as_tensor(state.initial.clone())?
            } else if let Some(default) = &param.default {
                Value::from(default)
            } else {
                return Err(mistake(format!("this scan has no argument for the parameter `{text}` of its body")));
            };
            unrolling.args.push(value);
        }
        Ok(())
    }

    /// Takes the results of the previous step, and starts the next step or ends the scan.
    pub(super) fn trip(&mut self) -> Outcome<()> {
        let Some(mut unrolling) = self.iterations.scans.pop() else { return Ok(()) };
        if unrolling.started > 0 {
            self.take_results(&mut unrolling)?;
        }
        if unrolling.started == unrolling.count {
            return self.end_scan(unrolling);
        }
        self.check_depth()?;
        let path = self.trip_path(unrolling.path, None, unrolling.started as u64);
        self.push_step_arguments(&mut unrolling, path)?;
        unrolling.started += 1;
        let targets = self.calls.targets.len() as u32;
        self.calls.targets.resize(targets as usize + unrolling.head.results as usize, Target::Auto);
        // The step returns to this instruction.
        self.pc -= 1;
        let callee = (unrolling.unit, &unrolling.head);
        self.slots.reserve(unrolling.head.slots);
        self.move_arguments(unrolling.head.params);
        self.open_targets(targets);
        self.enter(unrolling.site, callee, Naming { path, result: NameId::ROOT }, None);
        self.iterations.scans.push(unrolling);
        Ok(())
    }

    /// Pushes the arguments of the next step, whose generated names start with `path`.
    fn push_step_arguments(&mut self, unrolling: &mut Unrolling, path: NameId) -> Outcome<()> {
        let first = self.stack.len();
        self.stack.extend(unrolling.args.iter().cloned());
        if unrolling.count == 1 {
            return Ok(());
        }
        for section in &unrolling.sections {
            let name = self.units.get(unrolling.unit).params[section.param].name;
            let name = self.graph.names.child(path, name, 0, false);
            let place = match section.chunk < 0 {
                true => unrolling.count - 1 - unrolling.started,
                false => unrolling.started,
            };
            let begin = place as i64 * section.chunk.abs();
            let [begin, end] = [begin, begin + section.chunk.abs()].map(|at| bound(&mut unrolling.bounds, at));
            let dtype = self.graph.tensors[section.tensor.index()].dtype;
            let span = self.program.sites[unrolling.site as usize].span;
            let site = self.implied(standard::SLICE, span, Hint::Named(name), dtype)?;
            let integers = graph::Value::Integers;
            let named = [
                ("input", graph::Value::Tensor(section.tensor)),
                ("axes", integers(Arc::clone(&section.axes))),
                ("begin", integers(begin)),
                ("end", integers(end)),
            ];
            self.stack[first + section.param] = self.emit_named(&site, &named)?;
        }
        Ok(())
    }

    /// Takes the results of a step from the stack: recurrences for the next step, and parts of outputs.
    fn take_results(&mut self, unrolling: &mut Unrolling) -> Outcome<()> {
        let results: SmallVec<[Value; 4]> = match self.pop() {
            Value::Tuple(list) if unrolling.head.results != 1 => list.to_values().into(),
            value => smallvec::smallvec![value],
        };
        let of = |result: usize| {
            results.get(result).cloned().ok_or_else(|| mistake("the body of this scan has too few results"))
        };
        for &(param, result) in &unrolling.states {
            unrolling.args[param] = of(result)?;
        }
        for gathered in &mut unrolling.gathered {
            if gathered.of.last {
                gathered.parts.clear();
            }
            gathered.parts.push(of(gathered.result)?);
        }
        Ok(())
    }

    /// Pushes the results of a scan.
    fn end_scan(&mut self, unrolling: Unrolling) -> Outcome<()> {
        let site = self.program.sites[unrolling.site as usize];
        let mut values = Vec::with_capacity(unrolling.gathered.len());
        for mut gathered in unrolling.gathered {
            if gathered.parts.len() == 1 {
                values.extend(gathered.parts.pop());
                continue;
            }
            if gathered.of.reverse {
                gathered.parts.reverse();
            }
            let dtype = match gathered.parts.first() {
                Some(Value::Tensor(tensor)) => self.graph.tensors[tensor.index()].dtype,
                _ => None,
            };
            let concat = self.implied(standard::CONCAT, site.span, Hint::Named(gathered.name), dtype)?;
            let parts = Value::Array(List::from_values(gathered.parts, None)).freeze(&self.budget)?;
            let axis = graph::Value::Int(gathered.of.axis as i64);
            values.push(self.emit_named(&concat, &[("values", parts), ("axis", axis)])?);
        }
        let value = match site.hint {
            Hint::Items { tuple: true, .. } => Value::Tuple(List::from_values(values, Some(&self.budget.meter))),
            Hint::Items { .. } => Value::Array(List::from_values(values, Some(&self.budget.meter))),
            _ => values.pop().unwrap_or(Value::Logical(false)),
        };
        self.stack.push(value);
        Ok(())
    }
}

/// The begin or end of a section, as an argument of `slice`. Adjacent sections, and those of other inputs, share it.
fn bound(bounds: &mut SmallVec<[Arc<[i64]>; 4]>, at: i64) -> Arc<[i64]> {
    if let Some(known) = bounds.iter().find(|bound| bound[..] == [at]) {
        return Arc::clone(known);
    }
    if bounds.len() == bounds.inline_size() {
        bounds.remove(0);
    }
    let bound: Arc<[i64]> = [at].into();
    bounds.push(Arc::clone(&bound));
    bound
}

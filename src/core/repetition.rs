//! Repeated calls: the body of a unit is called once for each step.
//!
//! The notation reads the arguments ([`Planner`]) and decides whether the steps are expanded.
//! [`Instr::Repeat`](super::program::Instr::Repeat) is followed by [`Instr::Step`](super::program::Instr::Step), which
//! runs before the first step and after each step: it takes the results of the previous step, and starts the next step
//! or ends the repetition.

use std::sync::Arc;

use smallvec::SmallVec;

use super::budget::{Failure, Outcome};
use super::calls::Naming;
use super::frame::{ResultName, first_name};
use super::list::List;
use super::machine::Machine;
use super::program::{Body, Head, Hint, Site};
use super::unit::UnitId;
use super::value::Value;
use crate::graph::names::NameId;
use crate::graph::{self, Key, TensorId, standard};
use crate::source::names::Name;

/// An input of which each step gets one section.
#[derive(Debug)]
pub(crate) struct Section {
    /// The parameter of the body.
    pub(crate) param: usize,
    pub(crate) tensor: TensorId,
    /// The axis, as an argument of `slice`.
    pub(crate) axes: Arc<[i64]>,
    /// The extent of a section; negative if the first step gets the last section.
    pub(crate) chunk: i64,
}

/// An output of a repetition.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// The position of the result of the body.
    pub(crate) result: usize,
    /// The name of the output.
    pub(crate) name: NameId,
    /// How the results of the steps are combined.
    pub(crate) form: OutputForm,
    /// The results so far.
    pub(crate) parts: Vec<Value>,
}

/// How the results of the steps become an output.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OutputForm {
    /// It is the result of the last step.
    Last,
    /// They are concatenated along an axis, beginning with the last step if `reverse`.
    Along {
        /// The axis.
        axis: i64,
        /// Whether the order is reversed.
        reverse: bool,
    },
}

/// A call for each step.
#[derive(Debug)]
pub(crate) struct Repetition {
    /// The unit whose body is called.
    pub(crate) unit: UnitId,
    /// The common name prefix of the steps.
    pub(crate) path: NameId,
    /// The number of steps, at least one.
    pub(crate) count: usize,
    /// The arguments of the next step, by parameter; sections are inserted when the step starts.
    pub(crate) args: Vec<Value>,
    pub(crate) sections: Vec<Section>,
    /// Recurrences: the parameter, and the result that is its value in the next step.
    pub(crate) states: Vec<(usize, usize)>,
    pub(crate) gathered: Vec<Gathered>,
}

/// What becomes of a repeated call.
#[derive(Debug)]
pub(crate) enum Planned {
    /// Its body is not compiled yet.
    Missing(UnitId),
    /// Its steps are expanded.
    Steps(Repetition),
    /// It stays an operation, with this warning.
    Stays(Box<Failure>),
}

/// Reads the arguments of a repeated call, which are on the stack ([`Machine::argument`]).
pub(crate) type Planner = fn(&mut Machine, &Site) -> Outcome<Planned>;

/// A repetition that is running.
#[derive(Debug)]
pub(super) struct Running {
    of: Repetition,
    site: u32,
    head: Head,
    /// The number of the next step.
    trip: usize,
    /// The most recent ends of sections, which are shared with sections that begin there.
    bounds: SmallVec<[Arc<[i64]>; 4]>,
}

impl Machine {
    /// Starts a repeated call whose arguments are on the stack, or adds it to the graph as an operation.
    /// Returns the body if it is not compiled yet.
    pub(super) fn repeat(&mut self, index: u32) -> Outcome<Option<UnitId>> {
        let site = self.program.sites[index as usize];
        let planned = match self.settings.planner {
            Some(planner) => Some(planner(self, &site)?),
            None => None,
        };
        match planned {
            Some(Planned::Missing(unit)) => return Ok(Some(unit)),
            Some(Planned::Steps(of)) => {
                let Some(Body { head, .. }) = self.calls.bodies[of.unit.index()] else { return Ok(Some(of.unit)) };
                self.drop_stack(self.stack.len() - site.keys.1 as usize);
                let running = Running { of, site: index, head, trip: 0, bounds: SmallVec::new() };
                self.iterations.repetitions.push(running);
                return Ok(None);
            }
            Some(Planned::Stays(failure)) => {
                let unit = self.frame().unit;
                let at = self.location_in(unit, site.span);
                let diagnostic = self.diagnose_at(at, *failure);
                self.shapes.report(diagnostic);
            }
            None => {}
        }
        self.pc += 1;
        self.emit(index)?;
        Ok(None)
    }

    /// The argument of a repeated call for the parameter with a name, or else the one without a name at a position.
    pub(crate) fn argument(&self, site: &Site, place: usize, name: &str) -> Option<Value> {
        let keys = self.program.keys_of(site);
        let positional = || keys.get(place).is_some_and(|key| *key == Key::Positional).then_some(place);
        let named = keys.iter().position(|key| self.units.is_for(site.unit, *key, name));
        let place = named.or_else(positional)?;
        self.stack.get(self.stack.len() - keys.len() + place).cloned()
    }

    /// The common name prefix of the steps of a repeated call, and the names of its outputs: by its left side, or else
    /// these.
    ///
    /// # Errors
    ///
    /// The left side has this other number of names.
    pub(crate) fn names_of_outputs(&mut self, site: &Site, names: &[Name]) -> Result<(NameId, Vec<NameId>), usize> {
        let hints: SmallVec<[Hint; 4]> = self.program.items_of(&site.hint).into();
        if hints.len() != names.len() {
            return Err(hints.len());
        }
        let targets: Vec<ResultName> = hints.into_iter().map(|hint| self.target(hint, 0, 1)).collect();
        let path = match targets.iter().find_map(first_name) {
            Some(path) => path,
            None => self.child(site.name, site.ordinal),
        };
        let name = |(target, name): (&ResultName, &Name)| match (first_name(target), names.len()) {
            (Some(name), _) => name,
            (None, 1) => path,
            (None, _) => self.graph.names.child(path, *name, 0, false),
        };
        Ok((path, targets.iter().zip(names).map(name).collect()))
    }

    /// Takes the results of the previous step, and starts the next step or ends the repetition.
    pub(super) fn step(&mut self) -> Outcome<()> {
        let Some(mut running) = self.iterations.repetitions.pop() else { return Ok(()) };
        if running.trip > 0 {
            self.take_results(&mut running);
        }
        if running.trip == running.of.count {
            return self.end_repetition(running);
        }
        self.check_depth()?;
        let path = self.trip_path(running.of.path, None, running.trip as u64);
        self.push_step_arguments(&mut running, path)?;
        running.trip += 1;
        let targets = self.calls.targets.len() as u32;
        self.calls.targets.resize(targets as usize + running.head.results as usize, ResultName::Auto);
        // The step returns to this instruction.
        self.pc -= 1;
        self.slots.reserve(running.head.slots);
        self.move_arguments(running.head.params);
        self.open_targets(targets);
        self.enter(running.site, running.of.unit, &running.head, Naming { path, result: NameId::ROOT }, None);
        self.iterations.repetitions.push(running);
        Ok(())
    }

    /// Pushes the arguments of the next step, whose generated names start with `path`.
    fn push_step_arguments(&mut self, running: &mut Running, path: NameId) -> Outcome<()> {
        let first = self.stack.len();
        self.stack.extend(running.of.args.iter().cloned());
        if running.of.count == 1 {
            return Ok(());
        }
        for section in &running.of.sections {
            let name = self.units.get(running.of.unit).params[section.param].name;
            let name = self.graph.names.child(path, name, 0, false);
            let place = match section.chunk < 0 {
                true => running.of.count - 1 - running.trip,
                false => running.trip,
            };
            let begin = place as i64 * section.chunk.abs();
            let [begin, end] = [begin, begin + section.chunk.abs()].map(|at| bound(&mut running.bounds, at));
            let dtype = self.graph.tensors[section.tensor.index()].dtype;
            let span = self.program.sites[running.site as usize].span;
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
    fn take_results(&mut self, running: &mut Running) {
        let results: SmallVec<[Value; 4]> = match self.pop() {
            Value::Tuple(list) if running.head.results != 1 => list.to_values().into(),
            value => smallvec::smallvec![value],
        };
        // Unreachable default: a body has the results of its unit.
        let of = |result: usize| results.get(result).cloned().unwrap_or(Value::Logical(false));
        for &(param, result) in &running.of.states {
            running.of.args[param] = of(result);
        }
        for gathered in &mut running.of.gathered {
            if let OutputForm::Last = gathered.form {
                gathered.parts.clear();
            }
            gathered.parts.push(of(gathered.result));
        }
    }

    /// Pushes the results of a repetition.
    fn end_repetition(&mut self, running: Running) -> Outcome<()> {
        let site = self.program.sites[running.site as usize];
        let mut values = Vec::with_capacity(running.of.gathered.len());
        for mut gathered in running.of.gathered {
            let (axis, reverse) = match gathered.form {
                OutputForm::Along { axis, reverse } if gathered.parts.len() > 1 => (axis, reverse),
                _ => {
                    values.extend(gathered.parts.pop());
                    continue;
                }
            };
            if reverse {
                gathered.parts.reverse();
            }
            let dtype = match gathered.parts.first() {
                Some(Value::Tensor(tensor)) => self.graph.tensors[tensor.index()].dtype,
                _ => None,
            };
            let concat = self.implied(standard::CONCAT, site.span, Hint::Named(gathered.name), dtype)?;
            let parts = Value::Array(List::from_values(gathered.parts, None)).freeze(&self.budget)?;
            values.push(self.emit_named(&concat, &[("values", parts), ("axis", graph::Value::Int(axis))])?);
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

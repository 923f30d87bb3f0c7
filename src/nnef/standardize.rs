//! Standard operations of documents with registries, translated to what the standard means.
//!
//! In such documents some operations mean what tract computes ([`deviations`](crate::graph::deviations)). Notations
//! without registries, such as ONNX, have only the meaning of the standard. This pass replaces arguments, transposes
//! filters, and adds operations where arguments are not enough, so that the numbers stay the same.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dictionary::{self, Deviation, InNnef, Vocabulary};
use crate::graph::deviations::REPLICATED;
use crate::graph::names::NameId;
use crate::graph::operators::exact_quotient;
use crate::graph::origin::with_origin;
use crate::graph::{Argument, Graph, Key, KindId, Operation, OriginId, Output, Primitive, Shape, TensorId, Value};
use crate::library::build::declared;
use crate::source::Location;

/// Why an operation cannot be translated.
type Refused = String;

/// The change of an operation for a deviation.
type Change = fn(&mut Pass, &mut Edit) -> Result<(), Refused>;

/// The changes. The other deviations concern NaN, −∞ and −0 only, where notations differ among each other, too.
const CHANGES: &[(Deviation, Change)] = &[
    (Deviation::SpatialOutputShape, spatial_output_shape),
    (Deviation::OutputsFirst, outputs_first),
    (Deviation::SpatialWindows, spatial_windows),
    (Deviation::IgnoredBorder, |_, edit| edit.set("border", Value::String("ignore".into()))),
    (Deviation::PlaneIndex, plane_index),
    (Deviation::NeverNormalized, |_, edit| edit.set("normalize", Value::Logical(false))),
    (Deviation::Replicated, replicated),
    (Deviation::WholeMean, whole_mean),
    (Deviation::CutFirst, cut_first),
];

/// An operation that is being changed.
struct Edit {
    kind: KindId,
    /// The names of the parameters of its kind.
    params: Vec<String>,
    arguments: Vec<Argument>,
    results: Vec<TensorId>,
    source: (Location, OriginId),
}

impl Edit {
    fn position(&self, name: &str) -> Option<u32> {
        self.params.iter().position(|param| param == name).map(|at| at as u32)
    }

    /// The argument of a parameter, unless it has its default.
    fn get(&self, name: &str) -> Option<&Value> {
        let key = Key::Param(self.position(name)?);
        self.arguments.iter().find(|argument| argument.key == key).map(|argument| &argument.value)
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), Refused> {
        let at = self.position(name).ok_or_else(|| format!("it has no parameter `{name}`"))?;
        let key = Key::Param(at);
        match self.arguments.iter_mut().find(|argument| argument.key == key) {
            Some(argument) => argument.value = value,
            None => self.arguments.push(Argument { key, value }),
        }
        Ok(())
    }

    fn remove(&mut self, name: &str) {
        let at = self.position(name).map(Key::Param);
        self.arguments.retain(|argument| Some(argument.key) != at);
    }

    fn tensor(&self, name: &str) -> Option<TensorId> {
        match self.get(name)? {
            Value::Tensor(tensor) => Some(*tensor),
            _ => None,
        }
    }

    /// The integers of an argument; empty if it has its default. None for symbols and tensors.
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.get(name).map_or(Some(Vec::new()), |value| value.as_integers().map(<[i64]>::to_vec))
    }
}

/// Translates a graph, which is then one of the standard.
///
/// # Errors
///
/// Operations whose meaning the standard has no form for.
pub(crate) fn standardize(graph: &mut Graph) -> Result<(), Diagnostics> {
    if !std::mem::take(&mut graph.conventions.deviates) {
        return Ok(());
    }
    let old = graph.take_operations();
    graph.kinds = old.kinds.clone();
    let mut pass = Pass { graph, old: &old, found: Diagnostics::default() };
    old.operations.iter().for_each(|operation| pass.operation(operation));
    let found = pass.found;
    graph.finish_names();
    if found.has_errors() { Err(found) } else { Ok(()) }
}

struct Pass<'g> {
    graph: &'g mut Graph,
    /// The operations as they were.
    old: &'g Graph,
    found: Diagnostics,
}

impl Pass<'_> {
    fn operation(&mut self, operation: &Operation) {
        let old = self.old;
        let kind = old.kind(operation);
        let name = old.text_of(kind.name);
        let changes: Vec<Change> = match kind.standard {
            true => {
                let row = dictionary::find(Vocabulary::InRegistries, name);
                let has = |deviation| row.is_some_and(|row| row.deviates(deviation));
                CHANGES.iter().filter(|(deviation, _)| has(*deviation)).map(|(_, change)| *change).collect()
            }
            false => Vec::new(),
        };
        // An operation that tract adds to the standard, which has one that computes the same.
        let added = old.meaning(kind).filter(|_| kind.declared && !kind.standard);
        let renamed = added.and_then(|row| match row.nnef {
            InNnef::Operation(standard) => Some(standard),
            InNnef::Formula(_) | InNnef::Missing => None,
        });
        if changes.is_empty() && renamed.is_none() {
            self.graph.add_again(old, operation);
            return;
        }
        let arguments = old.arguments(operation).map(|(key, value)| Argument { key, value: value.to_value() });
        let mut edit = Edit {
            kind: old.kind_id(operation),
            params: kind.params.iter().map(|param| old.text_of(param.name).to_owned()).collect(),
            arguments: arguments.collect(),
            results: old.tensors_of(operation).collect(),
            source: (operation.at, operation.origin),
        };
        if let Some(standard) = renamed
            && let Some(declared) = declared(standard)
        {
            let kind = declared.kind(self.graph.symbols_mut());
            edit.kind = self.graph.standard_kind(&kind);
        }
        for change in changes {
            if let Err(why) = change(self, &mut edit) {
                let message =
                    format!("`{name}` as tract defines it cannot be expressed with standard operations: {why}");
                let diagnostic = Diagnostic::new(Code::OnnxMeaning, operation.at, message);
                self.found.report(with_origin(self.graph, operation, diagnostic));
            }
        }
        edit.arguments.sort_by_key(|argument| match argument.key {
            Key::Param(at) => at,
            _ => u32::MAX,
        });
        let dtype = (operation.dtype(), operation.has_explicit_dtype());
        let outputs: Vec<Output> = old.outputs_of(operation).collect();
        self.graph.add_operation(edit.kind, dtype, edit.arguments, &outputs, edit.source);
    }

    /// Adds a standard operation with one result, named after the result of the changed operation.
    fn add(
        &mut self,
        edit: &Edit,
        operation: &str,
        arguments: &[(&str, Value)],
        segment: &str,
        shape: Option<Shape>,
        elements: Option<Primitive>,
    ) -> Result<TensorId, Refused> {
        let missing = || format!("the standard has no operation `{operation}`");
        let declared = declared(operation).ok_or_else(missing)?;
        let keyed = |(name, value): &(&str, Value)| {
            let key = Key::Param(declared.position(name)? as u32);
            Some(Argument { key, value: value.clone() })
        };
        let arguments: Vec<Argument> = arguments.iter().filter_map(keyed).collect();
        let kind = declared.kind(self.graph.symbols_mut());
        let kind = self.graph.standard_kind(&kind);
        let base = edit.results.first().map_or(NameId::ROOT, |result| self.graph.name_of(*result));
        let segment = self.graph.symbols_mut().intern(segment);
        let name = self.graph.names.child(base, segment, 0, false);
        let tensor = self.graph.add_tensor(name, elements);
        self.graph.set_shape(tensor, shape);
        let dtype = (elements.filter(|_| declared.generic), false);
        self.graph.add_operation(kind, dtype, arguments, &[Output::Tensor(&tensor)], edit.source);
        Ok(tensor)
    }

    /// The extents of a tensor, which must be known.
    fn extents(&self, tensor: TensorId, what: &str) -> Result<Vec<i64>, Refused> {
        self.graph.shape(tensor).and_then(Shape::known).ok_or_else(|| format!("the shape of {what} is not known"))
    }
}

/// The extents that `output_shape` states become padding: the standard states batch and channels, too.
fn spatial_output_shape(pass: &mut Pass, edit: &mut Edit) -> Result<(), Refused> {
    let stated = edit.ints("output_shape").ok_or("`output_shape` is not known")?;
    edit.remove("output_shape");
    let Some(filter) = edit.tensor("filter") else { return Ok(()) };
    let filter = pass.extents(filter, "the filter")?;
    if stated.is_empty() || filter.len().checked_sub(2) != Some(stated.len()) {
        return Ok(());
    }
    let input = edit.tensor("input").ok_or("its input is not a tensor")?;
    let input = pass.extents(input, "the input")?;
    let [stride, dilation] = ["stride", "dilation"].map(|name| edit.ints(name));
    let (stride, dilation) = stride.zip(dilation).ok_or("its windows are not known")?;
    let Some(Value::Array(padding)) = edit.get("padding") else {
        return Err("its padding is automatic or not known".to_owned());
    };
    let mut changed = Vec::with_capacity(stated.len());
    for (i, (extent, pair)) in stated.iter().zip(padding.iter()).enumerate() {
        let pair = match pair {
            Value::Tuple(items) => match items[..] {
                [Value::Int(before), Value::Int(after)] => Some((before, after)),
                _ => None,
            },
            _ => None,
        };
        let step = |steps: &[i64]| steps.get(i).copied().unwrap_or(1);
        let padded = pair.and_then(|(before, after)| {
            let axis = i.checked_add(2)?;
            let (size, extent_of_input) = (filter.get(axis)?, input.get(axis)?);
            let covered = size.checked_sub(1)?.checked_mul(step(&dilation))?.checked_add(1)?;
            let whole = extent_of_input.checked_sub(1)?.checked_mul(step(&stride))?.checked_add(covered)?;
            let more = extent.checked_sub(whole.checked_sub(before)?.checked_sub(after)?)?;
            Some((before, after.checked_sub(more)?))
        });
        let (before, after) = padded.ok_or("its padding is not known")?;
        changed.push(Value::Tuple([Value::Int(before), Value::Int(after)].into()));
    }
    edit.set("padding", Value::Array(changed.into()))
}

/// The filter gets the input channels first.
fn outputs_first(pass: &mut Pass, edit: &mut Edit) -> Result<(), Refused> {
    // The plane filters of `separable_deconv` have one channel: their axes are the same in both forms.
    let name = if edit.position("point_filter").is_some() { "point_filter" } else { "filter" };
    let filter = edit.tensor(name).ok_or_else(|| format!("`{name}` is not a tensor"))?;
    let shape = pass.extents(filter, "the filter")?;
    let [outputs, taken, ref spatial @ ..] = shape[..] else { return Err("the filter has no channels".to_owned()) };
    let groups = match edit.get("groups") {
        None => 1,
        Some(Value::Int(0)) => outputs,
        Some(Value::Int(groups)) if *groups > 0 => *groups,
        Some(_) => return Err("the number of groups is not known".to_owned()),
    };
    let given = exact_quotient(outputs, groups).ok_or("the groups do not divide its channels")?;
    edit.set("groups", Value::Int(groups))?;
    if given == 1 && taken == 1 {
        return Ok(());
    }
    let elements = pass.graph.dtype(filter);
    let arranged = |extents: &[i64]| extents.iter().chain(spatial).copied().collect::<Vec<i64>>();
    let order = |first: &[i64]| {
        let others = (first.len() as i64..).take(spatial.len());
        first.iter().copied().chain(others).collect::<Vec<i64>>()
    };
    let of = |shape: &[i64]| Some(Shape::of(shape));
    let integers = |items: Vec<i64>| Value::Integers(items.into());
    if groups == 1 {
        let arguments = [("input", Value::Tensor(filter)), ("axes", integers(order(&[1, 0])))];
        let shape = arranged(&[taken, given]);
        let turned = pass.add(edit, "transpose", &arguments, "filter", of(&shape), elements)?;
        return edit.set(name, Value::Tensor(turned));
    }
    let (apart, turned) = (arranged(&[groups, given, taken]), arranged(&[groups, taken, given]));
    let inputs = taken.checked_mul(groups).ok_or("the filter is too large")?;
    let together = arranged(&[inputs, given]);
    let arguments = [("input", Value::Tensor(filter)), ("shape", integers(apart.clone()))];
    let split = pass.add(edit, "reshape", &arguments, "groups", of(&apart), elements)?;
    let arguments = [("input", Value::Tensor(split)), ("axes", integers(order(&[0, 2, 1])))];
    let moved = pass.add(edit, "transpose", &arguments, "turned", of(&turned), elements)?;
    let arguments = [("input", Value::Tensor(moved)), ("shape", integers(together.clone()))];
    let joined = pass.add(edit, "reshape", &arguments, "filter", of(&together), elements)?;
    edit.set(name, Value::Tensor(joined))
}

/// Windows have extent 1 along batch and channels.
fn spatial_windows(_: &mut Pass, edit: &mut Edit) -> Result<(), Refused> {
    let first = |value: &Value, instead: Value| match value {
        Value::Integers(items) => {
            let ones = items.iter().enumerate().map(|(i, item)| if i < 2 { 1 } else { *item });
            Value::Integers(ones.collect())
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            Value::Array(items.map(|(i, item)| if i < 2 { instead.clone() } else { item.clone() }).collect())
        }
        other => other.clone(),
    };
    if let Some(size) = edit.get("size").map(|size| first(size, Value::Int(1))) {
        edit.set("size", size)?;
    }
    let none = Value::Tuple([Value::Int(0), Value::Int(0)].into());
    match edit.get("padding") {
        Some(padding @ Value::Array(_)) => edit.set("padding", first(padding, none)),
        _ => Ok(()),
    }
}

/// Indices in the plane of the input are useful only to tract.
fn plane_index(pass: &mut Pass, edit: &mut Edit) -> Result<(), Refused> {
    let Some(index) = edit.results.get(1).copied() else { return Ok(()) };
    let mut used = pass.graph.outputs.contains(&index);
    for operation in &pass.old.operations {
        pass.old.each_operand_tensor(operation, |tensor| used |= tensor == index);
    }
    if used { Err("its index counts the items of a plane".to_owned()) } else { Ok(()) }
}

fn replicated(_: &mut Pass, edit: &mut Edit) -> Result<(), Refused> {
    match edit.get("border") {
        Some(Value::String(mode)) if **mode == *REPLICATED => edit.set("border", Value::String("replicate".into())),
        _ => Ok(()),
    }
}

/// A mean of integers is the sum, divided without a remainder.
fn whole_mean(pass: &mut Pass, edit: &mut Edit) -> Result<(), Refused> {
    let Some(input) = edit.tensor("input") else { return Ok(()) };
    let normalized = edit.position("normalize").is_none() || edit.get("normalize") == Some(&Value::Logical(true));
    if pass.graph.dtype(input) != Some(Primitive::Integer) || !normalized {
        return Ok(());
    }
    let axes = edit.ints("axes").ok_or("its axes are not known")?;
    let shape = pass.extents(input, "the input")?;
    let extent = |axis: &i64| usize::try_from(*axis).ok().and_then(|axis| shape.get(axis)).copied();
    let count = axes.iter().try_fold(1_i64, |count, axis| count.checked_mul(extent(axis)?));
    let count = count.filter(|count| *count > 0).ok_or("the number of items of a mean is not known")?;
    let axes = Value::Integers(axes.into());
    let result = edit.results.first().copied();
    let summed = result.and_then(|result| pass.graph.shape(result).cloned());
    let arguments = [("input", Value::Tensor(input)), ("axes", axes)];
    let sum = pass.add(edit, "sum_reduce", &arguments, "sum", summed, Some(Primitive::Integer))?;
    let declared = declared("div").ok_or("the standard has no operation `div`")?;
    let kind = declared.kind(pass.graph.symbols_mut());
    edit.kind = pass.graph.standard_kind(&kind);
    edit.arguments = vec![
        Argument { key: Key::Param(0), value: Value::Tensor(sum) },
        Argument { key: Key::Param(1), value: Value::Int(count) },
    ];
    Ok(())
}

/// An empty range is written as one, and a negative stride becomes a second step.
fn cut_first(pass: &mut Pass, edit: &mut Edit) -> Result<(), Refused> {
    if let (Some(mut begin), Some(mut end)) = (edit.ints("begin"), edit.ints("end")) {
        let empty = |range: &(&mut i64, &mut i64)| *range.0 == 0 && *range.1 == 0;
        let found = begin.iter_mut().zip(&mut end).filter(empty);
        let count = found.map(|(begin, end)| (*begin, *end) = (1, 1)).count();
        if count > 0 {
            edit.set("begin", Value::Integers(begin.into()))?;
            edit.set("end", Value::Integers(end.into()))?;
        }
    }
    let stride = edit.ints("stride").ok_or("its stride is not known")?;
    if stride.iter().all(|stride| *stride > 0) {
        return Ok(());
    }
    let axes = edit.ints("axes").filter(|axes| axes.len() == stride.len()).ok_or("its axes are not known")?;
    let backwards: Vec<(i64, i64)> =
        axes.into_iter().zip(stride.iter().copied()).filter(|(_, step)| *step < 0).collect();
    let result = edit.results.first().copied();
    let elements = result.and_then(|result| pass.graph.dtype(result));
    let taken = |name: &'static str| edit.get(name).cloned().map(|value| (name, value));
    let mut first: Vec<(&str, Value)> = ["input", "axes", "begin", "end"].into_iter().filter_map(taken).collect();
    first.push(("stride", Value::Integers(stride.into_iter().map(|step| step.max(1)).collect())));
    let cut = pass.add(edit, "slice", &first, "cut", None, elements)?;
    let all = |item: i64| Value::Integers(backwards.iter().map(|_| item).collect());
    edit.set("input", Value::Tensor(cut))?;
    edit.set("axes", Value::Integers(backwards.iter().map(|(axis, _)| *axis).collect()))?;
    edit.set("begin", all(-1))?;
    edit.set("end", all(i64::from(i32::MIN)))?;
    edit.set("stride", Value::Integers(backwards.iter().map(|(_, step)| *step).collect()))
}

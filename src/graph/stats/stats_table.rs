//! Statistics as tables for people, and modules as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::Stats;
use super::amount::{Amount, grouped};
use super::counts::Counts;
use super::modules::ModuleStats;
use crate::diagnostics::visible::clean;

/// The width to which the names in a table are aligned at most.
const MOST_COLUMNS: usize = 60;

/// The number of names of operations that the table lists as not counted.
const MOST_LISTED: usize = 20;

/// The most modules that the table lists: all of a level, or none.
const MOST_MODULES: usize = 40;

/// The rows of sums in the table.
const SUMS: [&str; 5] = ["parameters", "bytes", "multiply-adds", "activations", "peak bytes"];

/// The width of a column of numbers.
const NUMBER: usize = 12;

/// The columns of the table of modules, with the widths of those of numbers.
const COLUMNS: [&str; 5] = ["module", "operations", "parameters", "multiply-adds", "activations"];
const WIDTHS: [usize; 5] = ["module".len(), NUMBER, 14, 18, 14];

impl Stats {
    /// The statistics as a text table.
    pub(crate) fn to_text(&self, before: Option<&Stats>) -> String {
        let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let none = Stats::default();
        for (name, count) in &before.unwrap_or(&none).operations {
            kinds.entry(name).or_default().0 = *count;
        }
        for (name, count) in &self.operations {
            kinds.entry(name).or_default().1 = *count;
        }
        let widths = kinds.keys().map(|name| clean(name).chars().count()).filter(|width| *width <= MOST_COLUMNS);
        let width = widths.max().unwrap_or(0).max("multiply-adds".len());
        let known = |count: u64| if before.is_some() { grouped(count) } else { "?".to_owned() };
        let sums = self.amounts().map(Amount::text);
        let last = sums.iter().map(|sum| sum.chars().count()).max().unwrap_or(0).max(NUMBER);
        let row = |name: &str, before: &str, after: &str| format!("{name:width$}  {before:>NUMBER$}  {after:>last$}\n");
        let mut text = row("operation", "before", "after");
        for (name, (before, after)) in &kinds {
            text.push_str(&row(&clean(name), &known(*before), &grouped(*after)));
        }
        text.push_str(&row("total", &known(before.map_or(0, Stats::total)), &grouped(self.total())));
        for (name, sum) in SUMS.into_iter().zip(sums) {
            text.push_str(&row(name, "", &sum));
        }
        if self.peak.unknown > 0 {
            let are = if self.peak.unknown == 1 { "tensor is" } else { "tensors are" };
            let _ = writeln!(text, "{} {are} of unknown size, and left out", grouped(self.peak.unknown));
        }
        text.push_str(&self.uncounted_line());
        text.push_str(&self.open.lines());
        push_modules(&self.modules, &mut text);
        text
    }

    /// The line of a table that lists what is not counted.
    fn uncounted_line(&self) -> String {
        let mut line = String::new();
        for (name, count) in self.uncounted.iter().take(MOST_LISTED) {
            let separator = if line.is_empty() { "not counted: " } else { ", " };
            let _ = write!(line, "{separator}{} ({})", clean(name), grouped(*count));
        }
        if let Some(others) = self.uncounted.len().checked_sub(MOST_LISTED).filter(|others| *others > 0) {
            let _ = write!(line, ", and {others} others");
        }
        if !line.is_empty() {
            line.push('\n');
        }
        line
    }
}

/// Adds a table of modules with what is counted in them, as far as all modules of a level fit.
fn push_modules(modules: &[ModuleStats], text: &mut String) {
    let of_level = |level: u16| modules.iter().skip(1).filter(move |module| is_shown(module) && module.level <= level);
    let deepest = modules.iter().map(|module| module.level).max().unwrap_or(0);
    let level = (1..=deepest).take_while(|level| of_level(*level).count() <= MOST_MODULES).last().unwrap_or(1);
    let mut rows: Vec<[String; 5]> = Vec::new();
    for at in order(modules).into_iter().skip(1) {
        let Some(module) = modules.get(at).filter(|module| is_shown(module) && module.level <= level) else { continue };
        let Counts { operations, parameters, multiply_adds, activations, .. } = &module.counts;
        let calls = if module.calls > 1 { format!(" ({} calls)", grouped(module.calls)) } else { String::new() };
        let name =
            format!("{}{}{calls}", "  ".repeat(usize::from(module.level).saturating_sub(1)), clean(&module.name));
        rows.push([name, grouped(*operations), parameters.text(), multiply_adds.text(), activations.text()]);
    }
    if rows.is_empty() {
        return;
    }
    let shown = rows.len().min(MOST_MODULES);
    let hidden = of_level(deepest).count().saturating_sub(shown);
    rows.truncate(MOST_MODULES);
    let mut widths = WIDTHS;
    for (column, cell) in rows.iter().flat_map(widths_of).filter(|(_, cell)| *cell <= MOST_COLUMNS) {
        if let Some(widest) = widths.get_mut(column) {
            *widest = cell.max(*widest);
        }
    }
    let [name, rest @ ..] = widths;
    text.push('\n');
    for [module, numbers @ ..] in std::iter::once(COLUMNS.map(str::to_owned)).chain(rows) {
        let _ = write!(text, "{module:name$}");
        for (number, width) in numbers.iter().zip(rest) {
            let _ = write!(text, "  {number:>width$}");
        }
        text.push('\n');
    }
    if hidden > 0 {
        let _ = writeln!(text, "and {} more modules: --message-format json lists all", grouped(hidden as u64));
    }
}

/// The columns of a row, each with the width of its cell.
fn widths_of(row: &[String; 5]) -> impl Iterator<Item = (usize, usize)> {
    row.iter().map(|cell| cell.chars().count()).enumerate()
}

/// Whether there is something in a module.
fn is_shown(module: &ModuleStats) -> bool {
    module.counts.operations > 0
}

/// The indices of modules, each followed by those in it.
fn order(modules: &[ModuleStats]) -> Vec<usize> {
    let mut inner: Vec<Vec<usize>> = vec![Vec::new(); modules.len()];
    for (i, module) in modules.iter().enumerate().skip(1) {
        if let Some(inner) = inner.get_mut(module.around as usize) {
            inner.push(i);
        }
    }
    let (mut order, mut next) = (Vec::with_capacity(modules.len()), vec![0]);
    while let Some(at) = next.pop() {
        order.push(at);
        next.extend(inner.get(at).into_iter().flatten().rev());
    }
    order
}

/// The modules in the whole graph as JSON, each with those in it.
pub(super) fn json(modules: &[ModuleStats]) -> Value {
    // Modules follow those around them, so that the last ones are complete first.
    let mut inner: Vec<Vec<Value>> = vec![Vec::new(); modules.len()];
    for (i, module) in modules.iter().enumerate().skip(1).rev().filter(|(_, module)| is_shown(module)) {
        let mut of_module = inner.get_mut(i).map(std::mem::take).unwrap_or_default();
        of_module.reverse();
        let mut row = json!({ "name": module.name, "operations": module.counts.operations, "modules": of_module });
        module.counts.push_json(&mut row, None);
        if let Some(fields) = row.as_object_mut().filter(|_| module.calls > 0) {
            fields.insert("calls".to_owned(), module.calls.into());
        }
        if let Some(around) = inner.get_mut(module.around as usize) {
            around.push(row);
        }
    }
    let mut of_graph = inner.into_iter().next().unwrap_or_default();
    of_graph.reverse();
    of_graph.into()
}

//! Errors of an expansion that do not depend on each other: after a statement of the graph has failed, those that need
//! none of its results are expanded still, so that one run tells all of them. What is made of them is not used.

use rustc_hash::{FxHashMap, FxHashSet};

use super::expander::Expander;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Policy};
use crate::nnef::ast::{Assignment, Group};
use crate::nnef::check::Checked;
use crate::nnef::compile::demand;
use crate::source::names::Name;

/// The errors of statements, and what follows from them.
#[derive(Debug)]
pub(super) struct Failures {
    pub(super) found: Diagnostics,
    /// The slots of names that have no value, since their statement failed, or needs one of them.
    missing: FxHashSet<u32>,
    /// Whether the expansion has ended: a limit is reached, or a name gets several values.
    ended: bool,
}

impl Failures {
    pub(super) fn new(policy: Policy) -> Self {
        Failures { found: Diagnostics::of(policy), missing: FxHashSet::default(), ended: false }
    }
}

/// Calls a function with the slot of each name that a statement of the graph assigns.
fn each_target(checked: &Checked, statement: &Assignment, f: &mut impl FnMut(u32)) {
    let (ast, nodes) = (&checked.document.main().ast, &checked.statements.nodes);
    demand::each_target(ast, nodes, statement.target, &mut |_, slot| f(slot));
}

impl Expander {
    /// Expands the statements of a group, with which the graph has `slots` slots.
    pub(super) fn expand_group(
        &mut self,
        checked: &Checked,
        group: &Group,
        slots: usize,
        left: &mut FxHashMap<Name, u32>,
        failures: &mut Failures,
    ) {
        if failures.ended {
            return;
        }
        self.compile_callees(checked);
        let slots = self.machine.slot_count()..slots;
        let mut statements = group.statements;
        if !failures.found.has_errors() {
            // One run for all of them is faster.
            let Err(error) = self.run_statements(checked, statements, slots.clone(), left) else { return };
            let failed = statements.iter().position(|statement| !self.is_made(checked, statement));
            failures.add(checked, failed.and_then(|at| statements.get(at)), *error);
            // Which of several values of a name is meant depends on the statements that have run.
            failures.ended |= failed.is_none() || !left.is_empty();
            statements = failed.and_then(|at| statements.get(at.saturating_add(1)..)).unwrap_or_default();
        }
        for statement in statements {
            if failures.ended {
                return;
            }
            if failures.follows(checked, statement) {
                failures.miss(checked, statement);
                continue;
            }
            let one = std::slice::from_ref(statement);
            if let Err(error) = self.run_statements(checked, one, slots.clone(), left) {
                failures.add(checked, Some(statement), *error);
            }
        }
    }

    /// Whether the names that a statement assigns have values.
    fn is_made(&self, checked: &Checked, statement: &Assignment) -> bool {
        let mut all = true;
        each_target(checked, statement, &mut |slot| all &= self.machine.has_value(slot));
        all
    }
}

impl Failures {
    fn add(&mut self, checked: &Checked, statement: Option<&Assignment>, error: Diagnostic) {
        self.ended |= error.code.is_spent() || error.code == Code::PictureTooLarge;
        self.found.report(error);
        statement.into_iter().for_each(|statement| self.miss(checked, statement));
    }

    /// Notes that the names of a statement have no values.
    fn miss(&mut self, checked: &Checked, statement: &Assignment) {
        each_target(checked, statement, &mut |slot| _ = self.missing.insert(slot));
    }

    /// Whether a statement needs a name that has no value.
    fn follows(&self, checked: &Checked, statement: &Assignment) -> bool {
        let mut found = false;
        let (ast, nodes) = (&checked.document.main().ast, &checked.statements.nodes);
        demand::each_reference(ast, nodes, statement.value, &mut |slot, _| found |= self.missing.contains(&slot));
        found
    }
}

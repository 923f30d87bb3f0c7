//! Statements of graphs that are no single operation – calls of fragments, comprehensions,
//! operators within operators – and are spelled alike.

use smallvec::SmallVec;

use super::bodies::{BodyCheck, Place};
use super::{ModuleInfo, Ref, Words};
use crate::nnef::ast::{Assignment, Ast, Expr, ExprId, Ident};
use crate::nnef::names::Name;
use crate::nnef::standard::EXTERNAL;
use crate::nnef::statements::{Form, Like, Word};
use crate::nnef::types::Type;
use crate::source::Span;

/// What holds for statements of a form whose names have values of certain types. One of them is
/// checked on its own: it has slots for the names on its right side, in their order, for those on
/// its left side, and for the variables of its comprehensions.
#[derive(Debug)]
pub(crate) struct Compound {
    /// The nodes of the first of them, with places relative to its start.
    pub tree: Ast,
    /// The statement.
    pub assignment: Assignment,
    /// What the checks found out about its nodes.
    pub tables: ModuleInfo,
    /// How many slots it has.
    pub slots: u32,
    /// Which of the things it is that were learnt of the form.
    pub lesson: u32,
    /// The types of the names on the left side.
    targets: SmallVec<[Type; 1]>,
    /// The types of the other names.
    operands: SmallVec<[Type; 4]>,
    /// The variables of comprehensions. The names of the graph must be others.
    variables: SmallVec<[Name; 1]>,
}

impl Compound {
    /// How many names are on the left side.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// How many names are on the right side.
    pub fn operands(&self) -> usize {
        self.operands.len()
    }
}

impl BodyCheck<'_, '_> {
    /// What holds for the statements of a form that have names of the types that these have; none
    /// where more than types counts.
    pub(super) fn compound(&mut self, form: &Form, words: &[Word]) -> Option<Compound> {
        let (tree, assignment) = form.tree_of(words);
        let words = &words[..form.names()];
        let variables: SmallVec<[Name; 1]> = tree.iterators.iter().map(|iterator| iterator.name.name).collect();
        let is_variable = |word: &Word| variables.contains(&word.name);
        if form.has_labels() || words.iter().any(is_variable) || !self.is_timeless(&tree, form, &variables) {
            return None;
        }
        let slot = |word: &Word| self.scope.get(word.name);
        let operands: Option<SmallVec<[Type; 4]>> =
            words[form.targets()..].iter().map(|word| Some(self.slots[slot(word)? as usize].ty)).collect();
        self.alone(form, (tree, assignment), operands?, variables)
    }

    /// Whether nothing in a statement has to do with where in the graph it stands: there is no
    /// external, variable or update, no loop, and no name but those that stand for others.
    fn is_timeless(&self, tree: &Ast, form: &Form, variables: &[Name]) -> bool {
        let Words { variable, update, .. } = self.checker.checked.words;
        let of_graph =
            |name| [variable, update].contains(&Some(name)) || self.checker.checked.text(name).ends_with(EXTERNAL);
        let is_known = |(i, expr): (usize, &Expr)| match expr {
            Expr::Name(name) => form.hole(ExprId::new(i)).is_some() || variables.contains(name),
            _ => true,
        };
        tree.loops.is_empty()
            && !tree.calls.iter().any(|call| of_graph(call.name.name))
            && tree.exprs.iter().enumerate().all(is_known)
    }

    /// Checks a statement whose names have values of these types, and nothing else around.
    fn alone(
        &mut self,
        form: &Form,
        (tree, assignment): (Ast, Assignment),
        operands: SmallVec<[Type; 4]>,
        variables: SmallVec<[Name; 1]>,
    ) -> Option<Compound> {
        let found = self.findings();
        let mut tables = ModuleInfo::default();
        tables.reset(&tree);
        std::mem::swap(&mut self.checker.checked.statements, &mut tables);
        let spare = std::mem::take(&mut self.checker.spare);
        let mut check = BodyCheck::new(self.checker, self.module, Place::Graph, &tree, self.body, spare);
        let name_of = |node: ExprId| match tree.expr(node) {
            Expr::Name(name) => name,
            // Labels were ruled out.
            _ => Name::new(0),
        };
        let nodes: SmallVec<[ExprId; 8]> = form.hole_nodes().collect();
        let (left, right) = nodes.split_at(form.targets());
        for (&node, &ty) in right.iter().zip(&operands) {
            check.add_slot(Ident { name: name_of(node), span: tree.span(node) }, ty);
        }
        check.assignment(&assignment);
        let state = check.into_state();
        let targets: Option<SmallVec<[Type; 1]>> = left.iter().map(|&node| state.type_of(name_of(node))).collect();
        let slots = state.slots() as u32;
        self.checker.spare = state.emptied();
        std::mem::swap(&mut self.checker.checked.statements, &mut tables);
        // Two names may be the same in one statement and differ in another one.
        for (&node, slot) in right.iter().zip(0..) {
            tables.refs.set(node, Ref::Slot(slot));
        }
        let targets = targets.filter(|_| self.findings() == found)?;
        Some(Compound { tree, assignment, tables, slots, lesson: 0, targets, operands, variables })
    }

    /// Checks a statement of which all is known if its names have values of the right types;
    /// false if not. Notes the slots of its names.
    pub(super) fn like_compound(&mut self, compound: &Compound, like: &Like, words: &[Word]) -> bool {
        let (left, right) = words.split_at(compound.targets.len());
        let right = &right[..compound.operands.len()];
        let is_hidden = |variable: &Name| self.scope.get(*variable).is_some();
        if !left.iter().all(|word| self.is_free(word)) || compound.variables.iter().any(is_hidden) {
            return false;
        }
        let is_variable = |word: &Word| compound.variables.contains(&word.name);
        let assigned_twice = (1..left.len()).any(|i| left[..i].iter().any(|other| other.name == left[i].name));
        if assigned_twice || words[..left.len() + right.len()].iter().any(is_variable) {
            return false;
        }
        let first = self.slots.len() as u32;
        self.checker.checked.statements.slots.extend((first..).take(left.len()));
        if !right.iter().zip(&compound.operands).all(|(word, &ty)| self.has_type(word, ty)) {
            return false;
        }
        self.checker.checked.statements.routines.push(None);
        let form = self.form(like.form);
        for (hole, &ty) in compound.targets.iter().enumerate() {
            let span = form.map_or(Span::default(), |form| form.hole_span(hole, like.start, words));
            self.add_slot(Ident { name: words[hole].name, span }, ty);
        }
        true
    }
}

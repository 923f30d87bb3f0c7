//! Statements of graphs that are no single operation – calls of fragments, comprehensions,
//! operators within operators – and are spelled alike.

use smallvec::SmallVec;

use super::bodies::BodyCheck;
use super::state::Place;
use super::{ModuleInfo, Ref, Words};
use crate::graph::standard::EXTERNAL;
use crate::nnef::ast::{Assignment, Ast, Expr, ExprId, Ident};
use crate::nnef::statements::{Form, Like, Word};
use crate::nnef::types::Type;
use crate::source::Span;
use crate::source::names::Name;

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
    /// How many names are different in others.
    names: usize,
    /// Which of the things it is that were learnt of the form.
    pub lesson: u32,
    /// The types of the names on the left side.
    targets: SmallVec<[Type; 1]>,
    /// Which of the others are names of tensors, and their types.
    operands: SmallVec<[(u32, Type); 4]>,
    /// For each fragment that is called and has a name of its own in each statement: which of the
    /// names it is, and the first of these that is the same. Calls are counted by what they call.
    called: SmallVec<[(u32, u32); 1]>,
    /// The variables of comprehensions. The names of the graph must be others.
    variables: SmallVec<[Name; 1]>,
}

impl Compound {
    /// How many names differ from statement to statement.
    pub fn names(&self) -> usize {
        self.names
    }

    /// How many names are on the left side.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// Which of the names are those of fragments that are called.
    pub fn called(&self) -> impl Iterator<Item = usize> {
        self.called.iter().map(|(hole, _)| *hole as usize)
    }

    /// How many names of tensors are on the right side.
    pub fn operands(&self) -> usize {
        self.operands.len()
    }
}

/// For the fragments that a statement calls: which of the names each is, and the first that is the
/// same.
fn equal_names(called: impl Iterator<Item = u32> + Clone, words: &[Word]) -> impl Iterator<Item = (u32, u32)> {
    let name = |hole: u32| words[hole as usize].name;
    called.clone().map(move |hole| (hole, called.clone().find(|other| name(*other) == name(hole)).unwrap_or(hole)))
}

impl BodyCheck<'_, '_> {
    /// What holds for the statements of a form that have names of the types that these have; none
    /// where more than types counts.
    pub(super) fn compound(&mut self, form: &Form, words: &[Word]) -> Option<Compound> {
        let (tree, assignment) = form.tree_of(words);
        let variables: SmallVec<[Name; 1]> = tree.iterators.iter().map(|iterator| iterator.name.name).collect();
        let is_variable = |(hole, _): (u32, ExprId)| variables.contains(&words[hole as usize].name);
        // Where not all fragments are expanded, it counts which one is called.
        let by_name = form.has_labels() || (form.called().next().is_some() && !self.checker.expands_all);
        if by_name || form.tensors().any(is_variable) || !self.is_timeless(&tree, form, &variables) {
            return None;
        }
        let operand = |(hole, _): (u32, ExprId)| {
            let slot = self.scope.get(words[hole as usize].name)?;
            Some((hole, self.slots[slot as usize].ty))
        };
        let operands: Option<SmallVec<[(u32, Type); 4]>> = form.tensors().skip(form.targets()).map(operand).collect();
        let called =
            equal_names(form.called().map(|(hole, _)| hole).collect::<SmallVec<[u32; 4]>>().into_iter(), words);
        let called = called.collect();
        let compound = self.alone(form, (tree, assignment), operands?)?;
        Some(Compound { called, variables, ..compound })
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
        operands: SmallVec<[(u32, Type); 4]>,
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
        let nodes: SmallVec<[ExprId; 8]> = form.tensors().map(|(_, node)| node).collect();
        let (left, right) = nodes.split_at(form.targets());
        for (&node, &(_, ty)) in right.iter().zip(&operands) {
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
        let (names, lesson, called, variables) = (form.names(), 0, SmallVec::new(), SmallVec::new());
        Some(Compound { tree, assignment, tables, slots, names, lesson, targets, operands, called, variables })
    }

    /// Whether a name is that of a fragment with code.
    fn is_callable(&self, name: Name) -> bool {
        let checked = &self.checker.checked;
        let info = checked.find(self.module, name).map(|id| checked.fragment(id));
        info.is_some_and(|info| info.has_body && !info.metadata)
    }

    /// Checks a statement of which all is known if its names have values of the right types;
    /// false if not. Notes the slots of its names.
    pub(super) fn like_compound(&mut self, compound: &Compound, like: &Like, words: &[Word]) -> bool {
        let left = &words[..compound.targets.len()];
        let is_hidden = |variable: &Name| self.scope.get(*variable).is_some();
        if !left.iter().all(|word| self.is_free(word)) || compound.variables.iter().any(is_hidden) {
            return false;
        }
        let assigned_twice = (1..left.len()).any(|i| left[..i].iter().any(|other| other.name == left[i].name));
        let called = compound.called.iter().map(|(hole, _)| *hole);
        let callable = called.clone().all(|hole| self.is_callable(words[hole as usize].name));
        if assigned_twice || !callable || !equal_names(called, words).eq(compound.called.iter().copied()) {
            return false;
        }
        let first = self.slots.len() as u32;
        self.checker.checked.statements.slots.extend((first..).take(left.len()));
        let is_variable = |word: &Word| compound.variables.contains(&word.name);
        for &(hole, ty) in &compound.operands {
            let word = &words[hole as usize];
            if is_variable(word) || !self.has_type(word, ty) {
                return false;
            }
        }
        if left.iter().any(is_variable) {
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

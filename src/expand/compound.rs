//! Statements of the graph that are spelled alike: one of them is compiled, and its code runs for
//! all of them.
//!
//! The code has slots of its own for the names of a statement. What else is different – where the
//! statement stands, and what its results are called – is written into the places of the code that
//! say it, before it runs.

use std::rc::Rc;

use super::code::{Binding, CompoundCall, Instr, Operand, Program};
use super::compile::Compiler;
use super::frame::{Reached, Slot};
use super::machine::Machine;
use crate::nnef::check::Checked;
use crate::nnef::check::compound::Compound;
use crate::nnef::check::forms::{Anchor, Known};
use crate::nnef::statements::{Chunk, Form, FormId, Like, Statement, Word};
use crate::source::Span;
use crate::source::names::Name;

/// The code of a form.
#[derive(Clone, Debug)]
pub(super) struct CompoundCode {
    /// Which of the things learnt of the form it was made of.
    lesson: u32,
    entry: u32,
    slots: u32,
    /// How many of these are for values that it is given.
    operands: u32,
    /// Its first site, and the places of all of them.
    site: u32,
    places: Vec<Anchor>,
    /// The sites that call a fragment that has another name in each statement, and which of the
    /// names that is.
    called: Vec<(u32, u32)>,
    /// The names that it assigns: the first binding, and how many.
    bindings: (u32, u32),
    /// Where in [`super::replay::Replays`] it is told what statements of the form do.
    pub(super) recorded: u32,
}

impl Compiler<'_, '_> {
    /// Compiles a statement that stands for all of its form.
    pub(super) fn compound(mut self, compound: &Compound, form: &Form) -> CompoundCode {
        let (entry, before) = (self.here(), self.program.marks());
        let (target, value) = (compound.assignment.target, compound.assignment.value);
        self.movable = true;
        let hint = self.hint(target);
        self.expr(value, hint);
        self.store(target, compound.tree.span(value));
        self.emit(Instr::CompoundEnd, Span::default());
        let sites = self.program.sites.iter().zip(0..).skip(before.sites);
        let places = sites.clone().map(|(site, _)| Anchor::of(form, site.span)).collect();
        let hole = |span| form.called().find(|(_, place)| *place == span).map(|(hole, _)| hole);
        let called = sites.filter_map(|(site, index)| Some((index, hole(site.span)?))).collect();
        let bindings = (before.bindings as u32, (self.program.bindings.len() - before.bindings) as u32);
        let (slots, operands) = (compound.slots, compound.operands() as u32);
        let (lesson, site) = (compound.lesson, before.sites as u32);
        CompoundCode { lesson, entry, slots, operands, site, places, called, bindings, recorded: 0 }
    }

    /// Compiles a statement of a form that has code, with the slots of its names.
    pub(super) fn like_compound(
        &mut self,
        compound: &Compound,
        like: &Like,
        words: &[Word],
        slots: &mut impl Iterator<Item = u32>,
    ) {
        let bindings = self.program.bindings.len() as u32;
        for (word, slot) in words[..compound.targets()].iter().zip(&mut *slots) {
            let id = self.new_graph_name(word.name, slot);
            self.program.bindings.push(Binding { slot, id, name: word.name });
        }
        let operands = self.program.operands.len() as u32;
        self.program.operands.extend(slots.take(compound.operands()).map(Operand::Slot));
        let first = self.program.words.len() as u32;
        self.program.words.extend_from_slice(&words[..compound.names()]);
        self.program.compounds.push(CompoundCall { like: *like, words: first, operands, bindings });
        self.emit(Instr::Compound(self.program.compounds.len() as u32 - 1), Span::default());
    }
}

impl<'c> Machine<'c, '_> {
    /// Compiles the forms of statements that have no code yet, and what statements call by names of
    /// their own.
    pub(super) fn compile_compounds(&mut self, chunk: &Chunk) {
        let checked = self.checked;
        for statement in &chunk.statements {
            let Statement::Like(like) = statement else { continue };
            let Some(Known::Compound(compound)) = checked.forms.get(like.form) else { continue };
            let is_made = self.compounds.get(&like.form).is_some_and(|code| code.lesson == compound.lesson);
            if let Some(form) = self.form(like.form).filter(|_| !is_made) {
                let (lowering, program, names) = (&self.lowering, &mut self.program, &mut self.graph.names);
                let of = (&compound.tree, &compound.tables);
                let code = Compiler::of_graph(checked, lowering, program, names, of).compound(compound, form);
                let code = CompoundCode { recorded: self.replays.new_form(), ..code };
                self.compounds.insert(like.form, Rc::new(code));
            }
            let words = chunk.words_of(like);
            for hole in compound.called() {
                if let Some(fragment) = checked.find(checked.document.main_id(), words[hole].name) {
                    self.head(fragment);
                }
            }
        }
    }

    /// A form of the graph whose statements are run. A document that is read again has others.
    fn form(&self, id: FormId) -> Option<&'c Form> {
        let graph = self.checked.document.as_read().graphs.first()?;
        Some(graph.body.forms().get(id))
    }

    /// Starts the code of a form for a statement.
    pub(super) fn compound(&mut self, index: u32) {
        let call = self.program.compounds[index as usize];
        let Some(code) = self.compounds.get(&call.like.form).map(Rc::clone) else { return };
        if self.has_replayed(&call, &code) {
            return;
        }
        let Machine { checked, program, reached, slots, .. } = self;
        code.adapt(&call, checked, program, reached);
        let base = slots.len();
        for operand in &program.operands[call.operands as usize..][..code.operands as usize] {
            let value = match operand {
                Operand::Slot(slot) => slots[*slot as usize].clone(),
                // Nothing else was put there.
                Operand::Const(_) | Operand::Shared(..) => Slot::Empty,
            };
            slots.push(value);
        }
        slots.resize(base + code.slots as usize, Slot::Empty);
        let (entry, path) = (code.entry, program.bindings[call.bindings as usize].id);
        self.running = Some((index, self.pc));
        let frame = self.frame();
        (frame.slots, frame.path) = (base as u32, path);
        (self.pc, self.base) = (entry, base as u32);
    }

    /// Ends such code.
    pub(super) fn end_compound(&mut self) {
        let Some((index, next)) = self.running.take() else { return };
        self.drop_slots(self.base as usize);
        self.frame().slots = 0;
        (self.pc, self.base) = (next, 0);
        if self.recording.is_some() {
            let call = self.program.compounds[index as usize];
            if let Some(code) = self.compounds.get(&call.like.form).map(Rc::clone) {
                self.record(&call, &code);
            }
        }
    }

    /// Where the instruction stands that is running.
    pub(super) fn here(&self) -> Span {
        let pc = (self.pc as usize).saturating_sub(1);
        let span = self.program.spans.get(pc).copied().unwrap_or_default();
        let call =
            self.running.filter(|_| self.frames.len() == 1).map(|(call, _)| self.program.compounds[call as usize]);
        let Some((call, form)) = call.and_then(|call| Some((call, self.form(call.like.form)?))) else {
            return self.checked.place_in(self.frames.last().and_then(|frame| frame.fragment), span);
        };
        let words = &self.program.words[call.words as usize..];
        let place = |at| call.like.start + form.shifted(at, words);
        Span { start: place(span.start), end: place(span.end) }
    }
}

impl CompoundCode {
    /// How many values it is given.
    pub(super) fn operands(&self) -> usize {
        self.operands as usize
    }

    /// The names that a statement assigns.
    pub(super) fn bindings_of<'p>(&self, call: &CompoundCall, program: &'p Program) -> &'p [Binding] {
        &program.bindings[call.bindings as usize..][..self.bindings.1 as usize]
    }

    /// The fragments that a statement calls, of those that are others in each.
    pub(super) fn called_by(&self, words: &[Word]) -> impl Iterator<Item = Name> {
        self.called.iter().map(|(_, hole)| words[*hole as usize].name)
    }

    /// The site that stands in this place, in the statement that the code was adapted to last.
    pub(super) fn anchor_at(&self, span: Span, program: &Program) -> Option<Anchor> {
        let sites = &program.sites[self.site as usize..][..self.places.len()];
        let place = sites.iter().position(|site| site.span == span)?;
        Some(self.places[place].with_len(span.end - span.start))
    }

    /// Writes into the code what is different in a statement.
    fn adapt(&self, call: &CompoundCall, checked: &Checked, program: &mut Program, reached: &mut [Reached]) {
        let words = &program.words[call.words as usize..];
        for (site, place) in (self.site as usize..).zip(&self.places) {
            let span = place.span(call.like.start, words);
            program.sites[site].span = span;
            // The graph has a place for each call, and what is called may be something else.
            if let Some(reached @ Reached::Call(..)) = reached.get_mut(site) {
                *reached = Reached::Other;
            }
        }
        for &(site, hole) in &self.called {
            let (site, word) = (&mut program.sites[site as usize], words[hole as usize]);
            site.name = word.name;
            site.fragment = checked.find(checked.document.main_id(), word.name);
            site.span.end = site.span.start + word.len;
        }
        let (to, count) = self.bindings;
        let from = call.bindings as usize;
        program.bindings.copy_within(from..from + count as usize, to as usize);
    }
}

//! What the checks find out about the statements of a form (see `nnef/statements/forms.rs`).
//!
//! Where the first statement of a form gives no reason for a message, others give none either if
//! their names have values of the same types: they are not checked any further, and need no
//! nodes. Some are one operation each, of a kind that is known ([`FormRoutine`]); of all others
//! one stands for all ([`Compound`]).

use smallvec::SmallVec;

use super::bodies::BodyCheck;
use super::compound::Compound;
use super::routine::{Application, Routine, RoutineId, is_right_label};
use crate::nnef::ast::{Assignment, Ast, Expr, ExprId, Ident};
use crate::nnef::statements::{Chunk, Form, FormId, Like, Statement, Word};
use crate::nnef::types::Type;
use crate::room;
use crate::source::Span;

/// How often something is learnt of a form, before looking for something else at each turn costs
/// more than it saves.
const LESSONS: u32 = 8;

/// An operand of the statements of a form.
#[derive(Clone, Copy, Debug)]
pub enum FormOperand {
    /// One of their names, of this type.
    Name(u32, Type),
    /// One of their labels.
    Label(u32),
    /// A constant, in [`FormRoutine::tree`].
    Constant(ExprId),
}

/// What holds for statements of a form that are of one kind.
#[derive(Debug)]
pub struct FormRoutine {
    /// The kind that they are of.
    pub routine: RoutineId,
    /// The operands in the order of the parameters.
    pub operands: SmallVec<[FormOperand; 4]>,
    /// The nodes of the first of them.
    pub tree: Ast,
    pub(super) result: Type,
    /// Where the operation stands.
    pub(crate) place: Anchor,
}

impl FormRoutine {
    fn new(form: &Form, id: RoutineId, routine: &Routine) -> Option<Self> {
        let (tree, assignment) = form.tree();
        let application = Application::of(&tree, assignment.value)?;
        let mut operands = SmallVec::new();
        for (_, place) in &routine.order {
            let (_, node) = application.operands[*place as usize];
            operands.push(match (tree.expr(node), form.hole(node)) {
                (Expr::Name(_), hole) => FormOperand::Name(hole?, routine.operands[*place as usize].1),
                (_, Some(hole)) => FormOperand::Label(hole),
                (_, None) => FormOperand::Constant(node),
            });
        }
        let place = Anchor::of(form, application.span);
        Some(FormRoutine { routine: id, operands, tree, result: routine.result, place })
    }
}

/// A place in the statements of a form that has no names in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchor {
    /// How far it is from the start, without the names in front of it.
    offset: u32,
    /// How many names these are.
    names_before: u32,
    len: u32,
}

impl Anchor {
    /// That of a place in the first statement, relative to the start of that.
    pub fn of(form: &Form, span: Span) -> Self {
        let (names_before, names_len) = form.before(span.start);
        Anchor { offset: span.start - names_len, names_before, len: span.end - span.start }
    }

    /// The same place with another length, as that of a name is which is another in each statement.
    pub fn with_len(self, len: u32) -> Self {
        Anchor { len, ..self }
    }

    /// Where it is in a statement with other names.
    pub fn span(self, start: u32, words: &[Word]) -> Span {
        let names = words.iter().take(self.names_before as usize).map(|word| word.len);
        let start = start + self.offset + names.sum::<u32>();
        Span { start, end: start + self.len }
    }
}

/// What is known of the statements of a form.
#[derive(Debug)]
pub(crate) enum Known {
    /// They are of one kind.
    Routine(Box<FormRoutine>),
    /// One stands for all.
    Compound(Box<Compound>),
}

impl Known {
    fn is_of(&self, routine: Option<RoutineId>) -> bool {
        match self {
            Known::Routine(known) => routine == Some(known.routine),
            Known::Compound(_) => false,
        }
    }
}

/// What is known of forms.
#[derive(Debug, Default)]
pub(crate) struct KnownForms {
    /// By their numbers, and how often something was to be learnt of each.
    known: Vec<(Option<Known>, u32)>,
    /// What was learnt since. Statements that were checked by what was known are compiled by it.
    learnt: Vec<(FormId, Option<Known>)>,
}

impl KnownForms {
    /// What is known of a form.
    pub fn get(&self, id: FormId) -> Option<&Known> {
        self.known.get(id.index())?.0.as_ref()
    }

    /// Whether more can be learnt of a form whose statements are of a kind, or of none.
    fn wants(&self, id: FormId, routine: Option<RoutineId>) -> bool {
        let (known, times) = self.known.get(id.index()).map_or((None, 0), |(known, times)| (known.as_ref(), *times));
        let is_new = times < LESSONS && known.is_none_or(|known| !known.is_of(routine));
        is_new && !self.learnt.iter().any(|learnt| learnt.0 == id)
    }

    /// Takes what was learnt for known, after statements were compiled.
    pub fn settle(&mut self) {
        for (id, mut learnt) in self.learnt.drain(..) {
            if self.known.len() <= id.index() {
                self.known.resize_with(id.index() + 1, Default::default);
            }
            let (known, times) = &mut self.known[id.index()];
            *times += 1;
            if let Some(Known::Compound(compound)) = &mut learnt {
                compound.lesson = *times;
            }
            *known = learnt.filter(|_| *times < LESSONS);
        }
    }
}

impl BodyCheck<'_, '_> {
    /// Notes what holds for all statements of the form of one that nothing was said about. It may
    /// be of a kind.
    pub(super) fn learn_form(
        &mut self,
        assignment: &Assignment,
        id: FormId,
        words: &[Word],
        routine: Option<RoutineId>,
    ) {
        let wanted = self.checker.checked.forms.wants(id, routine);
        let Some(form) = self.form(id).filter(|_| wanted && !self.checker.breaks_flatness(self.ast, assignment)) else {
            return;
        };
        let known = match routine {
            Some(routine) if form.targets() == 1 => {
                let kind = self.checker.checked.routines.get(routine);
                FormRoutine::new(form, routine, kind).map(|routine| Known::Routine(Box::new(routine)))
            }
            _ => self.compound(form, words).map(|compound| Known::Compound(Box::new(compound))),
        };
        self.checker.checked.forms.learnt.push((id, known));
    }

    /// Checks statements of forms about which all is known, up to the first that is none; tells how
    /// many there were.
    pub(super) fn like_statements(&mut self, chunk: &Chunk, from: usize) -> usize {
        // What is known stays where it is while statements are checked.
        let forms = std::mem::take(&mut self.checker.checked.forms);
        let is_like = |statement: &&Statement| match statement {
            Statement::Like(like) => self.like_statement(&forms, like, chunk.words_of(like)),
            Statement::Whole(..) => false,
        };
        let checked = chunk.statements[from..].iter().take_while(is_like).count();
        self.checker.checked.forms = forms;
        checked
    }

    /// Checks a statement of a form about which all is known; false where it is not.
    fn like_statement(&mut self, forms: &KnownForms, like: &Like, words: &[Word]) -> bool {
        let before = self.checker.checked.statements.slots.len();
        let fits = match forms.get(like.form) {
            Some(Known::Routine(routine)) => self.like_routine(routine, like, words),
            Some(Known::Compound(compound)) => self.like_compound(compound, like, words),
            None => false,
        };
        if !fits {
            self.checker.checked.statements.slots.truncate(before);
        }
        fits
    }

    /// Whether a name can be assigned in the graph: nothing has it so far, and it is no input.
    pub(super) fn is_free(&self, word: &Word) -> bool {
        self.scope.get(word.name).is_none() && !self.is_input(word.name)
    }

    /// Whether a name has a value of a type, whose slot is noted.
    pub(super) fn has_type(&mut self, word: &Word, ty: Type) -> bool {
        let slot = self.scope.get(word.name).filter(|slot| self.slots[*slot as usize].ty == ty);
        self.checker.checked.statements.slots.extend(slot);
        slot.is_some()
    }

    fn like_routine(&mut self, form: &FormRoutine, like: &Like, words: &[Word]) -> bool {
        let target = words[0];
        if !self.is_free(&target) {
            return false;
        }
        room::push(&mut self.checker.checked.statements.slots, self.slots.len() as u32);
        for operand in &form.operands {
            let fits = match *operand {
                FormOperand::Constant(_) => true,
                FormOperand::Label(hole) => is_right_label(self.checker.checked.text(words[hole as usize].name)),
                FormOperand::Name(hole, ty) => self.has_type(&words[hole as usize], ty),
            };
            if !fits {
                return false;
            }
        }
        room::push(&mut self.checker.checked.statements.routines, Some(form.routine));
        let span = Span { start: like.start, end: like.start + target.len };
        self.add_slot(Ident { name: target.name, span }, form.result);
        true
    }
}

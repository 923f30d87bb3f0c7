//! Shapes asked for again.
//!
//! Operations of one signature that are given the same constants, and tensors of the same shapes,
//! have results of one shape. Blocks of networks recur, so rules would compute the same again and
//! again. What they said last is remembered.

use smallvec::SmallVec;

use super::super::{Graph, Operand, OperationId, Output, ShapeId, TensorId};
use super::Plan;

/// How many answers are remembered. A power of two.
const SIZE: usize = 128;
/// The most tensors of an array for which an answer is remembered.
const MAX_ITEMS: usize = 16;
/// Marks a word that is the length of an array of tensors. Numbers of shapes are less than this.
const ARRAY: u32 = 1 << 30;

/// All that the shape of a result depends on, in words.
type Question = SmallVec<[u32; 8]>;

/// The answers given last.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// The question that was put last; empty if its answer is not to be remembered.
    question: Question,
    answers: Vec<(Question, Option<ShapeId>)>,
}

impl Recent {
    /// The shape of the result of an operation, if the same was asked before. Of sources nothing is
    /// remembered: each has a label or a shape that others do not have.
    #[inline]
    pub(crate) fn ask(&mut self, graph: &Graph, id: OperationId, plan: &Plan) -> Option<Option<ShapeId>> {
        self.question.clear();
        if plan.is_source() || !describe(graph, id, &mut self.question) {
            self.question.clear();
            return None;
        }
        let (question, shape) = self.answers.get(self.place())?;
        (*question == self.question).then_some(*shape)
    }

    /// Notes the answer to the question that was put last.
    pub(crate) fn note(&mut self, shape: Option<ShapeId>) {
        if !self.question.is_empty() {
            self.answers.resize_with(SIZE, Default::default);
            let place = self.place();
            self.answers[place] = (self.question.clone(), shape);
        }
    }

    fn place(&self) -> usize {
        let mix = |hash: u64, word: &u32| (hash.rotate_left(5) ^ u64::from(*word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        (self.question.iter().fold(0, mix) >> 32) as usize % SIZE
    }
}

/// Puts into words what the shape of an operation's result depends on; false where that may be much,
/// or where the result is not one tensor.
fn describe(graph: &Graph, id: OperationId, words: &mut Question) -> bool {
    let operation = &graph.operations[id.index()];
    let mut outputs = graph.outputs_of(operation);
    if !matches!((outputs.next(), outputs.next()), (Some(Output::Tensor(_)), None)) {
        return false;
    }
    let shape = |tensor: TensorId| graph.tensors[tensor.index()].shape.map_or(0, ShapeId::number);
    words.push(operation.signature().index() as u32);
    let mut tensors = false;
    for (kept, operand) in graph.kept_of(operation) {
        match operand {
            Operand::Tensor(tensor) => {
                tensors = true;
                words.push(shape(tensor));
            }
            Operand::Tensors(items) if items.len() > MAX_ITEMS => return false,
            Operand::Tensors(items) => {
                tensors = true;
                words.push(ARRAY | items.len() as u32);
                words.extend(items.iter().map(|&item| shape(item)));
            }
            // Tensors further within it are the same wherever this word is.
            Operand::Value(_) => words.push(kept.word()),
        }
    }
    // Without tensors it is like a source.
    tensors
}

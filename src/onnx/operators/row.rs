//! A row of the table of operators, and looking it up.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::operator_table::OPERATORS;
use crate::dictionary::{Kernel, Row};
use crate::onnx::infer::InferCall;
use crate::onnx::run::{KernelResult, NodeCall, NodeKernel};
use crate::parts::KERNELS;

/// A rule of inference: it sets what it finds about the results, and returns none as soon as it cannot find more.
pub(crate) type InferRule = fn(&mut InferCall) -> Option<()>;

/// A rule that tells why operands and attributes do not go together; none if they may.
pub(crate) type MisfitRule = fn(&InferCall) -> Option<String>;

/// What is known about an operator in all its versions.
#[derive(Debug)]
pub(crate) struct OperatorRow {
    /// The domain; empty for `ai.onnx`.
    pub(crate) domain: &'static str,
    pub(crate) name: &'static str,
    /// Types and shapes of the results.
    pub(crate) types: InferRule,
    /// The items of the results, if they follow from the items or the shapes of operands, and not from the meaning.
    pub(crate) values: Option<InferRule>,
    /// Why a node cannot run with what is known of its operands and attributes.
    pub(crate) misfits: Option<MisfitRule>,
    /// The row of the dictionary that says what it computes item by item.
    pub(crate) meaning: Option<&'static Row>,
    /// What computes the results. Operators with graphs are run by the interpreter.
    pub(crate) kernel: Option<NodeKernel>,
}

impl OperatorRow {
    /// A row for an operator whose values are not followed.
    pub(super) const fn new(domain: &'static str, name: &'static str, types: InferRule) -> Self {
        OperatorRow { domain, name, types, values: None, misfits: None, meaning: None, kernel: None }
    }

    /// The row with a rule for items.
    pub(super) const fn valued(self, values: InferRule) -> Self {
        OperatorRow { values: Some(values), ..self }
    }

    /// The row with a rule for operands that do not go together.
    pub(super) const fn refuses(self, misfits: MisfitRule) -> Self {
        OperatorRow { misfits: Some(misfits), ..self }
    }

    /// The row with a kernel of its own, in builds that have kernels.
    pub(super) const fn runs(self, kernel: fn(&NodeCall) -> KernelResult) -> Self {
        self.run_by(NodeKernel::Own(kernel))
    }

    /// The row of an operator that computes what the dictionary says, item by item.
    pub(super) const fn means(self, row: &'static Row) -> Self {
        let row_of_operator = OperatorRow { meaning: Some(row), ..self };
        match row.kernel {
            Some(kernel) => row_of_operator.run_by(NodeKernel::Meaning(kernel)),
            None => row_of_operator,
        }
    }

    /// The row of an operator that computes the arithmetic of the dictionary with all its operands, the first two first.
    pub(super) const fn means_of_all(self, row: &'static Row) -> Self {
        let row_of_operator = OperatorRow { meaning: Some(row), ..self };
        match row.kernel {
            Some(Kernel::Arithmetic(op)) => row_of_operator.run_by(NodeKernel::All(op)),
            _ => row_of_operator,
        }
    }

    /// The meaning that gives integers and truth values from those of the operands.
    pub(crate) fn followed(&self) -> Option<&'static Row> {
        use Kernel::{Arithmetic, Compare, Logic, Not, Number, Select};
        let is_whole = |kernel| matches!(kernel, Number(..) | Arithmetic(_) | Compare(_) | Not | Logic(_) | Select);
        self.meaning.filter(|row| row.kernel.is_some_and(is_whole))
    }

    const fn run_by(self, kernel: NodeKernel) -> Self {
        OperatorRow { kernel: if KERNELS.is_built() { Some(kernel) } else { None }, ..self }
    }
}

type RowKey = (&'static str, &'static str);

/// The row of an operator.
pub(crate) fn row_of(domain: &str, name: &str) -> Option<&'static OperatorRow> {
    static ROWS: OnceLock<FxHashMap<RowKey, &'static OperatorRow>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| OPERATORS.iter().map(|row| ((row.domain, row.name), row)).collect());
    rows.get(&(domain, name)).copied()
}

/// All rows.
#[cfg(test)]
pub(crate) fn rows() -> &'static [OperatorRow] {
    OPERATORS
}

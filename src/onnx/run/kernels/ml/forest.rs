//! Trees that decide by comparisons of features, and the votes of their leaves.

use crate::eval::EvalError;
use crate::onnx::run::node_call::NodeCall;

/// A comparison of a feature.
#[derive(Clone, Debug)]
pub(super) enum Test {
    LessOrEqual(f64),
    Less(f64),
    GreaterOrEqual(f64),
    Greater(f64),
    Equal(f64),
    NotEqual(f64),
    Member(Vec<f64>),
}

impl Test {
    /// The comparison with a name or number.
    pub(super) fn new(name: &str, value: f64) -> Option<Self> {
        Some(match name {
            "BRANCH_LEQ" | "0" => Test::LessOrEqual(value),
            "BRANCH_LT" | "1" => Test::Less(value),
            "BRANCH_GTE" | "2" => Test::GreaterOrEqual(value),
            "BRANCH_GT" | "3" => Test::Greater(value),
            "BRANCH_EQ" | "4" => Test::Equal(value),
            "BRANCH_NEQ" | "5" => Test::NotEqual(value),
            _ => return None,
        })
    }

    fn holds(&self, x: f64) -> bool {
        match self {
            Test::LessOrEqual(value) => x <= *value,
            Test::Less(value) => x < *value,
            Test::GreaterOrEqual(value) => x >= *value,
            Test::Greater(value) => x > *value,
            Test::Equal(value) => x == *value,
            Test::NotEqual(value) => x != *value,
            Test::Member(values) => values.contains(&x),
        }
    }
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub(super) enum TreeNode {
    Branch {
        test: Test,
        feature: usize,
        missing: bool,
        yes: usize,
        no: usize,
    },
    /// The targets of a leaf, with weights.
    Leaf(Vec<(usize, f64)>),
}

/// How the votes for a target become its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    Average,
    Sum,
    Least,
    Greatest,
}

/// The aggregates by name, in the order of their numbers.
pub(super) const AGGREGATES: &[(&str, Aggregate)] = &[
    ("AVERAGE", Aggregate::Average),
    ("SUM", Aggregate::Sum),
    ("MIN", Aggregate::Least),
    ("MAX", Aggregate::Greatest),
];

/// Trees with the nodes that they consist of.
pub(super) struct Forest {
    pub(super) nodes: Vec<TreeNode>,
    pub(super) roots: Vec<usize>,
}

impl Forest {
    /// The votes of the leaf that a row of features reaches from a root.
    fn leaf(&self, call: &NodeCall, row: &[f64], root: usize) -> Result<&[(usize, f64)], EvalError> {
        let mut at = root;
        for steps in 0..=self.nodes.len() {
            match self.nodes.get(at) {
                Some(TreeNode::Leaf(votes)) => {
                    call.budget.work(steps as u64 + 1)?;
                    return Ok(votes);
                }
                Some(TreeNode::Branch { test, feature, missing, yes, no }) => {
                    let Some(&x) = row.get(*feature) else {
                        return Err(call.misfit(format!("there is no feature {feature}")));
                    };
                    at = if test.holds(x) || *missing && x.is_nan() { *yes } else { *no };
                }
                None => return Err(call.refused("a node of a tree is missing")),
            }
        }
        Err(call.refused("the nodes of a tree form a cycle"))
    }

    /// The score of each target, and whether a leaf votes for it.
    pub(super) fn scores(
        &self,
        call: &NodeCall,
        row: &[f64],
        targets: usize,
        aggregate: Aggregate,
    ) -> Result<Vec<Option<f64>>, EvalError> {
        let mut scores: Vec<Option<f64>> = vec![None; call.budget.room(&[targets])?];
        for &root in &self.roots {
            for &(target, weight) in self.leaf(call, row, root)? {
                let score =
                    scores.get_mut(target).ok_or_else(|| call.refused(format!("there is no target {target}")))?;
                *score = Some(match (*score, aggregate) {
                    (None, _) => weight,
                    (Some(score), Aggregate::Average | Aggregate::Sum) => score + weight,
                    (Some(score), Aggregate::Least) => score.min(weight),
                    (Some(score), Aggregate::Greatest) => score.max(weight),
                });
            }
        }
        if aggregate == Aggregate::Average {
            scores.iter_mut().flatten().for_each(|score| *score /= self.roots.len() as f64);
        }
        Ok(scores)
    }
}

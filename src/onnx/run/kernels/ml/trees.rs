//! Ensembles of trees.

use rustc_hash::FxHashMap;

use super::forest::{AGGREGATES, Aggregate, Forest, Test, TreeNode};
use super::linear::rows;
use super::scores::{Labels, Transform, best};
use crate::eval::EvalError;
use crate::onnx::run::kernels::reals::naturals;
use crate::onnx::run::node_call::{KernelResult, NodeCall, floats, one};
use crate::tensor::DType;

/// The numbers of an attribute, which may be a tensor.
fn numbers(call: &NodeCall, name: &str) -> Result<Vec<f64>, EvalError> {
    match call.tensor_attribute(&format!("{name}_as_tensor"))? {
        Some(tensor) => Ok(floats(&tensor)?.to_vec()),
        None => super::linear::numbers(call, name),
    }
}

/// The numbers of a tensor attribute.
fn listed(call: &NodeCall, name: &str) -> Result<Vec<f64>, EvalError> {
    Ok(call
        .tensor_attribute(name)?
        .map(|tensor| floats(&tensor).map(|items| items.to_vec()))
        .transpose()?
        .unwrap_or_default())
}

/// The trees of the first versions: nodes have the numbers of their tree and of themselves, and votes name them.
fn numbered(call: &NodeCall, votes: &str, targets: &str) -> Result<Forest, EvalError> {
    let ints = |name: &str| Ok::<_, EvalError>(call.ints(name)?.unwrap_or_default());
    let (trees, ids) = (ints("nodes_treeids")?, ints("nodes_nodeids")?);
    let (yes, no) = (ints("nodes_truenodeids")?, ints("nodes_falsenodeids")?);
    let (features, modes) =
        (naturals(call, "nodes_featureids")?.unwrap_or_default(), call.texts("nodes_modes")?.unwrap_or_default());
    let (values, missing) = (numbers(call, "nodes_values")?, ints("nodes_missing_value_tracks_true")?);
    let count = trees.len();
    let same = [ids.len(), yes.len(), no.len(), features.len(), modes.len(), values.len()];
    if same.iter().any(|&len| len != count) || !missing.is_empty() && missing.len() != count {
        return Err(call.misfit("the attributes of nodes differ in length"));
    }
    let place: FxHashMap<(i64, i64), usize> = (0..count).map(|i| ((trees[i], ids[i]), i)).collect();
    let find = |tree: i64, id: i64| place.get(&(tree, id)).copied().unwrap_or(usize::MAX);
    let node = |i: usize| match Test::new(&modes[i], values[i]) {
        Some(test) => {
            let missing = missing.get(i).is_some_and(|&missing| missing != 0);
            let (yes, no) = (find(trees[i], yes[i]), find(trees[i], no[i]));
            Ok(TreeNode::Branch { test, feature: features[i], missing, yes, no })
        }
        None if modes[i] == "LEAF" => Ok(TreeNode::Leaf(Vec::new())),
        None => Err(call.refused(format!("a node has the mode '{}'", modes[i]))),
    };
    let mut nodes = (0..count).map(node).collect::<Result<Vec<_>, _>>()?;
    let part = |suffix: &str| ints(&format!("{votes}_{suffix}"));
    let (of_trees, of_nodes, weights) =
        (part("treeids")?, part("nodeids")?, numbers(call, &format!("{votes}_weights"))?);
    let chosen = naturals(call, targets)?.unwrap_or_default();
    if [of_nodes.len(), weights.len(), chosen.len()] != [of_trees.len(); 3] {
        return Err(call.misfit("the attributes of votes differ in length"));
    }
    for i in 0..of_trees.len() {
        if let Some(TreeNode::Leaf(votes)) = nodes.get_mut(find(of_trees[i], of_nodes[i])) {
            votes.push((chosen[i], weights[i]));
        }
    }
    // The first node of a tree is its root.
    let mut known = rustc_hash::FxHashSet::default();
    let roots = (0..count).filter(|&i| known.insert(trees[i])).collect();
    Ok(Forest { nodes, roots })
}

/// The scores of all targets with their base values, and those that a leaf has voted for.
fn total(scores: &[Option<f64>], base: &[f64]) -> Vec<f64> {
    scores.iter().enumerate().map(|(i, score)| score.unwrap_or(0.0) + base.get(i).copied().unwrap_or(0.0)).collect()
}

/// The transformed scores of all targets for each row of features.
fn scored(
    call: &NodeCall,
    (items, [count, features]): (&[f64], [usize; 2]),
    (forest, targets, aggregate): (&Forest, usize, Aggregate),
    (base, transform): (&[f64], Transform),
) -> Result<Vec<f64>, EvalError> {
    let mut result = Vec::with_capacity(call.budget.room(&[count, targets])?);
    for row in items.chunks_exact(features.max(1)) {
        let mut scores = total(&forest.scores(call, row, targets, aggregate)?, base);
        transform.apply(&mut scores);
        result.extend(scores);
    }
    Ok(result)
}

/// `TreeEnsembleRegressor`.
pub(in crate::onnx) fn regressor(call: &NodeCall) -> KernelResult {
    let ((x, count, features), forest) = (rows(call)?, numbered(call, "target", "target_ids")?);
    let name = call.text_or("aggregate_function", "SUM")?;
    let aggregate = AGGREGATES.iter().find(|row| row.0 == name).map(|row| row.1);
    let aggregate = aggregate.ok_or_else(|| call.refused(format!("`aggregate_function` is '{name}'")))?;
    let targets = usize::try_from(call.int_or("n_targets", 1)?).map_err(|_| call.refused("`n_targets` is negative"))?;
    let (base, transform) = (numbers(call, "base_values")?, Transform::named(call)?);
    let result = scored(call, (&x.items, [count, features]), (&forest, targets, aggregate), (&base, transform))?;
    one(call.rounded(DType::Float32, &[count, targets], result)?)
}

/// `TreeEnsembleClassifier`.
pub(in crate::onnx) fn classifier(call: &NodeCall) -> KernelResult {
    let ((x, count, features), forest) = (rows(call)?, numbered(call, "class", "class_ids")?);
    let labels = Labels::read(call, "classlabels_int64s", "classlabels_strings")?;
    let (base, transform) = (numbers(call, "base_values")?, Transform::named(call)?);
    let positive = numbers(call, "class_weights")?.iter().all(|&weight| weight >= 0.0);
    let targets = naturals(call, "class_ids")?.unwrap_or_default();
    // Votes for one class only are those between two.
    let single = labels.len() <= 2 && targets.windows(2).all(|pair| pair[0] == pair[1]);
    let (mut result, mut classes) = (Vec::new(), Vec::new());
    for row in x.items.chunks_exact(features.max(1)) {
        let scores = total(&forest.scores(call, row, labels.len().max(1), Aggregate::Sum)?, &base);
        if let (true, Some(&target)) = (single, targets.first()) {
            let score = scores.get(target).copied().unwrap_or(0.0);
            classes.push(usize::from(score > if positive { 0.5 } else { 0.0 }));
            result.extend(transform.both(score, positive));
            continue;
        }
        let mut scores = scores;
        classes.push(best(&scores));
        transform.apply(&mut scores);
        result.extend(scores);
    }
    let width = result.len().checked_div(count).unwrap_or(labels.len());
    Ok(vec![labels.tensor(call, &classes)?.into(), call.rounded(DType::Float32, &[count, width], result)?.into()])
}

/// The trees of the newest version: branches, then leaves.
fn split(call: &NodeCall) -> Result<Forest, EvalError> {
    let list = |name: &str| Ok::<_, EvalError>(naturals(call, name)?.unwrap_or_default());
    let (yes, no) = (list("nodes_truenodeids")?, list("nodes_falsenodeids")?);
    let (yes_leaf, no_leaf) = (list("nodes_trueleafs")?, list("nodes_falseleafs")?);
    let (features, missing) = (list("nodes_featureids")?, list("nodes_missing_value_tracks_true")?);
    let (modes, splits) = (listed(call, "nodes_modes")?, listed(call, "nodes_splits")?);
    let count = modes.len();
    let same = [yes.len(), no.len(), yes_leaf.len(), no_leaf.len(), features.len(), splits.len()];
    if same.iter().any(|&len| len != count) || !missing.is_empty() && missing.len() != count {
        return Err(call.misfit("the attributes of nodes differ in length"));
    }
    let members = listed(call, "membership_values")?;
    let mut members = members.split(|member| member.is_nan());
    let mut node = |i: usize| {
        let test = match modes[i] {
            6.0 => Some(Test::Member(members.next().unwrap_or_default().to_vec())),
            mode => Test::new(&mode.to_string(), splits[i]),
        };
        let test = test.ok_or_else(|| call.refused(format!("a node has the mode {}", modes[i])))?;
        let next = |id: usize, is_leaf: usize| if is_leaf != 0 { id.saturating_add(count) } else { id };
        let (yes, no) = (next(yes[i], yes_leaf[i]), next(no[i], no_leaf[i]));
        let missing = missing.get(i).is_some_and(|&missing| missing != 0);
        Ok(TreeNode::Branch { test, feature: features[i], missing, yes, no })
    };
    let mut nodes = (0..count).map(&mut node).collect::<Result<Vec<_>, EvalError>>()?;
    let (targets, weights) = (list("leaf_targetids")?, listed(call, "leaf_weights")?);
    if targets.len() != weights.len() {
        return Err(call.misfit("the attributes of leaves differ in length"));
    }
    nodes.extend(targets.iter().zip(&weights).map(|(&target, &weight)| TreeNode::Leaf(vec![(target, weight)])));
    Ok(Forest { nodes, roots: list("tree_roots")? })
}

/// `TreeEnsemble`.
pub(in crate::onnx) fn ensemble(call: &NodeCall) -> KernelResult {
    let ((x, count, features), forest) = (rows(call)?, split(call)?);
    let number = call.int_or("aggregate_function", 1)?;
    let aggregate = usize::try_from(number).ok().and_then(|i| AGGREGATES.get(i)).map(|row| row.1);
    let aggregate = aggregate.ok_or_else(|| call.refused(format!("`aggregate_function` is {number}")))?;
    let targets = usize::try_from(call.int_or("n_targets", 1)?).map_err(|_| call.refused("`n_targets` is negative"))?;
    let transform = Transform::numbered(call)?;
    let result = scored(call, (&x.items, [count, features]), (&forest, targets, aggregate), (&[], transform))?;
    one(call.rounded(x.dtype, &[count, targets], result)?)
}

//! Suppression of boxes that overlap better ones.

use super::reals::Reals;
use crate::onnx::run::call::{KernelResult, NodeCall, one};
use crate::tensor::Data;

/// A box: its least and greatest coordinate along two axes.
type Box = [(f64, f64); 2];

/// A box from two corners, or from its centre and size.
fn corners(items: &[f64], centred: bool) -> Box {
    let along = |axis: usize| match centred {
        // The centre is that of columns, then of rows.
        true => (items[axis] - items[axis + 2] / 2.0, items[axis] + items[axis + 2] / 2.0),
        false => (items[axis].min(items[axis + 2]), items[axis].max(items[axis + 2])),
    };
    [along(0), along(1)]
}

fn area(of: &Box) -> f64 {
    of.iter().map(|(least, greatest)| greatest - least).product()
}

/// The part of the union of two boxes that is common to both.
fn overlap(a: &Box, b: &Box) -> f64 {
    let along = |axis: usize| (a[axis].1.min(b[axis].1) - a[axis].0.max(b[axis].0)).max(0.0);
    let common = along(0) * along(1);
    let union = area(a) + area(b) - common;
    if common > 0.0 && union > 0.0 && area(a) > 0.0 && area(b) > 0.0 { common / union } else { 0.0 }
}

/// `NonMaxSuppression`: the batch, class and number of each selected box.
pub(in crate::onnx) fn non_max_suppression(call: &NodeCall) -> KernelResult {
    let (boxes, scores) = (Reals::of(call, 0)?.ranked(call, 3)?, Reals::of(call, 1)?.ranked(call, 3)?);
    let [batch, count] = [boxes.shape[0], boxes.shape[1]];
    let classes = scores.shape[1];
    if boxes.shape[2] != 4 || scores.shape != [batch, classes, count] {
        return Err(call.misfit(format!("boxes of shape {:?} with scores of shape {:?}", boxes.shape, scores.shape)));
    }
    let most = call.optional_single(2)?.and_then(|most| usize::try_from(most).ok()).unwrap_or(0);
    let (limit, least) = (call.single_float(3)?.unwrap_or(0.0), call.single_float(4)?);
    let centred = call.flag("center_point_box", false)?;
    let mut selected = Vec::new();
    for row in 0..batch * classes {
        let scores = &scores.items[row * count..][..count];
        let all = &boxes.items[row / classes * count * 4..][..count * 4];
        let all: Vec<Box> = all.chunks_exact(4).map(|items| corners(items, centred)).collect();
        let mut order: Vec<usize> = (0..count).filter(|&i| least.is_none_or(|least| scores[i] > least)).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut kept: Vec<usize> = Vec::new();
        for i in order {
            if kept.len() >= most {
                break;
            }
            call.budget.work(kept.len() as u64 + 1)?;
            if kept.iter().all(|&other| overlap(&all[i], &all[other]) <= limit) {
                kept.push(i);
                selected.extend([(row / classes) as i64, (row % classes) as i64, i as i64]);
            }
        }
    }
    one(call.made(&[selected.len() / 3, 3], Data::Int64(selected))?)
}

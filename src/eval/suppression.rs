//! Suppression of boxes that overlap better ones.

use super::budget::Budget;
use super::error::EvalError;

/// A box: its least and greatest coordinate along two axes.
type Corners = [(f64, f64); 2];

/// The boxes that are selected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suppression {
    /// The most boxes of each class.
    pub(crate) most: usize,
    /// The largest overlap with a better box.
    pub(crate) limit: f64,
    /// The score that boxes have to exceed.
    pub(crate) least: Option<f64>,
    /// Whether boxes have their centres and sizes instead of two corners.
    pub(crate) centred: bool,
}

/// A box from two corners, or from its centre and size.
fn corners(items: &[f64], centred: bool) -> Corners {
    let along = |axis: usize| match centred {
        // The centre is that of columns, then of rows.
        true => (items[axis] - items[axis + 2] / 2.0, items[axis] + items[axis + 2] / 2.0),
        false => (items[axis].min(items[axis + 2]), items[axis].max(items[axis + 2])),
    };
    [along(0), along(1)]
}

fn area(of: &Corners) -> f64 {
    of.iter().map(|(least, greatest)| greatest - least).product()
}

/// The part of the union of two boxes that is common to both.
fn overlap(a: &Corners, b: &Corners) -> f64 {
    let along = |axis: usize| (a[axis].1.min(b[axis].1) - a[axis].0.max(b[axis].0)).max(0.0);
    let common = along(0) * along(1);
    let union = area(a) + area(b) - common;
    if common > 0.0 && union > 0.0 && area(a) > 0.0 && area(b) > 0.0 { common / union } else { 0.0 }
}

impl Suppression {
    /// The batch, class and number of each selected box. Each batch has `count` boxes of four numbers, and as many
    /// scores for each class.
    ///
    /// # Errors
    ///
    /// A limit is exceeded.
    pub(crate) fn selected(
        &self,
        budget: &Budget,
        boxes: &[f64],
        scores: &[f64],
        [batch, classes, count]: [usize; 3],
    ) -> Result<Vec<i64>, EvalError> {
        let mut selected = Vec::new();
        for row in 0..batch * classes {
            let scores = &scores[row * count..][..count];
            let all = &boxes[row / classes * count * 4..][..count * 4];
            let all: Vec<Corners> = all.chunks_exact(4).map(|items| corners(items, self.centred)).collect();
            let exceeds = |&i: &usize| self.least.is_none_or(|least| scores[i] > least);
            let mut order: Vec<usize> = (0..count).filter(exceeds).collect();
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            let mut kept: Vec<usize> = Vec::new();
            for i in order {
                if kept.len() >= self.most {
                    break;
                }
                budget.work(kept.len() as u64 + 1)?;
                if kept.iter().all(|&other| overlap(&all[i], &all[other]) <= self.limit) {
                    kept.push(i);
                    selected.extend([(row / classes) as i64, (row % classes) as i64, i as i64]);
                }
            }
        }
        Ok(selected)
    }
}

//! Support vector machines.

use super::linear::{numbers, rows};
use super::scores::{Labels, Transform, best};
use crate::dictionary::sigmoid;
use crate::eval::EvalError;
use crate::onnx::run::kernels::reals::naturals;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::DType;

/// The product of two rows of features in another space.
#[derive(Clone, Copy, Debug)]
struct SvmKernel {
    kind: SvmKind,
    gamma: f64,
    shift: f64,
    degree: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SvmKind {
    Linear,
    Polynomial,
    Radial,
    Sigmoid,
}

impl SvmKernel {
    fn read(call: &NodeCall) -> Result<Self, EvalError> {
        let kind = match &*call.text_or("kernel_type", "LINEAR")? {
            "LINEAR" => SvmKind::Linear,
            "POLY" => SvmKind::Polynomial,
            "RBF" => SvmKind::Radial,
            "SIGMOID" => SvmKind::Sigmoid,
            other => return Err(call.refused(format!("`kernel_type` is '{other}'"))),
        };
        let parameters = numbers(call, "kernel_params")?;
        let at = |i: usize| parameters.get(i).copied().unwrap_or(0.0);
        Ok(SvmKernel { kind, gamma: at(0), shift: at(1), degree: at(2) })
    }

    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let dot = || a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        match self.kind {
            SvmKind::Linear => dot(),
            SvmKind::Polynomial => (self.gamma * dot() + self.shift).powf(self.degree),
            SvmKind::Radial => (-self.gamma * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp(),
            SvmKind::Sigmoid => (self.gamma * dot() + self.shift).tanh(),
        }
    }
}

/// `SVMRegressor`.
pub(in crate::onnx) fn svm_regressor(call: &NodeCall) -> KernelResult {
    let ((x, count, features), coefficients) = (rows(call)?, numbers(call, "coefficients")?);
    let vectors = usize::try_from(call.int_or("n_supports", 0)?).map_err(|_| call.refused("`n_supports`"))?;
    let (support, rho) = (numbers(call, "support_vectors")?, numbers(call, "rho")?);
    let linear = SvmKernel { kind: SvmKind::Linear, gamma: 0.0, shift: 0.0, degree: 0.0 };
    let (kernel, transform) = (if vectors > 0 { SvmKernel::read(call)? } else { linear }, Transform::named(call)?);
    let fits = match vectors {
        0 => coefficients.len() == features,
        _ => coefficients.len() == vectors && vectors.checked_mul(features) == Some(support.len()),
    };
    let (Some(rho), true) = (rho.first(), fits && features > 0) else {
        return Err(call.misfit(format!("{} coefficients for {features} features", coefficients.len())));
    };
    call.budget.product(x.items.len(), vectors.max(1))?;
    let only_one = call.flag("one_class", false)?;
    let score = |row: &[f64]| {
        let sum = match vectors {
            0 => kernel.product(row, &coefficients),
            _ => support.chunks_exact(features).zip(&coefficients).map(|(v, c)| c * kernel.product(row, v)).sum(),
        };
        let mut score = [sum + rho];
        transform.apply(&mut score);
        match only_one {
            true => {
                if score[0] > 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            false => score[0],
        }
    };
    let scores: Vec<f64> = x.items.chunks_exact(features).map(score).collect();
    one(call.rounded(DType::Float32, &[count, 1], scores)?)
}

/// A classifier that votes between each pair of classes, or one with a linear score for each.
struct Classifier {
    kernel: SvmKernel,
    support: Vec<f64>,
    coefficients: Vec<f64>,
    rho: Vec<f64>,
    /// Where the vectors of each class begin, and their number at the end.
    starts: Vec<usize>,
    features: usize,
    probabilities: [Vec<f64>; 2],
}

impl Classifier {
    fn read(call: &NodeCall, labels: usize, features: usize) -> Result<Self, EvalError> {
        let mut starts = vec![0usize];
        for count in naturals(call, "vectors_per_class")?.unwrap_or_default() {
            let last = starts.last().copied().unwrap_or(0);
            starts.push(last.checked_add(count).ok_or_else(|| call.misfit("there are too many vectors"))?);
        }
        let (support, coefficients) = (numbers(call, "support_vectors")?, numbers(call, "coefficients")?);
        let (rho, vectors) = (numbers(call, "rho")?, starts.last().copied().unwrap_or(0));
        let probabilities = [numbers(call, "prob_a")?, numbers(call, "prob_b")?];
        let classes = if vectors > 0 { starts.len() - 1 } else { labels.max(1) };
        let pairs = classes * (classes - 1) / 2;
        let fits = match vectors {
            0 => classes.checked_mul(features) == Some(coefficients.len()) && !rho.is_empty(),
            _ => {
                vectors.checked_mul(features) == Some(support.len())
                    && vectors.checked_mul(classes - 1) == Some(coefficients.len())
                    && rho.len() >= pairs
                    && probabilities.iter().all(|list| list.is_empty() || list.len() >= pairs)
                    && probabilities[0].is_empty() == probabilities[1].is_empty()
            }
        };
        if !fits || features == 0 {
            return Err(call.misfit(format!("{} coefficients for {features} features", coefficients.len())));
        }
        let kernel = SvmKernel::read(call)?;
        Ok(Classifier { kernel, support, coefficients, rho, starts, features, probabilities })
    }

    fn vectors(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The votes of pairs of classes, and the scores of the pairs.
    fn votes(&self, row: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let products: Vec<f64> =
            self.support.chunks_exact(self.features).map(|v| self.kernel.product(row, v)).collect();
        let classes = self.starts.len() - 1;
        let part = |of: usize, coefficients: usize| {
            let own = self.starts[of]..self.starts[of + 1];
            let weights = &self.coefficients[coefficients * self.vectors()..][own.clone()];
            weights.iter().zip(&products[own]).map(|(w, p)| w * p).sum::<f64>()
        };
        let (mut votes, mut scores) = (vec![0.0; classes], Vec::new());
        for i in 0..classes {
            for j in i + 1..classes {
                let score = self.rho[scores.len()] + part(i, j - 1) + part(j, i);
                votes[if score > 0.0 { i } else { j }] += 1.0;
                scores.push(score);
            }
        }
        (votes, scores)
    }

    /// The probabilities of classes from the scores of pairs.
    fn estimated(&self, scores: &[f64]) -> Vec<f64> {
        let classes = self.starts.len() - 1;
        let mut pairs = vec![0.0; classes * classes];
        let mut each = scores.iter().zip(self.probabilities[0].iter().zip(&self.probabilities[1]));
        for i in 0..classes {
            for j in i + 1..classes {
                let Some((score, (a, b))) = each.next() else { continue };
                let p = (1.0 - sigmoid(score * a + b)).clamp(1e-7, 1.0 - 1e-7);
                (pairs[i * classes + j], pairs[j * classes + i]) = (p, 1.0 - p);
            }
        }
        coupled(&pairs, classes)
    }
}

/// The probabilities of classes that fit those of pairs best, by the iteration that runtimes have.
fn coupled(pairs: &[f64], classes: usize) -> Vec<f64> {
    let r = |i: usize, j: usize| pairs[i * classes + j];
    let q = |t: usize, j: usize| match t == j {
        true => (0..classes).filter(|&i| i != t).map(|i| r(i, t).powi(2)).sum::<f64>(),
        false => -r(j, t) * r(t, j),
    };
    let mut p = vec![1.0 / classes as f64; classes];
    for _ in 0..classes.max(100) {
        let product = |p: &[f64], t: usize| (0..classes).map(|j| q(t, j) * p[j]).sum::<f64>();
        let mut qp: Vec<f64> = (0..classes).map(|t| product(&p, t)).collect();
        let mut pqp: f64 = p.iter().zip(&qp).map(|(p, qp)| p * qp).sum();
        if qp.iter().all(|qp| (qp - pqp).abs() < 0.005 / classes as f64) {
            break;
        }
        for t in 0..classes {
            let diff = (pqp - qp[t]) / q(t, t);
            p[t] += diff;
            pqp = (pqp + diff * (diff * q(t, t) + 2.0 * qp[t])) / (1.0 + diff).powi(2);
            for j in 0..classes {
                qp[j] = (qp[j] + diff * q(t, j)) / (1.0 + diff);
                p[j] /= 1.0 + diff;
            }
        }
    }
    p
}

/// `SVMClassifier`.
pub(in crate::onnx) fn svm_classifier(call: &NodeCall) -> KernelResult {
    let ((x, count, features), transform) = (rows(call)?, Transform::named(call)?);
    let labels = Labels::read(call, "classlabels_ints", "classlabels_strings")?;
    let model = Classifier::read(call, labels.len(), features)?;
    let classes = model.starts.len().saturating_sub(1).max(1);
    call.budget.product(x.items.len(), model.vectors().saturating_add(labels.len()).max(1))?;
    call.budget.product(count, classes.saturating_mul(classes).saturating_mul(model.vectors().saturating_add(100)))?;
    let has_probabilities = model.vectors() > 0 && !model.probabilities[0].is_empty();
    let (mut all, mut found) = (Vec::new(), Vec::new());
    for row in x.items.chunks_exact(features) {
        let (votes, mut scores) = match model.vectors() {
            0 => {
                let score = |c: &[f64]| model.rho[0] + row.iter().zip(c).map(|(x, c)| x * c).sum::<f64>();
                (None, model.coefficients.chunks_exact(features).map(score).collect::<Vec<f64>>())
            }
            _ => {
                let (votes, scores) = model.votes(row);
                (Some(votes), if has_probabilities { model.estimated(&scores) } else { scores })
            }
        };
        let alone = votes.is_none() && scores.len() == 1;
        found.push(if alone { usize::from(scores[0] > 0.0) } else { best(votes.as_deref().unwrap_or(&scores)) });
        match *scores {
            // A pair of classes has one score.
            [score] if transform != Transform::Probit && labels.len() == 2 => all.extend(transform.both(score, false)),
            _ => {
                transform.apply(&mut scores);
                all.extend(scores);
            }
        }
    }
    let width = all.len().checked_div(count).unwrap_or(classes);
    Ok(vec![labels.tensor(call, &found)?.into(), call.rounded(DType::Float32, &[count, width], all)?.into()])
}

//! Scores of classes: what they are transformed to, and the labels of the greatest.

use crate::dictionary::sigmoid;
use crate::eval::EvalError;
use crate::onnx::run::node_call::NodeCall;
use crate::tensor::kernels::peak;
use crate::tensor::{Data, Tensor, kernels};

/// What scores are transformed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transform {
    None,
    Softmax,
    Logistic,
    /// As softmax, but scores of 0 stay 0.
    SoftmaxZero,
    Probit,
}

/// The transforms by name, in the order of their numbers.
const TRANSFORMS: &[(&str, Transform)] = &[
    ("NONE", Transform::None),
    ("SOFTMAX", Transform::Softmax),
    ("LOGISTIC", Transform::Logistic),
    ("SOFTMAX_ZERO", Transform::SoftmaxZero),
    ("PROBIT", Transform::Probit),
];

/// The approximation of the quantile function of the normal distribution that runtimes have.
fn probit(x: f64) -> f64 {
    let x = 2.0 * x - 1.0;
    let log = ((1.0 - x) * (1.0 + x)).ln();
    if log == f64::NEG_INFINITY {
        return 0.0;
    }
    let v = 2.0 / (std::f64::consts::PI * 0.147) + 0.5 * log;
    std::f64::consts::SQRT_2 * (-v + (v * v - log / 0.147).sqrt()).sqrt().copysign(x)
}

impl Transform {
    /// The transform that an attribute names.
    pub(super) fn named(call: &NodeCall) -> Result<Self, EvalError> {
        let name = call.text_or("post_transform", "NONE")?;
        let found = TRANSFORMS.iter().find(|row| row.0 == name).map(|row| row.1);
        found.ok_or_else(|| call.refused(format!("`post_transform` is '{name}'")))
    }

    /// The transform with a number.
    pub(super) fn numbered(call: &NodeCall) -> Result<Self, EvalError> {
        let number = call.int_or("post_transform", 0)?;
        let found = usize::try_from(number).ok().and_then(|i| TRANSFORMS.get(i)).map(|row| row.1);
        found.ok_or_else(|| call.refused(format!("`post_transform` is {number}")))
    }

    /// Transforms the scores of an item.
    pub(super) fn apply(self, scores: &mut [f64]) {
        let greatest = peak(scores);
        let stays = |score: f64| self == Transform::SoftmaxZero && score.abs() <= 1e-7;
        match self {
            Transform::None => return,
            Transform::Logistic => return scores.iter_mut().for_each(|x| *x = sigmoid(*x)),
            Transform::Probit => return scores.iter_mut().for_each(|x| *x = probit(*x)),
            Transform::Softmax | Transform::SoftmaxZero => scores.iter_mut().for_each(|x| {
                *x = if stays(*x) { *x * (-greatest).exp() } else { (*x - greatest).exp() };
            }),
        }
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|x| *x = if sum == 0.0 { 0.5 } else { *x / sum });
    }

    /// The scores of both classes of an item that has one score. It is a probability, or positive for the second class.
    pub(super) fn both(self, score: f64, is_probability: bool) -> [f64; 2] {
        if is_probability {
            return [1.0 - score, score];
        }
        let mut scores = [-score, score];
        self.apply(&mut scores);
        scores
    }
}

/// The labels of classes.
pub(super) enum Labels {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Labels {
    /// The labels of two attributes, of which one is given.
    pub(super) fn read(call: &NodeCall, integers: &str, texts: &str) -> Result<Self, EvalError> {
        match call.texts(texts)?.filter(|texts| !texts.is_empty()) {
            Some(texts) => Ok(Labels::Texts(texts)),
            None => Ok(Labels::Integers(call.ints(integers)?.unwrap_or_default())),
        }
    }

    /// Their number.
    pub(super) fn len(&self) -> usize {
        match self {
            Labels::Integers(labels) => labels.len(),
            Labels::Texts(labels) => labels.len(),
        }
    }

    /// The labels of classes. One label alone is that of the second of two classes, the other one is zero or empty.
    pub(super) fn tensor(&self, call: &NodeCall, classes: &[usize]) -> Result<Tensor, EvalError> {
        let alone = self.len() == 1;
        let place = |class: usize| if alone { class.checked_sub(1) } else { Some(class) };
        let data = match self {
            Labels::Integers(labels) if labels.is_empty() => Data::Int64(classes.iter().map(|&c| c as i64).collect()),
            Labels::Integers(labels) => {
                let label = |&class: &usize| place(class).and_then(|i| labels.get(i)).copied().unwrap_or(0);
                Data::Int64(classes.iter().map(label).collect())
            }
            Labels::Texts(labels) => {
                let label = |&class: &usize| place(class).and_then(|i| labels.get(i)).map_or("", |label| label).into();
                Data::Text(classes.iter().map(label).collect())
            }
        };
        call.made(&[classes.len()], data)
    }
}

/// The place of the greatest score; the first of equal ones.
pub(super) fn best(scores: &[f64]) -> usize {
    kernels::best(scores, |a, b| a > b).unwrap_or(0)
}

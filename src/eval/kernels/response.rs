//! Normalization by the squares of neighbouring channels.

use crate::tensor::kernels::sum;

/// The settings of a local response normalization.
pub(crate) struct LocalResponse {
    /// The number of channels whose squares count, which is not 0.
    pub(crate) size: usize,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) bias: f64,
}

impl LocalResponse {
    /// Divides the items of channels, of so many items each.
    pub(crate) fn result(&self, items: &[f64], channels: usize, plane: usize) -> Vec<f64> {
        let divided = |(at, item): (usize, &f64)| {
            let channel = at / plane % channels;
            let first = channel.saturating_sub((self.size - 1) / 2);
            let last = channel.saturating_add(self.size / 2).min(channels - 1);
            let square = |other: usize| items[at - channel * plane + other * plane].powi(2);
            let squares = sum((first..=last).map(square));
            item / (self.bias + self.alpha / self.size as f64 * squares).powf(self.beta)
        };
        items.iter().enumerate().map(divided).collect()
    }
}

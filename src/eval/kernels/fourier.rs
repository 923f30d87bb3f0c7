//! Discrete Fourier transforms.

use crate::eval::{Budget, EvalError};

/// A complex number.
pub(crate) type Complex = [f64; 2];

/// A transform of a length; that of the inverse is not divided by it.
pub(crate) struct Fourier {
    /// The powers of the root of unity.
    roots: Vec<Complex>,
}

impl Fourier {
    /// The transform of a length, or its inverse.
    ///
    /// # Errors
    ///
    /// A limit would be exceeded.
    pub(crate) fn new(budget: &Budget, length: usize, inverse: bool) -> Result<Self, EvalError> {
        let sign = if inverse { 1.0 } else { -1.0 };
        let root = |k: usize| {
            let angle = sign * 2.0 * std::f64::consts::PI * k as f64 / length as f64;
            [angle.cos(), angle.sin()]
        };
        Ok(Fourier { roots: (0..budget.room(&[length])?).map(root).collect() })
    }

    /// Transforms in place by those of the even and of the odd numbers, or directly if their number is odd.
    fn split(&self, signal: &mut [Complex], step: usize) {
        let count = signal.len();
        let product = |[a, b]: Complex, k: usize| {
            let [c, d] = self.roots[k * step % self.roots.len()];
            [a * c - b * d, a * d + b * c]
        };
        if count % 2 == 1 || count < 2 {
            let direct = |k: usize| {
                let terms = signal.iter().enumerate().map(|(j, &x)| product(x, j * k % count));
                terms.fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]])
            };
            let result: Vec<Complex> = (0..count).map(direct).collect();
            signal.copy_from_slice(&result);
            return;
        }
        let part = |first: usize| signal.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
        let (mut even, mut odd) = (part(0), part(1));
        self.split(&mut even, step * 2);
        self.split(&mut odd, step * 2);
        for k in 0..count / 2 {
            let ([a, b], [c, d]) = (even[k], product(odd[k], k));
            signal[k] = [a + c, b + d];
            signal[k + count / 2] = [a - c, b - d];
        }
    }

    /// The transforms of frames of signals, the first ones `kept` of each, as an array with the axes outer, frame, number,
    /// inner, and part. Frames are prepared by a function.
    ///
    /// # Errors
    ///
    /// A limit would be exceeded.
    pub(crate) fn spectra(
        &self,
        budget: &Budget,
        signals: &Signals,
        frames: &SignalFrames,
        prepare: impl Fn(&mut [Complex]),
    ) -> Result<Vec<f64>, EvalError> {
        let (length, &SignalFrames { count, step, kept }) = (self.roots.len(), frames);
        let &Signals { outer, inner, .. } = signals;
        let mut result = vec![0.0; budget.room(&[outer, count, kept, inner, 2])?];
        let odd = length >> length.trailing_zeros().min(63);
        budget.product((outer * count).saturating_mul(inner).saturating_mul(length), odd + 64)?;
        let mut signal = vec![[0.0; 2]; length];
        for (line, frame) in (0..outer * inner).flat_map(|line| (0..count).map(move |frame| (line, frame))) {
            let (block, within) = (line / inner, line % inner);
            let numbers = (frame * step..).map(|at| signals.number(block, at, within));
            signal.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
            prepare(&mut signal);
            self.split(&mut signal, 1);
            for (i, number) in signal.iter().take(kept).enumerate() {
                let at = (((block * count + frame) * kept + i) * inner + within) * 2;
                result[at..at + 2].copy_from_slice(number);
            }
        }
        Ok(result)
    }
}

/// Signals along an axis.
pub(crate) struct Signals<'s> {
    pub(crate) items: &'s [f64],
    /// 1 if the numbers are real, 2 if they are complex.
    pub(crate) parts: usize,
    /// The number of signals before the axis, and behind it.
    pub(crate) outer: usize,
    pub(crate) extent: usize,
    pub(crate) inner: usize,
}

impl Signals<'_> {
    /// A number of a signal, which is followed by zeros.
    fn number(&self, block: usize, at: usize, within: usize) -> Complex {
        if at >= self.extent {
            return [0.0; 2];
        }
        let place = ((block * self.extent + at) * self.inner + within) * self.parts;
        [self.items[place], if self.parts == 2 { self.items[place + 1] } else { 0.0 }]
    }
}

/// Parts of signals that are transformed.
pub(crate) struct SignalFrames {
    pub(crate) count: usize,
    /// The distance between two frames.
    pub(crate) step: usize,
    /// The numbers of each spectrum that are wanted.
    pub(crate) kept: usize,
}

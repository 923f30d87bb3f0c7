//! Random data that depend only on a seed.

use crate::tensor::{DType, Data, Tensor, TensorError};

/// A random number generator that depends only on the seed, not on the machine (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

/// Random texts.
pub(crate) const LETTERS: [&str; 3] = ["a", "b", "c"];

impl Random {
    /// The generator for an input. Each has its own one, so that it does not depend on the other inputs.
    pub(crate) fn of_input(seed: u64, input: usize) -> Self {
        Random::new(seed.wrapping_mul(0x1_0001).wrapping_add(input as u64))
    }

    /// A generator with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A tensor of random items: scalars from -1 to 1, logicals, letters, or the integers 0 and 1, which are valid indices
    /// for most tensors.
    ///
    /// # Errors
    ///
    /// The shape is too large.
    pub(crate) fn tensor(&mut self, of: DType, shape: &[usize]) -> Result<Tensor, TensorError> {
        let count = crate::tensor::volume(shape).filter(|&count| count <= 1 << 29);
        let count = count.ok_or_else(|| TensorError::new(format!("shape {shape:?} is too large")))?;
        match of {
            DType::Int32 | DType::Int64 => {
                Tensor::integers(shape, (0..count).map(|_| (self.next() & 1) as i64).collect())
            }
            DType::Bool => Tensor::logicals(shape, (0..count).map(|_| self.next() & 1 == 1).collect()),
            DType::Float32 | DType::Float64 => {
                Tensor::scalars(shape, (0..count).map(|_| 2.0 * self.unit() - 1.0).collect())
            }
            DType::Text => {
                let letter = |_| LETTERS[(self.next() % LETTERS.len() as u64) as usize].into();
                Tensor::with(shape, Data::Text((0..count).map(letter).collect()))
            }
            of if of.is_integer() => {
                Tensor::with(shape, Data::from_wide(of, (0..count).map(|_| i128::from(self.next() & 1))))
            }
            of => Tensor::with(shape, Data::from_floats(of, (0..count).map(|_| 2.0 * self.unit() - 1.0))),
        }
    }
}

/// Random data of a variable. They depend on the label, not on the order of loading, so that both graphs of a
/// comparison get the same data.
pub(super) fn random_variable(
    label: &str,
    shape: &[usize],
    of: Option<DType>,
    seed: u64,
) -> Result<Tensor, TensorError> {
    let seed = label.bytes().fold(seed, |seed, byte| seed.wrapping_mul(0x100_0193) ^ u64::from(byte));
    Random::new(seed).tensor(of.unwrap_or(DType::Float64), shape)
}

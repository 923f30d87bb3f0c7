//! Operators whose results depend on more than their operands and attributes.

/// Operators that draw random numbers.
const RANDOM: &[&str] =
    &["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"];

/// Operators that draw random numbers in training, where they have an operand that says so.
const RANDOM_IN_TRAINING: &[(&str, usize)] = &[("Dropout", 2)];

/// Whether the results of a standard operator with a number of operands depend on its operands and attributes only.
pub(crate) fn is_function(operator: &str, operands: usize) -> bool {
    let in_training = |(name, operand): &(&str, usize)| *name == operator && operands > *operand;
    !RANDOM.contains(&operator) && !RANDOM_IN_TRAINING.iter().any(in_training)
}

//! Patterns of texts. Each is compiled once, and to compile it is work and memory that count.

use std::cell::RefCell;
use std::rc::Rc;

use regex::{Error, Regex, RegexBuilder};
use rustc_hash::FxHashMap;

use crate::eval::{Budget, EvalError};

/// The sizes that the automaton of a pattern may have, in bytes. They are tried one after the other, so that a pattern
/// counts for what it takes: a pattern of few letters may have an automaton of any size.
const SIZES: [usize; 7] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22];

/// The bytes of an automaton that are written in the time of a step.
const BYTES_OF_STEP: u64 = 2;

/// The bytes of an automaton of which a letter of a text visits one state.
const BYTES_OF_STATE: u64 = 256;

/// The memory of the tree of a pattern, in units of 8 bytes: for each letter, and for each class of characters, of which
/// those of Unicode have several hundred ranges.
const LETTER: usize = 32;
const CLASS: usize = 1500;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) regex: Regex,
    /// The steps for each byte of a text.
    pub(super) steps: u64,
}

/// The patterns that were compiled.
#[derive(Default)]
pub(super) struct Patterns(RefCell<FxHashMap<String, Rc<Pattern>>>);

/// The memory of the tree of a pattern at most.
fn tree(pattern: &str) -> usize {
    let classes = pattern.matches(['\\', '[', '.']).count();
    let folds = pattern.contains("(?") && pattern.contains('i');
    let letter = if folds { 2 * LETTER } else { LETTER };
    pattern.len().saturating_mul(letter).saturating_add(classes.saturating_mul(CLASS))
}

impl Patterns {
    /// A pattern that matches whole texts.
    ///
    /// # Errors
    ///
    /// The pattern is not valid, or a limit is exceeded.
    pub(super) fn whole(&self, pattern: &str, budget: &Budget) -> Result<Rc<Pattern>, EvalError> {
        if let Some(known) = self.0.borrow().get(pattern) {
            return Ok(Rc::clone(known));
        }
        let compiled = Rc::new(compiled(pattern, budget)?);
        self.0.borrow_mut().insert(pattern.to_owned(), Rc::clone(&compiled));
        Ok(compiled)
    }
}

fn compiled(pattern: &str, budget: &Budget) -> Result<Pattern, EvalError> {
    let invalid = |error: Error| EvalError::argument(format!("the pattern '{pattern}' is not valid: {error}"));
    let tree = tree(pattern);
    for size in SIZES {
        budget.operation(|| budget.memory(tree, "a pattern"))?;
        budget.work(size as u64 / BYTES_OF_STEP)?;
        match RegexBuilder::new(&format!(r"\A(?:{pattern})\z")).size_limit(size).build() {
            Ok(regex) => {
                // It is kept as long as the model is.
                budget.hold(size / 8 + pattern.len());
                return Ok(Pattern { regex, steps: size as u64 / BYTES_OF_STATE });
            }
            Err(Error::CompiledTooBig(_)) => {}
            Err(error) => return Err(invalid(error)),
        }
    }
    let most = SIZES.last().copied().unwrap_or_default();
    Err(invalid(Error::CompiledTooBig(most)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Code;
    use crate::eval::Limits;

    #[test]
    fn patterns_count_for_what_they_take() {
        let budget = Budget::new(Limits::untrusted());
        let patterns = Patterns::default();
        let (small, large) = (patterns.whole("a+b", &budget).unwrap(), patterns.whole(r"\pL{30}", &budget).unwrap());
        assert!(small.regex.is_match("aab") && !small.regex.is_match("aabc") && small.steps < large.steps);
        assert!(Rc::ptr_eq(&small, &patterns.whole("a+b", &budget).unwrap()), "it is compiled once");
        assert_eq!(patterns.whole(r"\pL{3000000}", &budget).unwrap_err().code, Code::EvalArgument);
        let failed = (0..2000).find_map(|i| patterns.whole(&format!(r"\pL{{30}}x{i}"), &budget).err());
        assert_eq!(failed.unwrap().code, Code::EvalMemory, "what is kept counts");
        let long = Budget::new(Limits::untrusted());
        let classes = r"\pL".repeat(100_000);
        assert_eq!(patterns.whole(&classes, &long).unwrap_err().code, Code::EvalMemory);
    }
}

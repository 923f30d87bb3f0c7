//! Texts whose long constants are read, and printed, while they are written.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::numbers::push_elements;
use crate::onnx::elements::LongConstant;
use crate::threads::pieces;

/// The elements that a piece has at least, and that its number is counted in: they take less time than operations.
const STRIDE: usize = 4;

/// The text of a model without the elements of its long constants, and where these are.
#[derive(Debug, Default)]
pub(crate) struct ModelText {
    pub(super) text: String,
    gaps: Vec<ConstantGap>,
}

/// Where the elements of a constant belong.
#[derive(Debug)]
struct ConstantGap {
    /// The offset in the text.
    at: usize,
    constant: LongConstant,
    /// The number of elements of all gaps up to this one, which is included.
    until: usize,
}

impl ModelText {
    /// Adds the elements of a constant at the end.
    pub(super) fn push(&mut self, constant: LongConstant) {
        let until = self.elements().saturating_add(constant.len());
        self.gaps.push(ConstantGap { at: self.text.len(), constant, until });
    }

    fn elements(&self) -> usize {
        self.gaps.last().map_or(0, |gap| gap.until)
    }

    /// Writes the text; several threads print the elements of constants.
    ///
    /// # Errors
    ///
    /// The file with constants cannot be read or has changed, or the output fails.
    pub(crate) fn write(&self, threads: Option<NonZeroUsize>, out: &mut dyn Write) -> io::Result<()> {
        let failed = Mutex::new(None);
        let all = self.elements();
        pieces::write(out, all.div_ceil(STRIDE), threads, |range, buffer| {
            if let Err(error) = self.piece(range.start * STRIDE..all.min(range.end * STRIDE), buffer) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            range.end
        })?;
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        out.write_all(&self.text.as_bytes()[self.gaps.last().map_or(0, |gap| gap.at)..])
    }

    /// Prints the elements of a range, with the texts before those that are the first ones of constants.
    fn piece(&self, range: Range<usize>, buffer: &mut String) -> io::Result<()> {
        let mut at = range.start;
        let mut i = self.gaps.partition_point(|gap| gap.until <= at);
        while at < range.end {
            let Some(gap) = self.gaps.get(i) else { break };
            let first = gap.until - gap.constant.len();
            if at == first {
                let before = i.checked_sub(1).map_or(0, |before| self.gaps[before].at);
                buffer.push_str(&self.text[before..gap.at]);
            }
            let end = range.end.min(gap.until);
            gap.constant
                .elements(at - first..end - first, |place, elements| push_elements(buffer, place, &elements))?;
            (at, i) = (end, i + 1);
        }
        Ok(())
    }

    /// The whole text.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write`].
    pub(crate) fn into_bytes(self) -> io::Result<Vec<u8>> {
        if self.gaps.is_empty() {
            return Ok(self.text.into_bytes());
        }
        let mut bytes = Vec::new();
        self.write(None, &mut bytes)?;
        Ok(bytes)
    }
}

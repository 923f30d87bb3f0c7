//! How the operator `Scan` divides its operands, and joins what its trips collect.

/// The first version of `Scan` whose values have no leading axis for a batch.
pub(super) const WITHOUT_BATCHES: i64 = 9;

/// An axis of an operand that is scanned, or of a result that is collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScanSide {
    /// The axis as it is written: a negative one is counted from the end.
    pub(super) axis: i64,
    /// Whether the last item comes first.
    pub(super) reverse: bool,
}

impl ScanSide {
    /// The place of the item of a trip among so many.
    pub(super) fn item(self, trip: i64, trips: i64) -> i64 {
        if self.reverse { trips - 1 - trip } else { trip }
    }
}

/// An operand that is scanned.
pub(super) struct ScannedOperand<T> {
    pub(super) tensor: T,
    pub(super) axis: usize,
    pub(super) side: ScanSide,
}

/// What the body of a loop gets besides its states.
pub(super) enum TripFeed<T> {
    /// Of `Loop`: before them, the number of the trip and a condition that holds.
    Numbers,
    /// Of `Scan`: behind them, an item of each of these in so many trips.
    Items(Vec<ScannedOperand<T>>, i64),
}

/// The operands and results of a `Scan`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScanForm {
    /// The number of states: they come first among operands and results.
    pub(super) states: usize,
    /// The operands that are scanned.
    pub(super) inputs: Vec<ScanSide>,
    /// The results that are collected, as far as attributes name them; others are along axis 0.
    outputs: Vec<ScanSide>,
}

impl ScanForm {
    /// Reads the attributes of a node. `scanned` is `num_scan_inputs`, and `operands` the number of operands, without the
    /// lengths of sequences that the first version has. None if there are fewer.
    ///
    /// # Errors
    ///
    /// An attribute cannot be read.
    pub(super) fn read<E>(
        scanned: i64,
        operands: usize,
        mut ints: impl FnMut(&str) -> Result<Option<Vec<i64>>, E>,
    ) -> Result<Option<ScanForm>, E> {
        let scanned = usize::try_from(scanned).ok();
        let Some((scanned, states)) = scanned.and_then(|count| Some((count, operands.checked_sub(count)?))) else {
            return Ok(None);
        };
        let mut list = |name: &str| Ok(ints(name)?.unwrap_or_default());
        let (axes, mut turns) = (list("scan_input_axes")?, list("scan_input_directions")?);
        // The first version has one kind of directions.
        if turns.is_empty() {
            turns = list("directions")?;
        }
        let mut inputs = sides(&axes, &turns);
        inputs.resize(scanned, ScanSide::default());
        let (axes, turns) = (list("scan_output_axes")?, list("scan_output_directions")?);
        Ok(Some(ScanForm { states, inputs, outputs: sides(&axes, &turns) }))
    }

    /// The side of a result that is collected, by its number among these.
    pub(super) fn output(&self, i: usize) -> ScanSide {
        self.outputs.get(i).copied().unwrap_or_default()
    }
}

/// The sides of two lists, which may be of different lengths.
fn sides(axes: &[i64], directions: &[i64]) -> Vec<ScanSide> {
    let side = |i: usize| ScanSide {
        axis: axes.get(i).copied().unwrap_or(0),
        reverse: directions.get(i).is_some_and(|direction| *direction != 0),
    };
    (0..axes.len().max(directions.len())).map(side).collect()
}

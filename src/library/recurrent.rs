//! The kinds of recurrent layers.

/// The step of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecurrentKind {
    Lstm,
    Gru,
    Rnn,
}

impl RecurrentKind {
    /// The number of gates.
    pub(crate) fn gates(self) -> i64 {
        match self {
            RecurrentKind::Lstm => 4,
            RecurrentKind::Gru => 3,
            RecurrentKind::Rnn => 1,
        }
    }
}

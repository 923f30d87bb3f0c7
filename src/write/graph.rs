//! Writing of a graph in a notation of NNEF or as JSON.

use std::fmt;
use std::io::{self, Write};
use std::num::NonZeroUsize;

use super::{json, nnef};
use crate::graph::{Graph, Operand, OperationRef};

impl Graph {
    /// Writes the graph as a flat NNEF document, with as many threads as the machine runs.
    pub fn write_nnef(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_nnef_with(None, out)
    }

    /// Writes the graph as a flat NNEF document, with a number of threads or with as many as the machine
    /// runs at once. The text does not depend on the number of threads.
    pub fn write_nnef_with(&self, threads: Option<NonZeroUsize>, out: &mut dyn Write) -> io::Result<()> {
        nnef::write(self, threads, out)
    }

    /// Writes the graph as JSON, in the form of the Python class `nnef.Graph`, with as many threads
    /// as the machine runs.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, None, out)
    }

    /// An operand as the text has it: the name of a tensor, names of several, or a value.
    pub fn operand_text(&self, operand: Operand) -> String {
        match operand {
            Operand::Tensor(tensor) => self.tensor_name(tensor),
            Operand::Tensors(tensors) => {
                let names: Vec<String> = tensors.iter().map(|tensor| self.tensor_name(*tensor)).collect();
                format!("[{}]", names.join(", "))
            }
            Operand::Value(value) => nnef::value_text(self, value),
        }
    }
}

/// The flat document that [`Graph::write_nnef`] writes.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut text = Vec::new();
        self.write_nnef(&mut text).map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// A statement of NNEF.
impl fmt::Display for OperationRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(nnef::statements(self.graph(), std::iter::once(&**self)).trim())
    }
}

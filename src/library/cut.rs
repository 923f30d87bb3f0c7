//! Inputs of flat graphs, which the standard operation `external` introduces.

use super::distinct::Distinct;
use super::texts::standard;
use crate::diagnostics::Diagnostics;
use crate::graph::standard::{COPY, EXTERNAL, UNUSED_INPUT};
use crate::graph::{Cut, Graph, TensorId};

impl Graph {
    /// Keeps the part of the graph between tensors: what the outputs of the part need, if its inputs are given.
    ///
    /// ```
    /// use nnef_flatten::{Cut, Options, open};
    ///
    /// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); a = exp(x); b = a * 2.0; y = sin(b); }";
    /// let (mut graph, _) = open(("example", text), &Options::default())?.flatten()?;
    /// graph.cut(&Cut { inputs: vec!["a".to_owned()], outputs: vec!["b".to_owned()] })?;
    /// let mut flat = Vec::new();
    /// graph.write_nnef(&mut flat)?;
    /// let flat = String::from_utf8_lossy(&flat);
    /// assert!(flat.contains("graph G(a) -> (b)") && !flat.contains("exp(") && !flat.contains("sin("));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A name is not that of a tensor or is given twice, no output depends on a new input, or its shape is not known.
    pub fn cut(&mut self, cut: &Cut) -> Result<(), Diagnostics> {
        if cut.keeps_all() {
            return Ok(());
        }
        let Some(external) = standard(self.dialect).find(EXTERNAL) else { return Ok(()) };
        let kind = external.kind(self.symbols_mut());
        self.keep_part(cut, &kind)?;
        self.copy_given_outputs();
        self.need_input();
        Ok(())
    }

    /// Makes copies of outputs that are inputs: in NNEF a tensor is one of both.
    fn copy_given_outputs(&mut self) {
        let Some(declared) = standard(self.dialect).find(COPY) else { return };
        let given = |output: &TensorId| self.inputs.contains(output);
        let places: Vec<usize> = (0..self.outputs.len()).filter(|place| given(&self.outputs[*place])).collect();
        for place in &places {
            let kind = declared.kind(self.symbols_mut());
            let kind = self.standard_kind(&kind);
            let input = self.outputs[*place];
            let at = self.producer(input).map(|producer| producer.at).unwrap_or_default();
            self.outputs[*place] = self.add_copy(kind, input, at);
        }
        if !places.is_empty() {
            self.finish_names();
        }
    }

    /// Adds an input with the name `unused`, or one like it that no tensor has, if there is none: a graph of NNEF has at
    /// least one.
    pub(crate) fn need_input(&mut self) {
        if self.inputs.is_empty()
            && let Some(declared) = standard(self.dialect).find(EXTERNAL)
        {
            let kind = declared.kind(self.symbols_mut());
            let external = self.standard_kind(&kind);
            let mut names = Distinct::default();
            for name in self.tensors().map(|tensor| self.tensor_name(tensor)) {
                if name.starts_with(UNUSED_INPUT) {
                    names.add(&name, false);
                }
            }
            let name = names.add(UNUSED_INPUT, false);
            let name = self.symbols_mut().intern(&name);
            let at = self.operations.first().map(|operation| operation.at).unwrap_or_default();
            self.add_unused_input(external, name, at);
        }
    }
}

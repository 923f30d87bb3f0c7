//! What engines answer to a call.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::command::{fast, has_variables, printed, stderr, told};
use nnef_flatten::graph::Extent;
use nnef_flatten::input::{Given, Input, Refusal};
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Lower, Options, open};

/// Tensors by name.
pub type Tensors = BTreeMap<String, Tensor>;

/// Tensors, or why there are none.
pub type Answer = Result<Tensors, String>;

/// The type and the shape of an output, as far as they are inferred.
pub struct InferredOutput {
    pub of: Option<&'static str>,
    pub shape: Option<Vec<Option<usize>>>,
}

impl InferredOutput {
    /// Whether all extents are inferred.
    pub fn is_whole(&self) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.iter().all(Option::is_some))
    }
}

/// What is inferred of outputs by their names.
pub type Inferred = BTreeMap<String, InferredOutput>;

/// What an engine answers that ends.
pub const PANICS: &str = "panics";

/// A document or a model, with the values of its inputs.
pub struct Subject {
    pub notation: &'static str,
    pub bytes: Vec<u8>,
    pub inputs: Vec<(String, Tensor)>,
}

/// What an engine answers; a panic is an answer, too.
fn answered<T>(engine: impl FnOnce() -> Result<T, Refusal>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(engine)) {
        Ok(answer) => answer.map_err(|refusal| told(&refusal)),
        Err(_) => Err(PANICS.to_owned()),
    }
}

fn form(notation: &'static str, bytes: Vec<u8>) -> Result<Input, Refusal> {
    open(Given::from(("form", bytes)).notation(notation), &Options::default())
}

impl Subject {
    fn opened(&self, options: &Options) -> Result<Input, Refusal> {
        open(Given::from(("call", self.bytes.clone())).notation(self.notation), options)
    }

    /// The same with constants instead of some inputs.
    pub fn knowing(self, known: &[(String, Tensor)]) -> Result<Self, String> {
        let bytes = answered(|| {
            let input = self.opened(&Options::default())?;
            printed(known.iter().fold(input, |input, (name, tensor)| input.bind(name, tensor.clone())), "onnx")
        })?;
        Ok(Subject { notation: "onnx", bytes, ..self })
    }

    fn evaluated(&self, input: Input) -> Result<Tensors, Refusal> {
        Ok(input.evaluate(&self.inputs)?.0.into_iter().collect())
    }

    /// Evaluates another form of the subject. A graph of NNEF without inputs has one named `unused`.
    fn of(&self, form: Input) -> Result<Tensors, Refusal> {
        let unused = || ("unused".to_owned(), Tensor::scalars(&[1], vec![0.0]).expect("a tensor"));
        let unused: Vec<_> = self.inputs.is_empty().then(unused).into_iter().collect();
        let inputs = if self.inputs.is_empty() { &unused } else { &self.inputs };
        Ok(form.evaluate(inputs)?.0.into_iter().collect())
    }

    pub fn run(&self) -> Answer {
        answered(|| self.evaluated(self.opened(&Options::default())?))
    }

    /// What folding leaves where all inputs are bound: constants, unless they would be much larger than what they replace, or
    /// cannot be written.
    pub fn folded(&self) -> Answer {
        answered(|| {
            let input = self.opened(&Options::default())?.fold(true);
            let bound = self.inputs.iter().fold(input, |input, (name, tensor)| input.bind(name, tensor.clone()));
            let folded = form(self.notation, printed(bound, self.notation)?)?;
            Ok(folded.evaluate(&[])?.0.into_iter().collect())
        })
    }

    /// The expansion of functions and compounds.
    pub fn lowered(&self) -> Answer {
        let options = Options::default().with(|options| options.lower = Lower::All);
        answered(|| self.evaluated(form(self.notation, printed(self.opened(&options)?, self.notation)?)?))
    }

    /// The translation to PNNX, with its data in the file beside it.
    pub fn in_pnnx(&self) -> Answer {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("call.pnnx.param");
        let args = ["-q", "--from", self.notation, "--to", "pnnx", "-o", &path.display().to_string(), "-"];
        let output = fast::feed(&args, &self.bytes);
        match output.status.success() {
            true => answered(|| self.of(open(path.as_path(), &Options::default())?)),
            false => Err(stderr(&output)),
        }
    }

    /// The translation to another notation that has no data beside it.
    pub fn translated(&self, to: &'static str) -> Answer {
        answered(|| self.of(form(to, printed(self.opened(&Options::default())?, to)?)?))
    }

    /// The translation to NNEF, and what is made of it.
    fn nnef<T>(&self, strict: bool, of: impl FnOnce(Input) -> Result<T, Refusal>) -> Result<T, String> {
        let options = Options::default().with(|options| options.strict = strict);
        let nnef = answered(|| printed(self.opened(&options)?, "nnef"))?;
        if !has_variables(&nnef) {
            return answered(|| of(form("nnef", nnef)?));
        }
        // The data of variables lie beside the text.
        let place = tempfile::tempdir().expect("a folder");
        let to = format!("{}/", place.path().join("model").display());
        let strict = if strict { &["--strict"][..] } else { &[] };
        let args = [&["-q", "--from", self.notation, "--to", "nnef", "-o", &to], strict, &["-"]].concat();
        let output = fast::feed(&args, &self.bytes);
        if !output.status.success() {
            return Err(stderr(&output));
        }
        answered(|| of(open(place.path().join("model").as_path(), &Options::default())?))
    }

    /// The translation to NNEF, with or without operations of registries.
    pub fn in_nnef(&self, strict: bool) -> Answer {
        self.nnef(strict, |input| self.of(input))
    }

    /// The translation to NNEF and back.
    pub fn there_and_back(&self) -> Answer {
        let back = self.nnef(false, |input| printed(input, "onnx"))?;
        answered(|| self.of(form("onnx", back)?))
    }

    /// What is inferred of outputs.
    pub fn inferred(&self) -> Result<Inferred, String> {
        let (graph, _) = answered(|| self.opened(&Options::default())?.graph())?;
        let known = |extent: &Extent| extent.known().and_then(|extent| usize::try_from(extent).ok());
        let inferred = graph.outputs().iter().map(|output| {
            let shape = graph.shape(*output).map(|shape| shape.extents().iter().map(known).collect());
            (graph.tensor_name(*output), InferredOutput { of: graph.element_type(*output), shape })
        });
        Ok(inferred.collect())
    }
}

//! A call of an operator of ONNX.

use super::draw::is_float;
use nnef_flatten::tensor::{DType, Tensor};
use std::fmt::{self, Display};

/// What an attribute can be, as text.
pub trait Setting {
    fn text(&self) -> String;
}

impl Setting for i64 {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Setting for f32 {
    fn text(&self) -> String {
        format!("{self:?}")
    }
}

impl Setting for bool {
    fn text(&self) -> String {
        i64::from(*self).to_string()
    }
}

impl Setting for &str {
    fn text(&self) -> String {
        format!("\"{self}\"")
    }
}

impl<T: Setting> Setting for Vec<T> {
    fn text(&self) -> String {
        format!("[{}]", self.iter().map(Setting::text).collect::<Vec<_>>().join(", "))
    }
}

/// A tensor as the value of an attribute.
impl Setting for Tensor {
    fn text(&self) -> String {
        let items: Vec<String> = match is_float(self.dtype()) {
            true => self.to_scalars().iter().map(|item| format!("{item:?}")).collect(),
            false => self.to_scalars().iter().map(|item| (*item as i128).to_string()).collect(),
        };
        format!("{}{:?} {{{}}}", type_text(self.dtype()), self.shape(), items.join(", "))
    }
}

/// The name of a type in texts of ONNX.
pub fn type_text(of: DType) -> &'static str {
    match of.name() {
        "float32" => "float",
        "float64" => "double",
        name => name,
    }
}

/// An operand; it can be a constant of the model.
#[derive(Clone)]
pub struct CallOperand {
    pub tensor: Tensor,
    pub known: bool,
}

/// An operator with its operands, of which some are left out, its attributes and the number of its results.
#[derive(Clone)]
pub struct Call {
    pub operator: &'static str,
    pub domain: &'static str,
    pub version: u32,
    pub operands: Vec<Option<CallOperand>>,
    pub attributes: Vec<(&'static str, String)>,
    pub results: usize,
}

/// The domain of operators of machine learning.
pub const LEARNING: &str = "ai.onnx.ml";

impl Call {
    pub fn of(operator: &'static str) -> Self {
        let (operands, attributes) = (Vec::new(), Vec::new());
        Call { operator, domain: "", version: 21, operands, attributes, results: 1 }
    }

    /// The operator of a domain with its first operand.
    pub fn within(operator: &'static str, domain: &'static str, x: Tensor) -> Self {
        Call { domain, ..Call::of(operator).on(x) }
    }

    /// The same with one more operand.
    pub fn on(self, tensor: Tensor) -> Self {
        self.maybe_on(Some(tensor))
    }

    /// The same with one more operand, which is left out if there is none.
    pub fn maybe_on(mut self, tensor: Option<Tensor>) -> Self {
        self.operands.push(tensor.map(|tensor| CallOperand { tensor, known: false }));
        self
    }

    /// The same with one more operand, which is a constant.
    pub fn knowing(self, tensor: impl Into<Option<Tensor>>) -> Self {
        self.knowing_if(true, tensor)
    }

    pub fn knowing_if(mut self, known: bool, tensor: impl Into<Option<Tensor>>) -> Self {
        self.operands.push(tensor.into().map(|tensor| CallOperand { tensor, known }));
        self
    }

    pub fn with<T: Setting>(mut self, name: &'static str, value: T) -> Self {
        self.attributes.push((name, value.text()));
        self
    }

    pub fn maybe<T: Setting>(self, name: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub fn results(self, results: usize) -> Self {
        Call { results, ..self }
    }

    pub fn version(self, version: u32) -> Self {
        Call { version, ..self }
    }

    /// The operands with their names.
    pub fn named(&self) -> impl Iterator<Item = (String, &CallOperand)> {
        self.operands.iter().enumerate().filter_map(|(at, operand)| Some((format!("x{at}"), operand.as_ref()?)))
    }

    /// The operands that are no constants.
    pub fn inputs(&self) -> Vec<(String, Tensor)> {
        self.named().filter(|(_, of)| !of.known).map(|(name, of)| (name, of.tensor.clone())).collect()
    }

    /// The values of all operands.
    pub fn tensors(&self) -> Vec<Tensor> {
        self.named().map(|(_, of)| of.tensor.clone()).collect()
    }

    /// The operands that are constants.
    pub fn constants(&self) -> Vec<(String, Tensor)> {
        self.named().filter(|(_, of)| of.known).map(|(name, of)| (name, of.tensor.clone())).collect()
    }

    /// A model with the operator, whose inputs are all operands. Without `shapes`, not even their ranks are known.
    pub fn text(&self, shapes: bool) -> String {
        // The operators of the fifth version are others.
        let learning = if self.operator == "TreeEnsemble" { 5 } else { 3 };
        let domain = if self.domain.is_empty() { String::new() } else { format!(", \"ai.onnx.ml\" : {learning}") };
        let input = |(name, operand): (String, &CallOperand)| {
            let (tensor, known) = (&operand.tensor, operand.known);
            let shape = if shapes || known { format!("{:?}", tensor.shape()) } else { "[]".to_owned() };
            // A number has no brackets; those that are empty stand for any rank.
            let shape = if (shapes || known) && tensor.shape().is_empty() { String::new() } else { shape };
            format!("{}{shape} {name}", type_text(tensor.dtype()))
        };
        let inputs: Vec<String> = self.named().map(input).collect();
        let given = self.operands.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let named = |at: usize| if self.operands[at].is_some() { format!("x{at}") } else { String::new() };
        let operands: Vec<String> = (0..given).map(named).collect();
        let results: Vec<String> = (0..self.results).map(|at| format!("y{at}")).collect();
        let attributes: Vec<String> = self.attributes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let attributes = if attributes.is_empty() { String::new() } else { format!(" <{}>", attributes.join(", ")) };
        let path = if self.domain.is_empty() { String::new() } else { format!("{}.", self.domain) };
        format!(
            "<ir_version: 10, opset_import: [\"\" : {}{domain}]>\ng ({}) => ({results}) {{ {results} = {path}{}{attributes} ({}) }}\n",
            self.version,
            inputs.join(", "),
            self.operator,
            operands.join(", "),
            results = results.join(", "),
        )
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.text(true))?;
        for (name, operand) in self.named() {
            let known = if operand.known { " known" } else { "" };
            writeln!(f, "  {name}{known} = {:?} {:?}", operand.tensor.shape(), operand.tensor.data())?;
        }
        Ok(())
    }
}

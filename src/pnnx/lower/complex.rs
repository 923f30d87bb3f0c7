//! Operators on complex numbers, which NNEF does not have: their real and imaginary parts are along a new last axis.

use super::LoweringRule::By;
use super::settings::SettingKind;
use super::{Line, Lowered, LoweringRow, Refusal, by_rule, fourier, spectra};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::parts::TRANSLATION;
use crate::pnnx::expression_table::Op;
use crate::pnnx::item::{ExpandedItem, List};
use crate::pnnx::model::Setting;
use crate::pnnx::tokens::Literal;
use crate::pnnx::tree::{Expression, Term};

/// Operators on real numbers that make complex ones.
pub(super) const ROWS: &[LoweringRow] =
    &[(&["torch.complex"], By(of_parts)), (&["torch.polar"], By(of_polar)), (&["torch.view_as_complex"], By(of_pairs))];

/// Operators on complex numbers, beside Fourier transforms.
pub(super) const ON_COMPLEX: &[LoweringRow] = &[
    (&["torch.real"], By(|line| Ok(vec![line.parts("input")?.re]))),
    (&["torch.imag"], By(imaginary)),
    (&["torch.view_as_real"], By(as_pairs)),
    (&["torch.abs"], By(size)),
    (&["torch.angle"], By(angle)),
    (&["torch.conj", "torch.conj_physical", "torch.resolve_conj"], By(conjugate)),
    (&["torch.add", "torch.sub", "torch.mul", "torch.div"], By(arithmetic)),
    (&["torch.neg", "torch.reciprocal", "torch.square", "torch.exp", "torch.log"], By(arithmetic)),
    (&["torch.istft"], By(spectra::inverse)),
    (&["torchaudio.functional.inverse_spectrogram"], By(spectra::waveform)),
];

/// Operators that move items or add them, which they do with both parts alike.
const OF_EACH_PART: &[&str] = &[
    "Tensor.clone",
    "Tensor.contiguous",
    "Tensor.detach",
    "Tensor.expand",
    "Tensor.permute",
    "Tensor.repeat",
    "Tensor.reshape",
    "Tensor.select",
    "Tensor.slice",
    "Tensor.unflatten",
    "Tensor.view",
    "torch.broadcast_to",
    "torch.cat",
    "torch.chunk",
    "torch.clone",
    "torch.cumsum",
    "torch.flatten",
    "torch.flip",
    "torch.mean",
    "torch.movedim",
    "torch.narrow",
    "torch.permute",
    "torch.positive",
    "torch.ravel",
    "torch.reshape",
    "torch.roll",
    "torch.split",
    "torch.squeeze",
    "torch.stack",
    "torch.sum",
    "torch.t",
    "torch.tensor_split",
    "torch.tile",
    "torch.transpose",
    "torch.unbind",
    "torch.unsqueeze",
];

/// Complex numbers by their parts; without an imaginary one they are real.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComplexParts {
    pub(super) re: TensorId,
    pub(super) im: Option<TensorId>,
}

/// A real or complex operand of arithmetic.
#[derive(Clone, Debug)]
struct ComplexNumber {
    re: ExpandedItem,
    im: Option<ExpandedItem>,
}

impl SettingKind for ComplexNumber {
    const EXPECTED: &'static str = "a number";

    fn of(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::Literal(literal) => ComplexNumber::of_literal(*literal),
            _ => None,
        }
    }
}

impl ComplexNumber {
    fn of_literal(literal: Literal) -> Option<ComplexNumber> {
        let float = |float: f64| float.is_finite().then_some(ExpandedItem::Literal(Literal::Float(float)));
        match literal {
            Literal::Complex(re, im) => Some(ComplexNumber { re: float(re)?, im: Some(float(im)?) }),
            literal => {
                float(literal.number()?.float())?;
                Some(ComplexNumber { re: ExpandedItem::Literal(literal), im: None })
            }
        }
    }
}

const NOT_KNOWN: &str = "it computes with complex numbers, which NNEF does not have";

/// The results of an operator on complex numbers.
pub(super) fn lowered(line: &mut Line, kind: &str) -> Lowered<Vec<TensorId>> {
    let mut rows = [ON_COMPLEX, fourier::WHOLE, fourier::REAL].into_iter().flatten();
    if let Some((_, rule)) = rows.find(|(kinds, _)| kinds.contains(&kind)) {
        return rule.apply(line);
    }
    if !OF_EACH_PART.contains(&kind) || !line.data.is_empty() {
        return Err(Refusal::Because(NOT_KNOWN.into()));
    }
    let operands: Vec<ExpandedItem> = line.operands.iter().map(|operand| operand.item.clone()).collect();
    let mut of_parts = Vec::with_capacity(2);
    for part in [false, true] {
        for (at, item) in operands.iter().enumerate() {
            let part = line.part_of_item(item, part)?;
            if let Some(operand) = line.operands.get_mut(at) {
                operand.item = part;
            }
        }
        of_parts.push(by_rule(line, kind)?);
    }
    let [re, im] = &of_parts[..] else { return Err(Refusal::UNFIT) };
    re.iter().zip(im).map(|(re, im)| line.joined(ComplexParts { re: *re, im: Some(*im) })).collect()
}

impl Line<'_> {
    /// Whether an operand has complex numbers.
    pub(super) fn has_complex(&self) -> bool {
        self.operands.iter().any(|operand| self.is_complex(&operand.item))
            || self.data.iter().any(|(_, tensor)| self.complex.contains(tensor))
    }

    fn is_complex(&self, item: &ExpandedItem) -> bool {
        match item {
            ExpandedItem::Tensor(tensor) => self.complex.contains(tensor),
            ExpandedItem::List(items) => items.iter().any(|item| self.is_complex(item)),
            _ => false,
        }
    }

    /// The real or imaginary parts of the tensors of an item, all of which have to be complex.
    fn part_of_item(&mut self, item: &ExpandedItem, imaginary: bool) -> Lowered<ExpandedItem> {
        match item {
            ExpandedItem::Tensor(tensor) => {
                let parts = self.parts_of(*tensor)?;
                let im = parts.im.ok_or(Refusal::Because("only some of its operands are complex".into()))?;
                Ok(ExpandedItem::Tensor(if imaginary { im } else { parts.re }))
            }
            ExpandedItem::List(items) => {
                let items = items.iter().map(|item| self.part_of_item(item, imaginary)).collect::<Lowered<Vec<_>>>()?;
                List::new(&items).map(ExpandedItem::List).ok_or(Refusal::UNFIT)
            }
            item => Ok(item.clone()),
        }
    }

    /// The parts of an operand.
    pub(super) fn parts(&mut self, key: &str) -> Lowered<ComplexParts> {
        let tensor = self.tensor(key)?;
        self.parts_of(tensor)
    }

    fn parts_of(&mut self, x: TensorId) -> Lowered<ComplexParts> {
        if !self.complex.contains(&x) {
            return Ok(ComplexParts { re: x, im: None });
        }
        let last = self.rank(x)?.saturating_sub(1);
        let [re, im] = [0, 1].map(|at| {
            let part = self.part_of(x, last, at..at.saturating_add(1))?;
            self.without_axes(part, &[last])
        });
        Ok(ComplexParts { re: re?, im: Some(im?) })
    }

    /// The tensor of complex numbers with some parts.
    pub(super) fn joined(&mut self, ComplexParts { re, im }: ComplexParts) -> Lowered<TensorId> {
        let extents = self.extents(re)?;
        let im = match im {
            Some(im) => self.expanded(im, &extents)?,
            None => self.filled(&extents, ExpandedItem::Literal(Literal::Float(0.0)), self.primitive(re)?)?,
        };
        let parts = Value::Array([re, im].map(Value::Tensor).into());
        let y = self.add("stack", vec![parts, Value::Int(extents.len() as i64)])?;
        self.complex.insert(y);
        Ok(y)
    }

    /// Both parts times a number.
    pub(super) fn scaled_parts(&mut self, parts: ComplexParts, factor: f64) -> Lowered<ComplexParts> {
        if factor == 1.0 {
            return Ok(parts);
        }
        let mut scaled = |part: TensorId| self.add("mul", vec![Value::Tensor(part), Value::Scalar(factor)]);
        Ok(ComplexParts { re: scaled(parts.re)?, im: parts.im.map(scaled).transpose()? })
    }

    /// Adds a formula for each part.
    fn both(&mut self, [re, im]: [&str; 2], items: &[ExpandedItem]) -> Lowered<ComplexNumber> {
        let [re, im] = [self.text(re, items)?, self.text(im, items)?].map(ExpandedItem::Tensor);
        Ok(ComplexNumber { re, im: Some(im) })
    }

    /// Adds an operation on numbers of which one is complex.
    fn compute(&mut self, name: &str, operands: &[ComplexNumber]) -> Lowered<ComplexNumber> {
        let zero = || ExpandedItem::Literal(Literal::Float(0.0));
        // The parts of all operands, one after the other.
        let mut items = Vec::with_capacity(4);
        for number in operands {
            items.extend([number.re.clone(), number.im.clone().unwrap_or_else(zero)]);
        }
        let is_real: Vec<bool> = operands.iter().map(|number| number.im.is_none()).collect();
        match (name, &is_real[..]) {
            ("add", _) => self.both(["add(@0,@2)", "add(@1,@3)"], &items),
            ("sub", _) => self.both(["sub(@0,@2)", "sub(@1,@3)"], &items),
            ("mul", [true, _]) => self.both(["mul(@0,@2)", "mul(@0,@3)"], &items),
            ("mul", [_, true]) => self.both(["mul(@0,@2)", "mul(@1,@2)"], &items),
            ("mul", _) => self.both(["sub(mul(@0,@2),mul(@1,@3))", "add(mul(@0,@3),mul(@1,@2))"], &items),
            ("div", [_, true]) => self.both(["div(@0,@2)", "div(@1,@2)"], &items),
            ("div", [a, _]) => {
                let [re, im] = self.divisor(items.get(2..).unwrap_or_default())?;
                items.truncate(2);
                items.extend([re, im]);
                match a {
                    true => self.both(["mul(@0,@2)", "neg(mul(@0,@3))"], &items),
                    false => self.both(["add(mul(@0,@2),mul(@1,@3))", "sub(mul(@1,@2),mul(@0,@3))"], &items),
                }
            }
            ("reciprocal", _) => {
                let [re, im] = self.divisor(&items)?;
                let im = ExpandedItem::Tensor(self.text("neg(@0)", &[im])?);
                Ok(ComplexNumber { re, im: Some(im) })
            }
            ("neg", _) => self.both(["neg(@0)", "neg(@1)"], &items),
            ("square", _) => self.both(["sub(mul(@0,@0),mul(@1,@1))", "mul(mul(@0,@1),2.0)"], &items),
            ("exp", _) => self.both(["mul(exp(@0),cos(@1))", "mul(exp(@0),sin(@1))"], &items),
            ("log", _) => {
                let size = ExpandedItem::Tensor(self.text(SIZE, &items)?);
                let re = self.text("log(@0)", &[size])?;
                let im = self.spelled("atan2(@1,@0)", &items)?;
                Ok(ComplexNumber { re: ExpandedItem::Tensor(re), im: Some(ExpandedItem::Tensor(im)) })
            }
            ("abs", _) => Ok(ComplexNumber { re: ExpandedItem::Tensor(self.text(SIZE, &items)?), im: None }),
            _ => Err(Refusal::Because(NOT_KNOWN.into())),
        }
    }

    /// What the parts of a dividend are multiplied with: the parts of the divisor, divided by its square. They are
    /// divided by the larger one before, so that the square does not overflow.
    fn divisor(&mut self, parts: &[ExpandedItem]) -> Lowered<[ExpandedItem; 2]> {
        let mut items = parts.to_vec();
        items.push(ExpandedItem::Tensor(self.text("max(abs(@0),abs(@1))", parts)?));
        let square = self.text("add(mul(@0,div(@0,@2)),mul(@1,div(@1,@2)))", &items)?;
        items.push(ExpandedItem::Tensor(square));
        let re = self.text("div(div(@0,@2),@3)", &items)?;
        let im = self.text("div(div(@1,@2),@3)", &items)?;
        Ok([re, im].map(ExpandedItem::Tensor))
    }

    /// A real or complex operand, which may be a literal.
    fn complex_term(&mut self, key: &str) -> Lowered<ComplexNumber> {
        if self.has_tensor(key) || key == "input" {
            let ComplexParts { re, im } = self.parts(key)?;
            return Ok(ComplexNumber { re: ExpandedItem::Tensor(re), im: im.map(ExpandedItem::Tensor) });
        }
        self.required(key)
    }

    /// The item for a number.
    fn item_of(&mut self, ComplexNumber { re, im }: ComplexNumber) -> Lowered<ExpandedItem> {
        let Some(im) = im else { return Ok(re) };
        let mut tensor = |item: ExpandedItem| match item {
            ExpandedItem::Tensor(tensor) => Ok(tensor),
            ExpandedItem::Literal(_) => self.filled(&[], item, Primitive::Scalar),
            _ => Err(Refusal::UNFIT),
        };
        let (re, im) = (tensor(re)?, tensor(im)?);
        let extents = self.broadcast(&[re, im])?;
        let (re, im) = (self.expanded(re, &extents)?, self.expanded(im, &extents)?);
        self.joined(ComplexParts { re, im: Some(im) }).map(ExpandedItem::Tensor)
    }
}

/// The absolute value of a complex number.
const SIZE: &str = "sqrt(add(sqr(@0),sqr(@1)))";

/// The value of an expression some of whose operands or literals are complex, or that computes with the bits of
/// integers.
pub(in crate::pnnx) fn computed(line: &mut Line, expression: &Expression) -> Lowered<ExpandedItem> {
    if let Some(part) = TRANSLATION.missing() {
        return Err(Refusal::Because(part.reason().into()));
    }
    let mut stack: Vec<ComplexNumber> = Vec::new();
    for (_, node) in expression.nodes() {
        let first = stack.len().saturating_sub(expression.operands(node).len());
        let operands: Vec<ComplexNumber> = stack.drain(first..).collect();
        let number = match node.term {
            Term::Literal(literal) => ComplexNumber::of_literal(literal)
                .unwrap_or(ComplexNumber { re: ExpandedItem::Literal(literal), im: None }),
            Term::Argument(number) => {
                let operand =
                    usize::try_from(number).ok().and_then(|at| line.operands.get(at)).ok_or(Refusal::UNFIT)?;
                operand.used.set(true);
                match operand.item.clone() {
                    ExpandedItem::Tensor(tensor) => {
                        let ComplexParts { re, im } = line.parts_of(tensor)?;
                        ComplexNumber { re: ExpandedItem::Tensor(re), im: im.map(ExpandedItem::Tensor) }
                    }
                    item => ComplexNumber { re: item, im: None },
                }
            }
            Term::List => return Err(Refusal::Because("a list has a complex number or bits of integers".into())),
            Term::Call(op) if operands.iter().any(|number| number.im.is_some()) => {
                line.compute(op.row().name, &operands)?
            }
            Term::Call(op) => ComplexNumber { re: real_call(line, op, operands)?, im: None },
        };
        stack.push(number);
    }
    let number = stack.pop().ok_or(Refusal::UNFIT)?;
    line.item_of(number)
}

/// Adds an operation on real numbers.
fn real_call(line: &mut Line, op: Op, operands: Vec<ComplexNumber>) -> Lowered<ExpandedItem> {
    let items: Vec<ExpandedItem> = operands.into_iter().map(|number| number.re).collect();
    line.call_of(op, items)
}

fn arithmetic(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let name = line.kind.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
    let mut operands = vec![line.complex_term("input")?];
    if ["add", "sub", "mul", "div"].contains(&name.as_str()) {
        let key = line.key_of(&["other", "input1"]);
        operands.push(line.complex_term(key)?);
        let factor: f64 = if name == "add" || name == "sub" { line.setting_or("alpha", 1.0)? } else { 1.0 };
        line.require("alpha", factor == 1.0, "1")?;
    }
    let number = line.compute(&name, &operands)?;
    match line.item_of(number)? {
        ExpandedItem::Tensor(tensor) => Ok(vec![tensor]),
        _ => Err(Refusal::UNFIT),
    }
}

fn of_parts(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (re, im) = (line.tensor("real")?, line.tensor("imag")?);
    let extents = line.broadcast(&[re, im])?;
    let re = line.expanded(re, &extents)?;
    Ok(vec![line.joined(ComplexParts { re, im: Some(im) })?])
}

/// Numbers by their absolute values and angles.
fn of_polar(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let operands = [line.tensor("abs")?, line.tensor("angle")?];
    let re = line.formula_of("mul(@0,cos(@1))", &operands)?;
    let im = line.formula_of("mul(@0,sin(@1))", &operands)?;
    Ok(vec![line.joined(ComplexParts { re, im: Some(im) })?])
}

/// Pairs along the last axis as complex numbers.
fn of_pairs(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    if line.extents(x)?.last() != Some(&2) {
        return Err(Refusal::Because("the last axis of its operand has no pairs".into()));
    }
    let y = line.add("copy", vec![Value::Tensor(x)])?;
    line.complex.insert(y);
    Ok(vec![y])
}

fn as_pairs(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    Ok(vec![line.add("copy", vec![Value::Tensor(x)])?])
}

fn imaginary(line: &mut Line) -> Lowered<Vec<TensorId>> {
    Ok(vec![line.parts("input")?.im.ok_or(Refusal::UNFIT)?])
}

fn size(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let ComplexParts { re, im } = line.parts("input")?;
    Ok(vec![line.formula_of(SIZE, &[re, im.ok_or(Refusal::UNFIT)?])?])
}

fn angle(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let ComplexParts { re, im } = line.parts("input")?;
    let items = [im.ok_or(Refusal::UNFIT)?, re].map(ExpandedItem::Tensor);
    Ok(vec![line.spelled("atan2(@0,@1)", &items)?])
}

fn conjugate(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let ComplexParts { re, im } = line.parts("input")?;
    let im = line.add("neg", vec![Value::Tensor(im.ok_or(Refusal::UNFIT)?)])?;
    Ok(vec![line.joined(ComplexParts { re, im: Some(im) })?])
}

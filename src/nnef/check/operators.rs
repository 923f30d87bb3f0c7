//! Types of operators (T3, T4, T5, T16): Table 1 of the specification.

use super::bodies::BodyCheck;
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::graph::operators::Class;
use crate::nnef::ast::{BinaryOp, UnaryOp};
use crate::nnef::types::{Element, Type, TypePart};
use crate::source::Span;

impl BodyCheck<'_, '_> {
    #[inline(never)]
    pub(super) fn unary(&mut self, op: UnaryOp, at: u32, ty: Type) -> Type {
        let span = Span::new(at, at + 1);
        let wanted = match op {
            UnaryOp::Not => Primitive::Logical,
            UnaryOp::Plus | UnaryOp::Minus => Primitive::Scalar,
        };
        match ty {
            Type::Unknown => ty,
            // `+` is `copy`, which takes any elements.
            // Logicals have no negative.
            Type::Tensor(element) if op != UnaryOp::Minus || element != Element::Of(Primitive::Logical) => {
                if op != UnaryOp::Plus {
                    self.operand_elements(op.info().text, span, element, wanted);
                }
                ty
            }
            Type::INTEGER | Type::SCALAR if op != UnaryOp::Not => ty,
            Type::LOGICAL if op == UnaryOp::Not => ty,
            _ => {
                let found = self.describe(ty);
                let message = format!("`{}` is not defined for {found}", op.info().text);
                let finding = self.finding(Code::OperandType, span, message);
                self.push(finding.label(format!("the operand is {found}")));
                Type::Unknown
            }
        }
    }

    #[inline(never)]
    pub(super) fn binary(&mut self, op: BinaryOp, at: u32, left: Type, right: Type) -> Type {
        let info = op.info();
        if let (Type::INTEGER, Type::INTEGER) | (Type::SCALAR, Type::SCALAR) = (left, right) {
            match info.class {
                Class::Arithmetic => return left,
                Class::Order | Class::Equality => return Type::LOGICAL,
                Class::Logic | Class::Membership => {}
            }
        }
        let span = Span::new(at, at + info.text.len() as u32);
        match info.class {
            Class::Membership => self.membership(span, left, right),
            class if left.is_tensor() || right.is_tensor() => self.tensor_operator(class, info.text, span, left, right),
            Class::Arithmetic => self.arithmetic(op, span, left, right),
            Class::Order => {
                self.comparison(span, info.text, left, right, |ty| matches!(ty, Type::INTEGER | Type::SCALAR))
            }
            Class::Equality => {
                let any = self.draft();
                self.comparison(span, info.text, left, right, move |ty| any || matches!(ty, Type::Primitive(_)))
            }
            Class::Logic => {
                let logical = |ty| matches!(ty, Type::LOGICAL | Type::Unknown);
                if !logical(left) || !logical(right) {
                    self.undefined(info.text, span, left, right);
                }
                Type::LOGICAL
            }
        }
    }

    fn undefined(&mut self, text: &str, span: Span, left: Type, right: Type) -> Type {
        let (left, right) = (self.describe(left), self.describe(right));
        let message = format!("`{text}` is not defined for {left} and {right}");
        self.push(self.finding(Code::OperandType, span, message).label(format!("{left} {text} {right}")));
        Type::Unknown
    }

    fn tensor_operator(&mut self, class: Class, text: &str, span: Span, left: Type, right: Type) -> Type {
        let wanted = if class == Class::Logic { Primitive::Logical } else { Primitive::Scalar };
        let logicals = Type::Tensor(Element::Of(Primitive::Logical));
        if matches!(class, Class::Order | Class::Arithmetic) && (left == logicals || right == logicals) {
            // Logicals have no order, and are not added.
            return self.undefined(text, span, left, right);
        }
        let mut element = None;
        for ty in [left, right] {
            match ty {
                Type::Unknown => {}
                Type::Tensor(of) => {
                    self.operand_elements(text, span, of, wanted);
                    element = element.or(Some(of));
                }
                Type::Primitive(primitive) if primitive == wanted => {}
                // With a tensor of unknown elements, integers are left to the vendor's rules.
                Type::INTEGER
                    if !self.draft()
                        && (left == Type::Tensor(Element::Unknown) || right == Type::Tensor(Element::Unknown)) => {}
                Type::INTEGER => self.operand_literal(text, span, ty, wanted),
                ty if !matches!(ty, Type::Primitive(_)) && !self.types().has(ty, TypePart::NotLiteral) => {
                    self.operand_literal(text, span, ty, wanted);
                }
                _ => return self.undefined(text, span, left, right),
            }
        }
        match class {
            Class::Arithmetic => Type::Tensor(element.unwrap_or(Element::Of(wanted))),
            _ => Type::Tensor(Element::Of(Primitive::Logical)),
        }
    }

    fn operand_elements(&mut self, text: &str, span: Span, element: Element, wanted: Primitive) {
        let differs = match element {
            Element::Of(primitive) => primitive != wanted,
            Element::Any => true,
            Element::Unknown => false,
        };
        if differs {
            let found = self.describe(Type::Tensor(element));
            let message = format!("`{text}` works on tensor<{}>, this is {found}", wanted.text());
            let finding = self.finding(Code::OperandElements, span, message);
            self.push(finding.label(format!("an operand is {found}")));
        }
    }

    fn operand_literal(&mut self, text: &str, span: Span, ty: Type, wanted: Primitive) {
        let found = self.describe(ty);
        let message = format!("`{text}` with a tensor takes {} beside it, this is {found}", wanted.text());
        let help = (ty == Type::INTEGER && wanted == Primitive::Scalar)
            .then(|| "write the number with a point: `1.0`".to_string());
        let finding = self.finding(Code::OperandElements, span, message).label(format!("an operand is {found}"));
        self.push(finding.help_if(help));
    }

    fn arithmetic(&mut self, op: BinaryOp, span: Span, left: Type, right: Type) -> Type {
        let number = |ty| matches!(ty, Type::INTEGER | Type::SCALAR);
        let array = |ty| matches!(ty, Type::Array(_) | Type::EmptyArray);
        match (left, right) {
            (Type::Unknown, other) | (other, Type::Unknown) => match op {
                // `unknown * 2` may repeat an array.
                BinaryOp::Mul | BinaryOp::Add => Type::Unknown,
                _ if number(other) => other,
                _ => Type::Unknown,
            },
            (left, right) if number(left) && left == right => left,
            (left, right) if number(left) && number(right) => {
                let (a, b) = (self.describe(left), self.describe(right));
                let text = op.info().text;
                let finding = self.finding(Code::MixedArithmetic, span, format!("`{text}` mixes {a} and {b}"));
                let help = "convert one of them: `scalar(..)` or `integer(..)`";
                self.push(finding.label(format!("{a} {text} {b}")).help(help));
                Type::Unknown
            }
            (Type::STRING, Type::STRING) if op == BinaryOp::Add => Type::STRING,
            (Type::STRING, Type::INTEGER) if op == BinaryOp::Mul => Type::STRING,
            (left, Type::INTEGER) if op == BinaryOp::Mul && array(left) => left,
            (left, right) if op == BinaryOp::Add && array(left) && array(right) => {
                match self.types().common(left, right) {
                    Some(common) => common,
                    None if self.both_tensor_arrays(left, right) => left,
                    None => self.undefined(op.info().text, span, left, right),
                }
            }
            _ => self.undefined(op.info().text, span, left, right),
        }
    }

    fn both_tensor_arrays(&self, left: Type, right: Type) -> bool {
        let tensors = |ty| match ty {
            Type::Array(array) => self.checked().types.item(array).is_tensor(),
            _ => false,
        };
        !self.checker.diagnostics.strict() && tensors(left) && tensors(right)
    }

    fn comparison(&mut self, span: Span, text: &str, left: Type, right: Type, defined: impl Fn(Type) -> bool) -> Type {
        if left == Type::Unknown || right == Type::Unknown {
            return Type::LOGICAL;
        }
        let same = left == right || (self.draft() && self.types().common(left, right).is_some());
        if !same {
            let (left, right) = (self.describe(left), self.describe(right));
            let finding = self.finding(Code::ComparisonTypes, span, format!("`{text}` compares {left} with {right}"));
            self.push(finding.label(format!("{left} {text} {right}")));
        } else if !defined(left) {
            self.undefined(text, span, left, right);
        }
        Type::LOGICAL
    }

    /// T16, and T5 for the item.
    fn membership(&mut self, span: Span, left: Type, right: Type) -> Type {
        match right {
            Type::Unknown | Type::EmptyArray => {}
            Type::Array(array) => {
                let item = self.types().item(array);
                if self.types().has(left, TypePart::Tensor) || self.types().has(item, TypePart::Tensor) {
                    self.undefined("in", span, left, right);
                } else if self.types().common(left, item).is_none() {
                    let (left, right) = (self.describe(left), self.describe(right));
                    let finding =
                        self.finding(Code::ComparisonTypes, span, format!("`in` looks for {left} in {right}"));
                    self.push(finding.label(format!("{left} in {right}")));
                }
            }
            _ => {
                let found = self.describe(right);
                let message = format!("`in` takes an array on its right, this is {found}");
                let finding = self.finding(Code::NotMembershipArray, span, message);
                self.push(finding.label(format!("the right side is {found}")));
            }
        }
        Type::LOGICAL
    }
}

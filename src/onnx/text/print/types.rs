//! Prints the types of values.

use super::Printer;
use crate::graph::names::NameId;
use crate::onnx::model::{Extent, TensorType, TypeForm, TypeProto, ValueInfo};
use crate::onnx::types::ElementType;
use crate::source::names::is_identifier;

impl Printer<'_> {
    pub(super) fn value_info(&mut self, of: &ValueInfo) {
        self.lost.left_out += usize::from(of.rest.is_some());
        let said = of.ty.as_ref().filter(|ty| !self.says_nothing(ty));
        if let Some(ty) = said {
            self.ty(ty);
            self.put(" ");
        }
        self.value(of.name.unwrap_or(NameId::ROOT), said.is_none());
    }

    /// Whether a type has no form or no element type, as exporters write it for the results of branches. The text has
    /// no type then; its other parts are left out.
    fn says_nothing(&mut self, of: &TypeProto) -> bool {
        let more = match &of.form {
            TypeForm::None => of.rest.is_some(),
            TypeForm::Tensor(TensorType { element: None | Some(0), .. }) => true,
            _ => return false,
        };
        self.lost.left_out += usize::from(more);
        true
    }

    pub(super) fn ty(&mut self, of: &TypeProto) {
        self.lost.left_out += usize::from(of.rest.is_some());
        match &of.form {
            TypeForm::None => self.wrong("a type without a value".to_owned()),
            TypeForm::Tensor(ty) => self.tensor_type(ty),
            TypeForm::SparseTensor(ty) => {
                self.put("sparse_tensor(");
                self.tensor_type(ty);
                self.put(")");
            }
            TypeForm::Sequence(ty, _) | TypeForm::Optional(ty, _) => {
                self.put(if matches!(of.form, TypeForm::Sequence(..)) { "seq(" } else { "optional(" });
                self.part(ty.as_deref());
                self.put(")");
            }
            TypeForm::Map { key, value, .. } => {
                self.put("map(");
                self.element(*key);
                self.put(", ");
                self.part(value.as_deref());
                self.put(")");
            }
            TypeForm::Opaque { domain, name, .. } => {
                self.put("opaque(");
                let texts = &self.names.texts;
                let [domain, name] = [domain, name].map(|name| name.map(|name| texts.text(name)));
                let dotted = |text: &str| text.split('.').all(is_identifier);
                let readable = match (domain, name) {
                    (None, name) => name.is_none_or(dotted),
                    (Some(domain), name) => dotted(domain) && name.is_some_and(is_identifier),
                };
                if !readable {
                    self.wrong("an opaque type whose name is not an identifier".to_owned());
                }
                self.list(domain.into_iter().chain(name), Printer::put);
                self.put(")");
            }
        }
    }

    fn part(&mut self, ty: Option<&TypeProto>) {
        match ty {
            Some(ty) => self.ty(ty),
            None => self.wrong("a type without its parts".to_owned()),
        }
    }

    pub(super) fn element(&mut self, number: Option<i32>) {
        match number.and_then(ElementType::numbered) {
            Some(element) => self.put(element.name),
            None => self.wrong(format!("the element type {}", number.unwrap_or_default())),
        }
    }

    fn tensor_type(&mut self, of: &TensorType) {
        self.element(of.element);
        let Some(shape) = &of.shape else { return self.put("[]") };
        if shape.dims.is_empty() {
            return;
        }
        self.put("[");
        self.list(&shape.dims, |printer, dim| {
            printer.lost.left_out += usize::from(dim.rest.is_some());
            match dim.extent {
                Extent::Unknown => printer.put("?"),
                Extent::Value(value) => printer.put(itoa::Buffer::new().format(value)),
                Extent::Symbol(name) => printer.quotable(Some(name)),
            }
        });
        self.put("]");
    }
}

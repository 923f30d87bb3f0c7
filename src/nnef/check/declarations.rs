//! Rules on declarations (D1 to D9), and the table of fragments.

use std::rc::Rc;

use smallvec::SmallVec;

use super::positions::Positions;
use super::{Checker, FragmentInfo, ParamInfo, ResultInfo};
use crate::core::unit::UnitId;
use crate::diagnostics::{Code, Diagnostic};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::library::datatypes::data_type;
use crate::nnef::ast::{Fragment, Generic, Ident, Param, ResultDecl, TypeSpec, TypeSpecId};
use crate::nnef::datatypes::with_data_type;
use crate::nnef::document::ModuleId;
use crate::nnef::types::{Element, Fit, Type, TypePart};
use crate::source::Location;
use crate::source::names::Name;

impl Checker<'_> {
    pub(super) fn declarations(&mut self) {
        let document = self.checked.document;
        for id in document.module_ids() {
            match id {
                ModuleId::STANDARD => self.declare_standard(),
                id => self.declare_module(id),
            }
        }
        if let Some(graph) = document.main().graphs.first() {
            self.unique(document.main_id(), &[&graph.params[..], &graph.results].concat());
        }
    }

    /// Declares the fragments of a module.
    pub(super) fn declare_module(&mut self, id: ModuleId) {
        let count = self.checked.module(id).fragments.len();
        Rc::make_mut(&mut self.checked.fragments).reserve(count);
        self.checked.bodies.reserve(count);
        for index in 0..count as u32 {
            self.declare(id, index);
        }
    }

    fn declare(&mut self, module: ModuleId, index: u32) {
        let document = self.checked.document;
        let fragment = &self.checked.module(module).fragments[index as usize];
        let metadata = self.checked.words.metadata.contains(&Some(fragment.name.name));
        let ast = self.ast(module);
        // Declarations of the draft have no element types; those of its standard operations are in a table.
        let standard_draft = module == ModuleId::STANDARD && document.dialect() == Dialect::Draft;
        let mut any_data_type = false;
        let types = &mut self.checked.types;
        let mut ty = |spec: TypeSpecId, name: Name| {
            let ty = types.type_of_spec(ast, spec);
            if !standard_draft {
                return (ty, types.has(ty, TypePart::Tensor));
            }
            let data_type = data_type(document.names().text(fragment.name.name), document.names().text(name));
            any_data_type |= data_type == Primitive::Generic;
            let ty = with_data_type(types, ty, data_type);
            (ty, types.has(ty, TypePart::Tensor))
        };
        let param = |param: &Param| {
            let (ty, tensor) = ty(param.ty, param.name.name);
            ParamInfo { name: param.name.name, ty, default: param.default, tensor }
        };
        let params = fragment.params.iter().map(param).collect();
        let result = |result: &ResultDecl| ResultInfo { name: result.name.name, ty: ty(result.ty, result.name.name).0 };
        let info = FragmentInfo {
            module,
            index,
            name: fragment.name.name,
            params,
            results: fragment.results.iter().map(result).collect(),
            generic: match fragment.generic {
                Generic::No if any_data_type => Generic::Yes(None),
                generic => generic,
            },
            has_body: fragment.body.is_some() && !metadata,
            metadata,
            open_results: false,
        };
        let info = FragmentInfo { open_results: self.open_results(&info), ..info };
        if module != ModuleId::STANDARD && !metadata {
            self.declaration_rules(module, fragment, &info);
        }
        self.add_fragment(module, fragment, info);
    }

    fn open_results(&self, info: &FragmentInfo) -> bool {
        let foreign = info.module != ModuleId::STANDARD && info.module != self.checked.document.main_id();
        let [ResultInfo { ty: Type::Array(array), .. }] = info.results[..] else { return false };
        let item = self.checked.types.item(array);
        foreign && !info.has_body && matches!(item, Type::Tensor(Element::Any | Element::Unknown))
    }

    /// D1: names are unique; the default mode lets a document replace standard operations.
    fn add_fragment(&mut self, module: ModuleId, fragment: &Fragment, info: FragmentInfo) {
        let id = self.checked.fragments.len() as u32;
        let name = info.name;
        Rc::make_mut(&mut self.checked.fragments).push(info);
        self.checked.bodies.push(None);
        let at = self.at(module, fragment.name.span);
        if module == ModuleId::STANDARD {
            self.checked.standard_scope.insert(name, id);
            return;
        }
        if let Some(earlier) = self.checked.document_scope.get(name).map(|id| UnitId::at(id as usize))
            && self.checked.fragment(earlier).module == module
        {
            let message = format!("fragment `{}` is declared twice", self.checked.text(name));
            let see = self.fragment_location(earlier);
            self.diagnostics
                .report(Diagnostic::new(Code::DuplicateFragment, at, message).see(see, "first declaration"));
            return;
        }
        if module == self.checked.document.main_id() && self.checked.standard_scope.get(name).is_some() {
            let message = format!("`{}` replaces the standard operation of that name", self.checked.text(name));
            self.report(Code::ShadowsStandard, at, message);
        }
        self.checked.document_scope.insert(name, id);
    }

    /// The location of a fragment's name.
    pub(super) fn fragment_location(&self, id: UnitId) -> Location {
        let info = self.checked.fragment(id);
        self.at(info.module, self.checked.declaration(info).name.span)
    }

    fn declaration_rules(&mut self, module: ModuleId, fragment: &Fragment, info: &FragmentInfo) {
        let params = fragment.params.iter().map(|param| param.name);
        let idents: SmallVec<[Ident; 16]> = params.chain(fragment.results.iter().map(|result| result.name)).collect();
        self.unique(module, &idents);
        let draft = self.checked.document.dialect() == Dialect::Draft;
        // Declaration files describe operations of vendors, which need not follow the standard.
        if !draft && module == self.checked.document.main_id() {
            self.parameter_order(module, fragment, info);
            types(fragment, info).for_each(|(ty, spec)| self.mixed_tuple(module, ty, spec));
            self.result_types(module, fragment, info);
        }
        if !draft {
            self.generic_use(module, fragment, info);
        }
        self.defaults(module, fragment, info);
    }

    /// D2: no name twice among parameters and results.
    fn unique(&mut self, module: ModuleId, idents: &[Ident]) {
        let names = || idents.iter().map(|ident| ident.name);
        let positions = Positions::new(names(), idents.len());
        for (i, ident) in idents.iter().enumerate() {
            let Some(first) = positions.find(names(), ident.name).filter(|first| *first < i) else { continue };
            let see = self.at(module, idents[first].span);
            let message = format!("`{}` is declared twice", self.checked.text(ident.name));
            let diagnostic = Diagnostic::new(Code::DuplicateParameter, self.at(module, ident.span), message);
            self.diagnostics.report(diagnostic.see(see, "first declaration"));
        }
    }

    /// D3: tensors before attributes.
    fn parameter_order(&mut self, module: ModuleId, fragment: &Fragment, info: &FragmentInfo) {
        let Some(first_attribute) = info.params.iter().position(|param| !param.tensor) else { return };
        for (param, declared) in info.params.iter().zip(&fragment.params).skip(first_attribute) {
            if param.tensor {
                let at = self.at(module, declared.name.span);
                let see = self.at(module, fragment.params[first_attribute].name.span);
                let message = format!("tensor parameter `{}` follows an attribute", self.checked.text(param.name));
                let diagnostic = Diagnostic::new(Code::AttributeBeforeTensor, at, message);
                self.diagnostics.report(diagnostic.see(see, "this is the first attribute"));
                return;
            }
        }
    }

    /// D8: a tuple holds tensors or attributes, not both.
    fn mixed_tuple(&mut self, module: ModuleId, ty: Type, mut spec: TypeSpecId) {
        let ast = self.ast(module);
        while let TypeSpec::Array(item) = ast.type_spec(spec) {
            spec = item;
        }
        if self.checked.types.has(ty, TypePart::Tensor) && self.checked.types.has(ty, TypePart::Attribute) {
            let at = self.at(module, ast.type_spans[spec.index()]);
            self.report(Code::MixedTuple, at, "a tuple type holds either tensors or attributes, not both");
        }
    }

    /// D4 and D7: results are tensors, and not `tensor<>`.
    fn result_types(&mut self, module: ModuleId, fragment: &Fragment, info: &FragmentInfo) {
        let ast = self.ast(module);
        for (result, declared) in info.results.iter().zip(&fragment.results) {
            let (code, fault) = if self.checked.types.has(result.ty, TypePart::AnyTensor) {
                (Code::AnyTensorResult, "must name its element type".to_string())
            } else if self.checked.types.has(result.ty, TypePart::Attribute) {
                (Code::ResultNotTensor, format!("is {}, not a tensor", self.describe(result.ty)))
            } else {
                continue;
            };
            let at = self.at(module, ast.type_spans[declared.ty.index()]);
            self.report(code, at, format!("result `{}` {fault}", self.checked.text(result.name)));
        }
    }

    /// D6: `?` occurs exactly when the fragment is generic.
    fn generic_use(&mut self, module: ModuleId, fragment: &Fragment, info: &FragmentInfo) {
        let ast = self.ast(module);
        let using = types(fragment, info).find(|(ty, _)| self.checked.types.has(*ty, TypePart::Generic));
        match (fragment.generic, using) {
            (Generic::Yes(_), None) => {
                let at = self.at(module, fragment.name.span);
                self.report(Code::GenericMismatch, at, "`<?>` is declared, but no parameter or result uses `?`");
            }
            (Generic::No, Some((_, spec))) => {
                let at = self.at(module, ast.type_spans[spec.index()]);
                let name = self.checked.text(info.name).to_string();
                let diagnostic =
                    Diagnostic::new(Code::GenericMismatch, at, "`?` is used, but the fragment is not generic")
                        .help(format!("declare it as `fragment {name}<?>(..)`"));
                self.diagnostics.report(diagnostic);
            }
            _ => {}
        }
    }

    /// D5: a default converts to the type of its parameter.
    fn defaults(&mut self, module: ModuleId, fragment: &Fragment, info: &FragmentInfo) {
        for (param, declared) in info.params.iter().zip(&fragment.params) {
            let Some(default) = param.default else { continue };
            let actual = self.literal_type(module, default);
            let mut generic = match info.generic {
                Generic::Yes(Some(default)) => Some(default),
                _ => None,
            };
            let fits = actual.map(|actual| self.checked.types.fit(param.ty, actual, &mut generic) == Fit::Exact);
            if fits != Some(true) {
                let at = self.at(module, self.ast(module).span(default));
                let see = self.at(module, declared.name.span);
                let found = actual.map_or("a value of mixed types".to_string(), |ty| self.describe(ty));
                let name = self.checked.text(param.name);
                let message = format!("the default of `{name}` is {found}, not {}", self.describe(param.ty));
                let declared = format!("declared as {}", self.describe(param.ty));
                let finding = Diagnostic::new(Code::DefaultType, at, message).label(format!("this is {found}"));
                self.diagnostics.report(finding.see(see, declared));
            }
        }
    }
}

/// The types of parameters and results, each with its specification.
fn types(fragment: &Fragment, info: &FragmentInfo) -> impl Iterator<Item = (Type, TypeSpecId)> {
    let params = info.params.iter().zip(&fragment.params).map(|(param, declared)| (param.ty, declared.ty));
    params.chain(info.results.iter().zip(&fragment.results).map(|(result, declared)| (result.ty, declared.ty)))
}

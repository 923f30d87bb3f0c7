//! Rules on calls: operation and arguments (A1 to A10), several and array results (U4, U5), and
//! where `external`, `variable` and `update` may be called (I3, I4, I9).

mod arguments;

use std::rc::Rc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::bodies::{BodyCheck, Context};
use super::state::CheckedBody;
use super::{CallInfo, FragmentInfo, ParamInfo, Ref, ResultInfo, Words};
use crate::core::unit::UnitId;
use crate::diagnostics::Code;
use crate::diagnostics::suggest::{misspelt, nearest};
use crate::dictionary::is_of_converter;
use crate::graph::Primitive;
use crate::graph::operators::{BINARY, Class};
use crate::graph::standard::EXTERNAL;
use crate::library::registries::operations;
use crate::nnef::ast::{Call, CallId, ExprId, Generic, Ident};
use crate::nnef::document::ModuleId;
use crate::nnef::registries::REGISTRY_EXTENSION;
use crate::nnef::types::{Element, Fit, Type, TypePart};
use crate::source::Span;
use crate::source::names::Name;

/// The most pairs of names that are compared to find misspellings.
const MAX_COMPARED: usize = 1_000_000;

/// The most parameters that a message lists.
const MAX_LISTED: usize = 20;

/// A call, and the fragment that it calls.
#[derive(Clone, Copy)]
struct Callee<'c> {
    call: &'c Call,
    fragment: UnitId,
    info: &'c FragmentInfo,
}

impl BodyCheck<'_, '_> {
    pub(super) fn call(&mut self, id: ExprId, call: CallId, context: Context) -> Type {
        let call = self.ast.call(call);
        let found = self.checked().find(self.module, call.name.name);
        self.placement(&call, context);
        let source = self.declares_symbols(&call, found);
        let before = std::mem::replace(&mut self.new_symbols, source);
        let ty = match found {
            Some(fragment) => self.declared_call(id, &call, fragment, context),
            None => self.undeclared_call(id, &call),
        };
        self.new_symbols = before;
        ty
    }

    /// Whether unknown names in the arguments of a call are dimension symbols: only the shape of an
    /// input may introduce an undeclared symbol.
    fn declares_symbols(&self, call: &Call, found: Option<UnitId>) -> bool {
        let (name, checked) = (call.name.name, self.checked());
        let standard = found.is_some_and(|id| checked.fragment(id).module == ModuleId::STANDARD);
        self.in_graph()
            && if standard { checked.words.external == Some(name) } else { checked.text(name).ends_with(EXTERNAL) }
    }

    /// I3, I4, I9: operations that only the graph may call.
    #[inline(never)]
    fn placement(&mut self, call: &Call, context: Context) {
        let Ident { name, span } = call.name;
        let Words { external, variable, update, .. } = self.checked().words;
        match self.place {
            CheckedBody::Fragment(..) if Some(name) == external && self.module != ModuleId::STANDARD => {
                self.report(Code::ExternalInFragment, span, "`external` belongs in the graph, not in a fragment");
            }
            CheckedBody::Graph(_) if Some(name) == external && !context.statement => {
                self.report(Code::ExternalNotInput, span, "`external` must be assigned to an input of the graph");
            }
            CheckedBody::Fragment(..) if Some(name) == update || (Some(name) == variable && !self.draft()) => {
                let message = format!("`{}` belongs in the graph, not in a fragment", self.text(name));
                self.report(Code::StateInFragment, span, message);
            }
            _ => {}
        }
    }

    /// A1: an undeclared operation passes through in the default mode.
    #[inline(never)]
    fn undeclared_call(&mut self, id: ExprId, call: &Call) -> Type {
        let name = self.text(call.name.name);
        let span = call.name.span;
        if let Some(slot) = self.state.scope.get(call.name.name) {
            let message = format!("`{name}` is not an operation and cannot be called");
            self.report_beside(
                Code::CallsLocalName,
                span,
                message,
                self.at_slot(slot),
                "defined as a tensor or attribute",
            );
        } else if !self.checked().module(self.module).broken.contains(&call.name.name)
            && !self.is_marred(call.name.name)
        {
            self.unknown_operation(call.name.name, &name, span);
        }
        let args = self.ast.arguments(call);
        if args.have_names() {
            self.named_after_positional(args);
        }
        let mut given = FxHashSet::default();
        for arg in args.iter() {
            self.expr(arg.value);
            if let Some(ident) = arg.name
                && !given.insert(ident.name)
            {
                let message = format!("argument `{}` is given twice", self.text(ident.name));
                self.report(Code::DuplicateArgument, ident.span, message);
            }
        }
        let generic = call.generic.map(|(primitive, _)| primitive);
        self.set_call(id, CallInfo { fragment: None, bound: 0, generic });
        Type::Tensor(generic.map_or(Element::Unknown, Element::Of))
    }

    /// Reports an undeclared operation (A1): an error if its name looks like a misspelt known name.
    /// Known operations of converters are not reported in the default mode.
    #[inline(never)]
    fn unknown_operation(&mut self, id: Name, name: &str, span: Span) {
        let checked = self.checked();
        if is_of_converter(name) && !self.checker.diagnostics.strict() {
            return;
        }
        let known = || {
            let declared = checked.fragments.iter().map(|info| checked.text(info.name));
            declared.chain(operations().map(|(declared, _)| declared.name))
        };
        // The known name it probably misspells, cached by name because documents repeat their operations.
        let mut compared = 0;
        let meant = match self.checker.misspelt.get(&id) {
            Some(meant) => meant.clone(),
            // Limits the time for generated documents with very many names.
            None if self.checker.compared > MAX_COMPARED => None,
            None => {
                compared = checked.fragments.len();
                let of_registry = operations().any(|(known, _)| known.name == name);
                let meant = misspelt(name, known()).filter(|_| !of_registry);
                meant.filter(|meant| !is_of_vendor(name, meant, known)).map(str::to_string)
            }
        };
        let message = format!("operation `{name}` is not declared");
        let diagnostic = match &meant {
            Some(meant) => self.finding(Code::MisspeltOperation, span, message).meant(span, Some(meant)),
            None if self.checker.diagnostics.is_frequent(Code::UnknownOperation) => {
                self.finding(Code::UnknownOperation, span, message)
            }
            None => {
                let finding = self.finding(Code::UnknownOperation, span, message);
                match operations().find(|(known, _)| known.name == name) {
                    Some((_, registry)) => {
                        let directive = format!("extension {} {};", REGISTRY_EXTENSION, registry.name);
                        let finding = self.checker.enabling(finding, &directive, false);
                        finding.help(format!("its registry declares it: add `{directive}` after the version"))
                    }
                    None => finding.meant(span, nearest(name, known())),
                }
            }
        };
        self.push(diagnostic);
        self.checker.compared += compared;
        self.checker.misspelt.insert(id, meant);
    }

    fn set_call(&mut self, id: ExprId, info: CallInfo) {
        let tables = &mut self.tables;
        tables.nodes[id].referent = Ref::Call(tables.calls.len() as u32);
        tables.calls.push(info);
    }

    /// The argument for a parameter of a call whose entries in [`ModuleInfo::bound`](super::ModuleInfo::bound)
    /// begin at `first`.
    pub(super) fn bound(&self, first: u32, param: usize) -> Option<ExprId> {
        self.tables.bound[first as usize + param]
    }

    #[inline(never)]
    fn declared_call(&mut self, id: ExprId, call: &Call, fragment: UnitId, context: Context) -> Type {
        let fragments = Rc::clone(&self.checked().fragments);
        let info = &fragments[fragment.index()];
        if info.has_body && info.module == ModuleId::STANDARD {
            self.checker.pending.push(fragment);
        }
        let callee = Callee { call, fragment, info };
        let bound = self.bind(callee);
        let generic = self.argument_types(callee, bound);
        self.literal_label(call, info, bound);
        self.set_call(id, CallInfo { fragment: Some(fragment), bound, generic });
        if info.open_results {
            return Type::Tensor(Element::Unknown);
        }
        if self.result_rules(callee, context) {
            return Type::Unknown;
        }
        match &info.results[..] {
            [single] => known_later(self.types().instantiate(single.ty, generic)),
            several => self.several_results(several, generic),
        }
    }

    #[inline(never)]
    fn several_results(&mut self, results: &[ResultInfo], generic: Option<Primitive>) -> Type {
        let types = self.types();
        let ty = |result: &ResultInfo| known_later(types.instantiate(result.ty, generic));
        let results: SmallVec<[Type; 4]> = results.iter().map(ty).collect();
        types.tuple(&results)
    }

    /// U4 and U5: several results and array results must be assigned to names. Returns whether the
    /// call has no usable value.
    #[inline(never)]
    fn result_rules(&mut self, Callee { call, info, .. }: Callee, context: Context) -> bool {
        if info.results.len() > 1 && !context.several && !context.statement && !self.draft() {
            let name = self.checked().text(call.name.name);
            let message = format!("`{name}` has several results and cannot be used as a value");
            let diagnostic = self
                .finding(Code::ChainedResults, call.name.span, message)
                .help("assign the results to names first: `(a, b) = ..;`");
            self.push(diagnostic);
            return true;
        }
        let tensors = |ty| matches!(ty, Type::Array(_)) && self.checked().types.has(ty, TypePart::Tensor);
        if !info.has_body && !context.open_array && info.results.iter().any(|result| tensors(result.ty)) {
            let name = self.checked().text(call.name.name);
            let message = format!("the number of tensors that `{name}` returns is not known here");
            let diagnostic = self
                .finding(Code::UnknownLength, call.name.span, message)
                .help("assign them to names first: `[a, b] = ..;`");
            self.push(diagnostic);
        }
        false
    }

    /// T1 and A9: types of arguments, and the type argument that they determine.
    #[inline(never)]
    fn argument_types(&mut self, callee: Callee, bound: u32) -> Option<Primitive> {
        let Callee { call, info, .. } = callee;
        let declared = info.generic;
        let mut generic = match (call.generic, declared) {
            (Some((primitive, span)), declared) => {
                self.explicit_generic(call, primitive, span, declared);
                Some(primitive)
            }
            (None, Generic::Yes(default)) => default,
            (None, Generic::No) => None,
        };
        let mut open = false;
        for (i, param) in info.params.iter().enumerate() {
            let Some(value) = self.bound(bound, i) else {
                open = true;
                continue;
            };
            let actual = self.expr(value);
            if declared == Generic::No && param.ty == actual {
                continue;
            }
            open |= self.types().has(actual, TypePart::Unknown);
            self.argument_type(callee, param, value, actual, &mut generic);
        }
        if declared != Generic::No && generic.is_none() && !open {
            self.open_generic(call);
        }
        generic
    }

    /// T1: the type of one argument.
    #[inline(never)]
    fn argument_type(
        &mut self,
        Callee { call, info, .. }: Callee,
        param: &ParamInfo,
        value: ExprId,
        actual: Type,
        generic: &mut Option<Primitive>,
    ) {
        let before = *generic;
        let mut fit = self.types().fit(param.ty, actual, generic);
        if self.draft() {
            fit = self.types().fit_in_draft(param.ty, actual, fit);
        }
        if fit == Fit::None && self.checked().document.is_registry(info.module) {
            // In registry documents types are checked at run time; shape rules and kernels check the values they use.
            fit = Fit::Structure;
        }
        let logicals = actual == Type::Tensor(Element::Of(Primitive::Logical));
        if fit == Fit::Elements && logicals && info.module == ModuleId::STANDARD && orders(&self.text(call.name.name)) {
            // Logicals have no order.
            fit = Fit::None;
        }
        self.argument_fit(call, param, value, actual, fit, before.or(*generic));
    }

    #[inline(never)]
    fn open_generic(&mut self, call: &Call) {
        let name = self.text(call.name.name);
        let message = format!("the type argument of `{name}` does not follow from its arguments");
        let help = format!("give it: `{name}<scalar>(..)`");
        let finding = self.finding(Code::GenericArgument, call.name.span, message);
        self.push(finding.label("no type argument is given").help(help));
    }

    #[inline(never)]
    fn explicit_generic(&mut self, call: &Call, primitive: Primitive, span: Span, declared: Generic) {
        let inside = match self.place {
            CheckedBody::Graph(_) => Generic::No,
            CheckedBody::Fragment(id, _) => self.checked().fragment(id).generic,
        };
        if declared == Generic::No {
            let name = self.text(call.name.name);
            self.report(Code::GenericArgument, span, format!("`{name}` is not generic and takes no type argument"));
        } else if primitive == Primitive::Generic && inside == Generic::No {
            self.report(Code::GenericArgument, span, "`?` has a meaning only inside a generic fragment");
        }
    }

    fn argument_fit(
        &mut self,
        call: &Call,
        param: &ParamInfo,
        value: ExprId,
        actual: Type,
        fit: Fit,
        generic: Option<Primitive>,
    ) {
        let code = match fit {
            Fit::ExtentAsScalar => Code::ExtentAsScalar,
            Fit::Structure => Code::ArgumentStructure,
            fit => match self.conversion(fit, actual, Code::ArgumentType) {
                Some(code) => code,
                None => return,
            },
        };
        let formal = self.types().instantiate(param.ty, generic);
        let formal = if formal == Type::Unknown { param.ty } else { formal };
        let (name, operation) = (self.text(param.name), self.text(call.name.name));
        let (formal, actual) = (self.describe(formal), self.describe(actual));
        let span = self.ast.span(value);
        let message = format!("argument `{name}` of `{operation}` is declared as {formal}, the value is {actual}");
        let whole = ["integer", "extent"].contains(&actual.as_str());
        let help = (formal == "scalar" && whole).then(|| "write the number with a point: `1.0`".to_string());
        self.push(self.finding(code, span, message).label(format!("this is {actual}")).help_if(help));
    }
}

/// Standard operations whose bodies compare an operand by order.
const ORDERED: &[&str] = &[
    "max",
    "min",
    "clamp",
    "relu",
    "leaky_relu",
    "prelu",
    "elu",
    "selu",
    "linear_quantize",
    "min_max_linear_quantize",
];

/// Whether an operation compares by order.
fn orders(name: &str) -> bool {
    ORDERED.contains(&name) || BINARY.iter().any(|row| row.class == Class::Order && row.tensor == Some(name))
}

/// The type of a call's result: elements declared as `tensor<>` are unknown until the graph runs.
fn known_later(ty: Type) -> Type {
    if ty == Type::Tensor(Element::Any) { Type::Tensor(Element::Unknown) } else { ty }
}

/// Whether a name that resembles a known name is a well-formed name of a vendor rather than a misspelling: a module and
/// an operation, as in `F_relu` and `nn_ELU`, or a word in another case that is not the known one, as in `PReLU6`.
fn is_of_vendor<'n, I: Iterator<Item = &'n str>>(name: &str, meant: &str, known: impl Fn() -> I) -> bool {
    let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
    if plain(name) == plain(meant) {
        return false;
    }
    let operation = name.split_once('_').map(|(_, rest)| rest).filter(|rest| !rest.is_empty());
    name.contains(|c: char| c.is_ascii_uppercase()) || operation.is_some_and(|rest| known().any(|known| known == rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body of the standard library compares a parameter itself, or passes it to an operation that does.
    #[test]
    fn ordered_operations_are_those_of_the_standard_library() {
        let text = include_str!("../../library/std/nnef-1.0.nnef");
        let fragments = text.split("\nfragment ").skip(1).filter_map(|fragment| {
            let (head, body) = fragment.split_once('{')?;
            let (name, parameters) = head.split_once('(')?;
            let tensors = parameters.split(": tensor<scalar>").map(|part| part.rsplit([' ', '(']).next().unwrap_or(""));
            Some((name, tensors.collect::<Vec<_>>(), body.split_once("\n}")?.0))
        });
        let fragments: Vec<_> = fragments.collect();
        let mut found: Vec<&str> = Vec::new();
        loop {
            let before = found.len();
            for (name, tensors, body) in &fragments {
                let orders = |tensor: &&str| {
                    let compares =
                        [" < ", " > ", " <= ", " >= "].iter().any(|sign| body.contains(&format!("({tensor}{sign}")));
                    compares || found.iter().any(|name| body.contains(&format!("{name}({tensor},")))
                };
                if !found.contains(name) && tensors.iter().filter(|tensor| !tensor.is_empty()).any(orders) {
                    found.push(name);
                }
            }
            if found.len() == before {
                break;
            }
        }
        let mut wanted = ORDERED.to_vec();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }
}

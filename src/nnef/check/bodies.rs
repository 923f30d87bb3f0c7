//! Rules on bodies: which names may be assigned where (I1 to I11), and the structure of left sides (U2).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::state::{BodyState, CheckedBody};
use super::{BodyInfo, Checked, Checker, ModuleInfo, NodeInfo, Ref, Slot};
use crate::core::unit::UnitId;
use crate::diagnostics::suggest::nearest;
use crate::diagnostics::{Code, Diagnostic};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::standard::EXTERNAL;
use crate::nnef::ast::{Assignment, Ast, Expr, ExprId, Ident};
use crate::nnef::document::ModuleId;
use crate::nnef::types::{Element, Fit, Type, Types};
use crate::room;
use crate::source::names::{Name, is_identifier};
use crate::source::{Location, Span};

/// The deepest nesting of left sides, which are processed by recursion.
const MAX_TARGET_DEPTH: usize = 100;

/// The most results among which one that is declared twice is looked for.
const MOST_COMPARED: usize = 32;

/// The check of one body.
pub(super) struct BodyCheck<'c, 'd> {
    pub(super) checker: &'c mut Checker<'d>,
    pub(super) module: ModuleId,
    pub(super) ast: &'c Ast,
    pub(super) place: CheckedBody<'c>,
    pub(super) state: BodyState,
    /// The side tables of the tree, moved out of the checker while the body is checked.
    pub(super) tables: ModuleInfo,
    /// Whether an unknown name is a new dimension symbol.
    pub(super) new_symbols: bool,
    /// Inside the body of a loop, the names it has assigned so far.
    pub(super) loop_locals: Option<Vec<Ident>>,
}

/// Properties of the place where an expression is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// The expression is the whole right side of an assignment.
    pub(super) statement: bool,
    /// A call with several results is allowed.
    pub(super) several: bool,
    /// An array whose length only the operation knows is allowed.
    pub(super) open_array: bool,
}

impl<'d> Checker<'d> {
    /// Checks all fragments of the document and of the declaration files.
    pub(super) fn fragment_bodies(&mut self) {
        for id in self.checked.fragment_ids() {
            if self.checked.fragment(id).module != ModuleId::STANDARD {
                self.fragment_body(id);
            }
        }
        self.pending_bodies();
    }

    /// Checks the body of a fragment that is called, and those that it calls.
    pub(crate) fn need(&mut self, id: UnitId) {
        self.pending.push(id);
        self.pending_bodies();
    }

    /// Checks the bodies of standard fragments that are called and not checked yet.
    pub(super) fn pending_bodies(&mut self) {
        while let Some(id) = self.pending.pop() {
            self.fragment_body(id);
        }
    }

    /// Checks a fragment's body, once.
    fn fragment_body(&mut self, id: UnitId) {
        let info = self.checked.fragment(id);
        if !info.has_body || self.checked.bodies[id.index()].is_some() {
            return;
        }
        let module = info.module;
        let fragment = self.checked.declaration(info);
        let Some(body) = &fragment.body else { return };
        self.checked.bodies[id.index()] = Some(BodyInfo::default());
        let (ast, state) = (self.ast(module), std::mem::take(&mut self.spare));
        let tables = std::mem::take(&mut self.checked.modules[module.index()]);
        let mut check = BodyCheck::new(self, module, ast, CheckedBody::Fragment(id, body), state, tables);
        for (i, param) in fragment.params.iter().enumerate() {
            // A parameter that is declared twice has no type, since any use may mean either.
            let is_double = check.state.scope.get(param.name.name).is_some();
            let ty = if is_double { Type::Unknown } else { check.checked().fragment(id).params[i].ty };
            check.add_slot(param.name, ty);
        }
        let results = fragment.results.iter().map(|result| result.name);
        results.clone().zip(0..).for_each(|(result, i)| check.state.declared.insert(result.name, i));
        body.assignments.iter().for_each(|assignment| check.assignment(assignment));
        let results: SmallVec<[_; 2]> =
            results.map(|result| check.finish(result, Code::ResultUnassigned, "result")).collect();
        let (mut state, tables) = (check.state, check.tables);
        let checked = &mut self.checked;
        checked.modules[module.index()] = tables;
        let slots = (checked.slot_names.len() as u32, state.slots.len() as u32);
        checked.bodies[id.index()] = Some(BodyInfo { slots, results: checked.result_slots.len() as u32 });
        checked.slot_names.extend(state.slots.iter().map(|slot| slot.name));
        checked.result_slots.extend(results);
        state.clear(fragment.results.iter().map(|result| result.name.name));
        self.spare = state;
    }
}

impl<'c, 'd> BodyCheck<'c, 'd> {
    pub(super) fn new(
        checker: &'c mut Checker<'d>,
        module: ModuleId,
        ast: &'c Ast,
        place: CheckedBody<'c>,
        state: BodyState,
        tables: ModuleInfo,
    ) -> Self {
        BodyCheck { checker, module, ast, place, state, tables, new_symbols: false, loop_locals: None }
    }

    pub(super) fn checked(&self) -> &Checked<'d> {
        &self.checker.checked
    }

    pub(super) fn types(&mut self) -> &mut Types {
        &mut self.checker.checked.types
    }

    pub(super) fn in_graph(&self) -> bool {
        matches!(self.place, CheckedBody::Graph(_))
    }

    pub(super) fn add_slot(&mut self, ident: Ident, ty: Type) -> u32 {
        let slot = self.state.slots.len() as u32;
        room::push(&mut self.state.slots, Slot { name: ident.name, ty, start: ident.span.start, used: false });
        self.state.scope.insert(ident.name, slot);
        slot
    }

    pub(super) fn at(&self, span: Span) -> Location {
        self.checker.at(self.module, span)
    }

    pub(super) fn finding(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.at(span), message)
    }

    pub(super) fn report(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.push(self.finding(code, span, message));
    }

    /// Reports a diagnostic with a second location that explains it.
    pub(super) fn report_beside(&mut self, code: Code, span: Span, message: String, see: Location, label: &str) {
        self.push(self.finding(code, span, message).see(see, label));
    }

    /// Where a local is defined.
    pub(super) fn at_slot(&self, slot: u32) -> Location {
        let Slot { name, start, .. } = self.state.slots[slot as usize];
        self.at(Span { start, end: start + self.checked().text(name).len() as u32 })
    }

    pub(super) fn describe(&self, ty: Type) -> String {
        self.checker.describe(ty)
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.checker.diagnostics.report(diagnostic);
    }

    pub(super) fn text(&self, name: Name) -> String {
        self.checked().text(name).to_string()
    }

    pub(super) fn draft(&self) -> bool {
        self.checked().document.dialect() == Dialect::Draft
    }

    pub(super) fn set_type(&mut self, id: ExprId, ty: Type) {
        self.tables.nodes[id].ty = ty;
    }

    pub(super) fn set_ref(&mut self, id: ExprId, referent: Ref) {
        self.tables.nodes[id].referent = referent;
    }

    pub(super) fn fit(&self, formal: Type, actual: Type) -> Fit {
        self.checked().types.fit(formal, actual, &mut Some(Primitive::Generic))
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment) {
        let name = self.ast.name(assignment.target);
        let context = Context {
            statement: true,
            several: name.is_none() || self.draft(),
            open_array: name.is_none_or(|name| self.covers_array(name)),
        };
        // I4: in the graph, `external` may only be assigned to a graph input.
        if let (Some(name), Expr::Call(call)) = (name, self.ast.expr(assignment.value))
            && self.in_graph()
            && !self.draft()
            && Some(self.ast.call(call).name.name) == self.checked().words.external
            && self.state.declared.get(name).is_none()
        {
            let message = format!("`{}` is external but not an input of the graph", self.text(name));
            self.report(Code::ExternalNotInput, self.ast.span(assignment.target), message);
        }
        let ty = self.expr_in(assignment.value, context);
        if name.is_none() && self.target_depth(assignment.target) > MAX_TARGET_DEPTH {
            let message = format!("a left side is nested deeper than {MAX_TARGET_DEPTH}");
            self.report(Code::TooDeep, self.ast.span(assignment.target), message);
            return;
        }
        self.assign(assignment.target, ty, assignment.value);
    }

    fn target_depth(&self, target: ExprId) -> usize {
        let (mut open, mut deepest) = (vec![(target, 1)], 0);
        while let Some((id, depth)) = open.pop() {
            deepest = deepest.max(depth);
            if let Expr::Array(items) | Expr::Tuple(items) = self.ast.expr(id) {
                open.extend(self.ast.items(items).iter().map(|&item| (item, depth + 1)));
            }
        }
        deepest
    }

    /// Whether an array of unknown length can be assigned to a name: to a result of a fragment, whose
    /// length the caller determines (U4).
    fn covers_array(&self, name: Name) -> bool {
        !self.in_graph() && self.loop_locals.is_none() && self.state.declared.get(name).is_some()
    }

    /// Matches the structure of a left side with the type of the value (U2).
    pub(super) fn assign(&mut self, target: ExprId, ty: Type, value: ExprId) {
        let span = self.ast.span(target);
        match (self.ast.expr(target), ty) {
            (Expr::Name(name), _) => {
                if matches!(ty, Type::Tuple(_))
                    && let Expr::Call(call) = self.ast.expr(value)
                    && !self.draft()
                    && self.are_several_results(value, ty)
                {
                    if !self.doubles_a_result(value) {
                        let callee = self.text(self.ast.call(call).name.name);
                        let message = format!("`{callee}` has several results, the left side has one name");
                        self.push(self.finding(Code::StructureMismatch, span, message).label("one name"));
                    }
                    return self.define(target, Ident { name, span }, Type::Unknown, value);
                }
                self.define(target, Ident { name, span }, ty, value);
            }
            (Expr::Tuple(items), Type::Tuple(tuple)) => {
                let types = self.types().items(tuple).to_vec();
                if types.len() != items.len as usize {
                    let message = format!("the left side has {} names, the value has {} items", items.len, types.len());
                    let label = format!("{} names", items.len);
                    self.push(self.finding(Code::StructureMismatch, span, message).label(label));
                }
                let missing = std::iter::repeat(Type::Unknown);
                for (&item, ty) in self.ast.items(items).iter().zip(types.into_iter().chain(missing)) {
                    self.assign(item, ty, value);
                }
            }
            (expr @ (Expr::Array(items) | Expr::Tuple(items)), Type::Array(array)) => {
                if matches!(expr, Expr::Tuple(_)) {
                    let message = format!("the left side is a tuple, the value is {}", self.describe(ty));
                    let help = "write the names in brackets: `[a, b] = ..;`";
                    self.push(Diagnostic::new(Code::TupleOfArray, self.at(span), message).help(help));
                }
                let ty = self.types().item(array);
                self.ast.items(items).iter().for_each(|&item| self.assign(item, ty, value));
            }
            (Expr::Array(items) | Expr::Tuple(items), ty) => {
                let open = match ty {
                    Type::Tensor(Element::Unknown) => matches!(self.ast.expr(value), Expr::Call(_)),
                    ty => matches!(ty, Type::Unknown | Type::EmptyArray),
                };
                if !open {
                    let what = if matches!(self.ast.expr(target), Expr::Array(_)) { "an array" } else { "a tuple" };
                    let message = format!("the left side is {what}, the value is {}", self.describe(ty));
                    self.push(self.finding(Code::StructureMismatch, span, message).label(format!("this is {what}")));
                }
                let item = if open && ty.is_tensor() { ty } else { Type::Unknown };
                self.ast.items(items).iter().for_each(|&target| self.assign(target, item, value));
            }
            _ => {}
        }
    }

    /// Whether a type is that of all results of a call, of which there are several. A tuple that is one result, or a
    /// part of one, can have one name (3.3.2).
    fn are_several_results(&self, call: ExprId, ty: Type) -> bool {
        let NodeInfo { ty: whole, referent: Ref::Call(info) } = self.tables.nodes[call] else { return false };
        let fragment = self.tables.calls[info as usize].fragment;
        whole == ty && fragment.is_some_and(|id| self.checked().fragment(id).results.len() > 1)
    }

    /// Whether the declaration of what a call calls has a result twice, which is told there. Of very many results that is
    /// not looked for.
    fn doubles_a_result(&self, call: ExprId) -> bool {
        let Ref::Call(info) = self.tables.nodes[call].referent else { return false };
        let Some(id) = self.tables.calls[info as usize].fragment else { return false };
        let results = &self.checked().fragment(id).results;
        let is_double = |i: usize| results[..i].iter().any(|other| other.name == results[i].name);
        results.len() <= MOST_COMPARED && (1..results.len()).any(is_double)
    }

    /// Assigns a value to a name: I1, I2, I5, I7, I8 and T2.
    fn define(&mut self, target: ExprId, ident: Ident, ty: Type, value: ExprId) {
        let earlier = self.state.scope.get(ident.name);
        if earlier.is_some() && self.ast.expr(value) == Expr::Error {
            return;
        }
        if let Some(earlier) = earlier {
            self.defined_again(ident, earlier);
        }
        let mut declared = None;
        match (self.place, &mut self.loop_locals) {
            (_, Some(locals)) => locals.extend(earlier.is_none().then_some(ident)),
            (CheckedBody::Graph(_), _) => self.graph_name(ident, ty, value),
            (CheckedBody::Fragment(id, _), _) => {
                let result = self.state.declared.get(ident.name);
                declared = result.map(|result| self.checked().fragment(id).results[result as usize].ty);
                declared.into_iter().for_each(|declared| self.result_type(ident.name, declared, ty, value));
            }
        }
        let slot = self.add_slot(ident, declared.unwrap_or(ty));
        self.set_ref(target, Ref::Slot(slot));
    }

    fn defined_again(&mut self, ident: Ident, earlier: u32) {
        let is_param = |id| (earlier as usize) < self.checked().fragment(id).params.len();
        let is_result = self.state.declared.get(ident.name).is_some();
        if self.is_marred(ident.name) {
            return;
        }
        if let CheckedBody::Fragment(id, _) = self.place
            && is_result
            && is_param(id)
        {
            // A name that is declared twice is reported at the declaration.
            return;
        }
        let mut label = "first definition";
        let (code, what) = match self.place {
            _ if self.loop_locals.is_some() => (Code::Reassigned, "assigned already"),
            CheckedBody::Graph(_) if self.state.slots[earlier as usize].used => {
                label = "first assignment";
                (Code::GraphNameReused, "assigned already")
            }
            CheckedBody::Graph(_) => {
                label = "nothing uses this tensor";
                (Code::GraphNameReassigned, "assigned again before it is used")
            }
            CheckedBody::Fragment(id, _) if is_param(id) => {
                (Code::ParameterAssigned, "a parameter; it cannot be assigned")
            }
            CheckedBody::Fragment(..) if is_result => (Code::ResultReassigned, "a result that is assigned already"),
            CheckedBody::Fragment(..) => (Code::Reassigned, "assigned already"),
        };
        let message = format!("`{}` is {what}", self.text(ident.name));
        self.report_beside(code, ident.span, message, self.at_slot(earlier), label);
    }

    /// T2: the value converts to the declared type of the result.
    fn result_type(&mut self, name: Name, declared: Type, ty: Type, value: ExprId) {
        let mut fit = self.fit(declared, ty);
        if self.draft() {
            fit = self.types().fit_in_draft(declared, ty, fit);
        }
        let Some(code) = self.conversion(fit, ty, Code::ResultType) else { return };
        let (found, declared) = (self.describe(ty), self.describe(declared));
        let (span, name) = (self.ast.span(value), self.text(name));
        let message = format!("result `{name}` is declared as {declared}, the value is {found}");
        self.push(self.finding(code, span, message).label(format!("this is {found}")));
    }

    /// The code for a conversion that the specification does not allow; `wrong` if no mode allows it.
    pub(super) fn conversion(&self, fit: Fit, value: Type, wrong: Code) -> Option<Code> {
        Some(match fit {
            Fit::Exact => return None,
            Fit::Elements if self.draft() => Code::DataType,
            Fit::Elements => Code::ElementType,
            Fit::LiteralAsTensor if matches!(value, Type::LOGICAL | Type::STRING) => wrong,
            Fit::LiteralAsTensor => Code::LiteralAsTensor,
            Fit::TensorAsAttribute => Code::TensorAsAttribute,
            Fit::Structure | Fit::ExtentAsScalar | Fit::None => wrong,
        })
    }

    /// Checks the value assigned to a name of the graph.
    fn graph_name(&mut self, ident: Ident, ty: Type, value: ExprId) {
        if self.state.declared.get(ident.name).is_some() && !self.is_input_source(value) {
            let message = format!("graph input `{}` must be assigned from `{EXTERNAL}`", self.text(ident.name));
            self.report(Code::InputNotExternal, ident.span, message);
        }
        if !matches!(ty, Type::Tensor(_) | Type::Unknown) {
            let (name, found) = (self.text(ident.name), self.describe(ty));
            let message = format!("`{name}` is {found}; names in the graph denote tensors");
            self.push(self.finding(Code::GraphNameNotTensor, ident.span, message).label(format!("this is {found}")));
        }
    }

    /// Whether a right side can define a graph input: `external`, or an operation of a vendor.
    fn is_input_source(&self, value: ExprId) -> bool {
        let Expr::Call(call) = self.ast.expr(value) else { return self.ast.expr(value) == Expr::Error };
        let name = self.ast.call(call).name.name;
        let checked = self.checked();
        let of_vendor = |id| !checked.fragment(id).has_body && checked.fragment(id).module != ModuleId::STANDARD;
        checked.text(name) == EXTERNAL || checked.find(self.module, name).is_none_or(of_vendor)
    }

    /// I5, I10, I2: every result is assigned somewhere. Returns its slot.
    pub(super) fn finish(&mut self, declared: Ident, code: Code, what: &str) -> Option<u32> {
        let broken = match self.place {
            CheckedBody::Fragment(_, body) => body.assignments.is_empty(),
            CheckedBody::Graph(graph) => graph.body.assignments.is_empty(),
        };
        let slot = self.state.scope.get(declared.name);
        if slot.is_none() && !broken {
            let message = format!("{what} `{}` is never assigned", self.text(declared.name));
            self.report(code, declared.span, message);
        }
        slot
    }

    /// I6: resolves an identifier that is not a local.
    #[inline(never)]
    pub(super) fn other_name(&mut self, id: ExprId, name: Name) -> Type {
        if self.checker.symbols.contains(&name) {
            self.set_ref(id, Ref::Symbol);
            return Type::Unknown;
        }
        let text = self.text(name);
        let literal = match text.as_str() {
            "inf" => Some(Ref::Infinity),
            "nan" => Some(Ref::NotANumber),
            _ => None,
        };
        let span = self.ast.span(id);
        if let Some(literal) = literal {
            self.set_ref(id, literal);
            self.report(Code::NonFiniteLiteral, span, format!("`{text}` is not a literal of the language"));
            return Type::SCALAR;
        }
        if self.new_symbols && !self.assigned_later().contains_key(&name) {
            self.checker.symbols.insert(name);
            self.set_ref(id, Ref::Symbol);
            let message = format!("`{text}` is a dimension symbol that no extension declares");
            self.report(Code::ImpliedSymbol, span, message);
            return Type::Unknown;
        }
        self.undeclared(name, &text, span);
        Type::Unknown
    }

    /// Whether a name has characters that no name can have, which the lexer reported.
    pub(super) fn is_marred(&self, name: Name) -> bool {
        !is_identifier(self.checked().text(name))
    }

    fn undeclared(&mut self, name: Name, text: &str, span: Span) {
        if let Some(&later) = self.assigned_later().get(&name) {
            let message = format!("`{text}` is used before it is assigned");
            return self.report_beside(Code::UsedBeforeDefined, span, message, self.at(later), "first assignment");
        }
        if self.is_marred(name) || self.state.declared.get(name).is_some() {
            // An input or a result that nothing assigns is reported at its declaration.
            return;
        }
        let checked = self.checked();
        let finding = self.finding(Code::UndeclaredName, span, format!("`{text}` is not defined"));
        self.push(match checked.find(self.module, name) {
            Some(_) => finding.help(format!("`{text}` is an operation: call it as `{text}(..)`")),
            None if self.checker.diagnostics.is_frequent(Code::UndeclaredName) => finding,
            None => {
                let meant = nearest(text, self.state.names().map(|name| checked.text(name)));
                finding.meant(span, meant)
            }
        });
    }

    fn assigned_later(&mut self) -> &FxHashMap<Name, Span> {
        let (ast, place) = (self.ast, self.place);
        self.state.assigned_anywhere.get_or_insert_with(|| {
            let body = match place {
                CheckedBody::Fragment(_, body) => body,
                CheckedBody::Graph(graph) => &graph.body,
            };
            // The first location of each name.
            let mut names = FxHashMap::default();
            for assignment in &body.assignments {
                ast.each_target(assignment.target, |target, name| {
                    names.entry(name).or_insert(ast.span(target));
                });
            }
            names
        })
    }
}

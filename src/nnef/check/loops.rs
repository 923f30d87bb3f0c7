//! Loops: their variables, conditions, counts and results, by the rules on loops (E-…) and T12.

use super::Ref;
use super::bodies::{BodyCheck, Context};
use crate::diagnostics::{Code, Diagnostic};
use crate::graph::Primitive;
use crate::nnef::ast::{Assignment, Ast, Call, Expr, ExprId, Ident, Loop, LoopId};
use crate::nnef::types::{Element, Fit, Type};
use crate::source::Span;
use crate::source::names::Names;

/// The function that reverses iteration: `reverse(xs)` iterates from the last item.
const REVERSE: &str = "reverse";

/// The array that is iterated over, and whether in reverse: `reverse(xs)`, unless `reverse` is declared.
pub(crate) fn iterated(ast: &Ast, names: &Names, declared: impl Fn(&Call) -> bool, id: ExprId) -> (ExprId, bool) {
    if let Expr::Call(call) = ast.expr(id)
        && let call = ast.call(call)
        && names.text(call.name.name) == REVERSE
        && let [value] = ast.arguments(&call).by_position()
        && !declared(&call)
    {
        return (*value, true);
    }
    (id, false)
}

impl BodyCheck<'_, '_> {
    /// The type of a loop: the types of its recurrences, then arrays of the collected values.
    #[inline(never)]
    pub(super) fn looping(&mut self, id: ExprId, of: LoopId) -> Type {
        let ast = self.ast;
        let (of, span) = (ast.loops[of.index()], ast.span(id));
        let recurrences = self.recurrence_types(&of);
        let items = self.iterator_types(&of);
        if let Some(count) = of.count {
            let ty = self.expr(count);
            if !matches!(ty, Type::INTEGER | Type::Unknown) {
                let found = self.describe(ty);
                let message = format!("the count of a loop is {found}, not a single integer");
                let finding = self.finding(Code::CountType, ast.span(count), message);
                self.push(finding.label(format!("this is {found}")));
            }
        }
        if of.count.is_none() && of.before.is_none() && of.after.is_none() && items.is_empty() {
            let at = self.at(span);
            let finding = Diagnostic::new(Code::NoTripLimit, at, "this loop has no trip limit");
            self.push(finding.help("add a count, `do..(n)`, an iterator or a condition"));
        }
        let first = self.state.slots.len() as u32;
        self.set_ref(id, Ref::Slot(first));
        let names = ast.recurrences[of.recurrences.range()].iter().map(|recurrence| recurrence.name);
        let names = names.chain(ast.iterators[of.iterators.range()].iter().map(|iterator| iterator.name));
        let types = recurrences.iter().chain(&items).copied().chain([Type::INTEGER]);
        let hidden: Vec<_> = names.chain(of.index).zip(types).map(|(name, ty)| self.hide(name, ty)).collect();
        self.loop_condition(of.before);
        let results = self.loop_body(&of);
        self.loop_condition(of.after);
        self.unhide(hidden);
        self.loop_type(&of, span, &recurrences, &results)
    }

    fn recurrence_types(&mut self, of: &Loop) -> Vec<Type> {
        let ast = self.ast;
        let mut types = Vec::new();
        for recurrence in &ast.recurrences[of.recurrences.range()] {
            let found = self.expr(recurrence.initial);
            let Some(spec) = recurrence.ty else {
                types.push(found);
                continue;
            };
            let declared = self.types().type_of_spec(ast, spec);
            self.recurrence_fits(declared, found, ast.span(recurrence.initial), "starts as");
            types.push(declared);
        }
        types
    }

    fn recurrence_fits(&mut self, declared: Type, found: Type, span: Span, what: &str) {
        if matches!(self.fit(declared, found), Fit::Exact | Fit::LiteralAsTensor) {
            return;
        }
        let (is, goes) = (self.describe(declared), self.describe(found));
        let finding = self.finding(Code::RecurrenceType, span, format!("the recurrence is {is}, it {what} {goes}"));
        let finding = finding.label(format!("this is {goes}"));
        let help = found.is_tensor().then(|| format!("declare its type: `with s: {goes} = ..`"));
        self.push(finding.help_if(help));
    }

    fn iterator_types(&mut self, of: &Loop) -> Vec<Type> {
        let ast = self.ast;
        let mut types = Vec::new();
        for iterator in &ast.iterators[of.iterators.range()] {
            let checked = self.checked();
            let declared = |call: &Call| checked.find(self.module, call.name.name).is_some();
            let (iterable, _) = iterated(ast, checked.document.names(), declared, iterator.iterable);
            types.push(self.iterated_items(iterable, "loop"));
        }
        types
    }

    /// T12: the item type of an iterated array.
    pub(super) fn iterated_items(&mut self, iterable: ExprId, what: &str) -> Type {
        match self.expr(iterable) {
            Type::Array(array) => self.types().item(array),
            Type::EmptyArray | Type::Unknown => Type::Unknown,
            other => {
                let found = self.describe(other);
                let message = format!("a {what} iterates over arrays, this is {found}");
                let finding = self.finding(Code::Iterable, self.ast.span(iterable), message);
                self.push(finding.label(format!("this is {found}")));
                Type::Unknown
            }
        }
    }

    /// Adds a slot for a variable of a nested scope. I11: it must not hide another name.
    pub(super) fn hide(&mut self, name: Ident, ty: Type) -> (Ident, Option<u32>) {
        let earlier = self.state.scope.get(name.name);
        if let Some(earlier) = earlier {
            let message = format!("iterator `{}` hides another name", self.text(name.name));
            self.report_beside(Code::IteratorShadows, name.span, message, self.at_slot(earlier), "first definition");
        }
        self.add_slot(name, ty);
        (name, earlier)
    }

    /// Restores the previous slots of hidden names.
    pub(super) fn unhide(&mut self, hidden: Vec<(Ident, Option<u32>)>) {
        for (name, earlier) in hidden.into_iter().rev() {
            match earlier {
                Some(slot) => self.state.scope.insert(name.name, slot),
                None => self.state.scope.remove(name.name),
            }
        }
    }

    /// A condition is one logical: a compile-time value, or a tensor.
    fn loop_condition(&mut self, condition: Option<ExprId>) {
        let Some(condition) = condition else { return };
        let ty = self.expr(condition);
        let logical = match ty {
            Type::Tensor(_) => {
                let tensor = Type::Tensor(Element::Of(Primitive::Logical));
                matches!(self.fit(tensor, ty), Fit::Exact)
            }
            ty => matches!(ty, Type::LOGICAL | Type::Unknown),
        };
        if !logical {
            let found = self.describe(ty);
            let message = format!("the condition of a loop is {found}, not a single logical");
            let finding = self.finding(Code::WhileType, self.ast.span(condition), message);
            self.push(finding.label(format!("this is {found}")));
        }
    }

    /// Checks the statements of a body, whose names are local to it. Returns the types of its results.
    fn loop_body(&mut self, of: &Loop) -> Vec<Type> {
        let ast = self.ast;
        let outer = self.loop_locals.replace(Vec::new());
        for (target, value) in ast.loop_statements(of) {
            let span = ast.span(target).to(ast.span(value));
            self.assignment(&Assignment { target, value, span });
        }
        let results = ast.items(of.results);
        let context = Context { several: results.len() == 1, ..Context::default() };
        let types: Vec<Type> = results.iter().map(|&result| self.expr_in(result, context)).collect();
        let locals = std::mem::replace(&mut self.loop_locals, outer).unwrap_or_default();
        self.unhide(locals.into_iter().map(|name| (name, None)).collect());
        match types[..] {
            [Type::Tuple(tuple)] => self.types().items(tuple).to_vec(),
            _ => types,
        }
    }

    fn loop_type(&mut self, of: &Loop, span: Span, recurrences: &[Type], results: &[Type]) -> Type {
        let ast = self.ast;
        if results.len() < recurrences.len() {
            let (given, wanted) = (results.len(), recurrences.len());
            let values = if given == 1 { "value" } else { "values" };
            let message = format!("the body of this loop gives {given} {values} for {wanted} recurrences");
            if !results.contains(&Type::Unknown) {
                // An operation that is not declared has one result.
                let undeclared = matches!(results, [Type::Tensor(Element::Unknown)]);
                let help = undeclared.then(|| "declare the operation, with as many results".to_owned());
                let finding = self.finding(Code::RecurrenceInputs, span, message);
                self.push(finding.label(format!("{given} of {wanted} values")).help_if(help));
            }
            return Type::Unknown;
        }
        let places = ast.items(of.results);
        for (i, (&declared, &found)) in recurrences.iter().zip(results).enumerate() {
            let place = places.get(i).or(places.first()).map_or(Default::default(), |&place| ast.span(place));
            self.recurrence_fits(declared, found, place, "goes on as");
        }
        let types = &mut self.checker.checked.types;
        let collected = results[recurrences.len()..].iter().map(|&ty| types.array(ty));
        let all: Vec<Type> = recurrences.iter().copied().chain(collected.collect::<Vec<_>>()).collect();
        if let [single] = all[..] { single } else { types.tuple(&all) }
    }
}

//! Assigns the arguments of a call to parameters (A2 to A8).

use std::cell::LazyCell;

use rustc_hash::FxHashSet;

use super::{BodyCheck, Callee, MAX_LISTED};
use crate::diagnostics::Code;
use crate::diagnostics::suggest::{did_you_mean, nearest};
use crate::nnef::ast::{Arg, Arguments, BinaryOp, Expr, ExprId, Ident};
use crate::nnef::check::positions::Positions;
use crate::nnef::check::{FragmentInfo, ParamInfo};
use crate::source::Span;
use crate::source::names::Name;

/// Which positional arguments of a call can be given by name, where they stand.
struct Nameable {
    /// Those from this position on: a positional argument must not follow a named one.
    from: usize,
    /// Those before this position, that of the first named argument: one behind it has to be moved instead.
    before: usize,
    /// Those of other parameters: one that is given by name, too, has to be removed instead.
    given: FxHashSet<Name>,
}

impl Nameable {
    fn of(args: Arguments, info: &FragmentInfo) -> Self {
        let positional = args.iter().filter(|arg| arg.name.is_none()).count();
        let stays = |i: &usize| info.params.get(*i).is_none_or(|param| param.tensor);
        Nameable {
            from: (0..positional).rfind(stays).map_or(0, |last| last + 1),
            before: args.iter().take_while(|arg| arg.name.is_none()).count(),
            given: args.iter().filter_map(|arg| Some(arg.name?.name)).collect(),
        }
    }

    /// Whether the argument at a position can be given by the name of its parameter.
    fn can_be(&self, position: usize, parameter: Name) -> bool {
        (self.from..self.before).contains(&position) && !self.given.contains(&parameter)
    }
}

impl BodyCheck<'_, '_> {
    /// A4: positional arguments precede named ones.
    #[inline(never)]
    pub(super) fn named_after_positional(&mut self, args: Arguments) {
        let mut named = args.iter().skip_while(|arg| arg.name.is_none());
        let Some(first) = named.next().and_then(|arg| arg.name) else { return };
        if let Some(arg) = named.find(|arg| arg.name.is_none()) {
            let see = self.at(first.span);
            let message = "positional arguments precede named ones".to_string();
            let span = self.ast.span(arg.value);
            self.report_beside(Code::PositionalAfterNamed, span, message, see, "the first named argument");
        }
    }

    /// Assigns arguments to parameters (A2 to A8). Returns the position of the first one in
    /// [`ModuleInfo::bound`](super::ModuleInfo::bound).
    #[inline(never)]
    pub(super) fn bind(&mut self, callee: Callee) -> u32 {
        let args = self.ast.arguments(callee.call);
        let count = callee.info.params.len();
        let table = &mut self.tables.bound;
        let first = table.len();
        table.resize(first + count, None);
        let mut misplaced = 0;
        let names = || callee.info.params.iter().map(|param| param.name);
        let positions = LazyCell::new(|| Positions::new(names(), args.len()));
        let position_of = |name: Name| positions.find(names(), name);
        if args.have_names() {
            self.named_after_positional(args);
        }
        let (mut next, mut nameable) = (0.., None);
        for arg in args.iter() {
            let meant = self.meant_by_name(arg, |name| position_of(name).is_some());
            if let Some((arg, operator)) = meant {
                self.compared_argument(arg, operator);
            }
            let arg = meant.map_or(arg, |(arg, _)| arg);
            let Some(ident) = arg.name else {
                let position = next.next().unwrap_or_default();
                if self.positional(callee, position, arg.value, &mut nameable) {
                    self.tables.bound[first + position] = Some(arg.value);
                }
                continue;
            };
            let Some(param) = position_of(ident.name) else {
                self.expr(arg.value);
                misplaced += usize::from(self.unknown_argument(callee, ident));
                continue;
            };
            if self.bound(first as u32, param).is_some() {
                self.expr(arg.value);
                self.given_again(ident, param >= next.start);
                misplaced += 1;
                continue;
            }
            if callee.info.params[param].tensor {
                let message = format!("tensor `{}` should be given by position", self.text(ident.name));
                self.report(Code::NamedTensor, ident.span, message);
            }
            self.tables.bound[first + param] = Some(arg.value);
        }
        let bound = &self.tables.bound[first..first + count];
        if callee.info.params.iter().zip(bound).any(|(param, bound)| bound.is_none() && param.default.is_none()) {
            self.missing(callee, first, misplaced);
        }
        first as u32
    }

    /// The named argument that a comparison was meant to be: `a == 1` with a parameter `a`, and no local of that name.
    /// With the place of the operator.
    fn meant_by_name(&self, arg: Arg, is_param: impl Fn(Name) -> bool) -> Option<(Arg, Span)> {
        let Expr::Binary { op: BinaryOp::Eq, lhs, rhs, at } = self.ast.expr(arg.value) else { return None };
        let Expr::Name(name) = self.ast.expr(lhs) else { return None };
        if arg.name.is_some() || self.state.scope.get(name).is_some() || !is_param(name) {
            return None;
        }
        let ident = Ident { name, span: self.ast.span(lhs) };
        Some((Arg { name: Some(ident), value: rhs }, Span::new(at, at + 2)))
    }

    fn compared_argument(&mut self, arg: Arg, operator: Span) {
        let name = arg.name.map_or(String::new(), |ident| self.text(ident.name));
        let message = format!("`==` compares: an argument is given as `{name} = ..`");
        let finding = self.finding(Code::BadExpression, operator, message).label("a comparison");
        self.push(finding.help("write `=`").fix(operator, "="));
    }

    fn given_again(&mut self, ident: Ident, by_name: bool) {
        let (code, how) = match by_name {
            true => (Code::DuplicateArgument, "is given twice"),
            false => (Code::NamedAndPositional, "is already given by position"),
        };
        let message = format!("argument `{}` {how}", self.text(ident.name));
        self.report(code, ident.span, message);
    }

    /// Checks a positional argument. Returns whether there is a parameter for it. `nameable` is found when an argument
    /// has to be given by name.
    fn positional(
        &mut self,
        Callee { call, fragment, info }: Callee,
        i: usize,
        value: ExprId,
        nameable: &mut Option<Nameable>,
    ) -> bool {
        let Some(param) = info.params.get(i) else {
            if i == info.params.len() {
                let name = self.checked().text(call.name.name);
                let parameters = if i == 1 { "1 parameter".to_string() } else { format!("{i} parameters") };
                let message = format!("`{name}` has {parameters}, this call gives {}", self.ast.arguments(call).len());
                let (span, see) = (self.ast.span(value), self.checker.fragment_location(fragment));
                let code = if self.ignores_arguments() { Code::IgnoredArgument } else { Code::TooManyArguments };
                let label = format!("this is argument {}", i + 1);
                self.push(
                    self.finding(code, span, message).label(label).see(see, format!("declared with {parameters}")),
                );
            }
            self.expr(value);
            return false;
        };
        if !param.tensor {
            let parameter = self.text(param.name);
            let message = format!("attribute `{parameter}` must be given by name");
            let label = format!("the value of `{parameter}`");
            let finding = self.finding(Code::PositionalAttribute, self.ast.span(value), message).label(label);
            let finding = finding.help(format!("write `{parameter} = ..`"));
            let nameable = nameable.get_or_insert_with(|| Nameable::of(self.ast.arguments(call), info));
            let start = self.ast.span(value).start;
            let named = nameable.can_be(i, param.name).then(|| format!("{parameter} = "));
            self.push(finding.propose(Span::new(start, start), named).certain());
        }
        true
    }

    /// A5. Returns whether the argument may have been meant for another parameter, not ignored.
    fn unknown_argument(&mut self, Callee { call, info, .. }: Callee, argument: Ident) -> bool {
        if self.is_marred(argument.name) {
            return true;
        }
        let checked = self.checked();
        let text = checked.text(argument.name);
        if self.ignores_arguments() {
            let message = format!("`{}` has no parameter `{text}`; it is ignored", checked.text(call.name.name));
            let known = info.params.iter().map(|param| checked.text(param.name));
            let help = did_you_mean(text, known);
            self.push(self.finding(Code::IgnoredArgument, argument.span, message).help_if(help));
            return false;
        }
        let names = || info.params.iter().map(|param| checked.text(param.name));
        let listed = || {
            let few = names().take(MAX_LISTED).collect::<Vec<_>>().join(", ");
            match info.params.len() {
                0 => None,
                count if count > MAX_LISTED => Some(format!("its {count} parameters are {few}, …")),
                _ => Some(format!("its parameters are {few}")),
            }
        };
        let told = !self.checker.diagnostics.is_frequent(Code::UnknownArgument);
        let meant = if told { nearest(text, names()) } else { None };
        let listed = if told && meant.is_none() { listed() } else { None };
        let operation = checked.text(call.name.name);
        let message = format!("`{operation}` has no parameter `{text}`");
        let finding = self.finding(Code::UnknownArgument, argument.span, message);
        self.push(
            finding.label(format!("not a parameter of `{operation}`")).help_if(listed).meant(argument.span, meant),
        );
        true
    }

    /// Whether arguments without a parameter are ignored, as programs that read registry documents do.
    fn ignores_arguments(&self) -> bool {
        self.checked().document.of_practice() && !self.checker.diagnostics.strict()
    }

    /// A3. Misplaced arguments, for instance with a misspelt name, are probably the missing ones and
    /// already reported.
    fn missing(&mut self, Callee { call, fragment, info }: Callee, first: usize, misplaced: usize) {
        let bound = self.tables.bound[first..].to_vec();
        let checked = self.checked();
        // A parameter that is declared twice cannot be given, and is reported at the declaration.
        let mut seen = FxHashSet::default();
        let first: Vec<bool> = info.params.iter().map(|param| seen.insert(param.name)).collect();
        let missing = info.params.iter().zip(bound).zip(first);
        let missing = missing.filter(|((param, bound), first)| *first && bound.is_none() && param.default.is_none());
        let missing = missing.map(|(param, _)| param);
        if missing.clone().count() <= misplaced {
            return;
        }
        let describe =
            |param: &ParamInfo| format!("`{}: {}`", checked.text(param.name), checked.types.describe(param.ty));
        let names: Vec<String> = missing.clone().map(|(param, _)| format!("`{}`", checked.text(param.name))).collect();
        let missing: Vec<String> = missing.map(|(param, _)| describe(param)).collect();
        let what = if missing.len() == 1 { "argument" } else { "arguments" };
        let message = format!("`{}` needs {what} {}", checked.text(call.name.name), missing.join(", "));
        let see = self.checker.fragment_location(fragment);
        let label = format!("called without {}", names.join(", "));
        let finding = self.finding(Code::MissingArgument, call.name.span, message).label(label);
        self.push(finding.see(see, "the declaration"));
    }
}

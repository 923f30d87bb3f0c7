//! Types of expressions (T6 to T16): arrays, tuples, selects, subscripts, comprehensions, built-ins.
//!
//! Chains of binary operators and subscripts are walked in a loop along their left spine, chains of
//! selects along their `else` branches, so a million `+` need no stack. The rest recurses with small stack
//! frames, because touching new stack memory takes longer than the checks: functions for errors and rare
//! cases are not inlined.

use smallvec::SmallVec;

use super::bodies::{BodyCheck, Context};
use super::{Checker, NodeInfo, Ref, Slot};
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::nnef::ast::{Ast, Builtin, ComprehensionId, Expr, ExprId, Iterator, ListRange, Numbers};
use crate::nnef::document::ModuleId;
use crate::nnef::types::{Element, Type, TypePart};
use crate::room::with_stack;

impl Checker<'_> {
    /// The type of a literal without subexpressions.
    pub(super) fn simple_literal(&mut self, ast: &Ast, expr: Expr) -> Option<Type> {
        Some(match expr {
            Expr::Int(_) => Type::INTEGER,
            Expr::Scalar(_) => Type::SCALAR,
            Expr::Logical(_) => Type::LOGICAL,
            Expr::String(_) => Type::STRING,
            Expr::IntArray(_) => self.checked.types.array(Type::INTEGER),
            Expr::ScalarArray(_) => self.checked.types.array(Type::SCALAR),
            Expr::Numbers(numbers) => self.checked.types.array(match ast.numbers[numbers.index()] {
                Numbers::Ints(_) => Type::INTEGER,
                Numbers::Scalars(_) => Type::SCALAR,
            }),
            _ => return None,
        })
    }

    /// The type of a default value; `None` if its items have no common type.
    pub(super) fn literal_type(&mut self, module: ModuleId, id: ExprId) -> Option<Type> {
        let ast = self.ast(module);
        with_stack(|| {
            if let Some(ty) = self.simple_literal(ast, ast.expr(id)) {
                return Some(ty);
            }
            let ty = match ast.expr(id) {
                Expr::Unary { operand, .. } => self.literal_type(module, operand)?,
                Expr::Array(items) => {
                    let mut common = None;
                    for &item in ast.items(items) {
                        let ty = self.literal_type(module, item)?;
                        common = Some(match common {
                            None => ty,
                            Some(common) => self.checked.types.common(common, ty)?,
                        });
                    }
                    common.map_or(Type::EmptyArray, |item| self.checked.types.array(item))
                }
                Expr::Tuple(items) => {
                    let items: Option<Vec<Type>> =
                        ast.items(items).iter().map(|&item| self.literal_type(module, item)).collect();
                    self.checked.types.tuple(&items?)
                }
                _ => Type::Unknown,
            };
            Some(ty)
        })
    }
}

impl BodyCheck<'_, '_> {
    /// The type of an expression used as a value.
    pub(super) fn expr(&mut self, id: ExprId) -> Type {
        self.expr_in(id, Context::default())
    }

    /// The type of an expression in its context. Most expressions are names of locals (I6), simple
    /// literals and calls.
    pub(super) fn expr_in(&mut self, id: ExprId, context: Context) -> Type {
        let expr = self.ast.expr(id);
        let ty = match expr {
            Expr::Name(name) => match self.state.scope.get(name) {
                Some(slot) => {
                    let Slot { ty, used, .. } = &mut self.state.slots[slot as usize];
                    *used = true;
                    let ty = *ty;
                    self.tables.nodes[id] = NodeInfo { ty, referent: Ref::Slot(slot) };
                    return ty;
                }
                None => self.other_name(id, name),
            },
            Expr::Call(call) => with_stack(|| self.call(id, call, context)),
            expr if expr.is_leaf() => self.checker.simple_literal(self.ast, expr).unwrap_or(Type::Unknown),
            expr if expr.continues_left() => with_stack(|| self.spine(id)),
            expr => with_stack(|| self.compound(id, expr, context)),
        };
        self.set_type(id, ty);
        ty
    }

    fn spine(&mut self, id: ExprId) -> Type {
        let (mut above, leaf) = self.ast.left_spine(id);
        let mut ty = self.expr(leaf);
        while let Some(id) = above.pop() {
            ty = match self.ast.expr(id) {
                Expr::Binary { op, rhs, at, .. } => {
                    let right = self.expr(rhs);
                    self.binary(op, at, ty, right)
                }
                Expr::Index { base, index } => self.index(base, ty, index),
                Expr::Slice { base, begin, end } => self.slice(base, ty, begin, end),
                _ => Type::Unknown,
            };
            self.set_type(id, ty);
        }
        ty
    }

    /// The type of a compound expression of the less frequent kinds.
    #[inline(never)]
    fn compound(&mut self, id: ExprId, expr: Expr, context: Context) -> Type {
        match expr {
            Expr::Array(items) => self.array(items),
            Expr::Tuple(items) => {
                let items: SmallVec<[Type; 4]> = self.ast.items(items).iter().map(|&item| self.expr(item)).collect();
                self.types().tuple(&items)
            }
            Expr::Unary { op, operand } => {
                let ty = self.expr(operand);
                self.unary(op, self.ast.span(id).start, ty)
            }
            Expr::Select { .. } => self.selects(id, context),
            Expr::Comprehension(comprehension) => self.comprehension(id, comprehension),
            Expr::Loop(of) => self.looping(id, of),
            Expr::Builtin { function, argument } => self.builtin(function, argument),
            _ => Type::Unknown,
        }
    }

    /// T6: items convert to a common type.
    #[inline(never)]
    fn array(&mut self, items: ListRange) -> Type {
        let mut common: Option<Type> = None;
        for &item in self.ast.items(items) {
            let ty = self.expr(item);
            let Some(before) = common else {
                common = Some(ty);
                continue;
            };
            if before == ty {
                continue;
            }
            common = Some(match self.common(before, ty) {
                Some(both) => both,
                None => self.mixed_items(item, before, ty),
            });
        }
        common.map_or(Type::EmptyArray, |item| self.types().array(item))
    }

    /// The common type of values. In the draft an extent or a string does not stand for a tensor (3.3.2), which only
    /// `--strict` minds.
    fn common(&mut self, a: Type, b: Type) -> Option<Type> {
        let common = self.types().common(a, b)?;
        let strict = self.draft() && self.checker.diagnostics.strict();
        let types = self.types();
        let is_other = |ty| types.extent_as_tensor(common, ty);
        (!strict || !is_other(a) && !is_other(b)).then_some(common)
    }

    /// Items without a common type. Exporters write arrays of numbers and of dimensions computed as
    /// tensors, so the default mode accepts these.
    fn mixed_items(&mut self, item: ExprId, before: Type, ty: Type) -> Type {
        let number = |ty| matches!(ty, Type::Primitive(Primitive::Integer | Primitive::Scalar));
        let tensor_among_numbers = (before.is_tensor() && number(ty)) || (number(before) && ty.is_tensor());
        let both_tensors = before.is_tensor() && ty.is_tensor();
        let message = format!("this item is {}, the items before it are {}", self.describe(ty), self.describe(before));
        let (span, label) = (self.ast.span(item), format!("this is {}", self.describe(ty)));
        if !self.checker.diagnostics.strict() && (tensor_among_numbers || both_tensors) {
            self.push(self.finding(Code::TensorAsAttribute, span, message).label(label));
            return Type::Tensor(Element::Unknown);
        }
        // Registry documents have arrays among extents, which stand for their items.
        let array = |ty| matches!(ty, Type::Array(_)) && !self.checked().types.has(ty, TypePart::Tensor);
        let array_among_numbers = (number(before) && array(ty)) || (array(before) && number(ty));
        if self.checked().document.of_practice() && !self.checker.diagnostics.strict() && array_among_numbers {
            self.push(self.finding(Code::ArgumentStructure, span, message).label(label));
            return Type::Unknown;
        }
        self.push(self.finding(Code::ArrayItemTypes, span, message).label(label));
        before
    }

    /// T7, T8: a chain of selects, each in the `else` branch of the previous one. It can be as long as
    /// the text, so a loop walks it instead of recursion.
    #[inline(never)]
    fn selects(&mut self, first: ExprId, context: Context) -> Type {
        let branch = Context { statement: false, ..context };
        let mut chain: SmallVec<[(ExprId, ExprId, Type); 4]> = SmallVec::new();
        let mut id = first;
        let mut no_type = loop {
            let Expr::Select { condition, yes, no } = self.ast.expr(id) else { break self.expr_in(id, branch) };
            let yes_type = self.expr_in(yes, branch);
            let ty = self.expr(condition);
            self.logical_condition(condition, ty, Code::ConditionType);
            chain.push((id, yes, yes_type));
            id = no;
        };
        while let Some((of, yes, yes_type)) = chain.pop() {
            no_type = self.branches(yes, yes_type, id, no_type);
            id = of;
            self.set_type(id, no_type);
        }
        no_type
    }

    /// The type of a select with these branches.
    #[inline(never)]
    fn branches(&mut self, yes: ExprId, yes_type: Type, no: ExprId, no_type: Type) -> Type {
        match self.common(yes_type, no_type) {
            Some(common) => common,
            None if yes_type.is_tensor() && no_type.is_tensor() => Type::Tensor(Element::Unknown),
            None => {
                let (a, b) = (self.describe(yes_type), self.describe(no_type));
                let message = format!("one branch is {a}, the other {b}");
                let see = self.at(self.ast.span(yes));
                let diagnostic = self.finding(Code::BranchTypes, self.ast.span(no), message);
                self.push(diagnostic.label(format!("this is {b}")).see(see, format!("this is {a}")));
                Type::Unknown
            }
        }
    }

    fn logical_condition(&mut self, id: ExprId, ty: Type, code: Code) {
        if matches!(ty, Type::LOGICAL | Type::Unknown) {
            return;
        }
        let found = self.describe(ty);
        let message = format!("the condition is {found}, not logical");
        let diagnostic = self.finding(code, self.ast.span(id), message).label(format!("this is {found}"));
        let help = ty.is_tensor().then(|| {
            "a condition is decided while expanding; use the operation `select` to decide by tensor values".to_string()
        });
        self.push(diagnostic.help_if(help));
    }

    /// T9, T10, T11: the type of a subscript.
    #[inline(never)]
    fn index(&mut self, base: ExprId, ty: Type, index: ExprId) -> Type {
        if let Type::Tuple(tuple) = ty {
            let items = self.types().items(tuple).to_vec();
            let item = match self.ast.expr(index) {
                Expr::Int(i) => usize::try_from(i).ok().and_then(|i| items.get(i).copied()),
                _ => None,
            };
            self.expr(index);
            return item.unwrap_or_else(|| {
                let span = self.ast.span(index);
                let message =
                    format!("a tuple is subscripted by an integer literal from 0 to {}", items.len().saturating_sub(1));
                self.report(Code::TupleSubscript, span, message);
                Type::Unknown
            });
        }
        let index_type = self.expr(index);
        // What has no type is not an array that is subscripted: `exp[x]`.
        if ty != Type::Unknown {
            self.subscript_type(index, index_type);
        }
        match ty {
            Type::Array(array) => self.types().item(array),
            Type::STRING => Type::STRING,
            Type::EmptyArray | Type::Unknown => Type::Unknown,
            Type::Tensor(element) => {
                self.tensor_subscript(base);
                Type::Tensor(element)
            }
            _ => self.not_subscriptable(base, ty),
        }
    }

    #[inline(never)]
    fn slice(&mut self, base: ExprId, ty: Type, begin: Option<ExprId>, end: Option<ExprId>) -> Type {
        for bound in [begin, end].into_iter().flatten() {
            let ty = self.expr(bound);
            self.subscript_type(bound, ty);
        }
        match ty {
            Type::Array(_) | Type::STRING | Type::EmptyArray | Type::Unknown => ty,
            Type::Tensor(_) => {
                self.tensor_subscript(base);
                ty
            }
            Type::Tuple(_) => {
                let at = begin.or(end).map_or(self.ast.span(base).after(), |bound| self.ast.span(bound));
                let message = "a tuple has no ranges; name its items one by one";
                self.push(self.finding(Code::TupleSubscript, at, message).label("a range"));
                Type::Unknown
            }
            _ => self.not_subscriptable(base, ty),
        }
    }

    fn subscript_type(&mut self, id: ExprId, ty: Type) {
        if !matches!(ty, Type::INTEGER | Type::Unknown) {
            let found = self.describe(ty);
            let message = format!("a subscript is an integer, this is {found}");
            let finding = self.finding(Code::SubscriptType, self.ast.span(id), message);
            self.push(finding.label(format!("this is {found}")));
        }
    }

    fn tensor_subscript(&mut self, base: ExprId) {
        let span = self.ast.span(base);
        self.report(Code::TensorSubscript, span, "a tensor is subscripted; it becomes `slice` and `squeeze`");
    }

    fn not_subscriptable(&mut self, base: ExprId, ty: Type) -> Type {
        let found = self.describe(ty);
        let finding =
            self.finding(Code::NotSubscriptable, self.ast.span(base), format!("{found} cannot be subscripted"));
        self.push(finding.label(format!("this is {found}")));
        Type::Unknown
    }

    /// T12 and I11: the type of a comprehension.
    #[inline(never)]
    fn comprehension(&mut self, id: ExprId, comprehension: ComprehensionId) -> Type {
        let comprehension = self.ast.comprehensions[comprehension.index()];
        let iterators = &self.ast.iterators[comprehension.iterators.range()];
        let items = |iterator: &Iterator| self.iterated_items(iterator.iterable, "comprehension");
        let types: Vec<Type> = iterators.iter().map(items).collect();
        let slot = self.state.slots.len() as u32;
        self.set_ref(id, Ref::Slot(slot));
        let hidden = iterators.iter().zip(types).map(|(iterator, ty)| self.hide(iterator.name, ty)).collect();
        if let Some(filter) = comprehension.filter {
            let ty = self.expr(filter);
            self.logical_condition(filter, ty, Code::Iterable);
        }
        let item = self.expr(comprehension.item);
        self.unhide(hidden);
        self.types().array(item)
    }

    /// T13: the type of a built-in function.
    #[inline(never)]
    fn builtin(&mut self, function: Builtin, argument: ExprId) -> Type {
        let ty = self.expr(argument);
        let suits = match function {
            Builtin::ShapeOf => true,
            Builtin::LengthOf | Builtin::RangeOf => {
                matches!(ty, Type::Array(_) | Type::EmptyArray | Type::STRING | Type::Unknown)
            }
            _ => matches!(ty, Type::Primitive(_) | Type::Unknown),
        };
        let info = function.info();
        if !suits {
            let wants = match info.result {
                Some(Primitive::Integer) if function == Builtin::LengthOf => "an array or a string",
                None => "an array or a string",
                _ => "a compile-time value of primitive type",
            };
            let found = self.describe(ty);
            let message = format!("`{}` takes {wants}, this is {found}", info.text);
            let finding = self.finding(Code::BuiltinType, self.ast.span(argument), message);
            self.push(finding.label(format!("this is {found}")));
        }
        match info.result {
            Some(primitive) => Type::Primitive(primitive),
            None => self.types().array(Type::INTEGER),
        }
    }
}

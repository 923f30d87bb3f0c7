//! Loops: their clauses on one line, a body in braces with a statement on each line.

use super::module::{INDENT, Writer};
use crate::nnef::ast::{Expr, ExprId, LoopId, TypeSpecId};
use crate::source::names::Name;

impl Writer<'_> {
    /// Prints a loop whose statement has `depth` levels of indentation.
    pub(super) fn looping(&mut self, id: LoopId, depth: usize) {
        let ast = &self.module.ast;
        let of = ast.loops[id.index()];
        for (i, recurrence) in ast.recurrences[of.recurrences.range()].iter().enumerate() {
            self.word(if i == 0 { "with " } else { ", " });
            self.name(recurrence.name.name);
            recurrence.ty.into_iter().for_each(|ty| self.spec(ty));
            self.word(" = ");
            self.printer().expr(recurrence.initial, 0);
        }
        let mut space = if of.recurrences.len > 0 { " " } else { "" };
        for (i, iterator) in ast.iterators[of.iterators.range()].iter().enumerate() {
            self.word(if i == 0 { space } else { ", " });
            self.word(if i == 0 { "for " } else { "" });
            self.name(iterator.name.name);
            self.word(" : ");
            self.printer().expr(iterator.iterable, 0);
            space = " ";
        }
        if of.before.is_some() {
            self.word(space);
            self.condition("while ", of.before);
            space = " ";
        }
        self.word(space);
        self.word(if of.unroll { "unroll" } else { "do" });
        if of.index.is_some() || of.count.is_some() {
            self.word("..(");
            if let Some(index) = of.index {
                self.name(index.name);
                self.word(if of.count.is_some() { " -> " } else { " ->" });
            }
            self.condition("", of.count);
            self.word(")");
        }
        self.word(" ");
        self.loop_body(id, depth);
        self.condition(" while ", of.after);
    }

    /// Prints a word and an expression, if there is one.
    fn condition(&mut self, word: &str, of: Option<ExprId>) {
        if let Some(of) = of {
            self.word(word);
            self.printer().expr(of, 0);
        }
    }

    fn loop_body(&mut self, id: LoopId, depth: usize) {
        let ast = &self.module.ast;
        let of = ast.loops[id.index()];
        if !of.block {
            return ast.items(of.results).iter().for_each(|&result| self.printer().expr(result, 0));
        }
        self.word("{\n");
        for (target, value) in ast.loop_statements(&of) {
            self.word(&INDENT.repeat(depth + 1));
            self.target(target);
            self.word(" = ");
            match ast.expr(value) {
                // The recursion is as deep as the nesting of loop bodies, which is bounded.
                Expr::Loop(inner) => self.looping(inner, depth + 1),
                _ => self.printer().expr(value, 0),
            }
            self.word(";\n");
        }
        self.word(&INDENT.repeat(depth + 1));
        for (i, &result) in ast.items(of.results).iter().enumerate() {
            self.word(if i == 0 { "yield " } else { ", " });
            self.printer().expr(result, 0);
        }
        self.word(";\n");
        self.word(&INDENT.repeat(depth));
        self.word("}");
    }

    fn word(&mut self, word: &str) {
        self.out.push_str(word);
    }

    fn name(&mut self, name: Name) {
        self.out.push_str(self.names.text(name));
    }

    /// `: type`
    fn spec(&mut self, ty: TypeSpecId) {
        self.out.push_str(": ");
        self.printer().spec(ty);
    }
}

//! Templates: the expressions of operations that have no counterpart.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Expander, OperandList, OperationPlace};
use crate::graph::names::NameId;
use crate::pnnx::expression_table::{Counterpart, Op};
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::number::Meaning;
use crate::pnnx::parse::{Reading, parse};
use crate::pnnx::tree::{Expression, NodeId, Term};
use crate::source::FileId;

/// The expression of an operation, with the classes of equal nodes.
pub(super) struct Template {
    pub(super) expression: Expression,
    classes: Vec<u32>,
}

/// A use of a template: its operands, and the items of the classes that have been added.
struct TemplateUse<'t> {
    template: &'t Template,
    operands: &'t [ExpandedItem],
    place: OperationPlace,
    made: SmallVec<[Option<ExpandedItem>; 16]>,
}

impl Expander<'_> {
    /// Adds the operations of a template, equal ones once. Templates may use other templates, but are not recursive.
    pub(super) fn template(
        &mut self,
        template: &Template,
        operands: &[ExpandedItem],
        place: OperationPlace,
        name: Option<NameId>,
    ) -> ExpandedItem {
        let Some(last) = template.expression.len().checked_sub(1) else { return ExpandedItem::Refused };
        let made = SmallVec::from_elem(None, template.classes.len());
        self.part(NodeId::at(last), &mut TemplateUse { template, operands, place, made }, name)
    }

    /// Adds the operations of a node of a template; of a selection by a literal, only those of the chosen item.
    fn part(&mut self, id: NodeId, of: &mut TemplateUse, name: Option<NameId>) -> ExpandedItem {
        let expression = &of.template.expression;
        let (node, class) = (expression.node(id), of.template.classes[id.index()] as usize);
        if let Some(item) = &of.made[class] {
            return item.clone();
        }
        let ids = expression.operands(node);
        let item = match node.term {
            Term::Argument(number) => of.operands.get(number as usize).cloned().unwrap_or(ExpandedItem::Refused),
            Term::Literal(literal) => ExpandedItem::Literal(literal),
            Term::List => ExpandedItem::Refused,
            Term::Call(op) => {
                let mut items = OperandList::new();
                for id in ids {
                    items.push(self.part(*id, of, None));
                    if let (Meaning::Select, [ExpandedItem::Literal(condition)], [_, x, y]) =
                        (op.meaning(), &items[..], ids)
                    {
                        let truth = condition.number().is_some_and(|number| number.float() != 0.0);
                        return self.part(if truth { *x } else { *y }, of, name);
                    }
                }
                self.call(op, &items, of.place, name)
            }
        };
        of.made[class] = Some(item.clone());
        item
    }
}

/// The template of an operation.
pub(super) fn of(op: Op) -> Option<&'static Template> {
    static KNOWN: OnceLock<FxHashMap<Op, Template>> = OnceLock::new();
    let read = |op: Op| {
        let Counterpart::Template(text) = op.row().nnef else { return None };
        let reading = Reading { template: true, ..Reading::default() };
        let expression = parse(text, FileId::default(), 0, reading).ok()?.0.expression;
        let classes = expression.classes().0;
        Some((op, Template { expression, classes }))
    };
    KNOWN.get_or_init(|| Op::with_formulas().filter_map(read).collect()).get(&op)
}

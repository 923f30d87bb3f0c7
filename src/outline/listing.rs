//! What a notation tells of the operations of a flat graph.

/// A value: an index that the notation chose. Values of bodies have further ones.
pub(crate) type ValueId = u32;

/// A class of operations: an index into the classes of a listing.
pub(crate) type ClassId = u32;

/// What operations without operands are to bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// They stay in the graph, and bodies get their results as parameters: inputs, variables.
    Stays,
    /// Equal ones, each used by one occurrence of a body only, become one in the body: constants.
    Sinks,
}

/// What operations of a class have in common. They are equal but for their operands and results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperationClass {
    /// The bytes that an operation takes when it is written, without the names of its operands and results.
    pub(crate) bytes: u32,
    /// What it is if it has no operands.
    pub(crate) leaf: Leaf,
}

/// An operation of a listing.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedItem {
    pub(super) class: ClassId,
    /// The start of its operands and of its results in the links; the next item starts where they end.
    pub(super) operands: u32,
    pub(super) results: u32,
}

/// The operations of a flat graph, each after those that it depends on.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(super) items: Vec<ListedItem>,
    pub(super) links: Vec<ValueId>,
    pub(super) classes: Vec<OperationClass>,
    /// The number of values.
    pub(super) values: u32,
    /// The values that the graph itself has to have: its outputs, and what is used in a way that is not listed.
    pub(super) fixed: Vec<ValueId>,
}

impl Listing {
    /// A listing without operations. `values` is the number of values, and `fixed` are those that the graph itself has to
    /// have.
    pub(crate) fn new(values: u32, fixed: Vec<ValueId>) -> Self {
        Listing { items: Vec::new(), links: Vec::new(), classes: Vec::new(), values, fixed }
    }

    /// Adds a class.
    pub(crate) fn add_class(&mut self, class: OperationClass) -> ClassId {
        self.classes.push(class);
        self.classes.len() as ClassId - 1
    }

    /// Adds an operation.
    pub(crate) fn push(
        &mut self,
        class: ClassId,
        operands: impl IntoIterator<Item = ValueId>,
        results: impl IntoIterator<Item = ValueId>,
    ) {
        let start = self.links.len() as u32;
        self.links.extend(operands);
        self.items.push(ListedItem { class, operands: start, results: self.links.len() as u32 });
        self.links.extend(results);
    }

    /// The values that an operation uses.
    pub(super) fn operands(&self, item: usize) -> &[ValueId] {
        let ListedItem { operands, results, .. } = self.items[item];
        &self.links[operands as usize..results as usize]
    }

    /// The values that an operation computes.
    pub(super) fn results(&self, item: usize) -> &[ValueId] {
        let end = self.items.get(item + 1).map_or(self.links.len(), |next| next.operands as usize);
        &self.links[self.items[item].results as usize..end]
    }

    /// Whether an operation has no operands.
    pub(super) fn is_leaf(&self, item: usize) -> bool {
        self.operands(item).is_empty()
    }
}

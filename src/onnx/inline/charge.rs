//! The limits of an expansion: nodes, calls, the memory of copies, and the bytes that copies take when they are written.

use super::copy::{CopyTarget, Expand, Expansion};
use crate::Options;
use crate::diagnostics::{Code, memory_text, too_many};
use crate::graph::names::NameId;
use crate::live::Held;
use crate::onnx::functions::NodeFinding;
use crate::onnx::functions::{NAME, Size};
use crate::onnx::model::{FunctionProto, ModelNames, NodeProto, PartSizes, ValueInfo};
use crate::onnx::walk::each_node;
use crate::progress;

/// The memory of a node when it is folded: the types of its results, what is known of them, and its next copy.
const TYPED: u64 = 500;

/// What an expansion added so far.
#[derive(Debug)]
pub(super) struct Charged {
    pub(super) nodes: u64,
    /// The memory of nodes, types, names and calls.
    held: Held,
    /// The bytes of copies in a file. Payloads are shared in memory, but written once for each copy.
    pub(super) written: u64,
    max_bytes: u64,
    /// What each node takes later.
    of_node: u64,
    /// What the first copy needs to know; most expansions of models without functions have none.
    encoding: Option<Encoding>,
}

/// What the bytes of copies in a file depend on.
#[derive(Debug)]
struct Encoding {
    /// The lengths of names.
    lengths: Vec<u32>,
    /// The most bytes of copies, once there are more than the memory may have.
    max_written: Option<u64>,
}

impl Encoding {
    /// Whether copies take too many bytes in a file. The limit is that of the memory, and one copy of each function, which
    /// is what was read.
    fn refuses(&mut self, written: u64, names: &ModelNames, functions: &[FunctionProto], max_bytes: u64) -> bool {
        if written <= max_bytes {
            return false;
        }
        let lengths = &self.lengths;
        let max_written = self.max_written.get_or_insert_with(|| {
            let sizes = PartSizes { texts: &names.texts, lengths };
            let mut read = 0;
            for function in functions {
                each_node(&function.nodes, &mut |node| read += sizes.node(node));
                read += function.value_info.iter().map(|value| sizes.value_info(value)).sum::<u64>();
            }
            max_bytes.saturating_add(read)
        });
        written > *max_written
    }
}

/// The state of [`Charged`] at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    nodes: u64,
    bytes: u64,
    written: u64,
}

impl Charged {
    pub(super) fn new(options: &Options) -> Self {
        let of_node = if options.internal.typed { TYPED } else { 0 };
        Charged { nodes: 0, held: Held::default(), written: 0, max_bytes: options.max_memory, of_node, encoding: None }
    }

    /// Counts a name, whose prefix was counted before.
    #[inline]
    pub(super) fn add_name(&mut self, names: &ModelNames, id: NameId) {
        self.held.add(NAME);
        let Some(Encoding { lengths, .. }) = &mut self.encoding else { return };
        lengths.resize(id.index(), 0);
        let prefix = names.values.parent(id).map_or(0, |prefix| lengths.get(prefix.index()).map_or(0, |len| len + 1));
        lengths.push(prefix.saturating_add(names.values.part_len(&names.texts, id)));
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { nodes: self.nodes, bytes: self.held.bytes(), written: self.written }
    }

    /// Returns to an earlier state, with fewer names. Returns what was given up, in nodes.
    pub(super) fn undo(&mut self, to: Mark, names: usize) -> u64 {
        let discarded = self.nodes - to.nodes + (self.held.bytes() - to.bytes) / size_of::<NodeProto>() as u64;
        self.held.set(to.bytes);
        (self.nodes, self.written) = (to.nodes, to.written);
        if let Some(encoding) = &mut self.encoding {
            encoding.lengths.truncate(names);
        }
        discarded
    }
}

impl Expansion<'_> {
    /// Refuses an expansion to too many nodes before anything is copied. Returns the number of nodes, without those of
    /// control flow that is expanded.
    pub(super) fn check_size(&self, nodes: &[NodeProto]) -> Expand<usize> {
        let Charged { nodes: made, max_bytes, .. } = self.charged;
        let bytes = self.charged.held.bytes();
        let mut total = Size { nodes: made, calls: self.calls.len() as u64, bytes };
        for node in nodes {
            total.add(self.size_of(node));
            if total.nodes > self.max_ops {
                return Err(self.too_many_nodes(node.at));
            }
            if total.calls > self.max_ops {
                let message = format!("the expansion takes more than {} calls", self.max_ops);
                return Err(Box::new(
                    NodeFinding::new(Code::StepBudget, node.at, message).help("raise the limit with --max-ops"),
                ));
            }
            if !self.charged.held.fits(total.bytes.saturating_sub(bytes), max_bytes) {
                return Err(self.too_much_memory(node.at));
            }
        }
        Ok((total.nodes - made) as usize)
    }

    #[cold]
    fn too_many_nodes(&self, at: u32) -> Box<NodeFinding> {
        let message = too_many("the flat model", self.max_ops, "nodes");
        Box::new(NodeFinding::new(Code::OperationBudget, at, message).help("raise the limit with --max-ops"))
    }

    #[cold]
    fn too_much_memory(&self, at: u32) -> Box<NodeFinding> {
        let limit = memory_text(self.charged.max_bytes);
        let message = format!("the nodes of the flat model and their copies take more than {limit}");
        Box::new(NodeFinding::new(Code::MemoryBudget, at, message).help("raise the limit with --max-memory"))
    }

    /// Adds a node of the model.
    pub(super) fn add(&mut self, node: NodeProto, target: &mut CopyTarget) -> Expand<()> {
        self.charge(1, node.bytes(), node.at)?;
        if self.has_control {
            self.known.note(self.names, &node);
        }
        target.nodes.push(node);
        Ok(())
    }

    /// Adds a copy of a node, or a node that the model does not have.
    pub(super) fn add_copy(&mut self, node: NodeProto, target: &mut CopyTarget) -> Expand<()> {
        self.charge_written(node.at, |sizes| sizes.node(&node))?;
        self.add(node, target)
    }

    /// Counts the type of a copied value.
    pub(super) fn charge_type(&mut self, value: &ValueInfo, at: u32) -> Expand<()> {
        self.charge_written(at, |sizes| sizes.value_info(value))?;
        self.charge(0, size_of::<ValueInfo>() + value.heap_bytes(), at)
    }

    /// Counts what nodes of a graph that is passed on take in a file.
    pub(super) fn charge_nodes(&mut self, nodes: &[NodeProto], at: u32) -> Expand<()> {
        self.charge_written(at, |sizes| {
            let mut sum = 0;
            each_node(nodes, &mut |node| sum += sizes.node(node));
            sum
        })
    }

    fn charge_written(&mut self, at: u32, bytes: impl FnOnce(&PartSizes) -> u64) -> Expand<()> {
        let (names, max_bytes) = (&*self.names, self.charged.max_bytes);
        let encoding = self.charged.encoding.get_or_insert_with(|| {
            let lengths = names.values.lengths(&names.texts);
            Encoding { lengths, max_written: None }
        });
        self.charged.written += bytes(&PartSizes { texts: &names.texts, lengths: &encoding.lengths });
        if encoding.refuses(self.charged.written, names, self.functions, max_bytes) {
            let limit = memory_text(self.charged.max_bytes);
            let message = format!("the copies of functions take more than {limit} when they are written");
            return Err(Box::new(
                NodeFinding::new(Code::MemoryBudget, at, message).help("raise the limit with --max-memory"),
            ));
        }
        Ok(())
    }

    /// Counts nodes and their size in bytes, and checks the limits.
    pub(super) fn charge(&mut self, nodes: u64, bytes: usize, at: u32) -> Expand<()> {
        progress::add(nodes);
        self.charged.nodes += nodes;
        self.charged.held.add(bytes as u64 + nodes * self.charged.of_node);
        if self.charged.nodes > self.max_ops {
            return Err(self.too_many_nodes(at));
        }
        if !self.charged.held.fits(0, self.charged.max_bytes) {
            return Err(self.too_much_memory(at));
        }
        Ok(())
    }
}

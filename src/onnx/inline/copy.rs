//! Copies the bodies of functions.

use super::bindings::Bindings;
use super::callee::Callee;
use super::charge::Charged;
use super::control::{ControlFlow, Outcome, has_control};
use super::declared::Declared;
use super::defaults::{GivenTwice, KeptAttributes};
use super::known::Known;
use super::metadata;
use super::operands;
use super::shardings;
use crate::Options;
use crate::diagnostics::Code;
use crate::graph::OriginId;
use crate::graph::names::NameId;
use crate::onnx::functions::Functions;
use crate::onnx::functions::Imports;
use crate::onnx::functions::NodeFinding;
use crate::onnx::functions::Size;
use crate::onnx::model::{
    AttributeProto, AttributeValue, ExpandedCall, Fields, FunctionProto, GraphProto, ModelNames, NodeProto,
    OperatorSet, ValueInfo, Values,
};
use crate::onnx::walk::own_names;
use crate::room::with_stack;
use crate::source::names::Name;

pub(super) type Expand<T> = Result<T, Box<NodeFinding>>;

/// A call that is being expanded, or a control flow node that is being replaced by the nodes of its graph.
#[derive(Clone, Copy)]
pub(super) struct InlinedCall<'c> {
    pub(super) function: &'c FunctionProto,
    pub(super) callee: &'c Callee,
    /// The prefix of the names of its copies.
    pub(super) path: NameId,
    /// The suffix of the names of its copies: the trip of a loop, from 1 on.
    pub(super) ordinal: u32,
    /// The id of the call in the origins of the copied nodes.
    pub(super) origin: OriginId,
    /// The start of the call, or of the control flow node, in the text or in the protobuf file.
    pub(super) at: u32,
    /// The attributes of the call, with references replaced, sorted by name; none where references stay, since they are to
    /// attributes of the function around what is expanded.
    pub(super) attributes: Option<&'c [AttributeProto]>,
    /// The metadata of the call, which its copies carry.
    pub(super) metadata: &'c Fields,
    /// Whether the types that the function notes for its values hold for this call.
    pub(super) typed: bool,
}

/// An operator with its domain.
#[derive(Clone, Copy)]
struct QualifiedOperator {
    domain: Option<Name>,
    name: Option<Name>,
}

/// The lists that copies are added to.
#[derive(Default)]
pub(super) struct CopyTarget {
    pub(super) nodes: Vec<NodeProto>,
    pub(super) value_info: Vec<ValueInfo>,
}

/// The expansion of a model.
pub(super) struct Expansion<'f> {
    pub(super) names: &'f mut ModelNames,
    pub(super) functions: &'f [FunctionProto],
    /// An empty function for nodes that are not in a function.
    outside: FunctionProto,
    table: &'f Functions,
    /// What the copies of each function share.
    callees: &'f [Callee],
    /// The names in the current copy for the names of a function body.
    pub(super) bindings: Bindings,
    /// The name of the operator that copies a value.
    identity: Name,
    /// Known values, if there is control flow that depends on them.
    pub(super) known: Known,
    pub(super) has_control: bool,
    /// Whether known control flow is expanded.
    pub(super) follows_control: bool,
    pub(super) flow: ControlFlow,
    pub(super) max_ops: u64,
    /// The number of graphs in attributes around the current node.
    pub(super) level: u32,
    /// What was added so far, and the expanded calls.
    pub(super) charged: Charged,
    pub(super) calls: Vec<ExpandedCall>,
    /// The declared types of values, if functions note types.
    pub(super) declared: Declared,
    /// The attributes of the function whose calls are expanded; none in a graph.
    pub(super) kept: Option<KeptAttributes>,
}

impl<'f> Expansion<'f> {
    pub(super) fn new(
        names: &'f mut ModelNames,
        functions: &'f [FunctionProto],
        callees: &'f [Callee],
        table: &'f Functions,
        options: &Options,
    ) -> Self {
        let charged = Charged::new(options);
        let flow = ControlFlow::new(names, options);
        let is_needed = callees.iter().any(|callee| callee.has_types);
        let identity = names.texts.intern("Identity");
        Expansion {
            names,
            functions,
            outside: FunctionProto::default(),
            table,
            callees,
            bindings: Bindings::default(),
            identity,
            known: Known::default(),
            has_control: false,
            follows_control: true,
            flow,
            max_ops: options.max_ops,
            level: 0,
            charged,
            calls: Vec::new(),
            declared: Declared::new(is_needed),
            kept: None,
        }
    }

    /// An expansion after another one, in which these calls were expanded. Control flow is expanded only if it follows
    /// that.
    pub(super) fn after(self, calls: Vec<ExpandedCall>, follows_control: bool) -> Self {
        Expansion { calls, follows_control, ..self }
    }

    /// The expanded calls, the control flow nodes that could not be expanded, and whether any was.
    pub(super) fn into_results(self) -> (Vec<ExpandedCall>, Vec<NodeFinding>, bool) {
        (self.calls, self.flow.stays, self.flow.expanded > 0)
    }

    /// Expands the calls in the graph of a model.
    pub(super) fn graph(&mut self, graph: &mut GraphProto, opsets: &mut Vec<OperatorSet>) -> Expand<()> {
        self.has_control = self.follows_control && has_control(self.names);
        if self.has_control {
            self.known = Known::of_graph(self.names, graph);
        }
        self.declared.add_graph(graph);
        let room = self.check_size(&graph.nodes)?;
        if !self.has_control && self.callees.iter().all(|callee| callee.copies == 0) {
            return Ok(());
        }
        let mut imports = Imports::new(self.names, opsets);
        self.nodes(&mut graph.nodes, room, &mut graph.value_info, &mut imports)?;
        imports.add_to(self.names, opsets);
        Ok(())
    }

    /// Expands the calls in a function that is kept, and in the defaults of its attributes. `twice` gets the attributes
    /// whose values its calls have to give twice.
    pub(super) fn function(
        &mut self,
        index: usize,
        function: &mut FunctionProto,
        twice: &mut GivenTwice,
    ) -> Expand<()> {
        // Its names are not those of the graph.
        let known = std::mem::take(&mut self.known);
        self.declared.enter(function);
        self.kept = Some(KeptAttributes::of(function));
        let room = self.check_size(&function.nodes)?;
        let mut imports = Imports::new(self.names, &function.opsets);
        self.nodes(&mut function.nodes, room, &mut function.value_info, &mut imports)?;
        for default in &mut function.defaults {
            self.kept_graphs(&mut default.value, &mut imports)?;
        }
        imports.add_to(self.names, &mut function.opsets);
        self.known = known;
        let given = self.kept.take().map(|kept| kept.settle(function)).unwrap_or_default();
        if !given.is_empty() {
            twice.insert(index, given);
        }
        Ok(())
    }

    /// Expands the calls among nodes of a graph or function that is kept, and so are its names. There is room for as many
    /// nodes in the result.
    fn nodes(
        &mut self,
        nodes: &mut Vec<NodeProto>,
        room: usize,
        value_info: &mut Vec<ValueInfo>,
        imports: &mut Imports,
    ) -> Expand<()> {
        let mut target = CopyTarget { nodes: Vec::with_capacity(room), value_info: std::mem::take(value_info) };
        std::mem::take(nodes).into_iter().try_for_each(|node| self.node(node, &mut target, imports))?;
        (*nodes, *value_info) = (target.nodes, target.value_info);
        Ok(())
    }

    fn node(&mut self, mut node: NodeProto, target: &mut CopyTarget, imports: &mut Imports) -> Expand<()> {
        let mut outcome = Outcome::Refused;
        if self.has_control && self.is_control(&node) {
            let (outside, none) = (std::mem::take(&mut self.outside), Callee::default());
            let (function, path, origin) = (&outside, NameId::ROOT, node.origin);
            let call = &InlinedCall {
                function,
                callee: &none,
                path,
                ordinal: 0,
                origin,
                at: node.at,
                attributes: None,
                metadata: &None,
                typed: true,
            };
            let bound = (node.inputs.clone(), node.outputs.clone());
            outcome = self.control(&node, bound, call, target, imports)?;
            self.outside = outside;
            if outcome == Outcome::Expanded {
                return Ok(());
            }
        }
        let expanded = self.expanded(&node)?;
        // The function that gets a graph decides what the names in it mean.
        if expanded.is_none() || !self.follows_control {
            self.within_kept(outcome, |expansion| {
                let mut attributes = node.attributes.iter_mut();
                attributes.try_for_each(|attribute| expansion.kept_graphs(&mut attribute.value, imports))
            })?;
        }
        match expanded {
            Some(function) => {
                let attributes = std::mem::take(&mut node.attributes);
                self.call(&node, function, attributes, target, imports)
            }
            None => self.add(node, target),
        }
    }

    /// Expands the calls in the graphs of an attribute that is kept.
    fn kept_graphs(&mut self, value: &mut AttributeValue, imports: &mut Imports) -> Expand<()> {
        self.level += 1;
        for graph in value.graphs_mut() {
            let mark = self.known.open();
            if self.has_control {
                let own = own_names(graph);
                own.into_iter().for_each(|name| self.known.hide(name));
                self.known.note_declared(&graph.inputs, &graph.initializers, &graph.value_info);
                self.known.note_facts(&graph.facts, |name| name);
            }
            let room = graph.nodes.len();
            let within = self.flow.enter(graph);
            self.nodes(&mut graph.nodes, room, &mut graph.value_info, imports)?;
            self.flow.within_contradiction = within;
            self.known.undo(mark);
        }
        self.level -= 1;
        Ok(())
    }

    /// The size of an expanded node.
    pub(super) fn size_of(&self, node: &NodeProto) -> Size {
        self.table.size(self.names, std::slice::from_ref(node))
    }

    /// The function that a node calls, if its calls are expanded.
    fn expanded(&self, node: &NodeProto) -> Expand<Option<usize>> {
        let called = self.table.called(self.names, node)?;
        Ok(called.filter(|function| self.table.expanded[*function]))
    }

    /// Expands a call with bound operands and attributes.
    fn call(
        &mut self,
        node: &NodeProto,
        index: usize,
        mut attributes: Vec<AttributeProto>,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<()> {
        let function = &self.functions[index];
        let described = || self.table.keys[index].describe(self.names);
        for (what, given, declared) in [
            ("inputs", node.inputs.len(), function.inputs.len()),
            ("outputs", node.outputs.len(), function.outputs.len()),
        ] {
            if given > declared {
                let message = format!("`{}` has {declared} {what}, this call has {given}", described());
                return Err(Box::new(NodeFinding::new(Code::OnnxArguments, node.at, message)));
            }
        }
        let operands = function.inputs.len() + function.outputs.len();
        let bytes = operands * size_of::<NameId>() + node.heap_bytes() + size_of::<ExpandedCall>();
        self.charge(0, bytes, node.at)?;
        attributes.sort_by_key(|attribute| attribute.name);
        let callee = &self.callees[index];
        let typed = !callee.has_types || self.declared.hold(callee, function, &node.inputs);
        let origin = OriginId(self.calls.len() as u32);
        let name = function.name.unwrap_or(self.identity);
        self.calls.push(ExpandedCall { parent: node.origin, function: name, at: node.at });
        let (path, attributes) = (self.path_of(node, &node.outputs), &attributes[..]);
        let metadata = &metadata::of(&node.rest);
        let call = &InlinedCall {
            function,
            callee,
            path,
            ordinal: 0,
            origin,
            at: node.at,
            attributes: Some(attributes),
            metadata,
            typed,
        };
        with_stack(|| self.body(node, call, target, imports)).map_err(|mut found| {
            found.calls.push((self.table.keys[index].describe(self.names), node.at));
            found
        })
    }

    /// The prefix of the names of the copies for a call: the name of its first result.
    pub(super) fn path_of(&mut self, node: &NodeProto, outputs: &Values) -> NameId {
        let output = outputs.iter().copied().find(|output| *output != NameId::ROOT);
        output.or(node.name).unwrap_or_else(|| {
            let name = node.op_type.unwrap_or(self.identity);
            self.names.values.child(NameId::ROOT, name, 0, false)
        })
    }

    fn body(
        &mut self,
        node: &NodeProto,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<()> {
        let (function, callee) = (call.function, call.callee);
        if let Some((name, at)) = callee.reassigned {
            let message = format!("`{}` is defined twice in the function", self.names.text(name));
            return Err(Box::new(NodeFinding::new(Code::OnnxReassigned, at, message)));
        }
        let scope = self.bindings.open_call();
        for (i, &formal) in function.inputs.iter().enumerate() {
            let actual = node.inputs.get(i).copied().unwrap_or(NameId::ROOT);
            self.bindings.bind(formal, actual);
        }
        let mut passed = Vec::new();
        for (i, (&formal, &is_passed)) in function.outputs.iter().zip(&callee.passed).enumerate() {
            let actual = node.outputs.get(i).copied().filter(|actual| *actual != NameId::ROOT);
            if is_passed {
                passed.extend(actual.map(|actual| (formal, actual)));
            } else {
                let value = actual.unwrap_or_else(|| self.fresh(call, formal));
                self.bindings.bind_result(formal, value);
            }
        }
        for &local in &callee.locals {
            let value = self.fresh(call, local);
            self.bindings.bind_result(local, value);
        }
        for node in &function.nodes {
            self.copy(node, call, target, imports)?;
        }
        for (formal, actual) in passed {
            self.pass(formal, actual, call, target, imports)?;
        }
        for value in function.value_info.iter().filter(|_| call.typed) {
            if !value.name.is_some_and(|name| callee.is_boundary(name)) {
                self.add_type(value, call.function.at, target)?;
            }
        }
        self.bindings.leave(scope);
        Ok(())
    }

    /// Copies an output that is also an input.
    fn pass(
        &mut self,
        formal: NameId,
        actual: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<()> {
        let source = self.bindings.bound(formal);
        if source == NameId::ROOT {
            let name = self.names.text(formal);
            let message = format!("the output `{name}` is an input that this call does not give");
            return Err(Box::new(NodeFinding::new(Code::OnnxUndefined, call.function.at, message)));
        }
        let domain = self.names.texts.intern("");
        let operator = QualifiedOperator { domain: Some(domain), name: Some(self.identity) };
        self.need(operator, call, call.function.at, imports)?;
        imports.need_identity();
        let node = NodeProto {
            inputs: Values::from_slice(&[source]),
            outputs: Values::from_slice(&[actual]),
            op_type: Some(self.identity),
            domain: Some(domain),
            at: call.function.at,
            rest: call.metadata.clone(),
            origin: call.origin,
            ..NodeProto::default()
        };
        self.add_copy(node, target)
    }

    /// Records that an operator is copied to the graph, and checks its version.
    fn need(&mut self, operator: QualifiedOperator, call: &InlinedCall, at: u32, imports: &mut Imports) -> Expand<()> {
        let Err(mismatch) = imports.need(self.names, &call.callee.imports, operator.domain) else { return Ok(()) };
        if mismatch.leaves(self.names, operator.name) {
            return Ok(());
        }
        let message = mismatch.message(self.names, operator.name, call.function.name);
        let found = NodeFinding::new(Code::OnnxOpset, at, message);
        Err(Box::new(found.help("keep the function with --keep, or convert the model first")))
    }

    /// Adds the type of a value of a body.
    pub(super) fn add_type(&mut self, value: &ValueInfo, at: u32, target: &mut CopyTarget) -> Expand<()> {
        let Some(name) = value.name else { return Ok(()) };
        let value = ValueInfo { name: Some(self.bindings.bound(name)), ..value.clone() };
        self.charge_type(&value, at)?;
        self.declared.add(&value);
        if self.has_control {
            self.known.note_type(&value);
        }
        target.value_info.push(value);
        Ok(())
    }

    /// A fresh name for a name of a body.
    pub(super) fn fresh(&mut self, call: &InlinedCall, name: NameId) -> NameId {
        let Some(segment) = self.names.values.last_part(name) else { return NameId::ROOT };
        self.child(call.path, segment, call.ordinal)
    }

    /// A fresh name under another one.
    pub(super) fn child(&mut self, parent: NameId, segment: Name, ordinal: u32) -> NameId {
        let id = self.names.values.child(parent, segment, ordinal, false);
        self.names.values.mark_used(id);
        self.charged.add_name(self.names, id);
        id
    }

    /// Adds a copy of a node of a function body.
    pub(super) fn copy(
        &mut self,
        node: &NodeProto,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<()> {
        let mut outcome = Outcome::Refused;
        if self.has_control && self.is_control(node) {
            let bound = (self.bindings.all_bound(&node.inputs), self.bindings.all_bound(&node.outputs));
            outcome = self.control(node, bound, call, target, imports)?;
            if outcome == Outcome::Expanded {
                self.bindings.define(&node.outputs);
                return Ok(());
            }
        }
        let mut attributes = Vec::with_capacity(node.attributes.len());
        self.within_kept(outcome, |expansion| {
            for attribute in &node.attributes {
                attributes.extend(expansion.attribute(attribute, node, call, imports)?);
            }
            Ok(())
        })?;
        // A graph that the call gives sees values of the function that are there before the node that takes it.
        self.bindings.define(&node.outputs);
        if self.is_application(node, call) {
            return self.apply(node, &attributes, call, target, imports);
        }
        // Metadata that grow with each open call count before they are made.
        self.charge(0, metadata::joined_bytes(&node.rest, call.metadata), node.at)?;
        let rest = if node.rest.is_some() { shardings::placed(self.names, node) } else { None };
        let copy = NodeProto {
            inputs: self.bindings.all_bound(&node.inputs),
            outputs: self.bindings.all_bound(&node.outputs),
            name: node.name.map(|name| if name == NameId::ROOT { name } else { self.fresh(call, name) }),
            op_type: node.op_type,
            domain: node.domain,
            overload: node.overload,
            attributes: Vec::new(),
            rest: metadata::carried(&rest, call.metadata),
            at: node.at,
            origin: call.origin,
        };
        match self.table.called(self.names, node)? {
            Some(function) if self.table.expanded[function] => self.call(&copy, function, attributes, target, imports),
            Some(_) => {
                // Functions of the model have no versions: a call means the function, whatever version is imported.
                let _ = imports.need(self.names, &call.callee.imports, node.domain);
                self.add_copy(NodeProto { attributes, ..copy }, target)
            }
            None => {
                self.need(QualifiedOperator { domain: node.domain, name: node.op_type }, call, node.at, imports)?;
                operands::check(self.names, node, &copy, imports)?;
                self.add_copy(NodeProto { attributes, ..copy }, target)
            }
        }
    }
}

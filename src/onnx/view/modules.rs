//! What metadata tell about nodes: their names, modules and source lines, and groups of the nodes of a module.

use super::{RESULT, TooLarge, View};
use crate::graph::names::NameId;
use crate::graph::{Note, OperationId, OriginId};
use crate::onnx::model::NodeProto;
use crate::onnx::scopes::Scope;

impl View<'_> {
    /// The group of the modules around a node, inside the group of its graph. A group has nodes that follow each other: a
    /// module that is used again has another one.
    pub(super) fn module_group(
        &mut self,
        scope: &Scope,
        node: &NodeProto,
        group: OriginId,
    ) -> Result<OriginId, TooLarge> {
        if scope.modules.is_empty() && node.inputs.is_empty() {
            // A constant between the nodes of a module.
            return Ok(group);
        }
        let own = &scope.modules[scope.common(&self.around)..];
        let shared = own.iter().zip(&self.open).take_while(|(module, open)| **module == open.0).count();
        self.open.truncate(shared);
        for module in &own[shared..] {
            self.charge(RESULT as usize + module.title.len())?;
            let title = self.graph.symbols_mut().intern(&module.title);
            let at = self.at(node.at);
            let row = self.graph.add_call_place(title, at);
            let parent = self.open.last().map_or(group, |open| open.1);
            let origin = self.graph.add_origin(parent, row);
            self.open.push((module.clone(), origin));
        }
        Ok(self.open.last().map_or(group, |open| open.1))
    }

    /// Notes what the model tells about a node.
    pub(super) fn note(&mut self, id: OperationId, node: &NodeProto, scope: &Scope) -> Result<(), TooLarge> {
        let name = node.name.filter(|name| *name != NameId::ROOT);
        let note = Note { node: name, module: scope.path().cloned(), source: scope.source.clone() };
        if !note.is_empty() {
            self.charge(note.bytes())?;
            self.graph.notes.insert(id, note);
        }
        Ok(())
    }
}

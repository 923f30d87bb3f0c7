//! The description of a shape as JSON.

use serde_json::{Value, json};

use super::questions::{Answer, LayoutQuestions, array, located};
use crate::diagnostics::Code;
use crate::tensor::ArrayShape;

/// The members of an object, in their order.
type Fields = Vec<(&'static str, Value)>;

/// An object on one line.
pub(super) fn object(fields: &Fields) -> String {
    let members: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

impl LayoutQuestions {
    /// All fields, or only whether a reshape or transposition is a bitcast.
    pub(super) fn json(&self) -> Answer<String> {
        let mut fields = Vec::new();
        if let Some(bitcast) = self.bitcast()? {
            fields.push(("bitcast", json!(bitcast)));
            return Ok(object(&fields) + "\n");
        }
        fields.push(("canonical", json!(self.shape.to_string())));
        fields.push(("kind", json!(self.shape.kind())));
        match self.shape.array() {
            Some(array) => self.array_fields(array, &mut fields)?,
            None if self.memory || !self.indices.is_empty() => drop(array(&self.shape, self.at)?),
            None => {}
        }
        Ok(object(&fields) + "\n")
    }

    fn array_fields(&self, array: &ArrayShape, fields: &mut Fields) -> Answer<()> {
        let layout = array.layout();
        let sizes: Vec<Option<u64>> = array.dims().iter().map(|dimension| dimension.size()).collect();
        let dynamic: Vec<bool> = array.dims().iter().map(|dimension| dimension.is_dynamic()).collect();
        fields.extend([
            ("type", json!(array.element().name())),
            ("dims", json!(sizes)),
            ("dynamic", json!(dynamic)),
            ("rank", json!(array.rank())),
            ("true_rank", json!(array.true_rank())),
            ("minor_to_major", json!(layout.minor_to_major())),
            ("major_to_minor", json!(layout.major_to_minor())),
        ]);
        if sizes.contains(&None) && self.indices.is_empty() && !self.memory {
            return Ok(());
        }
        let sized = |result| located(result, Code::ShapeUnsized, self.at);
        let memory = located(array.memory(), Code::ShapeUnsized, self.at)?;
        let tile = |tile: &Vec<Option<u64>>| -> Vec<Value> {
            tile.iter().map(|size| size.map_or(json!("*"), |size| json!(size))).collect()
        };
        fields.extend([
            ("elements", json!(sized(array.elements())?)),
            ("byte_size_of", json!(sized(array.element_bytes())?)),
            ("tiles", json!(layout.tiles().iter().map(tile).collect::<Vec<_>>())),
            ("memory_space", json!(layout.memory_space())),
            ("element_bits", json!(array.element_bits())),
        ]);
        if let Some((sizes, value)) = layout.padding() {
            fields.push(("padded_dimensions", json!(sizes)));
            fields.push(("padding_value", json!(value.name())));
        }
        fields.extend([
            ("physical_dims_major_to_minor", json!(memory.physical())),
            ("allocated_elements", json!(memory.places())),
            ("array_size_bytes", json!(sized(array.allocated_bytes())?)),
        ]);
        if let Some(strides) = located(array.byte_strides(), Code::ShapeUnsized, self.at)? {
            fields.push(("byte_strides", json!(strides)));
        }
        if !self.indices.is_empty() {
            let index = |(index, place)| json!({ "multi": index, "linear": place });
            fields.push(("index", self.places(array)?.into_iter().map(index).collect()));
        }
        if self.memory {
            fields.push(("memory", json!(located(memory.walk(), Code::ShapeMemory, self.at)?)));
        }
        Ok(())
    }
}

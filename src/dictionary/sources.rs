//! Inputs, constants, variables and state (4.1 and 4.8 of NNEF).

use super::row::{Category, ItemRule, Row, ShapeRule, SignRule, ToOnnx};
use Category::Data;
use ToOnnx::{Refused, Source};

rows! {
    EXTERNAL = Row::standard("external", Category::Port, ShapeRule::Source).translated(Source("an input of the graph"));
    CONSTANT = Row::standard("constant", Data, ShapeRule::Source).items(ItemRule::Constant).in_onnx("Constant")
        .translated(Source("a constant tensor; `ConstantOfShape` where one number is repeated often")).sign(SignRule::Constant);
    VARIABLE = Row::standard("variable", Data, ShapeRule::Source)
        .translated(Source("a constant tensor with the label as its name"));
    UPDATE = Row::standard("update", Data, ShapeRule::Update).translated(Refused("a model of ONNX has no state"));
    CONSTANT_OF_SHAPE = Row::new("constant_of_shape", Data).in_onnx("ConstantOfShape");
    /// The data of an ONNX model in its graph.
    INITIALIZER = Row::new("initializer", Data).in_onnx("initializer");
}

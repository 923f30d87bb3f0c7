//! The kinds of texts, and what is read from them.

use crate::onnx::model::{FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto};

/// The kind of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub(crate) enum Production {
    /// A model: a graph followed by functions.
    #[default]
    Model,
    /// A graph.
    Graph,
    /// A function.
    Function,
    /// A node.
    Node,
}

/// The result: a model, or a separate part of one.
#[derive(Clone, Debug)]
pub(crate) enum ParsedText {
    Model(Box<ModelProto>),
    Graph(Box<GraphProto>, Box<ModelNames>),
    Function(Box<FunctionProto>, Box<ModelNames>),
    Node(Box<NodeProto>, Box<ModelNames>),
}

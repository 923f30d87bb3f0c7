//! Operations on shapes and order (4.5 of NNEF).

use super::row::{Allowed, Category, Deviation, ElementRule, ItemRule, Row, ShapeRule, SignRule, ToOnnx};
use Category::{Layout, Selection};
use ElementRule::First;
use ToOnnx::Nodes;

const fn layout(name: &'static str, shape: ShapeRule) -> Row {
    Row::standard(name, Layout, shape).elements(First)
}

/// The borders of `pad`; tract says `replicated`.
const PADS: Allowed = Allowed::Words(&["constant", "replicate", "reflect", "reflect-even"], &["ignore", "replicated"]);

rows! {
    RESHAPE = layout("reshape", ShapeRule::Reshape).items(ItemRule::Same).translated(Nodes("`Reshape`"))
        .in_onnx("Reshape").in_torch("Tensor.reshape Tensor.view torch.reshape").sign(SignRule::First);
    SQUEEZE = layout("squeeze", ShapeRule::Squeeze).items(ItemRule::Same).translated(Nodes("`Squeeze`"))
        .in_onnx("Squeeze").in_torch("torch.squeeze").sign(SignRule::First);
    UNSQUEEZE = layout("unsqueeze", ShapeRule::Unsqueeze).items(ItemRule::Same).translated(Nodes("`Unsqueeze`"))
        .in_onnx("Unsqueeze").in_torch("torch.unsqueeze").sign(SignRule::First);
    TRANSPOSE = layout("transpose", ShapeRule::Transpose).translated(Nodes("`Transpose`")).in_onnx("Transpose")
        .in_torch("torch.transpose torch.permute Tensor.permute torch.t").sign(SignRule::First);
    SPLIT = layout("split", ShapeRule::Split).translated(Nodes("`Split`")).in_onnx("Split")
        .in_torch("torch.split torch.chunk torch.tensor_split");
    CONCAT = layout("concat", ShapeRule::Concat).drawn(Selection).items(ItemRule::Concat).translated(Nodes("`Concat`"))
        .in_onnx("Concat").in_torch("torch.cat");
    STACK = layout("stack", ShapeRule::Stack).drawn(Selection).items(ItemRule::Concat)
        .translated(Nodes("`Unsqueeze` and `Concat`")).in_torch("torch.stack");
    UNSTACK = layout("unstack", ShapeRule::Unstack).translated(Nodes("`Split` and `Squeeze`")).in_torch("torch.unbind");
    SLICE = layout("slice", ShapeRule::Slice).items(ItemRule::Slice).deviations(&[Deviation::CutFirst])
        .translated(Nodes("`Slice`")).in_onnx("Slice").in_torch("Tensor.slice").sign(SignRule::First);
    PAD = layout("pad", ShapeRule::Pad).arguments(&[("border", PADS)]).deviations(&[Deviation::Replicated])
        .translated(Nodes("`Pad`; `Gather` for `reflect-even`")).in_onnx("Pad").in_torch("F.pad");
    TILE = layout("tile", ShapeRule::Tile).translated(Nodes("`Tile`")).in_onnx("Tile")
        .in_torch("torch.tile Tensor.repeat").sign(SignRule::First);
    GATHER = layout("gather", ShapeRule::Gather).drawn(Selection).items(ItemRule::Gather).translated(Nodes("`Gather`"))
        .in_onnx("Gather").in_torch("nn.Embedding F.embedding");

    SHAPE_OF = Row::vendor("shape_of", "tract_core_shape_of", Layout, ShapeRule::ShapeOf).items(ItemRule::ShapeOf)
        .translated(Nodes("a constant tensor of known extents, otherwise `Shape`"))
        .in_onnx("Shape");
    SIZE_OF = Row::new("size_of", Layout).in_onnx("Size").in_torch("Tensor.size");
    BROADCAST = Row::vendor("broadcast", "tract_core_broadcast", Layout, ShapeRule::BroadcastTo).translated(Nodes("`Expand`"))
        .in_onnx("Expand")
        .in_torch("Tensor.expand");
    FLATTEN = Row::new("flatten", Layout).in_onnx("Flatten").in_torch("torch.flatten");
    EVERY_NTH = Row::vendor("every_nth", "tract_core_downsample", Category::Other, ShapeRule::EveryNth)
        .translated(Nodes("`Slice`"));
    DYN_SLICE = Row::vendor("dyn_slice", "tract_core_dyn_slice", Layout, ShapeRule::DynamicSlice)
        .translated(Nodes("`Slice`"));
    TRILU = Row::vendor("trilu", "tract_core_trilu", Layout, ShapeRule::LikeFirst).translated(Nodes("`Trilu`"))
        .in_onnx("Trilu")
        .in_torch("torch.tril torch.triu");
    DEPTH_TO_SPACE = Row::new("depth_to_space", Layout).in_onnx("DepthToSpace").in_torch("nn.PixelShuffle F.pixel_shuffle");
    SPACE_TO_DEPTH =
        Row::new("space_to_depth", Layout).in_onnx("SpaceToDepth").in_torch("nn.PixelUnshuffle F.pixel_unshuffle");
    TAKE = Row::vendor("take", "tract_core_gather", Selection, ShapeRule::Gather).items(ItemRule::Gather)
        .elements(ElementRule::DatumTypeOrFirst).translated(Nodes("`Gather`"));
    GATHER_ELEMENTS = Row::vendor("gather_elements", "tract_core_gather_elements", Selection, ShapeRule::LikeSecond)
        .translated(Nodes("`GatherElements`"))
        .in_onnx("GatherElements").in_torch("torch.gather");
    GATHER_ND = Row::vendor("gather_nd", "tract_core_gather_nd", Selection, ShapeRule::GatherNd)
        .translated(Nodes("`GatherND`")).in_onnx("GatherND");
    SCATTER_ELEMENTS =
        Row::vendor("scatter_elements", "tract_core_scatter_elements", Selection, ShapeRule::LikeFirst)
            .translated(Nodes("`ScatterElements`")).in_onnx("ScatterElements Scatter");
    SCATTER_ND = Row::vendor("scatter_nd", "tract_core_scatter_nd", Selection, ShapeRule::LikeFirst)
        .translated(Nodes("`ScatterND`")).in_onnx("ScatterND");
    ONE_HOT = Row::vendor("one_hot", "tract_core_one_hot", Selection, ShapeRule::OneHot).translated(Nodes("`OneHot`"))
        .in_onnx("OneHot");
    NON_ZERO = Row::vendor("non_zero", "tract_onnx_non_zero", Selection, ShapeRule::NonZero).translated(Nodes("`NonZero`"))
        .in_onnx("NonZero");
}

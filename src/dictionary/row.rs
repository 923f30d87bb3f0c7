//! A row of the dictionary: the columns, and how a row is written.

use super::kernel::{Arith, Kernel};

/// Words in a text, separated by spaces.
pub(crate) type Words = &'static str;

/// What an operation means, for all notations.
#[derive(Debug)]
pub(crate) struct Row {
    /// The name of the meaning, which no other one has. For an operation of NNEF's standard it is the operation's name.
    pub(crate) name: &'static str,
    /// The names in the standard library of NNEF 1.0 and of the draft.
    pub(crate) standard: Words,
    /// The names of operations of tract's registries.
    pub(crate) vendor: Words,
    /// The names of undeclared operations that Khronos' converters write.
    pub(crate) converters: Words,
    /// The standard operations that have this meaning, instead of their own, in documents with a registry of tract.
    pub(crate) registry: Words,
    /// The operators of ONNX, with their domain unless it is that of ONNX.
    pub(crate) onnx: Words,
    /// The operators of torch in PNNX files.
    pub(crate) torch: Words,
    /// How NNEF computes it.
    pub(crate) nnef: InNnef,
    /// The standard operation that one would write for it, though it computes something else for some operands.
    pub(crate) near: Option<NearOperation>,
    /// How ONNX computes it; none if its NNEF operations are translated one by one.
    pub(crate) to_onnx: Option<ToOnnx>,
    /// The operands for which ONNX computes something else, if there are any.
    #[cfg_attr(not(test), expect(dead_code, reason = "the law and the test of the documentation read it"))]
    pub(crate) onnx_differs: Option<Differs>,
    /// What it computes, for element-wise operations.
    pub(crate) kernel: Option<Kernel>,
    /// The rule for the shapes of results.
    pub(crate) shape: Option<ShapeRule>,
    /// The rule for the element type of results without a declared one.
    pub(crate) elements: Option<ElementRule>,
    /// The rule for items that are known while expanding.
    pub(crate) items: Option<ItemRule>,
    /// When its results are never negative or -0.
    pub(crate) sign: Option<SignRule>,
    /// The rule that counts its multiply-adds; none for operations without products.
    pub(crate) products: Option<Products>,
    /// How it is drawn.
    pub(crate) category: Category,
    /// What its arguments can be, by parameter.
    pub(crate) arguments: &'static [(&'static str, Allowed)],
    /// What is different about it in documents with a registry of tract.
    pub(crate) deviations: &'static [Deviation],
}

/// How NNEF computes a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InNnef {
    /// By the standard operation of this name.
    Operation(&'static str),
    /// By a formula: meanings applied to operands `@0`, `@1` and numbers.
    Formula(&'static str),
    /// It cannot.
    Missing,
}

/// How ONNX computes a meaning.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "the test of the documentation reads the descriptions"))]
pub(crate) enum ToOnnx {
    /// By a formula: operators applied to parameters of the NNEF operation and numbers.
    Formula(Operands, &'static str),
    /// By the second formula if the logical attribute is true, else by the third.
    Choice(&'static str, &'static str, &'static str),
    /// By nodes that a function of `onnx/from_nnef` adds, with a description of them.
    Nodes(&'static str),
    /// By an input of the graph or a constant tensor.
    Source(&'static str),
    /// It cannot, for this reason.
    Refused(&'static str),
}

/// Operands for which an operation computes something else than the one that it is written for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Differs {
    /// Whether these operands belong to them.
    pub(crate) at: fn(&[f64]) -> bool,
    /// Which they are, for the documentation and for messages.
    pub(crate) text: &'static str,
}

/// A standard operation that is written for a meaning unless exact forms are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearOperation {
    pub(crate) name: &'static str,
    /// Whether it computes the same for operands that are never negative or -0.
    pub(crate) same_if_positive: bool,
    /// The operands for which it computes something else.
    pub(crate) differs: Differs,
}

impl NearOperation {
    /// Where it computes something else, for messages.
    pub(crate) fn described(&self) -> String {
        format!("where {} `{}` of NNEF computes something else", self.differs.text, self.name)
    }
}

/// How the operands of a formula of ONNX are prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Broadcast, and converted to scalars.
    Real,
    /// Broadcast; converted to scalars unless all operands are integers.
    Numbers,
    /// Broadcast, and converted to logicals.
    Logicals,
    /// Broadcast; converted to scalars unless all operands have one type.
    Alike,
    /// The first operand as [`Operands::Logicals`], the others as [`Operands::Alike`].
    Choice,
    /// Not changed.
    Plain,
}

/// Rules for the shapes of results; `graph/shapes` has a function for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShapeRule {
    Source,
    Update,
    Copies,
    /// All operands are broadcast.
    Broadcast,
    Sum,
    Normalization,
    Convolution,
    Transposed,
    Planewise,
    PlanewiseTransposed,
    Separable,
    SeparableTransposed,
    Pool,
    Unpool,
    Sample,
    Desample,
    Downsample,
    Upsample,
    /// Doubles one spatial extent.
    UpsampleLine,
    /// Doubles two spatial extents.
    UpsamplePlane,
    LocalNormalization,
    Reduction,
    AlongAxes,
    Reshape,
    Transpose,
    Squeeze,
    Unsqueeze,
    Concat,
    Split,
    Stack,
    Unstack,
    Slice,
    Tile,
    Pad,
    Gather,
    Matmul,
    Linear,
    Regions,
    /// The shape is an attribute.
    Stated,
    /// That of the first operand.
    LikeFirst,
    LikeSecond,
    LikeThird,
    ShapeOf,
    Range,
    BroadcastTo,
    EveryNth,
    DynamicSlice,
    GatherNd,
    OneHot,
    TopK,
    Einsum,
    EinsumProduct,
    Stft,
    Resize,
    GridSample,
    Attention,
    Cache,
    WithState,
    NonZero,
    Multinomial,
    Suppression,
    Classes,
    Delay,
    ToComplex,
    FromComplex,
    Scan,
    /// Nothing is known.
    Unknown,
}

/// Rules for element types that depend on operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementRule {
    /// That of the first operand.
    First,
    /// The widest type of the operands.
    Widest,
    /// The attribute `datum_type`.
    DatumType,
    /// The attribute `datum_type`, or else the type of the first operand.
    DatumTypeOrFirst,
    /// The attribute `to`.
    To,
    /// That of the argument `values`.
    Values,
    /// The widest of the recurrences of a scan.
    Recurrences,
    /// It is not known.
    Unknown,
}

/// Rules for the items of small tensors, such as extents, that are known while expanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemRule {
    Constant,
    /// Those of the operand.
    Same,
    Slice,
    Concat,
    Gather,
    Negated,
    /// Scalars are rounded by the kernel.
    Rounded,
    /// Items that are not negative.
    NeverNegative,
    /// The items without their signs.
    Magnitude,
    Squared,
    Root,
    Sum,
    Difference,
    Product,
    Quotient,
    Least,
    Greatest,
    /// The comparison of the kernel.
    Comparison,
    Select,
    SumOfAll,
    ProductOfAll,
    GreatestOfAll,
    LeastOfAll,
    ShapeOf,
    Cast,
    Range,
}

/// When the items of a result are never negative or -0; `graph/sign` has the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignRule {
    /// For all operands.
    Always,
    /// If it holds for all operands.
    Operands,
    /// If it holds for the first operand: items of the result are its items, or means of some.
    First,
    /// Like [`SignRule::First`], if there is at least one item along each axis.
    FirstReduced,
    /// If it holds for both operands, or if they are equal.
    Product,
    /// If the exponent is even, or if it holds for the base.
    Power,
    /// If it holds for the right one of two operands, or for both.
    Larger,
    /// If it holds for both branches.
    Branches,
    /// If it holds for the value.
    Constant,
}

/// Rules for the number of multiply-adds; `graph/stats` has a function for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Products {
    /// For each item of the result, the weights of a channel.
    ForEachResult,
    /// For each item of the input, the weights of a channel.
    ForEachInput,
    SeparableResult,
    SeparableInput,
    Linear,
    Matmul,
    ByAttribute,
    AlongAxes,
    Einsum,
    Recurrent,
    Attention,
    /// The number of trips is not known here, or there is no formula in the shapes of the operands.
    NotCounted,
}

/// A family of operations, for pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Category {
    /// Inputs and outputs of the graph.
    Port,
    /// Variables and constants.
    Data,
    /// Products with weights.
    Product,
    /// Normalization.
    Normalization,
    /// Non-linear functions.
    Activation,
    /// Pooling and reductions.
    Reduction,
    /// Element-wise arithmetic.
    Elementwise,
    /// Changes of shape and order.
    Layout,
    /// Concatenation and selection.
    Selection,
    /// Quantization.
    Quantization,
    /// Anything else.
    Other,
}

/// What an argument can be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowed {
    /// One of these words. Programs in use also write and read the second ones.
    Words(&'static [&'static str], &'static [&'static str]),
    /// An integer within these bounds, which belong to them.
    Within(i64, i64),
}

/// What is different about a standard operation in documents with a registry of tract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deviation {
    /// The filter of a transposed convolution has the axes (output channels, input channels per group, …), and 0
    /// groups are as many as output channels.
    OutputsFirst,
    /// `output_shape` has the spatial extents only; with any other length it is ignored.
    SpatialOutputShape,
    /// Size and padding count along spatial axes only: windows have extent 1 along batch and channels.
    SpatialWindows,
    /// A constant border is ignored: the maximum is that of the items within the input, or the least float of 32 bits.
    IgnoredBorder,
    /// Indices are those of items in the spatial plane of the input, not of items in the window.
    PlaneIndex,
    /// `normalize` is ignored.
    NeverNormalized,
    /// The border `replicate` is written `replicated`.
    Replicated,
    /// Of NaN and a number, the number is the result.
    NumberBeforeNan,
    /// The square root of IEEE 754, which differs from a power at −∞ and −0.
    SquareRoot,
    /// A mean of integers is an integer, rounded towards 0.
    WholeMean,
    /// The range from 0 to 0 is empty, and a negative stride walks backwards over the range from `begin` to `end`.
    CutFirst,
}

/// Each meaning has one row.
impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Row {}

impl Row {
    /// A meaning that has no standard operation in NNEF and cannot be expressed by others, unless the following
    /// functions change that.
    pub(super) const fn new(name: &'static str, category: Category) -> Row {
        Row {
            name,
            standard: "",
            vendor: "",
            converters: "",
            registry: "",
            onnx: "",
            torch: "",
            nnef: InNnef::Missing,
            near: None,
            to_onnx: None,
            onnx_differs: None,
            kernel: None,
            shape: None,
            elements: None,
            items: None,
            sign: None,
            products: None,
            category,
            arguments: &[],
            deviations: &[],
        }
    }

    /// The meaning of a standard operation of NNEF.
    pub(super) const fn standard(name: &'static str, category: Category, shape: ShapeRule) -> Row {
        let row = Row::new(name, category).shape(shape);
        Row { standard: name, nnef: InNnef::Operation(name), ..row }
    }

    /// The meaning of operations that are not of the standard, whose results have the elements of the first operand.
    pub(super) const fn vendor(name: &'static str, names: Words, category: Category, shape: ShapeRule) -> Row {
        Row { vendor: names, ..Row::new(name, category).shape(shape).elements(ElementRule::First) }
    }

    /// An element-wise standard operation.
    pub(super) const fn by_item(name: &'static str) -> Row {
        Row::standard(name, Category::Elementwise, ShapeRule::Broadcast)
    }

    /// An element-wise operation that NNEF computes by others.
    pub(super) const fn derived(name: &'static str, formula: &'static str) -> Row {
        let row = Row::new(name, Category::Elementwise).shape(ShapeRule::Broadcast);
        Row { nnef: InNnef::Formula(formula), ..row }
    }

    /// The meaning of an undeclared operation of Khronos' converters.
    pub(super) const fn converter(name: &'static str, names: Words, category: Category) -> Row {
        Row { converters: names, vendor: "", ..Row::vendor(name, "", category, ShapeRule::LikeFirst) }
    }

    /// With more names in the standard.
    pub(super) const fn names(self, names: Words) -> Row {
        Row { standard: names, ..self }
    }

    /// With operations of registries.
    pub(super) const fn in_vendors(self, names: Words) -> Row {
        Row { vendor: names, ..self.elements_if_none(ElementRule::First) }
    }

    const fn elements_if_none(self, rule: ElementRule) -> Row {
        if self.elements.is_some() { self } else { self.elements(rule) }
    }

    /// With undeclared operations of Khronos' converters.
    pub(super) const fn in_converters(self, names: Words) -> Row {
        Row { converters: names, ..self }
    }

    /// With standard operations that have this meaning in documents with a registry.
    pub(super) const fn in_registries(self, names: Words) -> Row {
        Row { registry: names, ..self }
    }

    /// With operators of ONNX.
    pub(super) const fn in_onnx(self, names: Words) -> Row {
        Row { onnx: names, ..self }
    }

    /// With operators of torch.
    pub(super) const fn in_torch(self, names: Words) -> Row {
        Row { torch: names, ..self }
    }

    /// NNEF computes it by a standard operation of another meaning, which is equal for the operands that it has.
    pub(super) const fn by_operation(self, name: &'static str) -> Row {
        Row { nnef: InNnef::Operation(name), ..self }
    }

    /// This standard operation is written for it, though it differs for some operands.
    pub(super) const fn near(self, name: &'static str, at: fn(&[f64]) -> bool, text: &'static str) -> Row {
        Row { near: Some(NearOperation { name, same_if_positive: false, differs: Differs { at, text } }), ..self }
    }

    /// [`Row::near`] for an operation that is the same for operands that are never negative or -0.
    pub(super) const fn near_if_negative(self, name: &'static str, at: fn(&[f64]) -> bool, text: &'static str) -> Row {
        Row { near: Some(NearOperation { name, same_if_positive: true, differs: Differs { at, text } }), ..self }
    }

    pub(super) const fn formula(self, operands: Operands, formula: &'static str) -> Row {
        Row { to_onnx: Some(ToOnnx::Formula(operands, formula)), ..self }
    }

    /// ONNX computes something else for these operands.
    pub(super) const fn onnx_differs(self, at: fn(&[f64]) -> bool, text: &'static str) -> Row {
        Row { onnx_differs: Some(Differs { at, text }), ..self }
    }

    pub(super) const fn translated(self, to_onnx: ToOnnx) -> Row {
        Row { to_onnx: Some(to_onnx), ..self }
    }

    pub(super) const fn kernel(self, kernel: Kernel) -> Row {
        Row { kernel: Some(kernel), ..self }
    }

    pub(super) const fn shape(self, shape: ShapeRule) -> Row {
        Row { shape: Some(shape), ..self }
    }

    pub(super) const fn elements(self, elements: ElementRule) -> Row {
        Row { elements: Some(elements), ..self }
    }

    pub(super) const fn items(self, items: ItemRule) -> Row {
        Row { items: Some(items), ..self }
    }

    pub(super) const fn sign(self, sign: SignRule) -> Row {
        Row { sign: Some(sign), ..self }
    }

    pub(super) const fn products(self, products: Products) -> Row {
        Row { products: Some(products), ..self }
    }

    pub(super) const fn drawn(self, category: Category) -> Row {
        Row { category, ..self }
    }

    pub(super) const fn arguments(self, arguments: &'static [(&'static str, Allowed)]) -> Row {
        Row { arguments, ..self }
    }

    pub(super) const fn deviations(self, deviations: &'static [Deviation]) -> Row {
        Row { deviations, ..self }
    }

    /// Whether it is computed item by item on operands that are all tensors.
    pub(crate) fn is_by_item(&self) -> bool {
        self.shape == Some(ShapeRule::Broadcast)
    }

    /// Whether it is the smaller or the larger one of two numbers, for which their order does not matter.
    pub(crate) fn is_extreme(&self) -> bool {
        matches!(self.kernel, Some(Kernel::Arithmetic(Arith::Min | Arith::Max)))
    }

    /// The standard operation that computes it for operands that are never negative or -0.
    pub(crate) fn if_positive(&self) -> Option<&'static str> {
        self.near.filter(|near| near.same_if_positive).map(|near| near.name)
    }

    /// Whether it has a deviation.
    pub(crate) fn deviates(&self, deviation: Deviation) -> bool {
        self.deviations.contains(&deviation)
    }

    /// The function of a float that it is, if it is one.
    pub(crate) fn function(&self) -> Option<fn(f64) -> f64> {
        match self.kernel {
            Some(Kernel::Float(_, f) | Kernel::Number(_, f, _)) => Some(f),
            _ => None,
        }
    }
}

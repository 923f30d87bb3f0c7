//! Shape inference: a rule for each standard operation of both dialects.
//!
//! The rule of an operation computes the shapes of its results from those of its arguments, and checks that the
//! arguments are compatible. Extents and ranks can be unknown: what depends on them is unknown too, and never
//! an error. The rule of a kind of operation is looked up once, with the positions of the attributes that rules
//! use ([`Plan`]).

mod axes;
mod call;
mod convolution;
mod einsum;
mod elements;
mod elementwise;
mod layout;
mod linear;
mod pooling;
mod reduction;
mod registry;
mod roi;
mod sections;
mod selection;
mod shape;
mod sources;
mod stored;
#[cfg(test)]
mod tests;
mod values;
mod vendor;
mod window;

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{Graph, KindId, OperationId, TensorId};
use crate::diagnostics::Code;
use call::{Call, Extents, ROLE_COUNT, ROLES};
pub(crate) use einsum::Einsum;
use elements::ElementRule;
pub use shape::Extent;
pub use shape::Shape;
#[cfg(feature = "eval")]
pub(crate) use values::Item;
pub(crate) use values::Items;
use values::ValueRule;
#[cfg(feature = "eval")]
pub(crate) use values::half_up;
pub(crate) use vendor::is_of_converter;

/// The violation of a shape rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShapeError {
    /// The rule.
    pub(crate) code: Code,
    /// The message.
    pub(crate) message: String,
    /// The shapes of the results that are known in spite of the error.
    pub(crate) results: Inferred,
}

impl ShapeError {
    /// Adds a shape of all results that is known in spite of the error.
    fn but(self, shape: Option<Shape>) -> Self {
        ShapeError { results: Inferred::Same(shape), ..self }
    }
}

/// The shapes of the tensors in the results of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inferred {
    /// All tensors have this shape; none if it is unknown.
    Same(Option<Shape>),
    /// The shape of each tensor.
    Each(Vec<Option<Shape>>),
}

impl Inferred {
    /// All shapes are unknown.
    pub(crate) const UNKNOWN: Inferred = Inferred::Same(None);

    /// The shape of the only tensor.
    pub(crate) fn into_first(self) -> Option<Shape> {
        match self {
            Inferred::Same(shape) => shape,
            Inferred::Each(shapes) => shapes.into_iter().next().flatten(),
        }
    }

    /// The shape of the `i`th tensor.
    pub(crate) fn get(&self, i: usize) -> Option<Shape> {
        match self {
            Inferred::Same(shape) => shape.clone(),
            Inferred::Each(shapes) => shapes.get(i).cloned().flatten(),
        }
    }
}

type RuleResult = Result<Inferred, ShapeError>;

/// All shapes are unknown.
const UNKNOWN: RuleResult = Ok(Inferred::UNKNOWN);

/// All results have these extents.
fn known(extents: Extents) -> RuleResult {
    Ok(Inferred::Same(Some(Shape::from(extents))))
}

/// All results have these extents, if the rank is known.
fn same(extents: Option<Extents>) -> RuleResult {
    extents.map_or(UNKNOWN, known)
}

/// All results have this rank, if it is known, and unknown extents.
fn of_rank(rank: Option<usize>) -> RuleResult {
    same(rank.map(|rank| smallvec![Extent::UNKNOWN; rank]))
}

/// A violation of a rule, with unknown results.
fn refuse<T>(code: Code, message: String) -> Result<T, ShapeError> {
    Err(ShapeError { code, message, results: Inferred::UNKNOWN })
}

type Rule = fn(&Call) -> RuleResult;

/// Elementwise operations.
const BY_ITEM: &str = "copy idn neg rcp abs sign exp log sin asin cos acos tan atan sinh asinh cosh acosh tanh atanh \
    floor ceil round not sqr sqrt rsqr rsqrt log2 sigmoid relu leaky_relu elu selu gelu silu softabs softplus cast \
    add sub mul div pow lt le gt ge eq ne and or min max prelu select clamp min_max_linear_quantize \
    zero_point_linear_quantize linear_quantize logarithmic_quantize";

/// The rules, each with the names of its operations.
const RULES: &[(Rule, &str)] = &[
    (sources::source, "external variable constant"),
    (sources::update, "update"),
    (sources::copies, "copy_n"),
    (elementwise::elementwise, BY_ITEM),
    (elementwise::sum, "add_n"),
    (elementwise::normalization, "batch_normalization"),
    (|call| convolution::convolve(call, false, false), "conv"),
    (|call| convolution::convolve(call, false, true), "deconv"),
    (|call| convolution::convolve(call, true, false), "planewise_conv"),
    (|call| convolution::convolve(call, true, true), "planewise_deconv"),
    (|call| convolution::separable(call, false), "separable_conv"),
    (|call| convolution::separable(call, true), "separable_deconv"),
    (pooling::pool, "box argmax_pool max_pool avg_pool rms_pool max_pool_with_index"),
    (pooling::unpool, "debox"),
    (pooling::sample, "sample"),
    (pooling::desample, "desample"),
    (pooling::downsample, "nearest_downsample area_downsample"),
    (pooling::upsample, "nearest_upsample multilinear_upsample"),
    (pooling::upsample2x, "linear_upsample2x_symmetric linear_upsample2x_asymmetric"),
    (pooling::upsample2x, "bilinear_upsample2x_symmetric bilinear_upsample2x_asymmetric"),
    (pooling::local_normalization, "local_response_normalization local_mean_normalization"),
    (pooling::local_normalization, "local_variance_normalization local_contrast_normalization"),
    (reduction::reduce, "sum_reduce max_reduce min_reduce argmax_reduce argmin_reduce any_reduce all_reduce"),
    (reduction::reduce, "mean_reduce moments"),
    (reduction::along, "softmax l1_normalization l2_normalization"),
    (layout::reshape, "reshape"),
    (layout::transpose, "transpose"),
    (layout::squeeze, "squeeze"),
    (layout::unsqueeze, "unsqueeze"),
    (sections::concat, "concat"),
    (sections::split, "split"),
    (sections::stack, "stack"),
    (sections::unstack, "unstack"),
    (selection::slice, "slice"),
    (selection::tile, "tile"),
    (selection::pad, "pad"),
    (selection::gather, "gather"),
    (linear::matmul, "matmul"),
    (linear::linear, "linear"),
    (roi::roi, "avg_roi_pool max_roi_pool roi_resample avg_roi_align max_roi_align"),
];

/// The words of a list.
fn words(names: &'static str) -> impl Iterator<Item = &'static str> {
    names.split_ascii_whitespace()
}

/// The entries of an operation in all tables.
#[derive(Clone, Copy)]
struct Row {
    rule: Rule,
    value: Option<ValueRule>,
    elements: Option<ElementRule>,
    by_item: bool,
}

/// The rows by operation name. Built once per process, since there are more names than operations in most graphs.
type Index = FxHashMap<&'static str, Row>;

static STANDARD: LazyLock<Index> = LazyLock::new(|| index(&[RULES], values::STANDARD, elements::STANDARD, None));

static REGISTERED: LazyLock<Index> = LazyLock::new(|| {
    let rules = [registry::RULES, vendor::RULES];
    index(&rules, values::REGISTERED, elements::REGISTERED, Some(elements::first))
});

/// Builds an index of tables. The first row of a name takes precedence; `otherwise` is the default rule for
/// element types.
fn index(
    rules: &[&[(Rule, &'static str)]],
    values: &[(ValueRule, &'static str)],
    elements: &[(ElementRule, &'static str)],
    otherwise: Option<ElementRule>,
) -> Index {
    let mut index = Index::default();
    for (rule, names) in rules.iter().copied().flatten() {
        for name in words(names) {
            index.entry(name).or_insert(Row { rule: *rule, value: None, elements: otherwise, by_item: false });
        }
    }
    let mut fill = |names, set: &dyn Fn(&mut Row)| words(names).for_each(|name| index.get_mut(name).map_or((), set));
    // In reverse order, so that the first row takes precedence.
    values.iter().rev().for_each(|(value, names)| fill(names, &|row| row.value = Some(*value)));
    elements.iter().rev().for_each(|(elements, names)| fill(names, &|row| row.elements = Some(*elements)));
    fill(BY_ITEM, &|row| row.by_item = true);
    index
}

/// The role of an attribute, by its name.
static ROLE_OF: LazyLock<FxHashMap<&'static str, usize>> = LazyLock::new(|| {
    let names = ROLES.iter().enumerate().flat_map(|(role, names)| names.iter().map(move |name| (*name, role)));
    names.collect()
});

/// Whether a list of words contains a name.
fn is_one_of(names: &'static str, name: &str) -> bool {
    words(names).any(|known| known == name)
}

/// The name of a vendor operation without the variant number that Khronos' converters append: `erf` for `erf_v1`.
pub(crate) fn without_variant(name: &str) -> &str {
    let (base, variant) = name.rsplit_once("_v").unwrap_or((name, ""));
    let numbered = !variant.is_empty() && variant.bytes().all(|byte| byte.is_ascii_digit());
    if numbered { base } else { name }
}

/// Standard fragments whose bodies in the specification violate a rule. The error is not reported, since the
/// document is not at fault; the shapes become unknown.
pub(crate) const DEFECTIVE: &[(&str, Code)] = &[
    // They pool four axes with a window of two axes.
    ("avg_roi_align", Code::WindowOfSpace),
    ("max_roi_align", Code::WindowOfSpace),
];

/// The rule of a kind of operation, and the positions of its attributes among its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    rule: Rule,
    roles: [Option<u8>; ROLE_COUNT],
    tensors: u8,
    draft: bool,
    /// Whether operations of the kind are elementwise, with only tensor parameters and one result.
    by_item: bool,
    /// The rule for items that are known while expanding.
    value: Option<ValueRule>,
    /// The rule for the element type of results without a declared one.
    elements: Option<ElementRule>,
    /// Whether that rule takes precedence over a declared element type.
    follows: bool,
}

impl Plan {
    /// Whether the result has the shape of the operands if all of them have one shape.
    pub(crate) fn is_by_item(&self) -> bool {
        self.by_item
    }

    /// Whether the element type of results follows the operands, regardless of the declaration.
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// The plan of a kind of operation, if there is a rule for it.
    pub(crate) fn new(graph: &Graph, kind: KindId, draft: bool) -> Option<Plan> {
        let kind = &graph.kinds[kind.index()];
        let name = graph.text_of(kind.name);
        let row = match kind.standard {
            true => STANDARD.get(name),
            false => REGISTERED.get(without_variant(name)),
        };
        let Row { rule, value, elements, by_item } = *row?;
        let follows = graph.conventions.follows && kind.standard && elements.is_some();
        let mut roles = [None; ROLE_COUNT];
        // In reverse order, so that the first parameter of a role takes precedence.
        for (i, param) in kind.params.iter().enumerate().rev() {
            if let Some(role) = ROLE_OF.get(graph.text_of(param.name)) {
                roles[*role] = u8::try_from(i).ok();
            }
        }
        let tensors = kind.params.iter().take_while(|param| param.tensor).count() as u8;
        let all_tensors = usize::from(tensors) == kind.params.len();
        let by_item = by_item && all_tensors && kind.results.len() == 1;
        Some(Plan { rule, roles, tensors, draft, by_item, value, elements, follows })
    }
}

/// Infers the shapes of an operation's results.
///
/// # Errors
///
/// The shapes of the arguments violate a rule.
pub(crate) fn infer(graph: &Graph, operation: OperationId, plan: &Plan) -> Result<Inferred, ShapeError> {
    let operation = &graph.operations[operation.index()];
    let call = Call { graph, kind: graph.kind(operation), operation, plan };
    (plan.rule)(&call)
}

/// Infers the element types and the known items of an operation's results, after their shapes were set.
pub(crate) fn infer_more(graph: &mut Graph, id: OperationId, plan: &Plan) {
    let operation = &graph.operations[id.index()];
    let is_open = |result: TensorId| plan.follows || graph.tensors[result.index()].dtype.is_none();
    let elements = plan.elements.filter(|_| graph.tensors_of(operation).any(is_open));
    if elements.is_none() && plan.value.is_none() {
        return;
    }
    let results: SmallVec<[TensorId; 4]> = graph.tensors_of(operation).collect();
    let call = Call { graph, kind: graph.kind(operation), operation, plan };
    let elements = elements.and_then(|rule| rule(&call));
    let value = match (&results[..], plan.value) {
        ([result], Some(rule)) => call.value(rule, *result).map(|items| (*result, items)),
        _ => None,
    };
    if let Some((result, items)) = value {
        graph.values.insert(result, Arc::new(items));
        graph.tensors[result.index()].known = true;
    }
    for result in results.into_iter().filter(|_| elements.is_some()) {
        let tensor = &mut graph.tensors[result.index()];
        if tensor.dtype.is_none() || plan.follows {
            tensor.dtype = elements;
        }
    }
}

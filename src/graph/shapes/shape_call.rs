//! The view of an operation that rules have: the shapes of its operands, and its attributes by role.

use smallvec::{SmallVec, smallvec};

use super::axes::twice;
use super::outcome::{RuleResult, ShapeError, of_rank, refuse};
use super::plan::Plan;
use super::shape::{Extent, Extents, Shape};
use crate::diagnostics::Code;
use crate::dictionary::Deviation;
use crate::graph::dims::Dim;
use crate::graph::{Graph, Kind, Operand, Operation, TensorId, Value};
use crate::room::with_stack;

/// The integers of an attribute; none for items that depend on tensors or symbols.
pub(crate) type Ints = SmallVec<[Option<i64>; 4]>;

/// The integers of an attribute, which may depend on symbols.
pub(crate) type Dims = SmallVec<[Dim; 4]>;

/// Pairs of integers, as in [`Ints`].
pub(crate) type Pairs = SmallVec<[[Option<i64>; 2]; 4]>;

macro_rules! roles {
    ($($role:ident $names:expr, $doc:literal;)*) => {
        /// The meaning of an attribute, which dialects may call differently.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Role {
            $(#[doc = $doc] $role,)*
        }

        /// The names of each role in the dialects, in the order of [`Role`].
        pub(super) const ROLES: &[&[&str]] = &[$(&$names),*];
    };
}

roles! {
    Shape ["shape"], "The shape of the result.";
    Size ["size"], "The extents of a window.";
    Padding ["padding"], "The items added before and after each axis.";
    Stride ["stride"], "The step of a window or a slice along each axis.";
    Dilation ["dilation"], "The step between the items of a window.";
    Groups ["groups"], "The number of groups of channels.";
    OutputShape ["output_shape"], "The shape of the result of a transposed window operation.";
    Axes ["axes", "perm"], "Several axes, or a permutation of them.";
    Axis ["axis"], "One axis.";
    AxisStart ["axis_start"], "The first of several axes.";
    AxisCount ["axis_count"], "The number of axes.";
    Ratios ["ratios"], "The proportions of the parts.";
    Begin ["begin"], "The first item of each range.";
    End ["end"], "The end of each range.";
    Repeats ["repeats"], "The number of repetitions along each axis.";
    Factor ["factor"], "The factor of each spatial extent.";
    TransposeA ["transposeA", "trA"], "Whether the first matrix is transposed.";
    TransposeB ["transposeB", "trB"], "Whether the second matrix is transposed.";
    OutputSize ["output_size"], "The spatial extents of the result for a region.";
    SamplingRate ["sampling_rate"], "The number of samples along each axis of a bin of a region.";
    Times ["times"], "The number of copies.";
}

impl Role {
    /// The name of the attribute in messages.
    pub(super) fn name(self) -> &'static str {
        ROLES[self as usize][0]
    }
}

/// The number of roles.
pub(super) const ROLE_COUNT: usize = ROLES.len();

/// An operation to which a rule is applied.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(super) graph: &'a Graph,
    pub(super) kind: &'a Kind,
    pub(super) operation: &'a Operation,
    pub(super) plan: &'a Plan,
}

impl<'a> Call<'a> {
    /// Whether each shape is implicitly extended by axes of extent 1 at its end, as in the draft.
    pub(crate) fn endless(&self) -> bool {
        self.plan.draft
    }

    /// Whether the operation has a deviation, in a graph with registries.
    pub(crate) fn deviates(&self, deviation: Deviation) -> bool {
        self.graph.deviates(self.kind, deviation)
    }

    /// The name of the operation.
    pub(crate) fn name(&self) -> &'a str {
        self.graph.text_of(self.kind.name)
    }

    /// The number of tensors in the results.
    pub(crate) fn outputs(&self) -> usize {
        self.graph.outputs_of(self.operation).map(|output| output.tensors().len()).sum()
    }

    pub(super) fn argument(&self, index: u32) -> Option<Operand<'a>> {
        self.graph.argument_of(self.operation, index)
    }

    /// The value of an attribute, or `absent` if the operation does not have it. None if `read` returns none,
    /// because the value depends on a tensor or a symbol.
    fn attribute<T>(&self, role: Role, absent: Option<T>, read: impl FnOnce(Operand<'a>) -> Option<T>) -> Option<T> {
        let given = match self.plan.roles[role as usize] {
            Some(index) => self.argument(u32::from(index)),
            // The arguments of an operation that is not declared can have names, too.
            None if !self.kind.declared => ROLES[role as usize].iter().find_map(|name| self.named(name)),
            None => None,
        };
        given.map_or(absent, read)
    }

    /// Whether the operation declares an attribute.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.plan.roles[role as usize].is_some()
    }

    /// The rank of the `i`th tensor argument, if it is known.
    pub(crate) fn rank(&self, i: u32) -> Option<usize> {
        self.extents(i).map(<[Extent]>::len)
    }

    /// The shapes of all tensor arguments; tensor parameters come first.
    pub(crate) fn operands(&self) -> impl Iterator<Item = Option<&'a [Extent]>> {
        (0..u32::from(self.plan.tensors)).map(|i| self.extents(i))
    }

    /// The shape of the `i`th tensor argument, if it is a tensor whose rank is known.
    pub(crate) fn shape(&self, i: u32) -> Option<&'a Shape> {
        match self.argument(i)? {
            Operand::Tensor(tensor) => self.graph.shape(tensor),
            Operand::Tensors(_) | Operand::Value(_) => None,
        }
    }

    /// The extents of the `i`th tensor argument, if its rank is known. A literal has rank 0.
    pub(crate) fn extents(&self, i: u32) -> Option<&'a [Extent]> {
        self.extents_of(self.argument(i)?)
    }

    pub(super) fn extents_of(&self, operand: Operand<'_>) -> Option<&'a [Extent]> {
        match operand {
            Operand::Tensor(tensor) => self.graph.shape(tensor).map(Shape::extents),
            Operand::Value(Value::Int(_) | Value::Scalar(_) | Value::Logical(_)) => Some(&[]),
            Operand::Tensors(_) | Operand::Value(_) => None,
        }
    }

    /// The extents of the `i`th tensor argument; in the draft, extended to a rank with extents of 1.
    pub(crate) fn extents_to(&self, i: u32, rank: usize) -> Option<Extents> {
        self.extents(i).map(|extents| self.extended(extents, rank))
    }

    /// The extents; in the draft, extended to a rank with extents of 1.
    pub(crate) fn extended(&self, extents: &[Extent], rank: usize) -> Extents {
        let mut extents: Extents = extents.into();
        if self.endless() && extents.len() < rank {
            extents.resize(rank, Extent::ONE);
        }
        extents
    }

    /// The extents of the items of an argument that is an array of tensors.
    pub(crate) fn list(&self, i: u32) -> Option<SmallVec<[Option<&'a [Extent]>; 4]>> {
        let number: Option<&[Extent]> = Some(&[]);
        Some(match self.argument(i)? {
            Operand::Tensors(items) => items.iter().map(|&item| self.extents_of(Operand::Tensor(item))).collect(),
            Operand::Value(Value::Array(items)) => items.iter().map(|item| self.extents_of(item.into())).collect(),
            Operand::Value(Value::Integers(items)) => smallvec![number; items.len()],
            Operand::Value(Value::Scalars(items)) => smallvec![number; items.len()],
            Operand::Tensor(_) | Operand::Value(_) => return None,
        })
    }

    /// An integer; none if it is unknown, or the operation does not have the attribute.
    pub(crate) fn int(&self, role: Role) -> Option<i64> {
        self.attribute(role, None, |operand| match operand {
            Operand::Value(value) => integer(value),
            operand => match self.dims_of(operand)?[..] {
                [Dim::Int(value)] => Some(value),
                _ => None,
            },
        })
    }

    /// A logical; false if the operation does not have the attribute.
    pub(crate) fn flag(&self, role: Role) -> Option<bool> {
        self.attribute(role, Some(false), |operand| match operand.value()? {
            Value::Logical(flag) => Some(*flag),
            _ => None,
        })
    }

    /// The integers of an array; none if not even their number is known. Empty if the operation does not have
    /// the attribute.
    pub(crate) fn ints(&self, role: Role) -> Option<Ints> {
        self.attribute(role, Some(Ints::new()), |operand| match operand {
            Operand::Value(Value::Integers(items)) => Some(items.iter().map(|&item| Some(item)).collect()),
            operand => Some(self.dims_of(operand)?.iter().map(|dim| dim.known()).collect()),
        })
    }

    /// [`Call::ints`] with integers that may depend on symbols.
    pub(crate) fn dims(&self, role: Role) -> Option<Dims> {
        self.attribute(role, Some(Dims::new()), |operand| self.dims_of(operand))
    }

    /// The integers of an argument; none if not even their number is known. Nested arrays and tensors are flattened.
    pub(crate) fn dims_of(&self, operand: Operand) -> Option<Dims> {
        let mut dims = Dims::new();
        match operand {
            Operand::Tensor(tensor) => self.push_items(tensor, &mut dims, false)?,
            Operand::Tensors(tensors) => {
                tensors.iter().try_for_each(|tensor| self.push_items(*tensor, &mut dims, true))?;
            }
            Operand::Value(value) => self.push_dims(value, &mut dims)?,
        }
        Some(dims)
    }

    fn push_dims(&self, value: &Value, dims: &mut Dims) -> Option<()> {
        match value {
            Value::Int(item) => dims.push(Dim::Int(*item)),
            Value::Symbol(text) => dims.push(Dim::of_text(text)),
            Value::Integers(items) => dims.extend(items.iter().map(|&item| Dim::Int(item))),
            Value::Array(items) | Value::Tuple(items) => {
                items.iter().try_for_each(|item| with_stack(|| self.push_dims(item, dims)))?;
            }
            Value::Tensor(tensor) => self.push_items(*tensor, dims, true)?,
            Value::Scalar(item) => dims.push(whole(*item)),
            Value::Scalars(items) => dims.extend(items.iter().map(|&item| whole(item))),
            Value::Logical(_) | Value::String(_) => return None,
        }
        Some(())
    }

    /// Appends the items of a tensor. A tensor with unknown items that is in an array (`among`) is a single
    /// item; but with tract registries, it stands for all of its items.
    fn push_items(&self, tensor: TensorId, dims: &mut Dims, among: bool) -> Option<()> {
        if let Some(items) = self.graph.values.get(&tensor).filter(|items| items.is_whole()) {
            dims.extend(items.items.iter().map(|item| item.dim()));
            return Some(());
        }
        if !self.graph.conventions.follows {
            return among.then(|| dims.push(Dim::Unknown));
        }
        let count = match self.graph.shape(tensor).map(Shape::extents) {
            Some([]) => 1,
            Some([extent]) => usize::try_from(extent.known()?).ok().filter(|&count| count <= MAX_RANK)?,
            _ => return None,
        };
        dims.extend(std::iter::repeat_n(Dim::Unknown, count));
        Some(())
    }

    /// The argument for the parameter of this name, or the default.
    pub(crate) fn named(&self, name: &str) -> Option<Operand<'a>> {
        self.graph.argument(self.operation, name)
    }

    /// A single integer, by parameter name.
    pub(crate) fn number(&self, name: &str) -> Dim {
        match self.named(name).and_then(|operand| self.dims_of(operand)).as_deref() {
            Some([dim]) => dim.clone(),
            _ => Dim::Unknown,
        }
    }

    /// A string, by parameter name.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        match self.named(name)?.value()? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The extents of a tensor argument, by parameter name.
    pub(crate) fn shape_named(&self, name: &str) -> Option<&'a [Extent]> {
        self.extents_of(self.named(name)?)
    }

    /// The first tensor in the arguments.
    pub(crate) fn first_tensor(&self) -> Option<TensorId> {
        let mut first = None;
        for operand in self.graph.operands_of(self.operation) {
            operand.each_tensor(&mut |tensor| first = first.or(Some(tensor)));
            if first.is_some() {
                break;
            }
        }
        first
    }

    /// [`Call::ints`] for integers that must be positive.
    pub(crate) fn positive(&self, role: Role, code: Code) -> Result<Option<Ints>, ShapeError> {
        let items = self.ints(role);
        check_positive(role.name(), items.as_deref().unwrap_or(&[]), code)?;
        Ok(items)
    }

    /// The pairs of an array; none if not even their number is known.
    pub(crate) fn pairs(&self, role: Role) -> Option<Pairs> {
        let pair = |item: &Value| {
            if let Value::Tuple(items) = item
                && let [Value::Int(before), Value::Int(after)] = items[..]
            {
                return [Some(before), Some(after)];
            }
            match self.dims_of(Operand::Value(item)).as_deref() {
                Some([before, after]) => [before.known(), after.known()],
                _ => [None, None],
            }
        };
        self.attribute(role, Some(Pairs::new()), |operand| match operand {
            Operand::Tensors(items) => Some(smallvec![[None, None]; items.len()]),
            Operand::Value(Value::Integers(items)) if items.is_empty() => Some(Pairs::new()),
            Operand::Value(Value::Array(items)) => Some(items.iter().map(pair).collect()),
            Operand::Tensor(_) | Operand::Value(_) => None,
        })
    }

    /// Checks that an attribute has one item for each axis, if both numbers are known. In the draft, the last
    /// items may be omitted. All attributes except `size` may be empty.
    pub(crate) fn check_length(
        &self,
        role: Role,
        length: Option<usize>,
        axes: Option<usize>,
        code: Code,
    ) -> Result<(), ShapeError> {
        let (Some(length), Some(axes)) = (length, axes) else { return Ok(()) };
        if length == axes || (length == 0 && role != Role::Size) || (length < axes && self.endless()) {
            return Ok(());
        }
        let (attribute, name) = (role.name(), self.name());
        refuse(code, format!("`{attribute}` of `{name}` has {length} items, {axes} are needed: one for each axis"))
    }

    /// Checks that axes are distinct and within `0..rank`.
    pub(crate) fn check_axes(&self, axes: &[Option<i64>], rank: Option<usize>, code: Code) -> Result<(), ShapeError> {
        let rank = rank.and_then(|rank| i64::try_from(rank).ok());
        for axis in axes.iter().flatten().copied() {
            if axis < 0 || (!self.endless() && rank.is_some_and(|rank| axis >= rank)) {
                return refuse(
                    code,
                    match rank {
                        Some(0) => format!("axis {axis}: a tensor of rank 0 has no axes"),
                        Some(rank) => format!("axis {axis} is not within 0..{}", rank - 1),
                        None => format!("axis {axis} is negative"),
                    },
                );
            }
        }
        match twice(axes) {
            Some(axis) => refuse(code, format!("axis {axis} is given twice")),
            None => Ok(()),
        }
    }

    /// The single axis of an operation, which must be within `0..rank` (a rank that is not known limits nothing); none if it is
    /// not known.
    pub(crate) fn axis(&self, rank: impl Into<Option<usize>>, code: Code) -> Result<Option<usize>, ShapeError> {
        let axis = self.int(Role::Axis);
        self.check_axes(&[axis], rank.into(), code)?;
        Ok(axis.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < MAX_RANK))
    }

    /// The result if the axes of an operation are unknown. In the draft, even its rank is unknown, since an
    /// axis can be one that the input omits.
    pub(super) fn any_axes(&self, rank: usize) -> RuleResult {
        of_rank((!self.endless()).then_some(rank))
    }
}

/// The highest rank to which a shape of the draft is extended.
pub(super) const MAX_RANK: usize = 64;

/// Checks that the items of an attribute are positive.
pub(super) fn check_positive(name: &str, items: &[Option<i64>], code: Code) -> Result<(), ShapeError> {
    if items.iter().flatten().any(|&item| item < 1) {
        return refuse(code, format!("the items of `{name}` are positive, these are {}", shown(items)));
    }
    Ok(())
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        _ => None,
    }
}

/// The integer of a scalar; unknown if it is not a whole number.
fn whole(value: f64) -> Dim {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    Dim::from(whole.then_some(value as i64))
}

/// The text of integers for messages.
pub(super) fn shown(items: &[Option<i64>]) -> String {
    let items: Vec<String> = items.iter().map(|item| item.map_or("?".to_string(), |item| item.to_string())).collect();
    format!("[{}]", items.join(", "))
}

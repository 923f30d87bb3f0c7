//! Inputs and outputs: those of equal names belong together, then the others in their order, if they can be the same.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Graph;
use crate::graph::TensorId;

/// The inputs or the outputs of two graphs.
#[derive(Debug, Default)]
pub(super) struct EndPairs {
    /// The names on both sides, in their order.
    pub(super) names: [Vec<String>; 2],
    /// Which belong together, by their positions.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Those without a counterpart, by their positions.
    pub(super) alone: [Vec<usize>; 2],
}

impl EndPairs {
    /// The inputs, of which those belong together that have the same name or are of one kind: their element types and
    /// ranks do not differ.
    pub(super) fn inputs(graphs: [&Graph; 2]) -> Self {
        EndPairs::new(graphs, Graph::inputs, |ends| is_alike(graphs, ends))
    }

    /// The outputs.
    pub(super) fn outputs(graphs: [&Graph; 2]) -> Self {
        EndPairs::new(graphs, Graph::outputs, |_| true)
    }

    fn new(
        graphs: [&Graph; 2],
        ends: impl Fn(&Graph) -> &[TensorId],
        are_alike: impl Fn([TensorId; 2]) -> bool,
    ) -> Self {
        let names = graphs.map(|graph| ends(graph).iter().map(|end| graph.tensor_name(*end)).collect::<Vec<_>>());
        let [of_a, of_b] = &names;
        // A tensor can be several outputs: equal names belong together in their order.
        let mut places: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        of_b.iter().enumerate().rev().for_each(|(i, name)| places.entry(name).or_default().push(i));
        let mut pairs = Vec::new();
        let mut taken = vec![false; of_b.len()];
        let mut rest_of_a = Vec::new();
        for (i, name) in of_a.iter().enumerate() {
            match places.get_mut(name.as_str()).and_then(Vec::pop) {
                Some(j) => {
                    taken[j] = true;
                    pairs.push((i, j));
                }
                None => rest_of_a.push(i),
            }
        }
        let mut rest_of_b: Vec<usize> = (0..of_b.len()).filter(|j| !taken[*j]).collect();
        let ends = graphs.map(ends);
        let renamed = rest_of_a.iter().copied().zip(rest_of_b.iter().copied());
        let renamed: Vec<(usize, usize)> = renamed.filter(|(i, j)| are_alike([ends[0][*i], ends[1][*j]])).collect();
        let (of_a, of_b): (FxHashSet<usize>, FxHashSet<usize>) = renamed.iter().copied().unzip();
        rest_of_a.retain(|i| !of_a.contains(i));
        rest_of_b.retain(|j| !of_b.contains(j));
        pairs.extend(renamed);
        pairs.sort_unstable();
        let alone = [rest_of_a, rest_of_b];
        EndPairs { names, pairs, alone }
    }

    /// A number for each end of both sides: ends that belong together have the same.
    pub(super) fn numbers(&self) -> [Vec<usize>; 2] {
        let mut numbers = [0, 1].map(|side| vec![usize::MAX; self.names[side].len()]);
        for (number, (i, j)) in self.pairs.iter().enumerate() {
            (numbers[0][*i], numbers[1][*j]) = (number, number);
        }
        let mut next = self.pairs.len();
        for (numbers, alone) in numbers.iter_mut().zip(&self.alone) {
            for end in alone {
                numbers[*end] = next;
                next += 1;
            }
        }
        numbers
    }

    /// Whether ends that belong together have another order.
    pub(super) fn is_reordered(&self) -> bool {
        self.pairs.windows(2).any(|pair| pair[0].1 > pair[1].1)
    }
}

/// Whether the element types and the ranks of two tensors do not differ, as far as they are known.
fn is_alike([a, b]: [&Graph; 2], [x, y]: [TensorId; 2]) -> bool {
    let elements = a.element_type(x).zip(b.element_type(y));
    let ranks = a.shape(x).zip(b.shape(y)).map(|(old, new)| (old.rank(), new.rank()));
    elements.is_none_or(|(old, new)| old == new) && ranks.is_none_or(|(old, new)| old == new)
}

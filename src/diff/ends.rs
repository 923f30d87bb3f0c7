//! Inputs and outputs: those of equal names belong together, then the others in their order.

use rustc_hash::FxHashMap;

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
    pub(super) fn new(graphs: [&Graph; 2], ends: impl Fn(&Graph) -> &[TensorId]) -> Self {
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
        let rest_of_b: Vec<usize> = (0..of_b.len()).filter(|j| !taken[*j]).collect();
        let renamed = rest_of_a.len().min(rest_of_b.len());
        pairs.extend(rest_of_a.iter().copied().zip(rest_of_b.iter().copied()));
        pairs.sort_unstable();
        let alone = [rest_of_a.split_off(renamed), rest_of_b[renamed..].to_vec()];
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

//! Orders the vertices of each row so that few lines cross.
//!
//! Rows are sorted by the positions of neighbours in the adjacent row, alternately downwards and upwards, and the best
//! order is kept.

use super::ranks::{Rows, Vertex};

/// The upper and lower end of a line: fractions of the width of the vertex, from its middle.
pub(crate) type Ends = (f32, f32);

/// The maximum number of rounds of sorting, by the maximum number of lines.
const ROUNDS: &[(usize, usize)] = &[(20_000, 24), (200_000, 8), (usize::MAX, 3)];
/// The number of rounds without improvement after which the search ends.
const PATIENCE: usize = 6;

/// Orders the rows; `ends` has an entry for each line.
pub(crate) fn order(rows: &mut Rows, ends: &[Ends]) {
    let mut sorting = Sorting::new(rows, ends);
    sorting.start();
    let mut best = (sorting.crossings(), sorting.rows.rows.clone());
    let rounds = ROUNDS.iter().find(|(edges, _)| rows_edges(&sorting) <= *edges).map_or(0, |(_, rounds)| *rounds);
    let mut unchanged = 0;
    for round in 0..rounds {
        if best.0 == 0 || unchanged > PATIENCE {
            break;
        }
        sorting.sweep(round % 2 == 0);
        let crossings = sorting.crossings();
        if crossings < best.0 {
            best = (crossings, sorting.rows.rows.clone());
            unchanged = 0;
        } else {
            unchanged += 1;
        }
    }
    rows.rows = best.1;
}

fn rows_edges(sorting: &Sorting) -> usize {
    sorting.rows.edges.len()
}

struct Sorting<'r> {
    rows: &'r mut Rows,
    ends: &'r [Ends],
    position: Vec<f32>,
    /// The lines of each vertex towards the row above and towards the row below.
    up: Incident,
    down: Incident,
}

/// The lines at each vertex.
pub(crate) struct Incident {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Incident {
    /// The lines at each of `count` vertices; `at` is the vertex of each line.
    pub(crate) fn new(count: usize, at: impl Iterator<Item = u32> + Clone) -> Self {
        let mut starts = vec![0u32; count + 1];
        at.clone().for_each(|vertex| starts[vertex as usize + 1] += 1);
        (0..count).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut edges = vec![0; starts[count] as usize];
        for (edge, vertex) in at.enumerate() {
            edges[next[vertex as usize] as usize] = edge as u32;
            next[vertex as usize] += 1;
        }
        Incident { starts, edges }
    }

    /// The lines at a vertex.
    pub(crate) fn of(&self, vertex: u32) -> &[u32] {
        &self.edges[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}

impl<'r> Sorting<'r> {
    fn new(rows: &'r mut Rows, ends: &'r [Ends]) -> Self {
        let count = rows.vertices.len();
        let up = Incident::new(count, rows.edges.iter().map(|edge| edge.lower));
        let down = Incident::new(count, rows.edges.iter().map(|edge| edge.upper));
        Sorting { rows, ends, position: vec![0.0; count], up, down }
    }

    /// Sets the initial order, by depth-first search along the lines, so that connected vertices are close together.
    fn start(&mut self) {
        let mut row_of = vec![0u32; self.rows.vertices.len()];
        for (i, row) in self.rows.rows.iter().enumerate() {
            row.iter().for_each(|vertex| row_of[*vertex as usize] = i as u32);
        }
        let mut seen = vec![false; row_of.len()];
        let mut rows = vec![Vec::new(); self.rows.rows.len()];
        let mut stack = Vec::new();
        let roots: Vec<u32> = self.rows.rows.iter().flatten().copied().collect();
        for root in roots {
            stack.push(root);
            while let Some(vertex) = stack.pop() {
                if std::mem::replace(&mut seen[vertex as usize], true) {
                    continue;
                }
                rows[row_of[vertex as usize] as usize].push(vertex);
                stack.extend(self.down.of(vertex).iter().rev().map(|edge| self.rows.edges[*edge as usize].lower));
            }
        }
        self.rows.rows = rows;
        (0..self.rows.rows.len()).for_each(|row| self.place(row));
    }

    fn place(&mut self, row: usize) {
        for (i, vertex) in self.rows.rows[row].iter().enumerate() {
            self.position[*vertex as usize] = i as f32;
        }
    }

    fn sweep(&mut self, down: bool) {
        let count = self.rows.rows.len();
        for i in 1..count {
            let row = if down { i } else { count - 1 - i };
            let mut keyed: Vec<(f32, u32)> =
                self.rows.rows[row].iter().map(|&vertex| (self.middle(vertex, down), vertex)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.rows.rows[row] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
            self.place(row);
        }
    }

    /// The preferred position of a vertex: the middle of its neighbours, or its current position if it has none.
    fn middle(&self, vertex: u32, down: bool) -> f32 {
        let lines = if down { self.up.of(vertex) } else { self.down.of(vertex) };
        if lines.is_empty() {
            return self.position[vertex as usize];
        }
        let other = |edge: &u32| {
            let (line, ends) = (self.rows.edges[*edge as usize], self.ends[*edge as usize]);
            let (vertex, off) = if down { (line.upper, ends.0) } else { (line.lower, ends.1) };
            let own = if down { ends.1 } else { ends.0 };
            self.position[vertex as usize] + off - own * 1e-3
        };
        lines.iter().map(other).sum::<f32>() / lines.len() as f32
    }

    /// The number of crossings.
    fn crossings(&self) -> u64 {
        self.rows.rows.windows(2).map(|pair| self.crossings_between(&pair[0], pair[1].len())).sum()
    }

    fn crossings_between(&self, upper: &[u32], lower: usize) -> u64 {
        let mut ends: Vec<(f32, f32)> = Vec::new();
        for vertex in upper {
            for edge in self.down.of(*vertex) {
                let (line, ends_of) = (self.rows.edges[*edge as usize], self.ends[*edge as usize]);
                let at = |vertex: u32, off: f32| self.position[vertex as usize] + off;
                ends.push((at(line.upper, ends_of.0), at(line.lower, ends_of.1)));
            }
        }
        ends.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // Lines can also cross at their ends at the same vertex, so each end has its own position.
        let mut tree = Fenwick::new(lower * Fenwick::PARTS);
        let mut crossings = 0;
        for (i, (_, x)) in ends.iter().enumerate() {
            let place = ((x + 0.5) * Fenwick::PARTS as f32) as usize;
            crossings += i as u64 - tree.up_to(place);
            tree.add(place);
        }
        crossings
    }
}

/// A Fenwick tree: counts positions, and how many are not to the right of a position.
struct Fenwick(Vec<u32>);

impl Fenwick {
    const PARTS: usize = 16;

    fn new(places: usize) -> Self {
        Fenwick(vec![0; places + 1])
    }

    fn up_to(&self, place: usize) -> u64 {
        let (mut i, mut sum) = ((place + 1).min(self.0.len() - 1), 0);
        while i > 0 {
            sum += u64::from(self.0[i]);
            i &= i - 1;
        }
        sum
    }

    fn add(&mut self, place: usize) {
        let mut i = (place + 1).min(self.0.len() - 1);
        while i < self.0.len() && i > 0 {
            self.0[i] += 1;
            i += i & i.wrapping_neg();
        }
    }
}

/// The nets of the ports in a row, from the left.
pub(crate) fn ports(rows: &Rows, row: usize) -> Vec<u32> {
    let port = |vertex: &u32| match rows.vertices[*vertex as usize] {
        Vertex::In(net) | Vertex::Out(net) => Some(net),
        _ => None,
    };
    rows.rows.get(row).map_or_else(Vec::new, |row| row.iter().filter_map(port).collect())
}

//! The last step of computing positions: vertices connected by straight lines move together towards the other vertices
//! that they are connected to, as far as possible. `page/columns.js` has the same algorithm.

use super::columns::Sizes;
use super::order::Incident;
use super::ranks::Rows;

/// The number of passes over all vertices.
const ROUNDS: usize = 20;
/// The maximum horizontal distance of a line that is considered straight.
const STRAIGHT: f64 = 1e-6;

/// The rows with their lines and positions.
pub(crate) struct Settling<'s> {
    /// The rows.
    pub(crate) rows: &'s Rows,
    /// The ends of the lines.
    pub(crate) sizes: &'s Sizes<'s>,
    /// The index of each vertex in its row.
    pub(crate) position: &'s [u32],
    /// The lines of each vertex to the row above.
    pub(crate) up: &'s Incident,
    /// The lines of each vertex to the row below.
    pub(crate) down: &'s Incident,
}

/// Vertices that move together.
struct Blocks {
    of: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// The row of each vertex.
    row_of: Vec<u32>,
}

impl Settling<'_> {
    /// Moves the vertices; `distance` is the minimum distance between the middles of neighbours.
    pub(crate) fn settle(&self, x: &mut [f64], distance: impl Fn(u32, u32) -> f64) {
        let blocks = self.blocks(x);
        for round in 0..ROUNDS {
            for i in 0..blocks.members.len() {
                let block = if round % 2 == 1 { blocks.members.len() - 1 - i } else { i };
                let by = self.step(&blocks, block, x, &distance);
                if by != 0.0 {
                    blocks.members[block].iter().for_each(|vertex| x[*vertex as usize] += by);
                }
            }
        }
    }

    /// The distance by which the lower end of a line is to the left of its upper end.
    fn aside(&self, edge: u32, x: &[f64]) -> f64 {
        let (line, ends) = (self.rows.edges[edge as usize], self.sizes.ends[edge as usize]);
        x[line.upper as usize] + ends.0 - x[line.lower as usize] - ends.1
    }

    fn blocks(&self, x: &[f64]) -> Blocks {
        let mut blocks = Blocks { of: vec![0; x.len()], members: Vec::new(), row_of: vec![0; x.len()] };
        for (i, row) in self.rows.rows.iter().enumerate() {
            for &vertex in row {
                blocks.row_of[vertex as usize] = i as u32;
                let above = self.up.of(vertex).iter().find(|edge| self.aside(**edge, x).abs() < STRAIGHT);
                let block = match above {
                    Some(edge) => blocks.of[self.rows.edges[*edge as usize].upper as usize],
                    None => {
                        blocks.members.push(Vec::new());
                        blocks.members.len() as u32 - 1
                    }
                };
                blocks.of[vertex as usize] = block;
                blocks.members[block as usize].push(vertex);
            }
        }
        blocks
    }

    /// The distance by which a block moves: to the mean of the preferred positions, as far as possible.
    fn step(&self, blocks: &Blocks, block: usize, x: &[f64], distance: &impl Fn(u32, u32) -> f64) -> f64 {
        let (mut sum, mut lines) = (0.0, 0u32);
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let at = |vertex: u32| x[vertex as usize];
        for &vertex in &blocks.members[block] {
            let row = &self.rows.rows[blocks.row_of[vertex as usize] as usize];
            let place = self.position[vertex as usize] as usize;
            if let Some(&left) = place.checked_sub(1).and_then(|left| row.get(left)) {
                low = low.max(at(left) + distance(left, vertex) - at(vertex));
            }
            if let Some(&right) = row.get(place + 1) {
                high = high.min(at(right) - distance(vertex, right) - at(vertex));
            }
            let outside = |other: u32| blocks.of[other as usize] as usize != block;
            for &edge in self.up.of(vertex) {
                if outside(self.rows.edges[edge as usize].upper) {
                    sum += self.aside(edge, x);
                    lines += 1;
                }
            }
            for &edge in self.down.of(vertex) {
                if outside(self.rows.edges[edge as usize].lower) {
                    sum -= self.aside(edge, x);
                    lines += 1;
                }
            }
        }
        if lines == 0 { 0.0 } else { (sum / f64::from(lines)).min(high.max(0.0)).max(low.min(0.0)) }
    }
}

//! The tiles that XLA gives to arrays on a TPU where nothing else is asked for.
//!
//! XLA's page on tiled layouts has them for matrices: tiles of 8 × 128, of 2 × 128 or 4 × 128 if the second most minor
//! dimension is not larger, and a second tile that packs narrow elements of adjacent rows into 32 bits. Vectors have
//! tiles of as many groups of 128 elements as a matrix would have rows.

use super::ArrayShape;

/// The number of elements in a row of a tile.
const LANES: u64 = 128;

/// The most rows of a tile.
const ROWS: u64 = 8;

/// The bits of an element of a register.
const REGISTER: u64 = 32;

/// The rows of the smallest tile of elements that fill a register.
const LEAST: u64 = 2;

impl ArrayShape {
    /// The array with the default tiles of a TPU, in the order of its dimensions.
    ///
    /// An array whose layout says more than the order and the memory space stays as it is; so does a scalar, an array
    /// whose elements do not have 8, 16 or 32 bits, and one whose size in a tiled dimension is not known.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// for (text, tiled) in [
    ///     ("f32[3,5,100]", "f32[3,5,100]{2,1,0:T(8,128)}"),
    ///     ("f32[3,100]{0,1}", "f32[3,100]{0,1:T(8,128)}"),
    ///     ("bf16[1,100]", "bf16[1,100]{1,0:T(4,128)(2,1)}"),
    ///     ("s8[100]", "s8[100]{0:T(1024)(128)(4,1)}"),
    /// ] {
    ///     let shape: Shape = text.parse()?;
    ///     assert_eq!(shape.array().unwrap().clone().with_tpu_tiles().to_string(), tiled);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_tpu_tiles(mut self) -> ArrayShape {
        if let Some(tiles) = self.tpu_tiles() {
            self.layout.tiles = tiles.into_iter().map(|tile| tile.into_iter().map(Some).collect()).collect();
        }
        self
    }

    /// The tiles from the first to the last, if the array has default ones.
    fn tpu_tiles(&self) -> Option<Vec<Vec<u64>>> {
        let layout = &self.layout;
        let bits = u64::from(self.element.bits());
        if !layout.is_plain() || layout.element_bits != 0 || ![8, 16, REGISTER].contains(&bits) {
            return None;
        }
        let size = |position: usize| layout.minor(position).and_then(|at| self.dims.get(at)?.size());
        let packing = REGISTER / bits;
        let rows = |most: u64| (packing * LEAST).max(most.min(ROWS).next_power_of_two());
        let mut tiles = match self.rank() {
            0 => return None,
            1 => vec![vec![rows(size(0)?.div_ceil(LANES)) * LANES]],
            _ => vec![vec![rows(size(1)?), LANES]],
        };
        if packing > 1 {
            if self.rank() == 1 {
                tiles.push(vec![LANES]);
            }
            tiles.push(vec![packing, 1]);
        }
        Some(tiles)
    }
}

//! Items in blocks with a common scale, as tract stores products' weights. An item is a code times the scale.

use super::half;

/// The number of items of a block.
pub(crate) const BLOCK: usize = 32;

/// How the bytes of a block are laid out. All begin with the scale, a float of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Codes of four bits above -8. A byte has an item in its lower bits, and in its higher ones the item 16 later.
    Q4,
    /// Codes of four bits above -8. A byte has an item in its lower bits, and in its higher ones the next item.
    Q4InOrder,
    /// The sum of the items, which is not used, and signed codes of eight bits.
    Q8,
}

impl Packing {
    /// The bytes of a block.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Packing::Q4 | Packing::Q4InOrder => 18,
            Packing::Q8 => 36,
        }
    }

    /// The bits of a code.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Packing::Q4 | Packing::Q4InOrder => 4,
            Packing::Q8 => 8,
        }
    }

    /// The scale of a block, and its codes.
    fn read(self, block: &[u8]) -> (f32, [i8; BLOCK]) {
        let mut codes = [0; BLOCK];
        let byte = |at: usize| block.get(at).copied().unwrap_or(0);
        for (i, code) in codes.iter_mut().enumerate() {
            let (at, high) = match self {
                Packing::Q4 => (2 + i % 16, i >= 16),
                Packing::Q4InOrder => (2 + i / 2, i % 2 == 1),
                Packing::Q8 => {
                    *code = byte(4 + i) as i8;
                    continue;
                }
            };
            let bits = if high { byte(at) >> 4 } else { byte(at) & 0xF };
            *code = bits as i8 - 8;
        }
        (half(u16::from_le_bytes([byte(0), byte(1)])) as f32, codes)
    }
}

/// The items of a file in blocks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CodedBlocks {
    /// The bits of a code.
    pub(crate) bits: u32,
    /// The scale of each block.
    pub(crate) scales: Vec<f32>,
    /// The codes in the order of the items.
    pub(crate) codes: Vec<i8>,
}

impl CodedBlocks {
    /// The blocks in the bytes after a header, whose number has been checked.
    pub(super) fn read(packing: Packing, data: &[u8]) -> CodedBlocks {
        let count = data.len() / packing.bytes() as usize;
        let mut blocks = CodedBlocks {
            bits: packing.bits(),
            scales: Vec::with_capacity(count),
            codes: Vec::with_capacity(count * BLOCK),
        };
        for block in data.chunks_exact(packing.bytes() as usize) {
            let (scale, codes) = packing.read(block);
            blocks.scales.push(scale);
            blocks.codes.extend(codes);
        }
        blocks
    }

    /// The items.
    pub(super) fn items(&self) -> Vec<f64> {
        let scales = self.scales.iter().flat_map(|scale| std::iter::repeat_n(f64::from(*scale), BLOCK));
        self.codes.iter().zip(scales).map(|(code, scale)| f64::from(*code) * scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_codes_times_the_scale() {
        let nibbles: Vec<u8> = (0..16).map(|i| i | (15 - i) << 4).collect();
        let block: Vec<u8> = [0x00, 0x38].into_iter().chain(nibbles).collect();
        let first: Vec<f64> = (0..16).map(|i| 0.5 * f64::from(i - 8)).collect();
        let second: Vec<f64> = (0..16).map(|i| 0.5 * f64::from(7 - i)).collect();
        let items = |packing, block: &[u8]| CodedBlocks::read(packing, block).items();
        assert_eq!(items(Packing::Q4, &block), [first.clone(), second.clone()].concat());
        let mixed: Vec<f64> = first.iter().zip(&second).flat_map(|(a, b)| [*a, *b]).collect();
        assert_eq!(items(Packing::Q4InOrder, &block), mixed);
        let block: Vec<u8> = [0x00, 0x3C, 0xFF, 0xFF].into_iter().chain((0..32).map(|i| (i - 16_i8) as u8)).collect();
        assert_eq!(items(Packing::Q8, &block), (-16..16).map(f64::from).collect::<Vec<_>>());
        assert_eq!(items(Packing::Q8, &block[..35]), [0.0; 0]);
    }
}

//! The header of tensor files.

use super::blocks::{BLOCK, Packing};
use super::fail;
use crate::tensor::{DType, TensorError, volume};

/// The number of bytes before the items.
pub(crate) const HEADER_LENGTH: usize = 128;
/// The maximum rank of a header.
pub(crate) const MAX_RANK: usize = 8;
const MAGIC: [u8; 2] = [0x4E, 0xEF];

/// The vendor number of tract's item types: the letters TR.
pub(crate) const TRACT: u16 = 0x5452;

/// The type of an item: one of the codes assigned by the Khronos Group, or one of a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemType {
    /// A floating point number of 16, 32 or 64 bits.
    Float,
    /// An unsigned integer, unless a deprecated parameter says that it is signed.
    Unsigned,
    /// The unsigned code of a quantized number.
    QuantizedUnsigned,
    /// The signed code of a quantized number.
    QuantizedSigned,
    /// A signed integer.
    Signed,
    /// A truth value of 1 or 8 bits.
    Bool,
    /// A type that a vendor has defined.
    Vendor {
        /// The number of the vendor.
        vendor: u16,
        /// The code.
        code: u16,
    },
}

impl ItemType {
    /// Its name in messages.
    pub(crate) fn text(self) -> String {
        let words = match self {
            ItemType::Float => "floating point",
            ItemType::Unsigned => "unsigned integer",
            ItemType::QuantizedUnsigned => "unsigned quantized",
            ItemType::QuantizedSigned => "signed quantized",
            ItemType::Signed => "signed integer",
            ItemType::Bool => "logical",
            ItemType::Vendor { vendor, code } => return format!("vendor 0x{vendor:04X} type 0x{code:04X}"),
        };
        words.to_string()
    }

    fn code(self) -> u32 {
        match self {
            ItemType::Vendor { vendor, code } => u32::from(vendor) << 16 | u32::from(code),
            known => ITEM_TYPES.iter().position(|item_type| *item_type == known).unwrap_or_default() as u32,
        }
    }
}

/// Vendor types whose items are packed in blocks: vendor, code.
const BLOCKS: &[(u16, u16, Packing)] = &[
    (TRACT, 0x2040, Packing::Q4InOrder),
    (TRACT, 0x3040, Packing::Q4),
    (TRACT, 0x3080, Packing::Q8),
    (TRACT, 0x3081, Packing::Q8),
];

/// The value of the field `bits` if the number of bits differs between items.
pub(super) const NO_BITS: u32 = u32::MAX;

/// The item types, indexed by their codes.
const ITEM_TYPES: [ItemType; 6] = [
    ItemType::Float,
    ItemType::Unsigned,
    ItemType::QuantizedUnsigned,
    ItemType::QuantizedSigned,
    ItemType::Signed,
    ItemType::Bool,
];

/// The header of a tensor file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The version: major, minor.
    pub(crate) version: (u8, u8),
    /// The number of bytes after the header.
    pub(crate) data_length: u32,
    /// The extents.
    pub(crate) extents: Vec<u32>,
    /// The number of bits of an item.
    pub(crate) bits: u32,
    /// The type of an item.
    pub(crate) item_type: ItemType,
    /// The deprecated parameters of the item type.
    pub(crate) parameters: [u8; 32],
}

fn word(bytes: &[u8; HEADER_LENGTH], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl Header {
    /// The header of the file of a tensor: scalars have 32 bits, integers 64, logicals 8.
    ///
    /// # Errors
    ///
    /// Files have no such items, the rank is above 8, or the number of bytes does not fit into the header.
    pub(crate) fn of(dtype: DType, shape: &[usize]) -> Result<Self, TensorError> {
        let (item_type, bits) = match dtype {
            DType::Float32 | DType::Float64 => (ItemType::Float, 32),
            DType::Int32 | DType::Int64 => (ItemType::Signed, 64),
            DType::Bool => (ItemType::Bool, 8),
            other => return fail(format!("a tensor file of NNEF has no items of type {other}")),
        };
        let extents: Option<Vec<u32>> = shape.iter().map(|&extent| u32::try_from(extent).ok()).collect();
        let bytes = volume(shape).and_then(|count| count.checked_mul(bits as usize / 8));
        let data_length = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        let (Some(extents), Some(data_length)) = (extents, data_length) else {
            return fail("the tensor is too large for a tensor file");
        };
        if extents.len() > MAX_RANK {
            return fail(format!("the tensor has rank {}, a tensor file at most {MAX_RANK}", extents.len()));
        }
        Ok(Header { version: (1, 0), data_length, extents, bits, item_type, parameters: [0; 32] })
    }

    /// Reads a header and checks all that can be checked without the items.
    ///
    /// # Errors
    ///
    /// The header is not valid.
    pub(crate) fn parse(bytes: &[u8; HEADER_LENGTH]) -> Result<Self, TensorError> {
        if bytes[..2] != MAGIC {
            return fail("the file does not begin with 4E EF: this is not a tensor file of NNEF");
        }
        let (vendor, code) = ((word(bytes, 48) >> 16) as u16, (word(bytes, 48) & 0xFFFF) as u16);
        let known = ITEM_TYPES.get(usize::from(code)).copied().filter(|_| vendor == 0);
        let item_type = match known {
            Some(known) => known,
            None if vendor == 0 => return fail(format!("item type {code} is not known")),
            None => ItemType::Vendor { vendor, code },
        };
        let rank = word(bytes, 8) as usize;
        if rank > MAX_RANK {
            return fail(format!("the rank is {rank}, at most {MAX_RANK} is possible"));
        }
        let mut parameters = [0; 32];
        parameters.copy_from_slice(&bytes[52..84]);
        let header = Header {
            version: (bytes[2], bytes[3]),
            data_length: word(bytes, 4),
            extents: (0..rank).map(|axis| word(bytes, 12 + 4 * axis)).collect(),
            bits: word(bytes, 44),
            item_type,
            parameters,
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), TensorError> {
        if self.version.0 != 1 {
            return fail(format!("version {}.{} is not known", self.version.0, self.version.1));
        }
        let bits = self.bits;
        let possible = match self.item_type {
            ItemType::Float => matches!(bits, 16 | 32 | 64),
            ItemType::Bool => matches!(bits, 1 | 8),
            ItemType::Vendor { .. } => bits > 0,
            _ => (1..=64).contains(&bits),
        };
        if !possible {
            return fail(format!("{} items cannot have {bits} bits", self.item_type.text()));
        }
        if self.is_open() {
            return Ok(());
        }
        let needed = self.needed();
        if needed != Some(u64::from(self.data_length)) {
            let (shape, length) = (&self.extents, self.data_length);
            let needed = needed.map_or("another number of".to_string(), |needed| needed.to_string());
            let each =
                if self.block().is_some() { "in blocks".to_string() } else { format!("with {bits} bits an item") };
            return fail(format!("shape {shape:?} {each} needs {needed} bytes, the header says {length}"));
        }
        Ok(())
    }

    /// The extents as a shape.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.extents.iter().map(|&extent| extent as usize).collect()
    }

    /// Whether only the vendor defines how many bytes the items need.
    fn is_open(&self) -> bool {
        self.block().is_none() && matches!(self.item_type, ItemType::Vendor { .. }) && self.bits == NO_BITS
    }

    /// How items are packed, for types that are packed in blocks.
    pub(super) fn block(&self) -> Option<Packing> {
        let ItemType::Vendor { vendor, code } = self.item_type else { return None };
        let found = BLOCKS.iter().find(|(of, block, ..)| (*of, *block) == (vendor, code));
        found.map(|(_, _, packing)| *packing)
    }

    /// The number of bytes that the items need.
    pub(super) fn needed(&self) -> Option<u64> {
        let count = volume(&self.shape())? as u64;
        match self.block() {
            Some(packing) => {
                let items = BLOCK as u64;
                count.is_multiple_of(items).then_some(count / items)?.checked_mul(packing.bytes())
            }
            None => Some(count.checked_mul(u64::from(self.bits))?.div_ceil(8)),
        }
    }

    /// The bytes of the header.
    pub(crate) fn write(&self) -> [u8; HEADER_LENGTH] {
        let mut bytes = [0; HEADER_LENGTH];
        bytes[..2].copy_from_slice(&MAGIC);
        (bytes[2], bytes[3]) = self.version;
        let mut put = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        put(4, self.data_length);
        put(8, self.extents.len() as u32);
        for (axis, &extent) in self.extents.iter().enumerate() {
            put(12 + 4 * axis, extent);
        }
        put(44, self.bits);
        put(48, self.item_type.code());
        bytes[52..84].copy_from_slice(&self.parameters);
        bytes
    }

    pub(super) fn parameter(&self, i: usize) -> [u8; 4] {
        let p = &self.parameters[4 * i..4 * i + 4];
        [p[0], p[1], p[2], p[3]]
    }
}

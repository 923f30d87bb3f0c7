//! Writes the wire format of protobuf.

use super::texts;
use crate::onnx::model::{Field, Fields, Wire};

/// Writes messages from the last byte to the first, so that the length of a message is known when it is written in
/// front of it. Fields must be added from the last to the first.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// The bytes in reverse order.
    reversed: Vec<u8>,
}

impl Writer {
    /// The written bytes in their final order.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.reversed.reverse();
        self.reversed
    }

    fn varint(&mut self, number: u64) {
        if number < 0x80 {
            self.reversed.push(number as u8);
            return;
        }
        let last = (63 - number.leading_zeros()) / 7;
        self.reversed.push((number >> (7 * last)) as u8);
        (0..last).rev().for_each(|group| self.reversed.push((number >> (7 * group)) as u8 | 0x80));
    }

    fn key(&mut self, number: u32, wire: u32) {
        self.varint(u64::from(number << 3 | wire));
    }

    fn put(&mut self, bytes: &[u8]) {
        let start = self.reversed.len();
        self.reversed.extend_from_slice(bytes);
        self.reversed[start..].reverse();
    }

    /// Adds a field of text or bytes.
    pub(crate) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.put(bytes);
        self.varint(bytes.len() as u64);
        self.key(number, 2);
    }

    /// Adds a field of text, see [`super::texts`].
    pub(crate) fn text(&mut self, number: u32, text: &str) {
        self.bytes(number, &texts::encode(text));
    }

    /// Adds an integer field.
    pub(crate) fn int(&mut self, number: u32, value: i64) {
        self.varint(value as u64);
        self.key(number, 0);
    }

    /// Adds a 32-bit float field.
    pub(crate) fn float(&mut self, number: u32, value: f32) {
        self.put(&value.to_bits().to_le_bytes());
        self.key(number, 5);
    }

    /// Marks the end of a message, whose fields are added next, from the last to the first.
    pub(crate) fn begin(&self) -> usize {
        self.reversed.len()
    }

    /// Adds length and key of the message with that end.
    pub(crate) fn end(&mut self, number: u32, end: usize) {
        let len = self.reversed.len() - end;
        self.varint(len as u64);
        self.key(number, 2);
    }

    /// Adds the kept fields whose numbers are in a range.
    pub(crate) fn kept(&mut self, fields: &Fields, numbers: std::ops::Range<u32>) {
        let Some(fields) = fields else { return };
        let mut found: Vec<&Field> = fields.iter().filter(|field| numbers.contains(&field.number)).collect();
        found.sort_by_key(|field| field.number);
        found.into_iter().rev().for_each(|field| self.field(field));
    }

    fn field(&mut self, Field { number, wire, bytes }: &Field) {
        match wire {
            Wire::Bytes => self.bytes(*number, bytes),
            Wire::Varint => {
                let bits = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                self.int(*number, bits as i64);
            }
            Wire::Group => {
                self.key(*number, 4);
                self.put(bytes);
                self.key(*number, 3);
            }
            Wire::Fixed64 | Wire::Fixed32 => {
                self.put(bytes);
                self.key(*number, if *wire == Wire::Fixed64 { 1 } else { 5 });
            }
        }
    }
}

/// Adds an integer to the packed integers of a field.
pub(crate) fn push_packed(packed: &mut Vec<u8>, number: u64) {
    let mut rest = number;
    while rest >= 0x80 {
        packed.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    packed.push(rest as u8);
}

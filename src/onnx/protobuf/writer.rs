//! Writes the wire format of protobuf.
//!
//! The length of a message precedes it. So a message is written in two passes with the same calls: the first one
//! measures all messages, the second one writes the bytes, which need not be in memory.

use std::io;

use smallvec::SmallVec;

use super::texts;
use crate::onnx::contents::FieldBytes;
use crate::onnx::model::{EncodedField, Fields, Wire};
use crate::sink::ByteSink;

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

/// The number of messages for whose lengths there is room at first.
const MESSAGES: usize = 64;

/// Writes messages; fields are added in the order of the file.
pub(crate) struct MessageWriter<'o> {
    /// Where the bytes go; none while messages are measured.
    out: Option<&'o mut dyn ByteSink>,
    buffer: Vec<u8>,
    /// The lengths of messages in the order of their starts, and the number of those that were started.
    lengths: Vec<u32>,
    started: usize,
    /// The number of bytes so far.
    measured: u64,
    failed: io::Result<()>,
}

/// Writes what `write` adds, which is called twice.
///
/// # Errors
///
/// The output fails, or a message is longer than messages can be.
pub(crate) fn write(out: &mut dyn ByteSink, mut add: impl FnMut(&mut MessageWriter)) -> io::Result<()> {
    let (lengths, len) = measure(&mut add)?;
    fill(out, lengths, len, &mut add)
}

/// The bytes of what `add` adds, which is called twice; none for a message that is longer than messages can be.
pub(crate) fn to_vec(mut add: impl FnMut(&mut MessageWriter)) -> Option<Vec<u8>> {
    let (lengths, len) = measure(&mut add).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(len).ok()?);
    fill(&mut bytes, lengths, len, &mut add).ok()?;
    Some(bytes)
}

/// The number of bytes that `add` adds.
pub(crate) fn measured(add: impl FnOnce(&mut MessageWriter)) -> u64 {
    let mut measuring = MessageWriter::new(None, Vec::new());
    add(&mut measuring);
    measuring.measured
}

fn measure(add: &mut dyn FnMut(&mut MessageWriter)) -> io::Result<(Vec<u32>, u64)> {
    let mut measuring = MessageWriter::new(None, Vec::with_capacity(MESSAGES));
    add(&mut measuring);
    measuring.failed.map(|()| (measuring.lengths, measuring.measured))
}

fn fill(
    out: &mut dyn ByteSink,
    lengths: Vec<u32>,
    len: u64,
    add: &mut dyn FnMut(&mut MessageWriter),
) -> io::Result<()> {
    let mut writer = MessageWriter::new(Some(out), lengths);
    writer.buffer.reserve(usize::try_from(len).map_or(BUFFER, |len| len.min(BUFFER)));
    add(&mut writer);
    writer.flush();
    writer.failed
}

impl<'o> MessageWriter<'o> {
    fn new(out: Option<&'o mut dyn ByteSink>, lengths: Vec<u32>) -> Self {
        MessageWriter { out, buffer: Vec::new(), lengths, started: 0, measured: 0, failed: Ok(()) }
    }

    /// Whether messages are measured: then only the lengths of fields count.
    pub(crate) fn measures(&self) -> bool {
        self.out.is_none()
    }

    fn varint(&mut self, number: u64) {
        if self.measures() {
            self.measured += varint_len(number);
            return;
        }
        push_packed(&mut self.buffer, number);
    }

    fn key(&mut self, number: u32, wire: u32) {
        self.varint(u64::from(number << 3 | wire));
    }

    /// The key of a field of bytes, and their number.
    #[inline]
    fn header(&mut self, number: u32, len: u64) {
        let key = u64::from(number << 3 | 2);
        if key < 0x80 && len < 0x80 {
            // Most names are short.
            match self.measures() {
                true => self.measured += 2,
                false => self.buffer.extend_from_slice(&[key as u8, len as u8]),
            }
            return;
        }
        self.varint(key);
        self.varint(len);
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        match self.measures() {
            true => self.measured += bytes.len() as u64,
            false => self.append(bytes),
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush();
        }
        if bytes.len() < BUFFER {
            self.buffer.extend_from_slice(bytes);
        } else {
            self.send(bytes);
        }
    }

    /// Adds bytes that may be in a file: then they are copied from there.
    fn put_kept(&mut self, bytes: &FieldBytes) {
        if let Some(held) = bytes.held() {
            return self.put(held);
        }
        if self.measures() {
            self.measured += bytes.len() as u64;
            return;
        }
        self.flush();
        if let (Some(out), true) = (&mut self.out, self.failed.is_ok()) {
            self.failed = bytes.copy(*out);
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        if let (Some(out), true) = (&mut self.out, self.failed.is_ok()) {
            self.failed = out.write_all(bytes);
        }
    }

    fn flush(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.send(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
    }

    /// Adds a field of text or bytes.
    pub(crate) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.header(number, bytes.len() as u64);
        self.put(bytes);
    }

    /// Measures a field of text of a length.
    pub(crate) fn bytes_of(&mut self, number: u32, len: u64) {
        self.header(number, len);
        self.measured += len;
    }

    /// Adds a field of text, see [`super::texts`].
    pub(crate) fn text(&mut self, number: u32, text: &str) {
        self.bytes(number, &texts::encode(text));
    }

    /// Adds an integer field.
    pub(crate) fn int(&mut self, number: u32, value: i64) {
        self.key(number, 0);
        self.varint(value as u64);
    }

    /// Adds a 32-bit float field.
    pub(crate) fn float(&mut self, number: u32, value: f32) {
        self.key(number, 5);
        self.put(&value.to_bits().to_le_bytes());
    }

    /// Starts a message, whose fields are added next. Returns its place for [`Self::end`].
    pub(crate) fn begin(&mut self, number: u32) -> (usize, u64) {
        let place = self.started;
        self.started += 1;
        if self.measures() {
            self.key(number, 2);
            self.lengths.push(0);
        } else {
            let len = self.lengths.get(place).copied().unwrap_or_default();
            self.header(number, u64::from(len));
        }
        (place, self.measured)
    }

    /// Ends a message.
    pub(crate) fn end(&mut self, place: usize, start: u64) {
        if !self.measures() {
            return;
        }
        let len = self.measured - start;
        self.measured += varint_len(len);
        match (self.lengths.get_mut(place), u32::try_from(len)) {
            (Some(length), Ok(len)) => *length = len,
            _ => self.failed = Err(io::Error::other("a message of protobuf cannot have more than four gigabytes")),
        }
    }

    /// Adds the kept fields whose numbers are in a range.
    #[inline]
    pub(crate) fn kept(&mut self, fields: &Fields, numbers: std::ops::Range<u32>) {
        if let Some(fields) = fields {
            self.kept_of(fields, numbers);
        }
    }

    fn kept_of(&mut self, fields: &[EncodedField], numbers: std::ops::Range<u32>) {
        let mut found: SmallVec<[&EncodedField; 4]> =
            fields.iter().filter(|field| numbers.contains(&field.number)).collect();
        found.sort_by_key(|field| field.number);
        found.into_iter().for_each(|field| self.field(field));
    }

    fn field(&mut self, EncodedField { number, wire, bytes }: &EncodedField) {
        match wire {
            Wire::Bytes => {
                self.key(*number, 2);
                self.varint(bytes.len() as u64);
                self.put_kept(bytes);
            }
            Wire::Varint => self.int(*number, bytes.number() as i64),
            Wire::Group => {
                self.key(*number, 3);
                self.put_kept(bytes);
                self.key(*number, 4);
            }
            Wire::Fixed64 | Wire::Fixed32 => {
                self.key(*number, if *wire == Wire::Fixed64 { 1 } else { 5 });
                self.put_kept(bytes);
            }
        }
    }
}

/// The number of bytes of a number with seven bits in each byte.
#[inline]
fn varint_len(number: u64) -> u64 {
    // Division takes long, and most numbers are small.
    if number < 0x80 { 1 } else { u64::from(number.ilog2() / 7) + 1 }
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

//! Reads the wire format of protobuf.

use std::borrow::Cow;

use bytes::Bytes;

use super::texts;
use crate::onnx::contents::{Contents, FieldBytes, Place};
use crate::onnx::model::{EncodedField, Wire};

/// The maximum nesting depth of messages: other readers of protobuf refuse deeper ones.
pub(crate) const MAX_DEPTH: u32 = 100;

/// The error of bytes that are not a valid message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WireError {
    /// The message text.
    pub(crate) message: String,
    /// The offset in the file.
    pub(crate) at: usize,
}

/// A message that is read field by field.
#[derive(Debug)]
pub(crate) struct MessageReader<'f> {
    file: &'f Contents,
    at: usize,
    /// Where `at` is in memory.
    place: Place,
    /// The bytes from `at` on, up to the end or to those that are not in memory.
    rest: &'f [u8],
    end: usize,
    depth: u32,
}

/// The payload of a field.
#[derive(Debug)]
pub(crate) enum Payload {
    /// A number: its bits and its wire type.
    Number(u64, Wire),
    /// Bytes of the file: start, and exclusive end.
    Bytes(usize, usize),
    /// The fields of a group: start, and exclusive end, without the tags around them.
    Group(usize, usize),
}

impl Payload {
    /// The encoding of the field. A field in another encoding than its message declares is unknown, as it is for other
    /// readers of protobuf.
    pub(crate) fn wire(&self) -> Wire {
        match self {
            Payload::Number(_, wire) => *wire,
            Payload::Bytes(..) => Wire::Bytes,
            Payload::Group(..) => Wire::Group,
        }
    }
}

type MessageResult<T> = Result<T, WireError>;

/// The numbers of the encodings that begin and end a group.
const START_GROUP: u64 = 3;
const END_GROUP: u64 = 4;

fn too_deep() -> String {
    format!("messages are nested deeper than {MAX_DEPTH}")
}

impl<'f> MessageReader<'f> {
    /// A reader of a whole file.
    pub(crate) fn new(file: &'f Contents) -> Self {
        MessageReader::within(file, (0, file.len()), 0)
    }

    fn within(file: &'f Contents, (at, end): (usize, usize), depth: u32) -> Self {
        let place = file.place(at);
        MessageReader { file, at, place, rest: file.held_until(place, (at, end)), end, depth }
    }

    /// Goes on behind a number of the bytes that are in memory.
    #[inline]
    fn pass(&mut self, count: usize) {
        self.at += count;
        self.rest = self.rest.get(count..).unwrap_or(&[]);
    }

    /// Goes on at an offset behind a field, which need not be in memory.
    #[inline]
    fn go(&mut self, at: usize) {
        if at > self.place.until {
            self.place = self.file.place(at);
            self.at = at;
            self.rest = self.file.held_until(self.place, (at, self.end));
        } else {
            self.pass(at - self.at);
        }
    }

    /// The bytes of a range, which is in memory except for those of fields that are not decoded.
    fn slice(&self, range: (usize, usize)) -> MessageResult<&'f [u8]> {
        self.file.slice(range).ok_or_else(|| self.error_at(range.0, "these bytes are not in memory"))
    }

    /// The offset in the file of the next field. Files of protobuf have less than two gigabytes.
    pub(crate) fn position(&self) -> u32 {
        u32::try_from(self.at).unwrap_or(u32::MAX)
    }

    /// The next field: its number and its payload; none at the end.
    pub(crate) fn field(&mut self) -> MessageResult<Option<(u32, Payload)>> {
        if self.at >= self.end {
            return Ok(None);
        }
        let at = self.at;
        let (number, wire) = self.key()?;
        let payload = match wire {
            START_GROUP => {
                let start = self.at;
                let end = self.skip_group(number, at)?;
                Payload::Group(start, end)
            }
            _ => self.payload(wire, at)?,
        };
        Ok(Some((number, payload)))
    }

    /// The number of a field, and the number of its encoding.
    fn key(&mut self) -> MessageResult<(u32, u64)> {
        let at = self.at;
        let key = self.varint()?;
        match u32::try_from(key >> 3).ok().filter(|number| (1..1 << 29).contains(number)) {
            Some(number) => Ok((number, key & 7)),
            None => Err(self.error_at(at, "a field without a number")),
        }
    }

    /// Skips the fields of a group up to its end. Returns where they end.
    fn skip_group(&mut self, number: u32, start: usize) -> MessageResult<usize> {
        let mut open = vec![number];
        while self.at < self.end {
            let at = self.at;
            let (number, wire) = self.key()?;
            match wire {
                START_GROUP if open.len() as u32 + self.depth < MAX_DEPTH => open.push(number),
                START_GROUP => return Err(self.error_at(at, &too_deep())),
                END_GROUP => {
                    if open.pop() != Some(number) {
                        return Err(self.error_at(at, "the end of a group that was not started"));
                    }
                    if open.is_empty() {
                        return Ok(at);
                    }
                }
                _ => {
                    self.payload(wire, at)?;
                }
            }
        }
        Err(self.error_at(start, "an unterminated group"))
    }

    /// The payload of a field that is not a group; `at` is the position of its key.
    fn payload(&mut self, wire: u64, at: usize) -> MessageResult<Payload> {
        Ok(match wire {
            0 => Payload::Number(self.varint()?, Wire::Varint),
            1 => Payload::Number(u64::from_le_bytes(self.fixed()?), Wire::Fixed64),
            2 => {
                let len = self.varint()?;
                let start = self.at;
                let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
                let Some(end) = end.filter(|end| *end <= self.end) else {
                    return Err(self.error_at(at, "a field is longer than the message around it"));
                };
                self.go(end);
                Payload::Bytes(start, end)
            }
            5 => Payload::Number(u64::from(u32::from_le_bytes(self.fixed()?)), Wire::Fixed32),
            _ => return Err(self.error_at(at, "a field of an unknown encoding")),
        })
    }

    #[inline]
    fn varint(&mut self) -> MessageResult<u64> {
        // Keys and lengths mostly have one byte.
        if let Some(&byte) = self.rest.first().filter(|byte| **byte < 0x80) {
            self.pass(1);
            return Ok(u64::from(byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> MessageResult<u64> {
        let mut number = 0;
        for (i, &byte) in self.rest.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7F) << (7 * i);
            if byte < 0x80 {
                self.pass(i + 1);
                return Ok(number);
            }
        }
        Err(self.error_at(self.at, "an unterminated number"))
    }

    fn fixed<const N: usize>(&mut self) -> MessageResult<[u8; N]> {
        match self.rest.first_chunk::<N>().copied() {
            Some(bytes) => {
                self.pass(N);
                Ok(bytes)
            }
            None => Err(self.error_at(self.at, "a truncated number")),
        }
    }

    /// A message within this one.
    pub(crate) fn message(&self, payload: &Payload) -> MessageResult<MessageReader<'f>> {
        let (at, end) = self.range(payload)?;
        if self.depth >= MAX_DEPTH {
            return Err(self.error_at(at, &too_deep()));
        }
        Ok(MessageReader::within(self.file, (at, end), self.depth + 1))
    }

    /// The range of the bytes of a field.
    pub(crate) fn range(&self, payload: &Payload) -> MessageResult<(usize, usize)> {
        match *payload {
            Payload::Bytes(start, end) => Ok((start, end)),
            Payload::Number(..) | Payload::Group(..) => {
                Err(self.error_at(self.at, "expected a message or a text, found a number"))
            }
        }
    }

    /// A field of bytes, as a slice of the file.
    pub(crate) fn bytes(&self, payload: &Payload) -> MessageResult<Bytes> {
        let (start, end) = self.range(payload)?;
        let bytes = self.file.field((start, end)).load();
        bytes.map_err(|error| self.error_at(start, &error.to_string()))
    }

    /// A field of text, see [`super::texts`].
    pub(crate) fn text(&self, payload: &Payload) -> MessageResult<Cow<'f, str>> {
        self.slice(self.range(payload)?).map(texts::decode)
    }

    /// A field with an integer.
    pub(crate) fn int(&self, payload: &Payload) -> MessageResult<i64> {
        match *payload {
            Payload::Number(number, Wire::Varint) => Ok(number as i64),
            _ => Err(self.error_at(self.at, "expected an integer")),
        }
    }

    /// A field with a 32-bit float.
    pub(crate) fn float(&self, payload: &Payload) -> MessageResult<f32> {
        match *payload {
            Payload::Number(bits, Wire::Fixed32) => Ok(f32::from_bits(bits as u32)),
            _ => Err(self.error_at(self.at, "expected a float")),
        }
    }

    /// Adds the integers of a repeated field, packed or not.
    pub(crate) fn ints(&self, payload: &Payload, mut add: impl FnMut(i64)) -> MessageResult<()> {
        match payload {
            Payload::Number(..) | Payload::Group(..) => add(self.int(payload)?),
            &Payload::Bytes(at, end) => {
                let mut packed = MessageReader::within(self.file, (at, end), self.depth);
                while packed.at < packed.end {
                    add(packed.varint()? as i64);
                }
            }
        }
        Ok(())
    }

    /// Adds the floats of a repeated field, packed or not.
    pub(crate) fn floats(&self, payload: &Payload, mut add: impl FnMut(f32)) -> MessageResult<()> {
        match payload {
            Payload::Number(..) | Payload::Group(..) => add(self.float(payload)?),
            &Payload::Bytes(at, end) => {
                let (floats, rest) = self.slice((at, end))?.as_chunks::<4>();
                if !rest.is_empty() {
                    return Err(self.error_at(end, "a truncated float"));
                }
                floats.iter().for_each(|bytes| add(f32::from_le_bytes(*bytes)));
            }
        }
        Ok(())
    }

    /// A field in its encoded form.
    pub(crate) fn keep(&self, number: u32, payload: Payload) -> EncodedField {
        let (wire, bytes) = match payload {
            Payload::Bytes(start, end) => (Wire::Bytes, self.file.field((start, end))),
            Payload::Group(start, end) => (Wire::Group, self.file.field((start, end))),
            Payload::Number(bits, Wire::Fixed32) => {
                (Wire::Fixed32, FieldBytes::from((bits as u32).to_le_bytes().to_vec()))
            }
            Payload::Number(bits, wire) => (wire, FieldBytes::from(bits.to_le_bytes().to_vec())),
        };
        EncodedField { number, wire, bytes }
    }

    /// An error at the current position.
    pub(crate) fn error(&self, message: &str) -> WireError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: usize, message: &str) -> WireError {
        WireError { message: message.to_owned(), at }
    }
}

/// The payloads of the fields of bytes with a number in a message that is not decoded otherwise.
pub(crate) fn payloads(message: &Bytes, wanted: u32) -> Vec<Bytes> {
    let message = Contents::from(message.clone());
    let mut reader = MessageReader::new(&message);
    let mut found = Vec::new();
    while let Ok(Some((number, payload))) = reader.field() {
        if number == wanted && payload.wire() == Wire::Bytes {
            found.extend(reader.bytes(&payload));
        }
    }
    found
}

/// The payload of a field that is one message; its parts are merged, which for encoded messages means joined.
pub(crate) fn merged(message: &Bytes, wanted: u32) -> Option<Bytes> {
    let mut parts = payloads(message, wanted);
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Bytes::from(parts.concat())),
    }
}

//! Reads the wire format of protobuf.

use bytes::Bytes;

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

/// A message that is read field by field: [`MessageReader::next`] goes to the next field, and other functions read its
/// payload.
///
/// One reader reads a message and all messages within it, and is passed by reference: copies of a reader, or of fields
/// returned by value, would be read in other sizes than they were written in, which the processor waits for.
#[derive(Debug)]
pub(crate) struct MessageReader<'f> {
    file: &'f Contents,
    /// The offset of the next byte to read, or of the payload of the current field if it is read as bytes.
    at: usize,
    /// Where `at` is in memory.
    place: Place,
    /// The bytes from `at` on, up to the end or to those that are not in memory.
    rest: &'f [u8],
    /// The exclusive end of the message.
    end: usize,
    depth: u32,
    field: CurrentField,
}

/// The current field.
#[derive(Debug)]
struct CurrentField {
    number: u32,
    wire: Wire,
    /// The bits of a number.
    bits: u64,
    /// The exclusive end of the payload, if it is bytes or a group.
    end: usize,
    /// The exclusive end of the field: behind the end tag of a group.
    next: usize,
}

/// A message to which the reader returns, see [`MessageReader::enter`]: its exclusive end.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OuterMessage(usize);

type MessageResult<T> = Result<T, Box<WireError>>;

/// The numbers of the encodings that begin and end a group.
const START_GROUP: u64 = 3;
const END_GROUP: u64 = 4;

impl<'f> MessageReader<'f> {
    /// A reader of a whole file.
    pub(crate) fn new(file: &'f Contents) -> Self {
        let (place, end) = (file.place(0), file.len());
        let field = CurrentField { number: 0, wire: Wire::Varint, bits: 0, end: 0, next: 0 };
        MessageReader { file, at: 0, place, rest: file.held_until(place, 0, end), end, depth: 0, field }
    }

    /// Goes to the next field, and returns its number and its encoding; none at the end of the message. A field in
    /// another encoding than its message declares is unknown, as it is for other readers of protobuf.
    #[inline]
    pub(crate) fn next(&mut self) -> MessageResult<Option<(u32, Wire)>> {
        if self.field.next != self.at {
            self.go(self.field.next);
        }
        if self.at >= self.end {
            return Ok(None);
        }
        self.read()?;
        Ok(Some((self.field.number, self.field.wire)))
    }

    /// Reads the head of the next field: its key, and the length of bytes or the number.
    fn read(&mut self) -> MessageResult<()> {
        // Most fields are short bytes, and have a small number.
        if let &[key @ 0x08..0x80, length @ 0..0x80, ..] = self.rest
            && key & 7 == 2
            && self.rest.len() >= 2 + usize::from(length)
        {
            self.pass(2);
            self.field.number = u32::from(key >> 3);
            self.field.wire = Wire::Bytes;
            self.field.end = self.at + usize::from(length);
            self.field.next = self.field.end;
            return Ok(());
        }
        self.read_any()
    }

    fn read_any(&mut self) -> MessageResult<()> {
        let at = self.at;
        let (number, wire) = self.key()?;
        self.field.number = number;
        if wire == START_GROUP {
            let start = self.at;
            self.field.end = self.skip_group(number, at)?;
            (self.field.wire, self.field.next) = (Wire::Group, self.at);
            self.rewind(start);
            return Ok(());
        }
        self.payload(wire, at)
    }

    /// Reads the payload of a field that is not a group, or the length of its bytes; `at` is the offset of its key.
    fn payload(&mut self, wire: u64, at: usize) -> MessageResult<()> {
        (self.field.wire, self.field.bits) = match wire {
            0 => (Wire::Varint, self.varint()?),
            1 => (Wire::Fixed64, u64::from_le_bytes(self.fixed()?)),
            2 => {
                let length = self.varint()?;
                let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
                let Some(end) = end.filter(|end| *end <= self.end) else {
                    return Err(self.error_at(at, "a field is longer than the message around it"));
                };
                self.field.wire = Wire::Bytes;
                (self.field.end, self.field.next) = (end, end);
                return Ok(());
            }
            5 => (Wire::Fixed32, u64::from(u32::from_le_bytes(self.fixed()?))),
            _ => return Err(self.error_at(at, "a field of an unknown encoding")),
        };
        (self.field.end, self.field.next) = (self.at, self.at);
        Ok(())
    }

    /// A key: the number of a field, and the number of its encoding.
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
                START_GROUP => return Err(self.too_deep(at)),
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
                    self.go(self.field.next);
                }
            }
        }
        Err(self.error_at(start, "an unterminated group"))
    }

    /// Goes on behind a number of the bytes that are in memory.
    #[inline]
    fn pass(&mut self, count: usize) {
        self.at += count;
        self.rest = self.rest.get(count..).unwrap_or(&[]);
    }

    /// Goes on at an offset further on, which need not be in memory.
    #[inline]
    fn go(&mut self, at: usize) {
        if at > self.place.until {
            self.place = self.file.place(at);
        }
        self.at = at;
        self.rest = self.file.held_until(self.place, at, self.end);
    }

    /// Goes back to an offset.
    fn rewind(&mut self, at: usize) {
        self.place = self.file.place(at);
        self.go(at);
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
        Err(self.error("an unterminated number"))
    }

    fn fixed<const N: usize>(&mut self) -> MessageResult<[u8; N]> {
        match self.rest.first_chunk::<N>().copied() {
            Some(bytes) => {
                self.pass(N);
                Ok(bytes)
            }
            None => Err(self.error("a truncated number")),
        }
    }

    /// The offset in the file of the next byte: at the start of a message, that of its first field. Files of protobuf
    /// have less than two gigabytes.
    pub(crate) fn position(&self) -> u32 {
        u32::try_from(self.at).unwrap_or(u32::MAX)
    }

    /// Enters the message in the current field, whose fields come next. Once they are read, [`MessageReader::leave`]
    /// goes on with the fields of the message around it.
    #[inline]
    pub(crate) fn enter(&mut self) -> MessageResult<OuterMessage> {
        let (_, end) = self.range()?;
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(self.at));
        }
        self.depth += 1;
        Ok(self.narrow(end))
    }

    /// Goes on behind the message that was entered.
    #[inline]
    pub(crate) fn leave(&mut self, outer: OuterMessage) {
        self.depth -= 1;
        self.widen(outer);
    }

    /// Reads the payload of the current field up to its end.
    #[inline]
    fn narrow(&mut self, end: usize) -> OuterMessage {
        let outer = OuterMessage(self.end);
        self.end = end;
        self.rest = self.rest.get(..end - self.at).unwrap_or(self.rest);
        self.field.next = self.at;
        outer
    }

    /// Goes on behind these bytes.
    #[inline]
    fn widen(&mut self, outer: OuterMessage) {
        self.field.next = self.end;
        self.end = outer.0;
        self.go(self.field.next);
    }

    /// The range of the bytes of the current field.
    #[inline]
    pub(crate) fn range(&self) -> MessageResult<(usize, usize)> {
        match self.field.wire {
            Wire::Bytes => Ok((self.at, self.field.end)),
            _ => Err(self.error("expected a message or a text, found a number")),
        }
    }

    /// The bytes of the current field, which are in memory except for those of fields that are not decoded.
    #[inline]
    pub(crate) fn slice(&self) -> MessageResult<&'f [u8]> {
        let (start, end) = self.range()?;
        self.rest.get(..end - start).ok_or_else(|| self.error("these bytes are not in memory"))
    }

    /// The current field of bytes, as a slice of the file.
    pub(crate) fn bytes(&self) -> MessageResult<Bytes> {
        self.file.field(self.range()?).load().map_err(|error| self.error(&error.to_string()))
    }

    /// The integer in the current field.
    pub(crate) fn int(&self) -> MessageResult<i64> {
        match self.field.wire {
            Wire::Varint => Ok(self.field.bits as i64),
            _ => Err(self.error("expected an integer")),
        }
    }

    /// The 32-bit float in the current field.
    pub(crate) fn float(&self) -> MessageResult<f32> {
        match self.field.wire {
            Wire::Fixed32 => Ok(f32::from_bits(self.field.bits as u32)),
            _ => Err(self.error("expected a float")),
        }
    }

    /// Adds the integers of a repeated field, packed or not.
    pub(crate) fn ints(&mut self, mut add: impl FnMut(i64)) -> MessageResult<()> {
        if self.field.wire != Wire::Bytes {
            add(self.int()?);
            return Ok(());
        }
        let outer = self.narrow(self.field.end);
        let read = self.packed(add);
        self.widen(outer);
        read
    }

    fn packed(&mut self, mut add: impl FnMut(i64)) -> MessageResult<()> {
        while self.at < self.end {
            add(self.varint()? as i64);
        }
        Ok(())
    }

    /// Adds the floats of a repeated field, packed or not.
    pub(crate) fn floats(&self, mut add: impl FnMut(f32)) -> MessageResult<()> {
        if self.field.wire != Wire::Bytes {
            add(self.float()?);
            return Ok(());
        }
        let (floats, rest) = self.slice()?.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(self.error_at(self.field.end, "a truncated float"));
        }
        floats.iter().for_each(|bytes| add(f32::from_le_bytes(*bytes)));
        Ok(())
    }

    /// The current field in its encoded form.
    pub(crate) fn keep(&self) -> EncodedField {
        let CurrentField { number, wire, bits, end, .. } = self.field;
        let bytes = match wire {
            Wire::Bytes | Wire::Group => self.file.field((self.at, end)),
            Wire::Fixed32 => FieldBytes::from((bits as u32).to_le_bytes().to_vec()),
            Wire::Varint | Wire::Fixed64 => FieldBytes::from(bits.to_le_bytes().to_vec()),
        };
        EncodedField { number, wire, bytes }
    }

    /// An error at the current position.
    pub(crate) fn error(&self, message: &str) -> Box<WireError> {
        self.error_at(self.at, message)
    }

    #[cold]
    fn too_deep(&self, at: usize) -> Box<WireError> {
        self.error_at(at, &format!("messages are nested deeper than {MAX_DEPTH}"))
    }

    #[cold]
    fn error_at(&self, at: usize, message: &str) -> Box<WireError> {
        Box::new(WireError { message: message.to_owned(), at })
    }
}

/// The payloads of the fields of bytes with a number in a message that is not decoded otherwise.
pub(crate) fn payloads(message: &Bytes, wanted: u32) -> Vec<Bytes> {
    let message = Contents::from(message.clone());
    let mut reader = MessageReader::new(&message);
    let mut found = Vec::new();
    while let Ok(Some(field)) = reader.next() {
        if field == (wanted, Wire::Bytes) {
            found.extend(reader.bytes());
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

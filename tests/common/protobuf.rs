//! Messages of protobuf, written field by field: for models that no text can say.

/// A number of variable length.
pub fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The head of a field with a payload of so many bytes.
pub fn head(number: u64, len: u64) -> Vec<u8> {
    [varint(number << 3 | 2), varint(len)].concat()
}

/// A field: its number and its payload.
pub fn field(number: u64, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    [head(number, payload.len() as u64), payload.to_vec()].concat()
}

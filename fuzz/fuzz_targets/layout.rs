//! A shape that is read prints a text that reads back, and its places and indices are inverse.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::tensor::Shape;
use nnef_flatten_fuzz::bounded;

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let Ok(shape) = String::from_utf8_lossy(bytes).parse::<Shape>() else { return };
    assert_eq!(shape.to_string().parse::<Shape>().ok().as_ref(), Some(&shape));
    let Some(array) = shape.array() else { return };
    let _ = (array.byte_strides(), array.reshape_is_bitcast(&array.with_descending_layout()));
    if array.allocated_bytes().is_ok_and(|bytes| bytes < 1 << 16)
        && let Ok(walk) = array.memory_walk()
    {
        for (place, element) in walk.iter().enumerate() {
            let index = array.multi_index(place as u64).unwrap();
            assert_eq!(index.is_some(), element.is_some());
            if let Some(index) = index {
                assert_eq!(array.linear_index(&index), Ok(place as u64));
            }
        }
    }
}));

//! A shape that is read prints a text that reads back, and its places and indices are inverse.

use nnef_flatten::tensor::{Layout, Shape, Tensor};

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    if let Ok(layout) = String::from_utf8_lossy(bytes).parse::<Layout>() {
        assert_eq!(layout.to_string().parse::<Layout>().ok(), Some(layout));
    }
    let Ok(shape) = String::from_utf8_lossy(bytes).parse::<Shape>() else { return };
    assert_eq!(shape.to_string().parse::<Shape>().ok().as_ref(), Some(&shape));
    let Some(array) = shape.array() else { return };
    let _ = (array.byte_strides(), array.reshape_is_bitcast(&array.with_descending_layout()));
    if array.allocated_bytes().is_ok_and(|bytes| bytes < 1 << 16)
        && let Ok(walk) = array.memory_walk()
    {
        let sizes: Vec<usize> = array.dims().iter().filter_map(|size| Some(size.size()? as usize)).collect();
        let count = array.elements().unwrap();
        // Extents that no memory could have are refused, even beside an extent of 0.
        if let Ok(tensor) = Tensor::integers(&sizes, (1..=count as i64).collect()) {
            let buffer = tensor.laid_out(array.layout().clone()).unwrap();
            let memory: Vec<u64> = walk.iter().map(|element| element.map_or(0, |element| element + 1)).collect();
            assert!((0..memory.len()).all(|place| buffer.data().float(place) as u64 == memory[place]));
            assert_eq!(buffer.into_tensor(), tensor);
        }
        let indexer = array.indexer().unwrap();
        for (place, element) in walk.iter().enumerate() {
            let index = array.multi_index(place as u64).unwrap();
            assert_eq!(index.is_some(), element.is_some());
            if let Some(index) = index {
                assert_eq!(array.linear_index(&index), Ok(place as u64));
                assert_eq!(indexer(&index), Some(place as u64));
            }
        }
    }
}

//! Generated layouts.

use nnef_flatten::tensor::{ArrayShape, DType, ElementType, Layout, PaddingValue};
use proptest::prelude::*;

/// Any order of the dimensions.
pub fn order(rank: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..rank).collect::<Vec<usize>>()).prop_shuffle()
}

/// Tiles of one to three sizes, some of them `*`.
pub fn tile() -> impl Strategy<Value = Vec<Option<u64>>> {
    let size = prop_oneof![4 => (1u64..5).prop_map(Some), 1 => Just(None)];
    (proptest::collection::vec(size, 0..3), 1u64..5).prop_map(|(mut tile, last)| {
        tile.push(Some(last));
        tile
    })
}

pub fn sizes() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(prop_oneof![1 => Just(1u64), 8 => 1u64..6, 1 => Just(0)], 0..4)
}

/// Arrays of given sizes in any layout.
pub fn laid_out(sizes: Vec<u64>) -> impl Strategy<Value = ArrayShape> {
    let rank = sizes.len();
    let more = proptest::option::weighted(0.3, proptest::collection::vec(0u64..3, rank));
    let tiles = proptest::collection::vec(tile(), 0..3);
    (order(rank), more, tiles, prop_oneof![3 => Just(1u64), 1 => 1u64..9]).prop_map(
        move |(order, more, tiles, alignment)| {
            let mut layout = Layout::new(&order).unwrap().with_tail_alignment(alignment);
            for tile in tiles {
                layout = layout.with_tile(&tile).unwrap();
            }
            if let Some(more) = more {
                let padded: Vec<u64> = sizes.iter().zip(more).map(|(size, more)| size + more).collect();
                layout = layout.with_padding(&padded, PaddingValue::Zero);
            }
            ArrayShape::new(ElementType::from(DType::Float32), &sizes).with_layout(layout).unwrap()
        },
    )
}

pub fn arrays() -> impl Strategy<Value = ArrayShape> {
    sizes().prop_flat_map(laid_out)
}

pub fn index_of(mut number: u64, sizes: &[u64]) -> Vec<u64> {
    let mut index = vec![0; sizes.len()];
    for (at, size) in sizes.iter().enumerate().rev() {
        (index[at], number) = (number % size, number / size);
    }
    index
}

pub fn known(shape: &ArrayShape) -> Vec<u64> {
    shape.dims().iter().map(|dimension| dimension.size().unwrap()).collect()
}

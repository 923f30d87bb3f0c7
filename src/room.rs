//! Room for tables that grow with the document.
//!
//! A vector that is full moves to one of twice the room. The allocator moves large blocks by
//! mapping their pages elsewhere, which costs next to nothing, but copies what it takes for small.
//! What that is it learns from the blocks that are freed, so tables of up to 32 MB may be copied
//! each time they double, into pages that were never touched before: those cost more than the
//! copying. So a table that is no longer small gets as much room as no allocator takes for small.
//! Room that nothing is written to takes no memory.

use std::sync::OnceLock;

/// Tables of fewer bytes are small: each time they are full they get four times the room, as much
/// as this at most. They come from memory that the process keeps, so that the next document finds
/// pages that were touched already.
const SMALL: usize = 1 << 20;

/// The bytes that a table starts with.
const FIRST: usize = 1 << 10;

/// Blocks larger than 32 MB are never small to the GNU allocator, others draw the line lower.
const LARGE: usize = 33 << 20;

/// So much free memory is kept for the next document, twice at most.
const KEPT: usize = 4 << 20;

/// More bytes than all the room that tables are given and do not need.
const PLENTY: usize = (4u64 << 30) as usize;

/// Whether there are addresses to spare, and memory is taken only where it is written to. Where
/// somebody limits what a process may ask for, or the system counts that, they are to be saved.
fn has_addresses() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    let is_there = || std::hint::black_box(Vec::<u8>::new()).try_reserve_exact(PLENTY).is_ok();
    cfg!(all(unix, target_pointer_width = "64")) && *HAS.get_or_init(is_there)
}

/// Has the allocator keep memory that is free, for the rest of the process.
///
/// The GNU allocator gives it back to the system as soon as 128 KB at the end are free, and a process
/// that reads one small document after the other would be given it anew for each: that takes longer
/// than reading them. It learns what comes and goes from the largest block that was freed. Nothing is
/// written to this one, so it takes no memory.
pub(crate) fn keep_free_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}

/// Adds an item to a table that may grow large.
#[inline]
pub(crate) fn push<T>(table: &mut Vec<T>, item: T) {
    if table.len() == table.capacity() {
        make(table, 1);
    }
    table.push(item);
}

/// Makes room for so many further items in a table that may grow large.
#[inline]
pub(crate) fn reserve<T>(table: &mut Vec<T>, items: usize) {
    if table.capacity() - table.len() < items {
        make(table, items);
    }
}

/// Makes room, as much as a vector would take, or more. Where there is none, the vector says so.
#[cold]
#[inline(never)]
fn make<T>(table: &mut Vec<T>, items: usize) {
    let bytes = table.capacity() * size_of::<T>();
    let wanted = match bytes {
        0..SMALL => (4 * bytes).clamp(FIRST, SMALL),
        SMALL..LARGE if has_addresses() => LARGE,
        _ => 0,
    };
    let wanted = wanted / size_of::<T>().max(1);
    if table.len() + items <= wanted {
        // It is no matter if this fails: what is needed is asked for again.
        let _ = table.try_reserve_exact(wanted - table.len());
    }
    table.reserve(items);
}

/// Calls what recurses over a document, with enough stack for one level more.
pub(crate) fn with_stack<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 1024 * 1024, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_grow_fast_until_they_are_of_some_size_and_then_have_room() {
        let mut table: Vec<u64> = Vec::new();
        let mut capacities = Vec::new();
        for i in 0..(LARGE / 8 + 10) as u64 {
            push(&mut table, i);
            if capacities.last() != Some(&table.capacity()) {
                capacities.push(table.capacity());
            }
        }
        assert!(table.iter().copied().eq(0..table.len() as u64));
        assert_eq!(capacities[..4], [128, 512, 2048, 8192]);
        if has_addresses() {
            assert_eq!(capacities[capacities.len() - 3..], [SMALL / 8, LARGE / 8, 2 * LARGE / 8]);
        }
    }

    #[test]
    fn room_is_made_for_several_items_at_once() {
        let mut table = vec![7u8; 3];
        reserve(&mut table, 1000);
        assert!(table.capacity() >= 1003);
        let before = table.capacity();
        reserve(&mut table, 1);
        assert_eq!(table.capacity(), before);
    }
}

//! The capacity of tables that grow with the document.
//!
//! A full vector is reallocated with twice the capacity. Allocators move large blocks by remapping
//! their pages, which is cheap, but copy small ones. The GNU allocator adapts the size that counts as
//! large to the blocks that are freed, so tables of up to 32 MB may be copied each time they double,
//! into new pages, whose page faults cost more than the copying. So a table that is no longer small
//! gets a capacity that every allocator takes for large. Capacity that is not used takes no memory.

use std::sync::OnceLock;

/// Defines the type of an index into a table. An `Option` of it has the same size.
macro_rules! position_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(std::num::NonZeroU32);

        impl $name {
            /// The entry at a position.
            #[inline]
            pub(crate) fn at(index: usize) -> Self {
                $name(std::num::NonZeroU32::MIN.saturating_add(index as u32))
            }

            /// The position in its table.
            #[inline]
            pub(crate) fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    };
}
pub(crate) use position_id;

/// Defines the type of an index into a table that is stored as it is.
macro_rules! table_id {
    ($($(#[$attribute:meta])* $vis:vis $name:ident;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis struct $name(pub(crate) u32);

        impl $name {
            /// The position in its table.
            #[inline]
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use table_id;

/// Tables of fewer bytes are small: their capacity grows by a factor of four, up to this. They use
/// memory that the process keeps, so that the next document finds pages that are mapped already.
const SMALL: usize = 1 << 20;

/// The initial capacity of a table in bytes.
const FIRST: usize = 1 << 10;

/// The capacity of tables that are no longer small. The GNU allocator always treats blocks of more than 32 MB
/// as large; other allocators have lower limits.
const LARGE: usize = 33 << 20;

/// The free memory that the allocator keeps for the next document is up to twice this number of bytes.
const KEPT: usize = 4 << 20;

/// An upper bound of the unused capacity of all tables in bytes.
const PLENTY: usize = (4u64 << 30) as usize;

/// Whether unused capacity takes no memory: the address space is large, and memory is allocated only for pages that
/// are written. Not so if the address space of the process is limited, or the system counts reserved memory.
fn has_addresses() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    let is_there = || std::hint::black_box(Vec::<u8>::new()).try_reserve_exact(PLENTY).is_ok();
    cfg!(all(unix, target_pointer_width = "64")) && *HAS.get_or_init(is_there)
}

/// Makes the allocator keep free memory for the rest of the process.
///
/// The GNU allocator returns memory to the system as soon as 128 KB at the end of the heap are free. A
/// process that reads many small documents would get it back for each, which takes longer than reading
/// them. The allocator adapts this limit to the largest block that was freed, so a large block is
/// allocated and freed here. It is not written to, so it takes no memory.
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

/// Adds an item to one of many lists that mostly have few items: the initial capacity is one item instead of a
/// vector's four.
#[inline]
pub(crate) fn push_few<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len().max(1));
    }
    list.push(item);
}

/// Reserves capacity for further items in a table that may grow large.
#[inline]
pub(crate) fn reserve<T>(table: &mut Vec<T>, items: usize) {
    if table.capacity() - table.len() < items {
        make(table, items);
    }
}

/// Reserves capacity, at least as much as a vector does. If that fails, the vector tries its own capacity and
/// reports the failure.
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
        // A failure is ignored: the capacity that is needed is requested again.
        let _ = table.try_reserve_exact(wanted - table.len());
    }
    table.reserve(items);
}

/// Calls a function that recurses over a document, and allocates more stack if needed.
pub(crate) fn with_stack<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 1024 * 1024, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lists_have_no_spare_capacity() {
        let mut list = Vec::new();
        let mut capacities = Vec::new();
        for i in 0..9u64 {
            push_few(&mut list, i);
            capacities.push(list.capacity());
        }
        assert_eq!(capacities, [1, 2, 4, 4, 8, 8, 8, 8, 16]);
        assert!(list.into_iter().eq(0..9));
    }

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

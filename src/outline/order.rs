//! An order of operations in which equal parts of a graph look the same.
//!
//! What a part computes of tensors that are known early, such as a mask, may stand anywhere between them and its first
//! use, and programs that write graphs put it elsewhere in each part. So operations with one use, or with uses that are
//! close to each other, move to the first of these, in the order of its operands. What is used all over the graph comes
//! first.

use super::listing::Listing;

/// No item.
const NONE: u32 = u32::MAX;

/// Uses at most this far from each other are close.
const CLOSE: u32 = 16;
/// Uses are all over the graph if they are so much of it apart: one in this number.
const WIDE: u32 = 3;

/// The operations with operands in an order that respects their dependencies.
pub(super) fn late(listing: &Listing) -> Vec<u32> {
    let producers = producers(listing);
    let OrderPlaces { places, wide } = places(listing, &producers);
    let mut order = Vec::with_capacity(listing.items.len());
    let mut placed = vec![false; listing.items.len()];
    let mut open: Vec<(u32, u32)> = Vec::new();
    let all = || 0..listing.items.len() as u32;
    let roots = all().filter(|item| wide[*item as usize]).chain(all().filter(|item| places[*item as usize] == *item));
    for root in roots {
        visit(root, &mut placed, &mut open, listing);
        while let Some((item, next)) = open.pop() {
            let Some(operand) = listing.operands(item as usize).get(next as usize) else {
                order.push(item);
                continue;
            };
            open.push((item, next + 1));
            match producers[*operand as usize] {
                NONE => {}
                producer => visit(producer, &mut placed, &mut open, listing),
            }
        }
    }
    order
}

/// The operations with operands as they are listed.
pub(super) fn listed(listing: &Listing) -> Vec<u32> {
    (0..listing.items.len() as u32).filter(|item| !listing.is_leaf(*item as usize)).collect()
}

fn visit(item: u32, placed: &mut [bool], open: &mut Vec<(u32, u32)>, listing: &Listing) {
    if !std::mem::replace(&mut placed[item as usize], true) && !listing.is_leaf(item as usize) {
        open.push((item, 0));
    }
}

/// The operation that computes each value.
fn producers(listing: &Listing) -> Vec<u32> {
    let mut producers = vec![NONE; listing.values as usize];
    for item in 0..listing.items.len() {
        listing.results(item).iter().for_each(|value| producers[*value as usize] = item as u32);
    }
    producers
}

/// Where operations stand.
struct OrderPlaces {
    /// The operation before which each one stands: itself, or its first use.
    places: Vec<u32>,
    /// Whether the uses of each one are all over the graph.
    wide: Vec<bool>,
}

fn places(listing: &Listing, producers: &[u32]) -> OrderPlaces {
    let count = listing.items.len();
    let mut places: Vec<u32> = (0..count as u32).collect();
    let mut wide = vec![false; count];
    // The first and the last place of what uses each operation.
    let mut uses = vec![(NONE, 0); count];
    for value in &listing.fixed {
        if let Some((first, last)) = uses.get_mut(producers[*value as usize] as usize) {
            (*first, *last) = (0, NONE);
        }
    }
    for item in (0..count).rev() {
        let (first, last) = uses[item];
        let slack = first.saturating_sub(item as u32);
        if first != NONE && last != NONE {
            wide[item] = last - first > (count as u32 / WIDE).max(CLOSE);
            if last - first <= slack.max(CLOSE) {
                places[item] = first;
            }
        }
        for operand in listing.operands(item) {
            if let Some((first, last)) = uses.get_mut(producers[*operand as usize] as usize) {
                (*first, *last) = ((*first).min(places[item]), (*last).max(places[item]));
            }
        }
    }
    OrderPlaces { places, wide }
}

//! Groups with further groups in them: around some items of a group there may be a new one.

use rustc_hash::FxHashMap;

use super::groups::{GroupCall, Groups, ROOT};

/// An operation, or a group with its operations.
pub(super) struct GroupItem {
    /// The group; none for an operation.
    pub(super) group: Option<u32>,
    /// The operations in it.
    pub(super) operations: Vec<usize>,
}

/// A group that is put around items of another one, by their numbers.
pub(super) struct NewGroup {
    /// The group; what is around it does not matter.
    pub(super) call: GroupCall,
    /// Its items.
    pub(super) items: Vec<u32>,
}

/// A group that is still to be numbered.
struct OpenItems {
    call: GroupCall,
    items: Vec<GroupItem>,
}

/// Puts new groups around items. `divide` tells which a group gets, and may change the group; new groups get further
/// ones, too.
pub(super) fn regrouped(
    drawn: &[usize],
    groups: &Groups,
    mut divide: impl FnMut(&mut GroupCall, &[GroupItem]) -> Vec<NewGroup>,
) -> Groups {
    let mut new = Groups { calls: Vec::new(), of: vec![ROOT; groups.of.len()] };
    let mut open = vec![OpenItems { call: groups.calls[ROOT as usize].clone(), items: items(groups, ROOT, drawn) }];
    while let Some(OpenItems { mut call, items: inner }) = open.pop() {
        let added = divide(&mut call, &inner);
        let number = new.add(call);
        let mut inner: Vec<Option<GroupItem>> = inner.into_iter().map(Some).collect();
        let start = open.len();
        for NewGroup { call, items } in added {
            let items: Vec<GroupItem> = items.iter().filter_map(|item| inner[*item as usize].take()).collect();
            open.push(OpenItems { call: GroupCall { parent: number, ..call }, items });
        }
        for item in inner.into_iter().flatten() {
            match item.group {
                Some(group) => {
                    let call = GroupCall { parent: number, ..groups.calls[group as usize].clone() };
                    open.push(OpenItems { call, items: items(groups, group, &item.operations) });
                }
                None => item.operations.iter().for_each(|operation| new.of[*operation] = number),
            }
        }
        open[start..].reverse();
    }
    new
}

/// The items of a group with these operations.
fn items(groups: &Groups, group: u32, operations: &[usize]) -> Vec<GroupItem> {
    let mut items: Vec<GroupItem> = Vec::new();
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    for &operation in operations {
        let mut inner = groups.of(operation);
        if inner == group {
            items.push(GroupItem { group: None, operations: vec![operation] });
            continue;
        }
        while groups.calls[inner as usize].parent != group {
            inner = groups.calls[inner as usize].parent;
        }
        let item = *known.entry(inner).or_insert(items.len());
        if item == items.len() {
            items.push(GroupItem { group: Some(inner), operations: Vec::new() });
        }
        items[item].operations.push(operation);
    }
    items
}

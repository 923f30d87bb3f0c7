// The state in the address, so that a link leads to it: the selection, the open groups and the search.
'use strict';

/* How long after a change the address is written, in milliseconds: browsers limit how often it may be. */
const SETTLED = 120;

/* The path of each group, and the group of each path: of several groups with a title in a group, later ones have a
   number. */
function groupPaths(data) {
  const paths = [''], known = new Map(), counts = new Map();
  data.groups.forEach((group, id) => {
    if (!id) return;
    const path = `${group.parent ? paths[group.parent] : ''}/${group.title}`;
    const count = (counts.get(path) || 0) + 1;
    counts.set(path, count);
    paths.push(count > 1 ? `${path}~${count}` : path);
    known.set(paths[id], id);
  });
  return { paths, known };
}

/* What the pages of a document share: the address and the keys. */
class Desk {
  constructor() {
    this.pages = new Map();
    this.keys = document.getElementById('keys');
    /* What keys do that belong to no page. */
    this.actions = {};
    addEventListener('hashchange', () => { if (location.hash !== this.noted) [...this.pages.keys()].forEach(prefix => this.restore(prefix)); });
    document.addEventListener('keydown', event => this.key(event));
  }

  add(prefix, page) {
    this.pages.set(prefix, page);
    this.current ??= page;
    const use = () => { this.current = page; };
    page.root.addEventListener('pointerdown', use, true);
    page.root.addEventListener('focusin', use);
    this.restore(prefix);
  }

  help() {
    this.keys.showModal();
  }

  /* Keys go to the page that was used last, wherever the focus is, except where text is written; Enter and Space also
     press buttons. */
  key(event) {
    if (event.target.localName === 'input' || event.ctrlKey || event.metaKey || event.altKey || this.keys.open) return;
    const pressed = event.key === 'Enter' || event.key === ' ';
    if (pressed && event.target.closest?.('button')) return;
    const action = Object.hasOwn(this.actions, event.key) && this.actions[event.key];
    if (action) action();
    else if (!this.current.key(event)) return;
    event.preventDefault();
  }

  /* Writes the state of all pages into the address, a little later. */
  note() {
    clearTimeout(this.noting);
    this.noting = setTimeout(() => this.write(), SETTLED);
  }

  write() {
    const state = new URLSearchParams();
    for (const [prefix, page] of this.pages) for (const [name, value] of page.state()) state.append(prefix + name, value);
    const text = state.toString();
    this.noted = text ? `#${text}` : '';
    try {
      history.replaceState(null, '', this.noted || location.pathname);
    } catch {
      // A page in a frame without an address has nothing that a link could lead to.
    }
  }

  /* Takes the state of a page from the address, or clears its selection if there is none. */
  restore(prefix) {
    this.noted = location.hash;
    const state = new URLSearchParams();
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      if (name.startsWith(prefix)) state.append(name.slice(prefix.length), value);
    }
    const page = this.pages.get(prefix);
    if (state.size) page.restore(state);
    else if (page.selected.item !== null) page.clear();
  }
}

Object.assign(Page.prototype, {
  groupPaths() {
    this.named ??= groupPaths(this.data);
    return this.named;
  },

  /* What names an item in the address: a group starts with `/`, an output of the graph with `>`. */
  address(item) {
    if (isGroup(item)) return this.groupPaths().paths[groupOf(item)];
    const node = this.data.nodes[item], of = node.k === 2 ? node.i[0][2] : node.o.flatMap(([, ids]) => ids);
    return of.length ? (node.k === 2 ? '>' : '') + this.data.tensors[of[0]][0] : '';
  },

  addressed(name) {
    if (name.startsWith('/')) {
      const group = this.groupPaths().known.get(name);
      return group === undefined ? null : -1 - group;
    }
    const output = name.startsWith('>'), wanted = output ? name.slice(1) : name;
    const tensor = this.data.tensors.findIndex(([of]) => of === wanted);
    if (tensor < 0) return null;
    const users = this.index.users[tensor] || [];
    return (output ? users.find(id => this.data.nodes[id].k === 2) : this.index.maker[tensor]) ?? null;
  },

  /* What a link has to restore, as names and values. */
  state() {
    const state = [];
    const { groups } = this.data, item = this.panel.item ?? this.selected.item;
    if (item !== null) state.push(['select', this.address(item)]);
    if (this.chosen === 'all') state.push(['open', '*']);
    else if (this.chosen) {
      const inner = new Set(groups.map((group, id) => id && group.open ? group.parent : 0));
      const open = groups.flatMap((group, id) => id && group.open && !inner.has(id) ? [this.groupPaths().paths[id]] : []);
      for (const path of open.length ? open : ['']) state.push(['open', path]);
    }
    if (this.search.input.value) state.push(['search', this.search.input.value]);
    return state;
  },

  restore(state) {
    const { groups } = this.data;
    const open = state.getAll('open');
    if (open.length) {
      this.chosen = open[0] === '*' ? 'all' : 'some';
      groups.forEach((group, id) => { group.open = !id || this.chosen === 'all'; group.frame = null; });
      for (const path of open) {
        let group = this.groupPaths().known.get(path);
        for (; group > 0; group = groups[group].parent) groups[group].open = true;
      }
      this.place();
      this.begin();
    }
    const search = state.get('search');
    if (search) {
      this.search.input.value = search;
      this.search.run();
      this.search.open(false);
    }
    const item = state.has('select') ? this.addressed(state.get('select')) : null;
    if (item !== null) this.go(item);
  },
});

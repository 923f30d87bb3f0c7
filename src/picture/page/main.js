// The page and its state: open groups, selection, view.
'use strict';

/* Initially groups are opened until this number of boxes is shown, as long as all texts can be read: the smallest ones,
   of 10.5, have 9 pixels. What would be smaller is shown in part. */
const FEW = 30, LEGIBLE = 0.86;
/* The largest scale of the first screen. */
const LARGE = 1.5;
/* In windows of at least this width, the panel of the model is open at first. */
const WIDE = 1000;
const SCALES = [0.01, 4];

const operations = count => `${grouped(count)} operation${count === 1 ? '' : 's'}`;

/* Marks an output that is computed from what has changed. */
function follow(node) {
  node.follows = true;
  node.told = ['is computed from what has changed'];
}

/* Unpacks the data: levels as objects, groups with their state. */
function unpack(data) {
  data.groups.forEach((group, index) => {
    const items = group.items.length;
    group.id = index;
    group.open = index === 0;
    group.step ??= group.title;
    const called = group.f < 0 ? 'module' : data.calls[group.f][6] ? 'graph in an attribute' : data.called;
    const kind = group.x ? `${group.x} equal modules` : group.p ? 'part' : called;
    group.note = `${kind}, ${operations(group.count)}`;
    group.size = group.x ? `${operations(group.count / group.x)} each` : operations(group.count);
    group.depth = index ? data.groups[group.parent].depth + 1 : 0;
    const edges = [];
    for (let i = 0; i < group.edges.length; i += 3) edges.push(group.edges.slice(i, i + 3));
    group.level = {
      kinds: new Array(items).fill(ITEM).concat(group.kinds),
      of: group.items.map((_, i) => i).concat(group.of),
      rows: group.rows, edges, nets: group.nets,
    };
  });
}

/* The source and the users of each tensor, by their numbers. */
function indexOf(data) {
  const maker = new Array(data.tensors.length), users = new Array(data.tensors.length);
  data.nodes.forEach((node, id) => {
    if (node.k !== 2) for (const [, ids] of node.o) for (const tensor of ids) maker[tensor] = id;
    for (const [, , ids] of node.i) for (const tensor of ids) (users[tensor] ??= []).push(id);
  });
  return { maker, users };
}

class Page {
  /* A page in an element of the document. `desk` is what it shares with other pages, in whose address its names start
     with `prefix`; `changes` are marked in it. */
  constructor(root, data, desk, prefix = '', changes = []) {
    Object.assign(this, { root, data, desk });
    unpack(data);
    this.index = indexOf(data);
    this.mark(changes);
    this.canvas = this.part('.canvas');
    this.painter = new Painter(this.canvas, data);
    this.view = { x: 0, y: 0, scale: 1 };
    this.none = { item: null, made: new Set(), used: new Set() };
    this.selected = this.none;
    const actions = { select: id => this.go(id), clear: () => this.close(), toggle: id => this.toggle(id) };
    this.panel = new Panel(this.part('.panel'), data, this.index, actions);
    const list = this.part('.found');
    list.id = `${prefix}found`;
    this.search = new Search(this.part('.search'), list, data, this.panel, {
      select: id => {
        this.go(id);
        this.canvas.focus();
      },
      changed: () => desk.note(),
    });
    const title = this.part('h1');
    /* A graph without a name is called as its file. */
    title.textContent ||= data.files[0] || 'graph';
    this.panel.name = title.textContent;
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.dark.addEventListener('change', () => this.theme());
    this.theme();
    /* Whether the panel shows the model while nothing is selected. */
    this.about = !prefix && innerWidth >= WIDE;
    if (this.about) this.panel.model(this.painter.colors);
    this.start();
    this.listen();
    const count = kind => data.nodes.filter(node => node.k === kind).length;
    this.part('.count').textContent = operations(count(0)) + (count(3) ? ` and ${grouped(count(3))} ${DATA}` : '');
    desk.add(prefix, this);
    this.canvas.dataset.ready = 'yes';
    /* The milliseconds from the start of loading until now. */
    this.opened = performance.now();
  }

  part(selector) {
    return this.root.querySelector(selector);
  }

  /* The box that a change is about: of an output, or of what makes a tensor. */
  subject({ tensor, output }) {
    const { nodes } = this.data, users = this.index.users[tensor] || [];
    return output ? users.find(user => nodes[user].k === 2) : this.index.maker[tensor];
  }

  /* Marks the boxes that changes are about, for data those that name them, and counts the changes in groups. What was
     added or removed is marked as such; what names other data than before has changed. */
  mark(changes) {
    const { nodes, groups } = this.data;
    const known = changes.map(change => [this.subject(change), change]).filter(([item]) => item !== undefined);
    for (const [item, { kind, text }] of known) {
      const node = nodes[item];
      if (!node.mark || kind !== 'changed') node.mark = kind;
      (node.told ??= []).push(text);
    }
    for (const [maker, { text }] of known) {
      const user = this.user(maker), node = nodes[user];
      if (user !== maker) {
        node.mark ??= 'changed';
        (node.told ??= []).push(text);
      }
      for (let group = node.g; group > 0; group = groups[group].parent) {
        groups[group].changes = (groups[group].changes || 0) + 1;
      }
    }
    if (known.length) this.markGroups();
    this.markOutputs(known.map(([item]) => item));
  }

  /* Outputs that are computed from what has changed. */
  markOutputs(changed) {
    const { nodes } = this.data, reached = new Set(changed), open = [...changed];
    while (open.length) {
      const node = nodes[open.pop()];
      for (const user of node.k === 2 ? [] : node.o.flatMap(([, ids]) => ids).flatMap(tensor => this.index.users[tensor] || [])) {
        if (reached.has(user)) continue;
        reached.add(user);
        open.push(user);
      }
    }
    [...reached].map(item => nodes[item]).filter(node => node.k === 2 && !node.mark).forEach(follow);
  }

  /* A group of nothing but what was added is itself added, and so on. */
  markGroups() {
    const { nodes, groups } = this.data;
    for (const node of nodes.filter(node => node.k < 3)) {
      for (let group = node.g; group > 0; group = groups[group].parent) {
        const of = groups[group], mark = node.mark || 'same';
        of.mark = of.mark && of.mark !== mark ? 'changed' : mark;
      }
    }
  }

  /* The first screen. */
  start() {
    this.place();
    this.openFew();
    this.begin();
  }

  /* Opens groups, those with the most operations first, as long as all boxes can be read on one screen; one with most of
     the operations may be taller. Runs of equal modules stay closed. */
  openFew() {
    const { groups, nodes } = this.data, total = nodes.filter(node => node.k === 0).length;
    const inner = id => groups[id].items.filter(isGroup).map(groupOf);
    const ready = inner(0);
    while (ready.length) {
      const at = ready.reduce((most, id, i) => groups[id].count > groups[ready[most]].count ? i : most, 0);
      const [id] = ready.splice(at, 1);
      if (groups[id].x) continue;
      if (this.shown.boxes.length + groups[id].items.length - 1 > FEW) return;
      this.turn(id, true);
      if (!this.fits(groups[id].count * 2 > total)) {
        this.turn(id, false);
        return;
      }
      ready.push(...inner(id));
    }
  }

  /* Whether all that is shown can be read on one screen, or at least all that is side by side. */
  fits(tall) {
    return this.scale() >= LEGIBLE || tall && (this.size().width - 48) / this.shown.w >= LEGIBLE;
  }

  turn(id, open) {
    this.data.groups[id].open = open;
    forget(this.data, id);
    this.place();
  }

  theme() {
    this.painter.colors = palette(this.data, this.dark.matches);
    if (!this.panel.root.hidden && this.panel.item === null) this.panel.model(this.painter.colors);
    this.draw();
  }

  /* Computes all positions again. */
  place() {
    this.shown = placeAll(this.data);
    this.canvas.dataset.shown = this.shown.boxes.length;
    this.draw();
  }

  /* Requests one redraw before the next frame. */
  draw() {
    if (this.waiting || !this.shown) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const drawn = this.painter.paint(this.shown, this.view, this.selected);
      Object.assign(this.canvas.dataset, {
        drawn, x: this.view.x, y: this.view.y, scale: this.view.scale, selected: this.selected.item ?? '',
      });
    });
  }

  size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  /* The scale at which all of it is shown. */
  scale() {
    const { width, height } = this.size(), pad = 24;
    return Math.min((width - 2 * pad) / this.shown.w, (height - 2 * pad) / this.shown.h, LARGE);
  }

  /* Shows the whole picture. */
  fit() {
    this.look(this.shown.w / 2, this.shown.h / 2, Math.max(this.scale(), SCALES[0]));
  }

  /* Shows the whole picture, or its top at a scale that can be read. */
  begin() {
    this.fit();
    if (this.view.scale < LEGIBLE && this.shown.boxes.length) this.top();
    this.first = this.view;
  }

  /* Shows the top of the picture. */
  top() {
    const { width, height } = this.size();
    const scale = Math.max(Math.min((width - 48) / this.shown.w, 1), LEGIBLE);
    const first = this.shown.boxes.reduce((a, b) => b.y < a.y ? b : a);
    const half = Math.min(width / scale, this.shown.w) / 2;
    const middle = Math.min(Math.max(first.x + first.w / 2, half), this.shown.w - half);
    this.look(middle, height / 2 / scale - 16 / scale, scale);
  }

  /* A page in a frame gets its size late: the first view is made again, unless something is selected. */
  resized() {
    if (this.view === this.first && this.selected === this.none && !this.chosen) this.start();
    else this.draw();
  }

  /* Centres the view on a point of the picture. */
  look(x, y, scale) {
    const { width, height } = this.size();
    this.view = { x: width / 2 - x * scale, y: height / 2 - y * scale, scale };
    this.draw();
  }

  zoom(factor, x = this.size().width / 2, y = this.size().height / 2) {
    const scale = Math.min(Math.max(this.view.scale * factor, SCALES[0]), SCALES[1]);
    const by = scale / this.view.scale;
    this.view = { x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by, scale };
    this.draw();
  }

  pan(x, y) {
    this.view = { ...this.view, x: this.view.x + x, y: this.view.y + y };
    this.draw();
  }

  boxOf(item) {
    return this.shown.boxes.find(box => box.item === item) ||
      this.shown.groups.find(box => -1 - box.group === item);
  }

  /* The visible item for a box: the box itself, or the closed group that contains it. */
  visible(id) {
    let item = id;
    for (let group = this.data.nodes[id].g; group > 0; group = this.data.groups[group].parent) {
      if (!this.data.groups[group].open) item = -1 - group;
    }
    return item;
  }

  /* The box that names data: the first user that has one. */
  user(id) {
    const seen = new Set();
    while (this.data.nodes[id]?.k === 3 && !seen.has(id)) {
      seen.add(id);
      const node = this.data.nodes[id];
      id = this.index.users[node.o.flatMap(([, ids]) => ids)[0]]?.[0] ?? id;
    }
    return id;
  }

  /* Selects a box and shows it; opens the groups around it. For data, the first user is shown. */
  go(id) {
    const at = this.user(id);
    const around = isGroup(at) ? this.data.groups[groupOf(at)].parent : this.data.nodes[at].g;
    let changed = false;
    for (let group = around; group > 0; group = this.data.groups[group].parent) {
      if (this.data.groups[group].open) continue;
      this.data.groups[group].open = changed = true;
      forget(this.data, group);
    }
    if (changed) {
      this.chosen = this.chosen || 'some';
      this.place();
    }
    this.select(at);
    if (at !== id) this.panel.node(id, this.painter.colors);
    this.desk.note();
    const box = this.boxOf(at);
    if (!box) return;
    // For a tall group, its upper end is shown.
    const y = box.y + Math.min(box.h / 2, isGroup(at) ? 240 : box.h / 2);
    this.look(box.x + box.w / 2, y, Math.max(this.view.scale, 0.8));
  }

  select(item) {
    if (isGroup(item)) {
      this.selected = { ...this.none, item };
      this.panel.group(groupOf(item));
    } else {
      const node = this.data.nodes[item];
      const made = node.k === 2 ? [] : node.o.flatMap(([, ids]) => ids);
      this.selected = { item, made: new Set(made), used: new Set(node.i.flatMap(([, , ids]) => ids)) };
      this.panel.node(item, this.painter.colors);
    }
    this.desk.note();
    this.draw();
  }

  /* Selects nothing. The panel shows the model then, if it did before. */
  clear() {
    if (this.about) this.panel.model(this.painter.colors);
    else this.panel.hide();
    this.selected = this.none;
    this.desk.note();
    this.draw();
  }

  /* Closes the panel; that of the model stays closed. */
  close() {
    if (this.panel.item === null) this.about = false;
    this.clear();
  }

  /* Shows the model in the panel, or hides it. */
  model() {
    this.about = this.panel.root.hidden || this.panel.item !== null;
    this.clear();
  }

  /* Opens or closes a group; its upper left corner does not move. */
  toggle(id) {
    const before = this.boxOf(-1 - id);
    this.turn(id, !this.data.groups[id].open);
    this.chosen = 'some';
    this.desk.note();
    const after = this.boxOf(-1 - id);
    if (before && after) this.pan((before.x - after.x) * this.view.scale, (before.y - after.y) * this.view.scale);
    if (this.selected.item !== null) this.reselect();
  }

  /* Updates the selection: the selected item may have been hidden. */
  reselect() {
    const { item } = this.selected;
    this.select(isGroup(item) ? item : this.visible(item));
  }

  all(open) {
    this.data.groups.forEach((group, index) => {
      group.open = open || index === 0;
      group.frame = null;
    });
    this.chosen = open ? 'all' : 'some';
    this.desk.note();
    this.place();
    this.begin();
    if (this.selected.item !== null) this.reselect();
  }
}

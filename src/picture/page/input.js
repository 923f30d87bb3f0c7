// Mouse, touch and keys.
'use strict';

/* The maximum movement of a pointer during a click, in pixels. */
const STILL = 4;

Object.assign(Page.prototype, {
  listen() {
    const on = (name, action) => this.part(`button[name=${name}]`).addEventListener('click', action);
    on('fit', () => this.fit());
    on('in', () => this.zoom(1.3));
    on('out', () => this.zoom(1 / 1.3));
    on('open', () => this.all(true));
    on('shut', () => this.all(false));
    on('save', () => this.save());
    on('model', () => this.model());
    on('help', () => this.desk.help());
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    this.pointers();
    this.canvas.addEventListener('wheel', event => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY * unit * 0.003), event.offsetX, event.offsetY);
      else if (event.shiftKey && !event.deltaX) this.pan(-event.deltaY * unit, 0);
      else this.pan(-event.deltaX * unit, -event.deltaY * unit);
    }, { passive: false });
    this.canvas.addEventListener('dblclick', event => {
      const hit = this.hit(event.offsetX, event.offsetY);
      if (hit && isGroup(hit.item)) this.toggle(groupOf(hit.item));
    });
  },

  /* Dragging pans, two fingers zoom, anything else is a click. */
  pointers() {
    const down = new Map();
    let moved = 0;
    const middle = () => {
      const all = [...down.values()];
      const x = all.reduce((sum, at) => sum + at.x, 0) / all.length, y = all.reduce((sum, at) => sum + at.y, 0) / all.length;
      return { x, y, apart: all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0 };
    };
    this.canvas.addEventListener('pointerdown', event => {
      this.canvas.setPointerCapture(event.pointerId);
      if (!down.size) moved = 0;
      down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    });
    this.canvas.addEventListener('pointermove', event => {
      if (!down.has(event.pointerId)) {
        const hit = this.hit(event.offsetX, event.offsetY);
        this.canvas.style.cursor = hit ? 'pointer' : 'grab';
        return;
      }
      const before = middle();
      down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      const after = middle();
      moved += Math.hypot(after.x - before.x, after.y - before.y) + Math.abs(after.apart - before.apart);
      if (moved <= STILL) return;
      this.pan(after.x - before.x, after.y - before.y);
      if (before.apart && after.apart) this.zoom(after.apart / before.apart, after.x, after.y);
    });
    const up = event => {
      const clicked = down.delete(event.pointerId) && moved <= STILL && event.type === 'pointerup';
      if (clicked && !down.size) this.click(event.offsetX, event.offsetY);
    };
    this.canvas.addEventListener('pointerup', up);
    this.canvas.addEventListener('pointercancel', up);
  },

  /* The box or group title at a point of the canvas; `sign` is whether the point is on its plus or minus. */
  hit(canvasX, canvasY) {
    const x = (canvasX - this.view.x) / this.view.scale, y = (canvasY - this.view.y) / this.view.scale;
    const within = box => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
    const box = this.shown.boxes.find(within);
    if (box) return { item: box.item, sign: isGroup(box.item) && x < box.x + 24 };
    for (const group of this.shown.groups.slice().reverse()) {
      const { title } = group;
      const head = { x: group.x + title.x, y: group.y + title.y, w: title.w, h: title.h };
      if (within(head)) return { item: -1 - group.group, sign: x < head.x + 18 };
    }
    return null;
  },

  click(x, y) {
    const hit = this.hit(x, y);
    if (!hit) this.clear();
    else if (hit.sign) this.toggle(groupOf(hit.item));
    else this.select(hit.item);
  },

  /* Returns whether the key means something. */
  key(event) {
    const search = this.search.input;
    const actions = {
      '/': () => { search.focus(); search.select(); }, Escape: () => this.clear(), '?': () => this.desk.help(),
      '+': () => this.zoom(1.3), '=': () => this.zoom(1.3), '-': () => this.zoom(1 / 1.3), 0: () => this.fit(),
      Enter: () => this.enter(), ' ': () => this.enter(), s: () => this.save(),
      m: () => this.model(),
      o: () => this.all(true), c: () => this.all(false),
    };
    if (event.key.startsWith('Arrow')) this.arrow(event.key.slice(5), event.shiftKey);
    else if (Object.hasOwn(actions, event.key)) actions[event.key]();
    else return false;
    return true;
  },

  /* Opens the selected group, or closes the group around the selected item. */
  enter() {
    const { item } = this.selected;
    if (item === null) return;
    const group = isGroup(item) ? groupOf(item) : this.data.nodes[item].g;
    if (group < 1) return;
    this.toggle(group);
    if (!isGroup(item)) this.select(-1 - group);
  },

  /* Selects a source, a user or a neighbour of the selected item; pans if nothing is selected. */
  arrow(direction, shift) {
    const { item } = this.selected, step = 80;
    const by = { Up: [0, step], Down: [0, -step], Left: [step, 0], Right: [-step, 0] }[direction];
    const box = item === null ? null : this.boxOf(item);
    if (shift || !box) {
      this.pan(...by);
      return;
    }
    const x = box.x + box.w / 2, y = box.y + box.h / 2;
    const sideways = direction === 'Left' || direction === 'Right';
    const sign = direction === 'Left' || direction === 'Up' ? -1 : 1;
    const linked = sideways ? null : this.linked(item, direction);
    let best = null, least = Infinity;
    for (const other of this.shown.boxes) {
      if (other === box || (linked && linked.size && !linked.has(other.item))) continue;
      const dx = other.x + other.w / 2 - x, dy = other.y + other.h / 2 - y;
      const [along, aside] = sideways ? [dx * sign, Math.abs(dy)] : [dy * sign, Math.abs(dx)];
      if (along <= 0 || (sideways && aside > box.h)) continue;
      const far = along + 2 * aside;
      if (far < least) [best, least] = [other, far];
    }
    if (!best) return;
    this.select(best.item);
    this.look(best.x + best.w / 2, best.y + best.h / 2, this.view.scale);
  },

  /* The items above or below that are connected to an item by a line. */
  linked(item, direction) {
    if (isGroup(item)) return null;
    const node = this.data.nodes[item];
    const ids = direction === 'Up'
      ? node.i.flatMap(([, , tensors]) => tensors).map(tensor => this.index.maker[tensor])
      : node.o.flatMap(([, tensors]) => tensors).flatMap(tensor => this.index.users[tensor] || []);
    return new Set(ids.filter(id => id !== undefined && this.data.nodes[id].k !== 3).map(id => this.visible(id)));
  },
});

// The picture as it is shown, as a file of SVG.
'use strict';

/* The name space of SVG, as the parser of HTML knows it. */
const SVG = new DOMParser().parseFromString('<svg></svg>', 'text/html').querySelector('svg').namespaceURI;
const MARGIN = 8;

const rounded = value => Math.round(value * 10) / 10;

class Sheet {
  constructor(colors, data, shown) {
    Object.assign(this, { colors, data });
    const w = rounded(shown.w + 2 * MARGIN), h = rounded(shown.h + 2 * MARGIN);
    this.root = document.createElementNS(SVG, 'svg');
    this.set(this.root, { width: w, height: h, viewBox: `${-MARGIN} ${-MARGIN} ${w} ${h}`, 'font-family': FONT });
    this.rect({ x: -MARGIN, y: -MARGIN, w, h }, 0, colors.page, 'none');
    for (const group of shown.groups) {
      this.rect(group, 9, data.groups[group.group].depth % 2 ? colors.group : colors.even, colors.edge);
    }
    shown.lines.forEach(line => this.line(line));
    for (const group of shown.groups) {
      const { title } = group, x = group.x + title.x + 6, y = group.y + title.y + 14;
      this.text(data.groups[group.group].title, x, y, 10.5, colors.note, true);
    }
    shown.boxes.forEach(box => isGroup(box.item) ? this.closed(box) : this.box(box));
  }

  set(made, attributes) {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  }

  add(name, attributes) {
    const made = document.createElementNS(SVG, name);
    this.set(made, attributes);
    this.root.append(made);
    return made;
  }

  rect({ x, y, w, h }, rx, fill, stroke) {
    return this.add('rect', { x: rounded(x), y: rounded(y), width: rounded(w), height: rounded(h), rx, fill, stroke });
  }

  /* The border of what a change is about. */
  mark(box, rx, kind) {
    if (kind) this.rect(box, rx, 'none', this.colors[kind]).setAttribute('stroke-width', 3);
  }

  text(text, x, y, size, fill, bold, end) {
    if (!text) return;
    const made = this.add('text', { x: rounded(x), y: rounded(y), 'font-size': size, fill });
    if (bold) made.setAttribute('font-weight', 600);
    if (end) made.setAttribute('text-anchor', 'end');
    made.textContent = text;
  }

  line({ x1, y1, x2, y2, bend1, bend2, arrow }) {
    const middle = (bend1 + bend2) / 2, end = arrow ? y2 - 4 : y2;
    const curve = Math.abs(x1 - x2) < 0.05 ? [] : [
      'V', bend1, 'C', x1, middle, x2, middle, x2, bend2,
    ];
    const path = ['M', x1, y1, ...curve, 'V', end].map(part => typeof part === 'number' ? rounded(part) : part);
    this.add('path', { d: path.join(' '), fill: 'none', stroke: this.colors.line, 'stroke-width': 1.2 });
    if (!arrow) return;
    const tip = ['M', x2, y2, 'l', -3.2, -7, 'h', 6.4, 'z'].map(part => typeof part === 'number' ? rounded(part) : part);
    this.add('path', { d: tip.join(' '), fill: this.colors.tip });
  }

  box(box) {
    const { colors } = this, node = this.data.nodes[box.item], style = colors.styles[node.c], port = node.c === 0;
    const made = this.rect(box, port ? box.h / 2 : 6, style.fill, style.line);
    const hint = document.createElementNS(SVG, 'title');
    hint.textContent = [node.name, ...node.o.flatMap(([, ids]) => ids).map(id => this.data.tensors[id][0])].join('\n');
    made.append(hint);
    if (!port) this.rect({ x: box.x, y: box.y + 3, w: 4, h: box.h - 6 }, 2, style.line, 'none');
    this.mark(box, port ? box.h / 2 : 6, node.mark);
    this.text(node.t, box.x + 12, box.y + 18, 12, colors.text, true);
    this.text(node.n, box.x + box.w - 12, box.y + 18, 10.5, colors.note, false, true);
    node.r.forEach(([key, value], i) => {
      const y = box.y + 18 + 14.5 * (i + 1);
      this.text(key, box.x + 12, y, 10.5, colors.key);
      this.text(value, box.x + box.w - 12, y, 10.5, colors.note, false, true);
    });
  }

  closed(box) {
    const { colors } = this, group = this.data.groups[groupOf(box.item)];
    for (const step of group.x ? [2, 1] : [1]) {
      this.rect({ x: box.x + 4 * step, y: box.y + 4 * step, w: box.w - 8 * step, h: box.h }, 7, colors.closed, colors.tip);
    }
    this.rect({ ...box, h: box.h - 1 }, 7, colors.closed, colors.tip);
    if (group.changes) this.mark(box, 7, group.mark);
    this.text(group.title, box.x + 12, box.y + 18, 12, colors.text, true);
    this.text(group.size, box.x + box.w - 12, box.y + 18, 10.5, colors.note, false, true);
    if (!group.r) return;
    this.text(group.r[0], box.x + 12, box.y + 32.5, 10.5, colors.note);
    this.text(group.r[1], box.x + box.w - 12, box.y + 32.5, 10.5, colors.note, false, true);
  }
}

Object.assign(Page.prototype, {
  /* The text of the picture. */
  svg() {
    const sheet = new Sheet(this.painter.colors, this.data, this.shown);
    return `${new XMLSerializer().serializeToString(sheet.root)}\n`;
  },

  save() {
    const link = document.createElement('a');
    const url = URL.createObjectURL(new Blob([this.svg()], { type: 'image/svg+xml' }));
    link.setAttribute('href', url);
    link.download = `${document.title || 'graph'}.svg`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  },
});

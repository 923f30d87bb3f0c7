// Drawing on the canvas: only what is in view, and only text that is large enough to be read.
'use strict';

const FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
const TITLE_FONT = `600 12px ${FONT}`, NOTE_FONT = `10.5px ${FONT}`, HEAD_FONT = `600 10.5px ${FONT}`;
/* Text smaller than this many pixels is not drawn. */
const READABLE = 4.5;
/* At smaller scales, boxes have full colours. */
const FAR = 0.15;

/* The colours of the page, light or dark. */
function palette(data, dark) {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  return {
    page: of('--page'), group: of('--group'), even: of('--group-even'), edge: of('--group-edge'), line: of('--line'),
    tip: of('--tip'), text: of('--text'), note: of('--note'), key: of('--key'), accent: of('--accent'),
    above: of('--above'), closed: of('--closed'), added: of('--added'), removed: of('--removed'), changed: of('--changed'),
    styles: data.styles.map(style => dark ? { fill: style[3], line: style[4] } : { fill: style[1], line: style[2] }),
  };
}

function roundRect(ctx, { x, y, w, h }, radius) {
  ctx.beginPath();
  ctx.roundRect(x, y, w, h, radius);
}

class Painter {
  constructor(canvas, picture) {
    this.canvas = canvas;
    this.ctx = canvas.getContext('2d');
    this.picture = picture;
  }

  /* Draws a view; returns the number of boxes in it. */
  paint(shown, view, selected) {
    const { ctx, canvas } = this, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = this.colors.page;
    ctx.fillRect(0, 0, width, height);
    ctx.setTransform(view.scale * ratio, 0, 0, view.scale * ratio, view.x * ratio, view.y * ratio);
    this.scale = view.scale;
    this.selected = selected;
    const left = -view.x / view.scale, top = -view.y / view.scale;
    const right = left + width / view.scale, bottom = top + height / view.scale;
    const inView = box => box.x < right && box.x + box.w > left && box.y < bottom && box.y + box.h > top;
    shown.groups.filter(inView).forEach(group => this.group(group));
    this.lines(shown.lines, { left, top, right, bottom });
    shown.groups.filter(inView).forEach(group => this.head(group));
    const boxes = shown.boxes.filter(inView);
    boxes.forEach(box => isGroup(box.item) ? this.closed(box) : this.box(box));
    return boxes.length;
  }

  readable(size) {
    return size * this.scale >= READABLE;
  }

  group(box) {
    const { ctx, colors } = this;
    roundRect(ctx, box, 9);
    ctx.fillStyle = this.picture.groups[box.group].depth % 2 ? colors.group : colors.even;
    ctx.fill();
    const selected = this.selected.item === -1 - box.group;
    ctx.strokeStyle = selected ? colors.accent : colors.edge;
    ctx.lineWidth = selected ? 2 : 1;
    ctx.stroke();
  }

  /* Draws the title of an open group, with the sign that closes it. */
  head(box) {
    if (!this.readable(10)) return;
    const { ctx, colors } = this, { title } = box, group = this.picture.groups[box.group];
    const x = box.x + title.x, y = box.y + title.y;
    this.sign(x + 5, y + 5, false);
    ctx.font = HEAD_FONT;
    ctx.fillStyle = colors.note;
    ctx.textAlign = 'left';
    ctx.fillText(group.title, x + 20, y + 14);
  }

  /* Draws a small square with a plus or a minus. */
  sign(x, y, plus) {
    const { ctx, colors } = this;
    roundRect(ctx, { x, y, w: 10, h: 10 }, 2.5);
    ctx.fillStyle = colors.page;
    ctx.fill();
    ctx.strokeStyle = colors.tip;
    ctx.lineWidth = 1;
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x + 2.5, y + 5);
    ctx.lineTo(x + 7.5, y + 5);
    if (plus) {
      ctx.moveTo(x + 5, y + 2.5);
      ctx.lineTo(x + 5, y + 7.5);
    }
    ctx.stroke();
  }

  lines(lines, { left, top, right, bottom }) {
    const { colors, selected } = this, marked = [];
    const inView = line => line.y1 < bottom && line.y2 > top &&
      Math.min(line.x1, line.x2) < right && Math.max(line.x1, line.x2) > left;
    const plain = [];
    for (const line of lines) {
      if (!inView(line)) continue;
      (selected.made.has(line.tensor) || selected.used.has(line.tensor) ? marked : plain).push(line);
    }
    this.stroke(plain, colors.line, colors.tip, 1.2);
    this.stroke(marked.filter(line => !selected.made.has(line.tensor)), colors.above, colors.above, 1.8);
    this.stroke(marked.filter(line => selected.made.has(line.tensor)), colors.accent, colors.accent, 1.8);
  }

  stroke(lines, color, tipColor, width) {
    const { ctx } = this;
    ctx.strokeStyle = color;
    // Lines are visible at small scales.
    ctx.lineWidth = Math.max(width, 0.6 / this.scale);
    ctx.beginPath();
    for (const line of lines) {
      ctx.moveTo(line.x1, line.y1);
      const end = line.arrow ? line.y2 - 4 : line.y2;
      if (Math.abs(line.x1 - line.x2) < 0.05) {
        ctx.lineTo(line.x2, end);
        continue;
      }
      const middle = (line.bend1 + line.bend2) / 2;
      ctx.lineTo(line.x1, line.bend1);
      ctx.bezierCurveTo(line.x1, middle, line.x2, middle, line.x2, line.bend2);
      ctx.lineTo(line.x2, end);
    }
    ctx.stroke();
    if (!this.readable(8)) return;
    ctx.fillStyle = tipColor;
    ctx.beginPath();
    for (const line of lines.filter(line => line.arrow)) {
      ctx.moveTo(line.x2, line.y2);
      ctx.lineTo(line.x2 - 3.2, line.y2 - 7);
      ctx.lineTo(line.x2 + 3.2, line.y2 - 7);
      ctx.closePath();
    }
    ctx.fill();
  }

  ring(box, radius) {
    const { ctx, colors } = this;
    if (this.selected.item !== box.item) return;
    roundRect(ctx, { x: box.x - 3, y: box.y - 3, w: box.w + 6, h: box.h + 6 }, radius + 3);
    ctx.strokeStyle = colors.accent;
    ctx.lineWidth = Math.max(2, 2 / this.scale);
    ctx.stroke();
  }

  /* Draws the border of a box that a change is about, or that follows from changes. */
  mark(box, radius, kind, follows) {
    const { ctx, colors } = this;
    if (!kind && !follows) return;
    roundRect(ctx, box, radius);
    ctx.strokeStyle = colors[kind || 'changed'];
    ctx.lineWidth = Math.max(3, 2 / this.scale);
    if (!kind) ctx.setLineDash([6, 4]);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /* Draws the number of changes in a closed group at its corner. */
  count(box, changes) {
    const { ctx, colors } = this, text = String(changes);
    this.mark(box, 7, this.picture.groups[groupOf(box.item)].mark);
    if (!this.readable(10)) return;
    ctx.font = HEAD_FONT;
    const w = Math.max(ctx.measureText(text).width + 10, 16);
    roundRect(ctx, { x: box.x + box.w - w + 8, y: box.y - 9, w, h: 16 }, 8);
    ctx.fillStyle = colors[this.picture.groups[groupOf(box.item)].mark] || colors.changed;
    ctx.fill();
    ctx.fillStyle = colors.page;
    ctx.textAlign = 'center';
    ctx.fillText(text, box.x + box.w - w / 2 + 8, box.y + 3);
  }

  box(box) {
    const { ctx, colors } = this, node = this.picture.nodes[box.item];
    const style = colors.styles[node.c], port = node.c === 0;
    const radius = port ? box.h / 2 : 6;
    roundRect(ctx, box, radius);
    // Pale boxes would not be visible at small scales.
    ctx.fillStyle = this.scale < FAR ? style.line : style.fill;
    ctx.fill();
    ctx.strokeStyle = style.line;
    ctx.lineWidth = 1;
    ctx.stroke();
    if (!port) {
      roundRect(ctx, { x: box.x, y: box.y, w: 4, h: box.h }, [6, 0, 0, 6]);
      ctx.fillStyle = style.line;
      ctx.fill();
    }
    this.mark(box, radius, node.mark, node.follows);
    this.ring(box, radius);
    if (!this.readable(12)) return;
    let y = box.y + 18;
    this.pair(box, y, node.t, node.n, TITLE_FONT, colors.text, colors.note);
    y += 14.5;
    if (!this.readable(10)) return;
    for (const [key, value] of node.r) {
      this.pair(box, y, key, value, NOTE_FONT, colors.key, colors.note);
      y += 14.5;
    }
  }

  /* Draws texts at the left and at the right side of a box. */
  pair(box, y, left, right, font, leftColor, rightColor) {
    const { ctx } = this;
    ctx.font = font;
    ctx.fillStyle = leftColor;
    ctx.textAlign = 'left';
    ctx.fillText(left, box.x + 12, y);
    if (!right || !this.readable(10)) return;
    ctx.font = NOTE_FONT;
    ctx.fillStyle = rightColor;
    ctx.textAlign = 'right';
    ctx.fillText(right, box.x + box.w - 12, y);
  }

  /* Draws a closed group, with the edge of a second box below it, and of a third one for equal modules. */
  closed(box) {
    const { ctx, colors } = this, group = this.picture.groups[groupOf(box.item)];
    ctx.fillStyle = this.scale < FAR ? colors.tip : colors.closed;
    ctx.strokeStyle = colors.tip;
    ctx.lineWidth = 1;
    for (const step of group.x ? [2, 1] : [1]) {
      roundRect(ctx, { x: box.x + 4 * step, y: box.y + 4 * step, w: box.w - 8 * step, h: box.h }, 7);
      ctx.fill();
      ctx.stroke();
    }
    roundRect(ctx, { ...box, h: box.h - 1 }, 7);
    ctx.fill();
    ctx.stroke();
    if (group.changes) this.count(box, group.changes);
    this.ring(box, 7);
    if (!this.readable(12)) return;
    this.sign(box.x + 9, box.y + 9, true);
    ctx.font = TITLE_FONT;
    ctx.fillStyle = colors.text;
    ctx.textAlign = 'left';
    ctx.fillText(group.title, box.x + 26, box.y + 18);
    ctx.font = NOTE_FONT;
    ctx.fillStyle = colors.note;
    ctx.textAlign = 'right';
    ctx.fillText(group.size, box.x + box.w - 12, box.y + 18);
    if (group.r && this.readable(10)) this.pair(box, box.y + 32.5, ...group.r, NOTE_FONT, colors.note, colors.note);
  }
}

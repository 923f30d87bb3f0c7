// Positions and sizes of boxes, groups and lines, for groups that are open or closed: the algorithm of
// layout/frame.rs, where all groups are open.
'use strict';

const ITEM = 0, LANE = 1, IN = 2, OUT = 3;
const PAD = 16, HEAD = 30, CHIP_TOP = 5, CHIP_HEIGHT = 20;
const ROW_GAP = 20, ROW_STEP = 0.08, ROW_GAP_MOST = 96;
const TIP = 8, WIDER = 60;

/* An item is the index i of a box, or -1 - i for the group i. */
const isGroup = item => item < 0;
const groupOf = item => -1 - item;

/* Discards the layouts of a group and of the groups around it. */
function forget(picture, group) {
  for (let g = group; ; g = picture.groups[g].parent) {
    picture.groups[g].frame = null;
    if (!g) return;
  }
}

/* The size of an item. Computes layouts of open groups recursively; their nesting depth is limited. */
function sizeOf(picture, item) {
  if (!isGroup(item)) return picture.nodes[item];
  const group = picture.groups[groupOf(item)];
  return group.open ? frameOf(picture, groupOf(item)) : group.closed;
}

function frameOf(picture, index) {
  const group = picture.groups[index];
  if (!group.frame) group.frame = layOut(picture, group, index);
  return group.frame;
}

function layOut(picture, group, index) {
  const { level } = group;
  if (!level.up) prepare(level);
  const sizes = group.items.map(item => sizeOf(picture, item));
  const port = (vertex, net, top) => {
    if (level.kinds[vertex] !== ITEM || !isGroup(group.items[vertex])) return 0;
    const size = sizes[vertex];
    const at = (top ? size.ins : size.outs)?.get(level.nets[net]);
    return at === undefined ? 0 : at - size.w / 2;
  };
  const ends = level.edges.map(([upper, lower, net]) => [port(upper, net, false), port(lower, net, true)]);
  let { x, width } = columns(level, sizes.map(size => size.w), ends);
  x = x.map(x => x + PAD);
  const frame = { w: width + 2 * PAD, h: 0, x, ends, sizes, rows: [], title: null, ins: new Map(), outs: new Map() };
  if (index) title(group, frame);
  rows(group, frame, index);
  level.kinds.forEach((kind, vertex) => {
    if (kind === IN) frame.ins.set(level.nets[level.of[vertex]], frame.x[vertex]);
    if (kind === OUT) frame.outs.set(level.nets[level.of[vertex]], frame.x[vertex]);
  });
  return frame;
}

/* Finds space for the title between the incoming lines, or makes the group wider. */
function title(group, frame) {
  const { level } = group, needed = group.titleWidth, least = needed + 12;
  if (frame.w < least) {
    const aside = (least - frame.w) / 2;
    frame.x = frame.x.map(x => x + aside);
    frame.w = least;
  }
  const lines = (level.rows[0] || []).filter(vertex => level.kinds[vertex] === IN);
  const short = lines.length ? needed + 14 - frame.x[lines[0]] : 0;
  if (short > 0 && short <= WIDER) {
    frame.x = frame.x.map(x => x + short);
    frame.w += 2 * short;
  }
  let left = 6;
  for (const vertex of lines) {
    if (frame.x[vertex] - 8 - left >= needed) break;
    left = frame.x[vertex] + 8;
  }
  frame.w = Math.max(frame.w, left + needed + 6);
  frame.title = { x: left, y: CHIP_TOP, w: needed, h: CHIP_HEIGHT };
}

/* Computes the heights of the rows and the space between them. */
function rows(group, frame, index) {
  const { level } = group;
  const aside = level.rows.map(() => 0);
  level.edges.forEach(([upper, lower], edge) => {
    const step = frame.x[upper] + frame.ends[edge][0] - frame.x[lower] - frame.ends[edge][1];
    const row = level.rowOf[lower];
    aside[row] = Math.max(aside[row], Math.abs(step));
  });
  const ins = level.kinds.includes(IN), outs = level.kinds.includes(OUT);
  let y = index ? HEAD : PAD;
  level.rows.forEach((row, i) => {
    if (ins && i === 0) {
      frame.rows.push([0, HEAD]);
      return;
    }
    const gap = Math.min(ROW_GAP + aside[i] * ROW_STEP, ROW_GAP_MOST);
    if (i > (ins ? 1 : 0)) y += gap;
    else if (ins) y += gap - 12;
    let tallest = 0;
    for (const vertex of row) if (level.kinds[vertex] === ITEM) tallest = Math.max(tallest, frame.sizes[vertex].h);
    frame.rows.push([y, y + tallest]);
    y += tallest;
  });
  frame.h = outs ? y : y + PAD;
}

/* Computes the final positions of all visible boxes, open groups and lines. */
function placeAll(picture) {
  const shown = { boxes: [], groups: [], lines: [], w: 0, h: 0 };
  const root = frameOf(picture, 0);
  shown.w = root.w;
  shown.h = root.h;
  const open = [{ index: 0, x: 0, y: 0 }];
  while (open.length) {
    const { index, x, y } = open.pop();
    const group = picture.groups[index], { level, frame } = group;
    if (index) shown.groups.push({ group: index, x, y, w: frame.w, h: frame.h, title: frame.title });
    group.items.forEach((item, vertex) => {
      const size = frame.sizes[vertex], [top, bottom] = frame.rows[level.rowOf[vertex]];
      const box = { item, x: x + frame.x[vertex] - size.w / 2, y: y + (top + bottom - size.h) / 2, w: size.w, h: size.h };
      if (isGroup(item) && picture.groups[groupOf(item)].open) open.push({ index: groupOf(item), x: box.x, y: box.y });
      else shown.boxes.push(box);
    });
    level.edges.forEach((edge, i) => shown.lines.push(line(picture, group, edge, frame.ends[i], x, y)));
  }
  return shown;
}

function line(picture, group, [upper, lower, net], ends, x, y) {
  const { level, frame } = group;
  const above = frame.rows[level.rowOf[upper]], below = frame.rows[level.rowOf[lower]];
  let from = above[1], to = below[1], arrow = false;
  if (level.kinds[upper] === ITEM) from = (above[0] + above[1] + frame.sizes[upper].h) / 2;
  else if (level.kinds[upper] === IN) from = above[0];
  if (level.kinds[lower] === ITEM) {
    const item = group.items[lower];
    to = (below[0] + below[1] - frame.sizes[lower].h) / 2;
    arrow = !isGroup(item) || !picture.groups[groupOf(item)].open;
  } else if (level.kinds[lower] === OUT) to = frame.h;
  return {
    tensor: level.nets[net], arrow,
    x1: x + frame.x[upper] + ends[0], y1: y + from, bend1: y + above[1],
    x2: x + frame.x[lower] + ends[1], y2: y + to, bend2: y + below[0] - (arrow ? TIP : 0),
  };
}

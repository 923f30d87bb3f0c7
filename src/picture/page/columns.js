// The positions of vertices in their rows: the algorithm of layout/columns.rs and layout/settle.rs.
'use strict';

const GAP = 26;
const LINE_GAP = 13;
const DRIFT = 150;

/* The lines at each vertex, from the left, towards the row above or below. */
function incident(level, towards, own) {
  const at = level.kinds.map(() => []);
  level.edges.forEach((edge, index) => at[edge[own]].push(index));
  at.forEach(list => list.sort((a, b) => level.position[level.edges[a][towards]] - level.position[level.edges[b][towards]] || a - b));
  return at;
}

/* Computes everything that does not depend on sizes, once for each group. */
function prepare(level) {
  level.position = new Array(level.kinds.length).fill(0);
  level.rowOf = new Array(level.kinds.length).fill(0);
  level.rows.forEach((row, index) => row.forEach((vertex, i) => {
    level.position[vertex] = i;
    level.rowOf[vertex] = index;
  }));
  level.up = incident(level, 0, 1);
  level.down = incident(level, 1, 0);
  level.conflicts = conflicts(level);
  level.branches = branches(level);
}

/* Whether a line is an inner part of a long line. */
const isInner = (level, edge) => level.kinds[level.edges[edge][0]] !== ITEM && level.kinds[level.edges[edge][1]] !== ITEM;

/* Whether each line branches off a long line, which goes straight on. */
function branches(level) {
  const straight = new Set(level.edges.filter((_, edge) => isInner(level, edge)).map(([upper]) => upper));
  return level.edges.map(([upper], edge) => level.kinds[upper] === LANE && straight.has(upper) && !isInner(level, edge));
}

/* The lines that cross inner parts of long lines. */
function conflicts(level) {
  const found = new Array(level.edges.length).fill(false);
  for (const row of level.rows.slice(1)) {
    let from = 0, low = 0;
    row.forEach((vertex, i) => {
      const inner = level.up[vertex].find(edge => isInner(level, edge));
      if (inner === undefined && i + 1 < row.length) return;
      const high = inner === undefined ? Infinity : level.position[level.edges[inner][0]];
      for (const other of row.slice(from, i + 1)) {
        for (const edge of level.up[other]) {
          const at = level.position[level.edges[edge][0]];
          if ((at < low || at > high) && !isInner(level, edge)) found[edge] = true;
        }
      }
      from = i + 1;
      low = high;
    });
  }
  return found;
}

/* The middle of each vertex, and the total width. `widths` are those of items, `ends` the ends of lines. */
function columns(level, widths, ends) {
  const count = level.kinds.length;
  if (!count) return { x: [], width: 0 };
  const half = vertex => level.kinds[vertex] === ITEM ? widths[vertex] / 2 : 0;
  const distance = (a, b) =>
    half(a) + half(b) + (level.kinds[a] === ITEM && level.kinds[b] === ITEM ? GAP : LINE_GAP);
  const bounds = x => {
    let low = Infinity, high = -Infinity;
    for (let v = 0; v < count; v++) {
      low = Math.min(low, x[v] - half(v));
      high = Math.max(high, x[v] + half(v));
    }
    return { low, high };
  };
  const all = [];
  for (const down of [true, false]) {
    for (const left of [true, false]) {
      const blocks = align(level, ends, down, left);
      const x = compact(level, blocks, distance, left);
      const sign = left ? 1 : -1;
      const places = blocks.root.map((root, v) => sign * (x[root] + blocks.shift[v]));
      all.push({ places, left, ...bounds(places) });
    }
  }
  const narrowest = all.reduce((a, b) => b.high - b.low < a.high - a.low ? b : a);
  for (const one of all) one.by = one.left ? narrowest.low - one.low : narrowest.high - one.high;
  const middle = all[0].places.map((_, v) => {
    const places = all.map(one => one.places[v] + one.by).sort((a, b) => a - b);
    return (places[1] + places[2]) / 2;
  });
  settle(level, ends, middle, distance);
  const { low, high } = bounds(middle);
  return { x: middle.map(x => x - low), width: high - low };
}

/* Moves vertices connected by straight lines together towards their other neighbours, as far as possible. */
const SETTLE = 20;

function settle(level, ends, x, distance) {
  const count = x.length, block = new Array(count).fill(-1), blocks = [];
  const step = edge => {
    const [upper, lower] = level.edges[edge];
    return x[upper] + ends[edge][0] - x[lower] - ends[edge][1];
  };
  for (const vertex of level.rows.flat()) {
    const above = level.up[vertex].find(edge => Math.abs(step(edge)) < 1e-6);
    block[vertex] = above === undefined ? blocks.push([]) - 1 : block[level.edges[above][0]];
    blocks[block[vertex]].push(vertex);
  }
  const moved = new Array(blocks.length).fill(0);
  const at = vertex => x[vertex] + moved[block[vertex]];
  for (let round = 0; round < SETTLE; round++) {
    for (let i = 0; i < blocks.length; i++) {
      const index = round % 2 ? blocks.length - 1 - i : i;
      let sum = 0, lines = 0, low = -Infinity, high = Infinity;
      for (const vertex of blocks[index]) {
        const row = level.rows[level.rowOf[vertex]], place = level.position[vertex];
        if (place > 0) low = Math.max(low, at(row[place - 1]) + distance(row[place - 1], vertex) - at(vertex));
        if (place + 1 < row.length) high = Math.min(high, at(row[place + 1]) - distance(vertex, row[place + 1]) - at(vertex));
        for (const edge of level.up[vertex]) {
          const other = level.edges[edge][0];
          if (block[other] === index) continue;
          sum += at(other) + ends[edge][0] - at(vertex) - ends[edge][1];
          lines++;
        }
        for (const edge of level.down[vertex]) {
          const other = level.edges[edge][1];
          if (block[other] === index) continue;
          sum += at(other) + ends[edge][1] - at(vertex) - ends[edge][0];
          lines++;
        }
      }
      if (lines) moved[index] += Math.max(Math.min(sum / lines, Math.max(high, 0)), Math.min(low, 0));
    }
  }
  for (let v = 0; v < count; v++) x[v] += moved[block[v]];
}

/* Aligns each vertex with the middle one of its neighbours in the preceding row. */
function align(level, ends, down, left) {
  const count = level.kinds.length;
  const root = Array.from({ length: count }, (_, i) => i);
  const shift = new Array(count).fill(0);
  const taken = new Array(count).fill(false);
  const rows = down ? level.rows : level.rows.slice().reverse();
  const sign = left ? 1 : -1;
  for (const row of rows) {
    let last = -Infinity;
    for (let j = 0; j < row.length; j++) {
      const vertex = row[left ? j : row.length - 1 - j];
      const near = (down ? level.up : level.down)[vertex].filter(edge => !level.branches[edge]);
      if (!near.length) continue;
      const low = (near.length - 1) >> 1, high = near.length >> 1;
      for (const middle of low === high ? [low] : left ? [low, high] : [high, low]) {
        const edge = near[middle];
        const other = level.edges[edge][down ? 0 : 1];
        const at = sign * level.position[other];
        const [upper, lower] = ends[edge];
        const moved = shift[other] + (left === down ? 1 : -1) * (upper - lower);
        const far = upper !== lower && Math.abs(moved) > DRIFT;
        if (level.conflicts[edge] || at <= last || taken[other] || far) continue;
        taken[other] = true;
        last = at;
        root[vertex] = root[other];
        shift[vertex] = moved;
        break;
      }
    }
  }
  return { root, shift };
}

/* Moves blocks to one side as far as possible, then back if that does not increase the width. */
function compact(level, blocks, distance, left) {
  const count = level.kinds.length;
  const after = Array.from({ length: count }, () => []);
  const waiting = new Array(count).fill(0);
  for (const row of level.rows) {
    for (let i = 1; i < row.length; i++) {
      const [a, b] = left ? [row[i - 1], row[i]] : [row[i], row[i - 1]];
      after[blocks.root[a]].push([blocks.root[b], distance(a, b) + blocks.shift[a] - blocks.shift[b]]);
      waiting[blocks.root[b]]++;
    }
  }
  const order = [];
  for (let v = 0; v < count; v++) if (blocks.root[v] === v && !waiting[v]) order.push(v);
  const x = new Array(count).fill(0);
  for (let next = 0; next < order.length; next++) {
    for (const [to, apart] of after[order[next]]) {
      x[to] = Math.max(x[to], x[order[next]] + apart);
      if (!--waiting[to]) order.push(to);
    }
  }
  for (const block of order.reverse()) {
    let room = Infinity;
    for (const [to, apart] of after[block]) room = Math.min(room, x[to] - apart);
    if (room !== Infinity) x[block] = Math.max(x[block], room);
  }
  return x;
}

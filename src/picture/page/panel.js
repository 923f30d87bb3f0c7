// The panel with details of the selection. Everything that comes from the model is set as text,
// never as markup.
'use strict';

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function section(panel, title) {
  const made = element('section');
  made.append(element('h3', title));
  panel.append(made);
  return made;
}

function button(text, action, className) {
  const made = element('button', text, className);
  made.type = 'button';
  made.addEventListener('click', action);
  return made;
}

/* Where the arguments end that follow the name of an operation, which ends at a position; or this position. */
function withArguments(text, end) {
  let at = end, depth = 0, quote = null;
  while (text[at] === ' ') at++;
  if (text[at] !== '(') return end;
  for (; at < text.length; at++) {
    const c = text[at];
    if (quote) quote = c === quote ? null : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === '(' || c === '[') depth++;
    else if (c === ')' || c === ']') depth--;
    if (!depth) return at + 1;
  }
  return text.length;
}

class Panel {
  constructor(root, data, index, actions) {
    Object.assign(this, { root, data, index, actions, item: null });
    /* The files that operations come from. */
    this.used = new Set(data.nodes.flatMap(node => node.s ? [node.s[0]] : []));
  }

  /* The names of the results of a box. */
  names(id) {
    const results = this.data.nodes[id].o.flatMap(([, ids]) => ids.slice(0, 20));
    return results.slice(0, 3).map(tensor => this.data.tensors[tensor][0]).join(', ');
  }

  hide() {
    this.root.hidden = true;
    this.item = null;
    this.root.replaceChildren();
  }

  /* A tensor, as a link to its source. */
  tensor(id) {
    const [name, dtype, shape, layout] = this.data.tensors[id];
    const line = element('span', undefined, 'tensor');
    const maker = this.index.maker[id];
    line.append(maker === undefined ? element('span', name) : button(name, () => this.actions.select(maker), 'link'));
    const kind = [dtype, shape].filter(Boolean).join(' ');
    if (kind) line.append(element('small', kind));
    if (layout) line.append(this.layout(layout));
    return line;
  }

  /* The layout of a tensor, with a drawing of a small memory: its places in order, with the row-major numbers of the
     elements; higher numbers are darker, padding is empty. */
  layout({ layout, elements, bytes, dims, line, row, walk }) {
    const made = element('span', undefined, 'layout');
    const waste = bytes > elements ? `, ${bytes - elements} B of it padding` : '';
    made.append(element('small', bytes === undefined ? layout : `${layout} ${bytes} B${waste}`));
    if (!walk) return made;
    const count = dims.reduce((all, size) => all * size, 1);
    const table = element('table', undefined, 'memory');
    for (let start = 0; start < walk.length; start += line) {
      const cells = element('tr');
      walk.slice(start, start + line).forEach((number, i) => {
        const cell = element('td', number === null ? '' : String(number), number === null ? 'padding' : '');
        if (i && (start + i) % row === 0) cell.classList.add('first');
        let [rest, index] = [number, []];
        for (const size of dims.slice().reverse()) {
          index.unshift(rest % size);
          rest = Math.floor(rest / size);
        }
        cell.title = `place ${start + i}: ${number === null ? 'padding' : `element (${index.join(', ')})`}`;
        if (number !== null) cell.style.setProperty('--part', `${Math.round(60 * (number + 1) / count)}%`);
        cells.append(cell);
      });
      table.append(cells);
    }
    made.append(table);
    return made;
  }

  /* A table of names and texts. */
  table(title, rows) {
    if (!rows.length) return;
    const table = element('table');
    for (const [name, text, hint] of rows) {
      const row = element('tr');
      if (hint) row.title = hint;
      row.append(element('th', name), element('td', text));
      table.append(row);
    }
    section(this.root, title).append(table);
  }

  place([file, line, column]) {
    return `${this.data.files[file]}:${line}:${column}`;
  }

  start(title, subtitle, style) {
    this.root.replaceChildren();
    this.root.hidden = false;
    const head = element('header');
    if (style) {
      const mark = element('i', undefined, 'mark');
      mark.style.background = style.line;
      head.append(mark);
    }
    head.append(element('h2', title), button('×', () => this.actions.clear(), 'close'));
    head.lastChild.setAttribute('aria-label', 'Close');
    this.root.append(head);
    if (subtitle) this.root.append(element('p', subtitle, 'subtitle'));
  }

  node(id, colors) {
    const node = this.data.nodes[id];
    this.item = id;
    const kinds = { 1: 'input of the graph', 2: 'output of the graph' };
    this.start(node.name, kinds[node.k] || this.data.styles[node.c][0], colors.styles[node.c]);
    this.around(node.k === 3 ? 0 : node.g);
    if (node.told) {
      const list = element('ul');
      node.told.forEach(text => list.append(element('li', text)));
      section(this.root, 'Changes').append(list);
    }
    this.list('Results', node.o.map(([name, ids]) => [name, ids]));
    this.list('Inputs', node.i.filter(([, , ids]) => ids.length).map(([name, , ids]) => [name, ids]));
    const values = node.i.filter(([, , ids]) => !ids.length);
    if (values.length) {
      const table = element('table');
      for (const [name, text, , usual] of values) {
        const row = element('tr', undefined, usual ? 'usual' : '');
        if (usual) row.title = 'the default';
        row.append(element('th', name), element('td', text));
        table.append(row);
      }
      section(this.root, 'Attributes').append(table);
    }
    const users = [...new Set(node.o.flatMap(([, ids]) => ids).flatMap(tensor => this.index.users[tensor] || []))];
    if (users.length) {
      const list = element('ul');
      for (const user of users.slice(0, 50)) {
        const item = element('li');
        const of = this.data.nodes[user];
        item.append(button(of.name, () => this.actions.select(user), 'link'), element('small', this.names(user)));
        list.append(item);
      }
      if (users.length > 50) list.append(element('li', `… ${users.length - 50} more`));
      section(this.root, 'Used by').append(list);
    }
    const told = (node.m || []).filter(([, text]) => text);
    if (told.length) {
      const list = element('dl');
      for (const [key, text] of told) list.append(element('dt', key), element('dd', text));
      section(this.root, 'Exported from').append(list);
    }
    if (node.v) this.values(node.v);
    if (node.s) this.source(node.s, node.e);
    this.calls(node.f);
  }

  list(title, entries) {
    if (!entries.length) return;
    const list = element('dl');
    for (const [name, ids] of entries) {
      list.append(element('dt', name));
      const value = element('dd');
      ids.slice(0, 50).forEach(id => value.append(this.tensor(id)));
      if (ids.length > 50) value.append(element('span', `… ${ids.length - 50} more`));
      list.append(value);
    }
    section(this.root, title).append(list);
  }

  /* The groups around an item, the outermost first, as links. */
  around(group) {
    const path = [];
    for (let next = group; next > 0; next = this.data.groups[next].parent) path.unshift(next);
    if (!path.length) return;
    const line = element('p', undefined, 'path');
    path.forEach((next, i) => {
      if (i) line.append(' / ');
      line.append(button(this.data.groups[next].title, () => this.actions.select(-1 - next), 'link'));
    });
    section(this.root, 'Module').append(line);
  }

  source(place, excerpt) {
    const made = section(this.root, 'Source');
    made.append(element('p', this.place(place), 'place'));
    this.excerpt(made, excerpt);
  }

  /* A line of the source, in which the expression is marked. */
  excerpt(into, [at, start, length]) {
    const text = [...this.data.excerpts[at] || ''];
    if (!text.length) return;
    const part = (from, to) => text.slice(from, to).join(''), end = withArguments(text, start + length);
    const made = element('pre', part(0, start));
    made.append(element('mark', part(start, end)), part(end));
    into.append(made);
  }

  /* What the data of a variable are like. */
  values({ min, max, mean, nan, first, bins }) {
    const made = section(this.root, 'Values');
    const table = element('table');
    const rows = [['minimum', min], ['maximum', max], ['mean', mean], ['not finite', nan || undefined]];
    for (const [name, value] of rows.filter(([, value]) => value !== undefined)) {
      const row = element('tr');
      row.append(element('th', name), element('td', String(value)));
      table.append(row);
    }
    made.append(table);
    if (bins) {
      const most = Math.max(...bins), step = (max - min) / bins.length;
      const chart = element('div', undefined, 'histogram');
      bins.forEach((count, i) => {
        const bar = element('i');
        bar.title = `${(min + i * step).toPrecision(4)} to ${(min + (i + 1) * step).toPrecision(4)}: ${count}`;
        bar.style.setProperty('--part', `${count ? Math.max(100 * count / most, 2) : 0}%`);
        chart.append(bar);
      });
      const ends = element('div', undefined, 'ends');
      ends.append(element('small', String(min)), element('small', String(max)));
      made.append(chart, ends);
    }
    if (first.length) made.append(element('small', 'first values'), element('pre', first.join(', ')));
  }

  /* The chain of calls, innermost first; the middle of a long chain is omitted. */
  calls(call) {
    if (call < 0) return;
    const chain = [];
    for (let next = call; next >= 0; next = this.data.calls[next][0]) chain.push(next);
    const list = element('ol');
    chain.forEach((next, i) => {
      if (chain.length > 40 && i >= 20 && i < chain.length - 20) {
        if (i === 20) list.append(element('li', `… ${chain.length - 40} more`));
        return;
      }
      const [, fragment, file, line, column, excerpt] = this.data.calls[next];
      const item = element('li');
      item.append(element('b', fragment), element('small', this.place([file, line, column])));
      this.excerpt(item, excerpt);
      list.append(item);
    });
    section(this.root, 'Called through').append(list);
  }
}

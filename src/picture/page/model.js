// The panel for a group and for the whole model, and the legend.
'use strict';

/* The most functions and operators that are listed. */
const KINDS = 12;

/* The most letters of what is told in a line of the table about the model. */
const LONG = 120;

/* What has no boxes. */
const DATA = 'variables, constants';

/* A number with spaces between thousands. */
const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, '\u2009');

/* How often each text occurs, the most frequent ones first. */
function counted(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/* A count, or an expression on symbols, or what else is told of it. */
const counting = count => typeof count === 'number' ? grouped(count) : count;

/* The rows of a table of names with numbers. */
function listed(counts) {
  const rows = counts.slice(0, KINDS).map(([name, count]) => [name, grouped(count)]);
  return rows.concat(counts.length > KINDS ? [['…', `${counts.length - KINDS} more`]] : []);
}

Object.assign(Panel.prototype, {
  group(id) {
    const group = this.data.groups[id];
    this.start(group.title, group.note);
    this.item = -1 - id;
    this.around(group.parent);
    const text = group.open ? 'Close this group' : 'Open this group';
    this.root.append(button(text, () => this.actions.toggle(id), 'wide'));
    this.counts(group);
    const { ins, outs } = this.ends(id);
    this.tensors('Inputs', [...ins]);
    this.tensors('Results', [...outs]);
    if (group.x) this.modules(group);
    this.calls(group.f);
  },

  /* What is counted in a group. That of equal modules is the same in each. */
  counts(group) {
    const { m: [parameters, products, uncounted, data], x } = group, { groups } = this.data;
    const modules = x ? groups.filter(other => other !== group && groups[other.parent] === group) : [];
    const number = (count, of) => {
      const each = x && modules.length === x ? of(modules[0]) : undefined;
      /* Data that modules share are not those of each. */
      const isShared = typeof count === 'number' ? each * x !== count : each === 'unknown';
      return counting(count) + (each === undefined || isShared ? '' : `, ${counting(each)} each`);
    };
    const rows = [['operations', number(group.count, module => module.count)]];
    if (data) rows.push([DATA, number(data, module => module.m[3])]);
    rows.push(['parameters', number(parameters, module => module.m[0])],
      ['multiply-adds', number(products, module => module.m[1])]);
    if (uncounted) rows.push(['not counted', grouped(uncounted), 'operations whose shapes, or what they compute, are not known']);
    this.table('Counts', rows);
    this.table('Not counted', listed(counted(this.within(group).filter(node => node.u).map(node => node.name))));
  },

  /* The boxes of operations in a group. */
  within({ id }) {
    const { nodes, groups } = this.data, inside = groups.map((_, other) => other === id);
    groups.forEach((other, at) => { inside[at] ||= at > 0 && inside[other.parent]; });
    return nodes.filter(node => node.k === 0 && inside[node.g]);
  },

  /* The tensors that enter a group, without data, and those that leave it. */
  ends(id) {
    const { nodes, groups } = this.data, { maker, users } = this.index;
    const within = new Map([[0, false], [id, true]]);
    const inside = group => {
      if (!within.has(group)) within.set(group, inside(groups[group].parent));
      return within.get(group);
    };
    const ins = new Set(), outs = new Set();
    const has = item => nodes[item].k !== 3 && nodes[item].k !== 2 && inside(nodes[item].g);
    nodes.forEach((node, item) => {
      if (!has(item)) return;
      for (const [, , ids] of node.i) {
        for (const tensor of ids) {
          const from = maker[tensor];
          if (from !== undefined && nodes[from].k !== 3 && !has(from)) ins.add(tensor);
        }
      }
      for (const [, ids] of node.o) {
        for (const tensor of ids) if ((users[tensor] || []).some(user => !has(user))) outs.add(tensor);
      }
    });
    return { ins, outs };
  },

  /* A list of tensors, the rest of many left out. */
  tensors(title, ids) {
    if (!ids.length) return;
    const list = element('ul');
    for (const id of ids.slice(0, 50)) {
      const row = element('li');
      row.append(this.tensor(id));
      list.append(row);
    }
    if (ids.length > 50) list.append(element('li', `… ${ids.length - 50} more`));
    section(this.root, title).append(list);
  },

  /* A list of texts of the model. */
  texts(title, texts) {
    if (!texts.length) return;
    const list = element('ul', undefined, 'texts');
    list.append(...texts.map(text => element('li', text)));
    section(this.root, title).append(list);
  },

  /* The equal modules of a run, as links. */
  modules(group) {
    const list = element('ul');
    for (const item of group.items.filter(isGroup).slice(0, 50)) {
      const inner = element('li');
      inner.append(button(this.data.groups[groupOf(item)].title, () => this.actions.select(item), 'link'));
      list.append(inner);
    }
    section(this.root, 'Equal modules').append(list);
  },

  /* The whole model: what it tells about itself, its totals, its inputs and outputs; and what the picture means. */
  model(colors) {
    const { data } = this, { about, nodes, groups } = data;
    this.item = null;
    this.start(this.name, 'the model');
    /* A graph without operations comes from the only file. */
    const files = data.files.filter((_, file) => this.used.has(file) || !this.used.size && data.files.length === 1);
    /* Long lists are below what is short. */
    const isLong = ([key, text]) => key === 'metadata' || text.length > LONG;
    this.table('Model', [...files.map(file => ['file', file]), ...about.filter(fact => !isLong(fact))]);
    this.counts({ ...groups[0], count: nodes.filter(node => node.k === 0).length });
    this.tensors('Inputs', data.inputs);
    this.tensors('Outputs', data.outputs);
    section(this.root, 'Legend').append(this.legend(colors));
    const names = kind => listed(counted(nodes.filter(node => node.k === kind).map(node => node.name)));
    this.table('Operations', names(0));
    this.table('Variables and constants', names(3));
    const calls = data.calls.filter(call => !call[6]).map(([, name]) => name);
    this.table(`Calls of ${data.called}s`, listed(counted(calls)));
    const long = about.filter(isLong), metadata = long.filter(([key]) => key === 'metadata');
    for (const [key, text] of long.filter(([key]) => key !== 'metadata')) this.texts(key, text.split(', '));
    this.texts('Metadata', metadata.map(([, text]) => text));
  },

  /* What colours and signs mean: the categories that occur, groups, texts and lines. */
  legend(colors) {
    const { data } = this, list = element('ul', undefined, 'legend');
    const add = (sign, text) => {
      const row = element('li');
      row.append(sign, element('span', text));
      list.append(row);
    };
    const swatch = (style, className) => {
      const made = element('i', undefined, `swatch ${className || ''}`);
      if (style) Object.assign(made.style, { background: style.fill, borderColor: style.line });
      return made;
    };
    const words = { port: 'input or output of the graph', data: 'data', other: 'another operation' };
    const known = new Set(data.nodes.filter(node => node.k !== 3).map(node => node.c));
    data.styles.forEach(([name], category) => {
      if (known.has(category)) add(swatch(colors.styles[category], category ? 'box' : 'port'), words[name] || name);
    });
    if (data.groups.length > 1) add(element('b', '+', 'sign'), 'a group of operations: opens');
    if (data.groups.some(group => group.x)) add(element('code', '16 ×'), 'equal modules, one after the other');
    add(element('code', '8×64'), 'shape of a result or of data; [64] has one extent');
    add(element('code', '= 0.5'), 'value of a constant');
    add(swatch(null, 'line above'), 'to the selected operation');
    add(swatch(null, 'line below'), 'from the selected operation');
    return list;
  },
});

// The panel for a group and for the whole model, and the legend.
'use strict';

/* The most functions and operators that are listed. */
const KINDS = 12;

/* A number with spaces between thousands. */
const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, '\u2009');

/* How often each text occurs, the most frequent ones first. */
function counted(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
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
    const { m: [parameters, products, uncounted], x } = group, { groups } = this.data;
    const modules = x ? groups.filter(other => other !== group && groups[other.parent] === group) : [];
    /* A sum may depend on symbols: then it is an expression; of unknown shapes it is null. Data that modules share are
       not those of each. */
    const told = count => count === null ? 'unknown' : typeof count === 'string' ? count : grouped(count);
    const number = (count, of) => {
      const each = x && modules.length === x ? of(modules[0]) : undefined;
      const isShared = typeof count === 'number' ? each * x !== count : each === null;
      return told(count) + (each === undefined || isShared ? '' : `, ${told(each)} each`);
    };
    const rows = [['operations', number(group.count, module => module.count)],
      ['parameters', number(parameters, module => module.m[0])],
      ['multiply-adds', number(products, module => module.m[1])]];
    if (uncounted) rows.push(['not counted', grouped(uncounted), 'operations whose shapes are not known']);
    this.table('Counts', rows);
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
    const files = data.files.filter((_, file) => this.used.has(file));
    const isLong = ([key]) => key === 'metadata';
    this.table('Model', [...files.map(file => ['file', file]), ...about.filter(fact => !isLong(fact))]);
    const operation = node => node.k === 0 || node.k === 3;
    this.counts({ ...groups[0], x: 0, count: nodes.filter(operation).length });
    this.tensors('Inputs', data.inputs);
    this.tensors('Outputs', data.outputs);
    section(this.root, 'Legend').append(this.legend(colors));
    const rows = counts => counts.slice(0, KINDS).map(([name, count]) => [name, grouped(count)])
      .concat(counts.length > KINDS ? [['…', `${counts.length - KINDS} more`]] : []);
    this.table('Calls of fragments and functions', rows(counted(data.calls.map(([, name]) => name))));
    this.texts('Metadata', about.filter(isLong).map(([, text]) => text));
    this.table('Operations', rows(counted(nodes.filter(node => node.k === 0).map(node => node.name))));
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

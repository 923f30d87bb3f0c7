// The search.
'use strict';

/* The path of modules to each group, without runs and parts of them. */
function modulePaths(data) {
  const paths = [''];
  data.groups.forEach((group, id) => {
    if (id) paths.push([paths[group.parent], group.step].filter(Boolean).join('/'));
  });
  return paths;
}

/* A path with slashes between modules: `layers/0/attention` for `layers.0.attention`. */
const slashed = path => path.split(/[./]+/).filter(Boolean).join('/');

/* The search for names of operations, tensors, modules and fragments, for labels, and for lines of the source. */
class Search {
  constructor(input, list, data, panel, actions) {
    Object.assign(this, { input, list, data, panel, ...actions, found: [], at: -1, paths: modulePaths(data) });
    input.setAttribute('aria-controls', list.id);
    input.addEventListener('input', () => {
      this.run();
      this.changed();
    });
    input.addEventListener('keydown', event => this.key(event));
    input.addEventListener('blur', () => this.open(false));
    input.addEventListener('focus', () => { if (this.found.length) this.open(true); });
    // A click on the list does not take the focus from the input, which would close the list.
    list.addEventListener('mousedown', event => event.preventDefault());
  }

  /* What is searched for each item, made when it is first needed. */
  texts() {
    if (this.known) return this.known;
    const { data } = this, texts = [], { paths } = this;
    const add = (item, lines, modules) => {
      texts.push([item, lines.join('\n').toLowerCase(), modules.map(slashed).join('\n').toLowerCase()]);
    };
    data.groups.forEach((group, id) => {
      if (id) add(-1 - id, [group.title, group.step, group.cl || [], paths[id]].flat(), [paths[id]]);
    });
    data.nodes.forEach((node, id) => {
      const names = node.o.flatMap(([, ids]) => ids.slice(0, 20)).map(tensor => data.tensors[tensor][0]);
      const label = node.i.find(([name]) => name === 'label');
      const place = node.s ? [`:${node.s[1]}`, `${data.files[node.s[0]]}:${node.s[1]}`] : [];
      const told = (node.m || []).map(([, text]) => text);
      const path = node.k !== 3 && paths[node.g] ? [`${paths[node.g]}/${node.name}`] : [];
      add(id, names.concat(node.name, label ? label[1] : [], told, place, path), path.concat(told));
    });
    this.known = texts;
    return texts;
  }

  open(open) {
    this.list.hidden = !open;
    this.input.setAttribute('aria-expanded', open);
  }

  /* Exact matches come first, then names that start with the text, then others that contain it. */
  run() {
    const wanted = this.input.value.trim().toLowerCase().replace(/^line (?=\d)/, ':');
    const equal = [], starts = [], contain = [];
    const line = /^:\d+$/.test(wanted);
    /* Modules in paths are apart by points or by slashes. */
    const path = /[./]/.test(wanted) && slashed(wanted);
    if (wanted) {
      this.texts().forEach(([item, text, modules]) => {
        const lines = `\n${text}\n`, paths = path ? `\n${modules}\n` : '';
        if (lines.includes(`\n${wanted}\n`) || path && paths.includes(`\n${path}\n`)) equal.push(item);
        else if (line) return;
        else if (lines.includes(`\n${wanted}`) || path && paths.includes(`\n${path}`)) starts.push(item);
        else if (text.includes(wanted) || path && paths.includes(path)) contain.push(item);
      });
    }
    const all = equal.concat(starts, contain);
    this.total = all.length;
    this.found = all.slice(0, 40);
    this.at = this.found.length ? 0 : -1;
    this.show(wanted);
  }

  show(wanted) {
    this.list.replaceChildren();
    this.open(Boolean(wanted));
    this.found.forEach((node, i) => {
      const item = element('li');
      item.id = `${this.list.id}-${i}`;
      item.setAttribute('role', 'option');
      item.setAttribute('aria-selected', i === this.at);
      const [name, note] = isGroup(node)
        ? [this.data.groups[groupOf(node)].title, this.data.groups[groupOf(node)].note]
        : [this.data.nodes[node].name, this.panel.names(node)];
      const path = this.paths[isGroup(node) ? this.data.groups[groupOf(node)].parent : this.data.nodes[node].g];
      item.append(element('b', name), element('span', note));
      if (path) {
        item.append(element('small', path));
        item.title = path;
      }
      item.addEventListener('click', () => this.choose(i));
      this.list.append(item);
    });
    const more = this.total - this.found.length;
    if (wanted && !this.total) this.list.append(element('li', 'nothing found', 'none'));
    if (more > 0) this.list.append(element('li', `… ${more} more`, 'none'));
    this.input.setAttribute('aria-activedescendant', this.at < 0 ? '' : `${this.list.id}-${this.at}`);
    this.list.children[this.at]?.scrollIntoView({ block: 'nearest' });
  }

  choose(i) {
    if (this.found[i] === undefined) return;
    this.open(false);
    this.select(this.found[i]);
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.found.length) {
      this.at = (this.at + step + this.found.length) % this.found.length;
      this.show(this.input.value.trim());
    } else if (event.key === 'Enter') this.choose(this.at);
    else if (event.key === 'Escape') this.input.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

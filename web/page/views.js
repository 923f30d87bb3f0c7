// The views of a result: the picture, the flat text, statistics. Each is made when it is first looked at.
'use strict';

const decoded = bytes => new TextDecoder().decode(bytes);
const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, '\u2009');

/* The page of the picture, as `--to html` writes it: it has its own policy, and cannot reach this page. */
function picture(output) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = 'Picture of the flat graph';
  frame.srcdoc = decoded(output);
  return frame;
}

const text = output => element('pre', 'plain', decoded(output));

/* The number of operations before and after, and totals. */
function statistics(output) {
  const { stats } = JSON.parse(decoded(output));
  const totals = [['operations', stats.total.after], ['parameters', stats.parameters], ['bytes of parameters', stats.bytes],
    ['multiply-adds', stats.multiply_adds]];
  const list = element('dl', 'totals', ...totals.map(([name, number]) =>
    element('div', '', element('dt', '', name), element('dd', '', grouped(number)))));
  const { before, after } = stats.operations;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])].sort();
  const number = value => element('td', 'number', value === undefined ? '' : grouped(value));
  const columns = before ? [before, after] : [after];
  const head = scope => text => {
    const cell = element('th', scope === 'col' && text !== 'operation' ? 'number' : '', text);
    cell.scope = scope;
    return cell;
  };
  const rows = names.map(name => element('tr', '', head('row')(name), ...columns.map(column => number(column[name]))));
  const titles = before ? ['operation', 'before', 'after'] : ['operation', 'number'];
  const table = element('table', '', element('thead', '', element('tr', '', ...titles.map(head('col')))), element('tbody', '', ...rows));
  const parts = [list, table];
  if (stats.unknown) {
    const missing = Object.entries(stats.not_counted).map(([name, count]) => `${name} (${count})`);
    parts.push(element('p', 'note', `Not counted, because a shape is unknown or there is no rule: ${missing.join(', ')}`));
  }
  return element('div', '', ...parts);
}

/* The tabs: what each asks for, given the notation of the input, and how it is shown. */
const VIEWS = [
  { id: 'picture', to: () => 'html', make: picture },
  { id: 'text', to: notation => notation?.startsWith('onnx') ? 'onnxtxt' : 'nnef', make: text },
  { id: 'stats', to: () => 'stats', make: statistics },
];

class Tabs {
  constructor(chosen) {
    this.chosen = chosen;
    this.current = VIEWS[0];
    VIEWS.forEach((view, index) => {
      view.tab = document.getElementById(`tab-${view.id}`);
      view.panel = document.getElementById(view.id);
      view.tab.addEventListener('click', () => this.choose(view));
      view.tab.addEventListener('keydown', event => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const next = VIEWS[(index + step + VIEWS.length) % VIEWS.length];
        this.choose(next);
        next.tab.focus();
      });
    });
  }

  choose(view) {
    this.current = view;
    VIEWS.forEach(other => {
      other.tab.setAttribute('aria-selected', other === view);
      other.tab.tabIndex = other === view ? 0 : -1;
      other.panel.hidden = other !== view;
    });
    this.chosen(view);
  }

  /* Forgets what is shown. */
  clear() {
    VIEWS.forEach(view => { view.shown = null; });
  }

  fill(view, made) {
    view.shown = made;
    view.panel.replaceChildren(made);
    view.panel.scrollTop = 0;
  }

  say(view, words, isError = false) {
    view.panel.replaceChildren(element('p', isError ? 'empty error' : 'empty', words));
  }
}

// Two pages side by side, with the changes between their graphs.
'use strict';

/* The most changes that are listed; all of them are marked. */
const LISTED = 2000;

class Comparison {
  /* A change is its kind, the module around it, its text, the tensor in each graph whose operation or input it is
     about, or -1, and whether it is about an output. */
  constructor({ summary, notes, changes, pages }) {
    const desk = new Desk();
    this.changes = changes;
    this.at = -1;
    document.getElementById('summary').textContent = summary;
    this.pages = ['a', 'b'].map((side, i) => {
      const marked = changes.filter(change => change[3 + i] >= 0)
        .map(change => ({ kind: change[0], tensor: change[3 + i], text: change[2], output: change[5] }));
      return new Page(document.getElementById(side), pages[i], desk, `${side}.`, marked);
    });
    this.markOutputs();
    this.list(document.getElementById('changes'), notes);
    const actions = { n: () => this.step(1), p: () => this.step(-1) };
    desk.actions = actions;
    document.getElementById('next').addEventListener('click', actions.n);
    document.getElementById('previous').addEventListener('click', actions.p);
  }

  /* An output that is computed from changes of one graph is not that of the other any more. */
  markOutputs() {
    const outputs = page => page.data.nodes.filter(node => node.k === 2), isMarked = node => node.mark || node.follows;
    const names = new Set(this.pages.flatMap(outputs).filter(isMarked).map(node => node.name));
    for (const page of this.pages) {
      outputs(page).filter(node => names.has(node.name) && !isMarked(node)).forEach(follow);
      page.draw();
    }
  }

  list(root, notes) {
    root.append(this.legend());
    notes.forEach(note => root.append(element('p', note)));
    let around = '';
    this.rows = this.changes.slice(0, LISTED).map(([kind, module, text], i) => {
      if (module !== around) root.append(element('h2', module || 'outside of modules'));
      around = module;
      const row = button(text, () => this.show(i));
      row.dataset.kind = kind;
      root.append(row);
      return row;
    });
    const more = this.changes.length - this.rows.length;
    if (more > 0) root.append(element('p', `… ${more} more`));
    if (!this.changes.length) root.append(element('p', 'no difference'));
  }

  /* The colours of the borders, with the numbers of changes. */
  legend() {
    const list = element('ul', undefined, 'kinds');
    for (const kind of ['added', 'removed', 'changed']) {
      const row = element('li'), sign = element('i');
      sign.dataset.kind = kind;
      row.append(sign, element('span', `${kind}: ${this.changes.filter(([of]) => of === kind).length}`));
      list.append(row);
    }
    if (this.pages.some(page => page.data.nodes.some(node => node.follows))) {
      const row = element('li'), sign = element('i');
      sign.dataset.kind = 'follows';
      row.append(sign, element('span', 'output computed from that'));
      list.append(row);
    }
    return list;
  }

  /* Goes to the next or the previous change of the list. */
  step(by) {
    const count = this.rows.length;
    if (count) this.show(this.at < 0 && by < 0 ? count - 1 : (this.at + by + count) % count);
  }

  /* Selects in both graphs what a change is about. */
  show(i) {
    if (this.at >= 0) this.rows[this.at].removeAttribute('aria-current');
    this.at = i;
    this.rows[i].setAttribute('aria-current', 'true');
    this.rows[i].scrollIntoView({ block: 'nearest' });
    this.pages.forEach((page, side) => {
      const item = page.subject({ tensor: this.changes[i][3 + side], output: this.changes[i][5] });
      if (item === undefined) page.clear();
      else page.go(item);
    });
  }
}

const comparison = new Comparison(JSON.parse(document.getElementById('data').textContent));

// Two pages side by side, with the changes between their graphs.
'use strict';

/* The most changes that are listed; all of them are marked. */
const LISTED = 2000;

class Comparison {
  /* A change is its kind, the module around it, its text, and the tensor in each graph whose operation or input it is
     about, or -1. */
  constructor({ summary, notes, changes, pages }) {
    const desk = new Desk();
    this.changes = changes;
    this.at = -1;
    document.getElementById('summary').textContent = summary;
    this.pages = ['a', 'b'].map((side, i) => {
      const marked = changes.filter(change => change[3 + i] >= 0)
        .map(change => ({ kind: change[0], tensor: change[3 + i], text: change[2] }));
      return new Page(document.getElementById(side), pages[i], desk, `${side}.`, marked);
    });
    this.list(document.getElementById('changes'), notes);
    const actions = { n: () => this.step(1), p: () => this.step(-1) };
    desk.actions = actions;
    document.getElementById('next').addEventListener('click', actions.n);
    document.getElementById('previous').addEventListener('click', actions.p);
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
      const item = page.index.maker[this.changes[i][3 + side]];
      if (item === undefined) page.clear();
      else page.go(item);
    });
  }
}

const comparison = new Comparison(JSON.parse(document.getElementById('data').textContent));

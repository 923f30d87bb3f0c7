// The source: its text with line numbers, which can be edited.
'use strict';

/* Texts of more bytes are shown, but not edited line by line. */
const SHOWN = 2 << 20;

const size = bytes => bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/* Makes an element with a class and children, which are elements or texts. */
function element(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children);
  return made;
}

/* The text of a file; none if it is not one. */
function textOf(bytes) {
  if (bytes.length > SHOWN || bytes.subarray(0, 4096).includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

class Source {
  constructor(changed) {
    this.area = document.getElementById('source');
    this.gutter = document.getElementById('gutter');
    this.area.addEventListener('scroll', () => { this.gutter.scrollTop = this.area.scrollTop; });
    this.area.addEventListener('input', () => {
      this.bytes = new TextEncoder().encode(this.area.value);
      this.lines = this.area.value.split('\n');
      this.number([]);
      changed();
    });
  }

  show(name, bytes) {
    this.name = name;
    this.bytes = bytes;
    const text = textOf(bytes);
    this.lines = text?.split('\n') ?? [];
    document.getElementById('editor').hidden = text === null;
    const binary = document.getElementById('binary');
    binary.hidden = text !== null;
    binary.textContent = bytes.length > SHOWN ? 'The source is too large to be shown.' : 'The source is binary.';
    document.getElementById('size').textContent = size(bytes.length);
    this.area.value = text ?? '';
    this.area.scrollTop = this.gutter.scrollTop = 0;
    this.number([]);
  }

  /* Writes the line numbers, and marks those of findings. */
  number(findings) {
    const marks = new Map();
    for (const { file, line, severity } of findings) {
      if (file === this.name && marks.get(line) !== 'error') marks.set(line, severity);
    }
    const parts = [];
    let plain = '';
    for (let line = 1; line <= this.lines.length; line++) {
      const mark = marks.get(line);
      if (!mark) {
        plain += `${line}\n`;
        continue;
      }
      parts.push(plain, element('span', mark, `${line}\n`));
      plain = '';
    }
    this.gutter.replaceChildren(...parts, plain);
    this.gutter.scrollTop = this.area.scrollTop;
  }

  /* The line of a finding, if it is in this text. */
  line(finding) {
    return finding.file === this.name ? this.lines[finding.line - 1] : undefined;
  }

  /* Selects the place of a finding. Columns count characters, a text area counts units of UTF-16. */
  go({ line, column, end_line: endLine, end_column: endColumn }) {
    const at = (line, column) => this.lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) +
      [...this.lines[line - 1] ?? ''].slice(0, column - 1).join('').length;
    this.area.focus();
    this.area.setSelectionRange(at(line, column), at(endLine, endColumn));
    const height = parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, (line - 1) * height - this.area.clientHeight / 3);
  }
}

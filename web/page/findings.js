// The list of findings, each with its line of the source.
'use strict';

/* The longest part of a line that is shown, in characters, and how much of it is before the place. */
const EXCERPT = [160, 40];

/* A line of the source with its marked part. */
function excerpt(line, finding) {
  const characters = [...line];
  const from = Math.min(finding.column - 1, characters.length);
  const to = finding.end_line === finding.line ? Math.max(finding.end_column - 1, from + 1) : characters.length;
  const start = from > EXCERPT[0] - EXCERPT[1] ? from - EXCERPT[1] : 0;
  const end = Math.min(characters.length, start + EXCERPT[0]);
  const text = (a, b) => characters.slice(a, b).join('');
  return element('pre', '',
    element('i', '', `${finding.line} │ `), (start ? '…' : '') + text(start, from),
    element('span', 'at', text(from, Math.min(to, end)) || ' '), text(Math.min(to, end), end) + (end < characters.length ? '…' : ''));
}

const place = ({ file, line, column }, source) => file === source.name ? `${line}:${column}` : `${file}:${line}:${column}`;

/* One finding. */
function item(finding, source) {
  const line = source.line(finding);
  const head = element(line === undefined ? 'div' : 'button', 'head',
    element('span', 'code', `${finding.severity} ${finding.code}`), ` ${finding.message}`);
  if (line !== undefined) {
    head.type = 'button';
    head.title = 'Go to this place of the source';
    head.addEventListener('click', () => source.go(finding));
  }
  const parts = [head];
  const paragraph = text => parts.push(element('p', '', text));
  paragraph(place(finding, source) + (finding.rule ? `, rule ${finding.rule}` : ''));
  if (line !== undefined) parts.push(excerpt(line, finding));
  if (finding.help) paragraph(`Help: ${finding.help}`);
  finding.labels.forEach(label => paragraph(`${place(label, source)}: ${label.message}`));
  finding.expansion.forEach(call => paragraph(`in ${call.fragment}, called at ${place(call, source)}`));
  return element('li', finding.severity, ...parts);
}

const counted = (count, what) => count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`];

/* Shows the findings of an answer, and a failure without a place. */
function showFindings({ findings, message, hidden }, source) {
  const items = findings.map(finding => item(finding, source));
  if (message) items.unshift(element('li', 'error', element('div', 'head', element('span', 'code', 'error'), ` ${message}`)));
  if (hidden) items.push(element('li', 'none', `and ${hidden} more`));
  if (!items.length) items.push(element('li', 'none', 'None.'));
  document.getElementById('findings').replaceChildren(...items);
  const errors = findings.filter(({ severity }) => severity === 'error').length + (message ? 1 : 0);
  const counts = [...counted(errors, 'error'), ...counted(findings.filter(({ severity }) => severity === 'warning').length, 'warning')];
  document.getElementById('counts').textContent = counts.join(', ');
  source.number(findings);
}

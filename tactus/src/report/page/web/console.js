// Lines: consoles with a search, and records. Only the lines in view are elements, so that there may be very many.

const ROW = 20;

/** A list of very many rows of equal height, of which the ones in view exist. */
class List {
  constructor(label, render) {
    this.render = render;
    this.rows = [];
    this.current = -1;
    this.inner = make('div', { class: 'rows' });
    this.element = make('div', { class: 'lines', tabIndex: 0, role: 'region', 'aria-label': label }, this.inner);
    this.element.addEventListener('scroll', () => this.draw());
    addEventListener('beforeprint', () => { this.printing = true; this.draw(); });
    addEventListener('afterprint', () => { this.printing = false; this.draw(); });
    this.draw = this.draw.bind(this);
    drawn.add(this.draw);
  }

  set(rows) {
    this.rows = rows;
    this.current = -1;
    this.element.scrollTop = 0;
    this.draw();
  }

  draw() {
    const height = this.element.clientHeight || 400;
    const first = this.printing ? Math.max(0, this.rows.length - 500) : Math.max(0, Math.floor(this.element.scrollTop / ROW) - 10);
    const last = Math.min(this.rows.length, this.printing ? this.rows.length : first + Math.ceil(height / ROW) + 20);
    this.inner.style.height = this.printing ? 'auto' : `${this.rows.length * ROW}px`;
    const offset = make('div', { class: 'window' });
    offset.style.transform = this.printing ? '' : `translateY(${first * ROW}px)`;
    if (this.printing && first > 0) offset.append(make('div', { class: 'line dim' }, `(${count(first, 'line')} before these are not printed)`));
    for (let i = first; i < last; i++) offset.append(this.render(this.rows[i], i === this.current));
    this.inner.replaceChildren(offset);
  }

  reveal(index) {
    this.current = index;
    const { element } = this;
    if (index * ROW < element.scrollTop || (index + 2) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = Math.max(0, index * ROW - element.clientHeight / 2);
    this.draw();
  }
}

/** The lines of a report, once. Consoles are numbered: the hypervisor's log, the firmware, the VMs. */
const readLines = (report) => {
  const { lines, board, timeline } = report.json;
  const consoles = report.numbers(lines.consoles);
  const times = report.rising(lines.times);
  const texts = report.texts(lines.texts);
  const cut = report.numbers(lines.cut);
  const hz = timeline?.hz ?? board?.clock_hz ?? 1;
  const all = texts.map((text, i) => ({
    console: consoles[i],
    time: lines.timed ? times[i] / hz : null,
    text: text.replace(TERMINAL, ''),
    cut: cut[i],
    record: consoles[i] === 0 || text.startsWith('@tactus '),
  }));
  report.lines = { all, timed: lines.timed, dropped: lines.dropped };
};

const consoleName = (report, number) => (number === 0 ? '(tactus)' : number === 1 ? '(firmware)' : report.json.vms[number - 2]?.name ?? '?');

const badge = (report, number) => make('span', { class: `who ${number >= 2 ? `t${(number - 2) % 6}` : ''}` }, visible(consoleName(report, number)));

const timeOf = (line) => (line.time === null ? null : make('span', { class: 'at' }, line.time.toFixed(6)));

/** A text with what was searched for marked. */
const marked = (text, wanted) => {
  if (!wanted) return visible(text, true);
  const fragment = document.createDocumentFragment();
  const low = text.toLowerCase();
  // A text that changes its length in lower case cannot be marked, only found.
  if (low.length !== text.length) return visible(text, true);
  let from = 0;
  for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, from)) {
    fragment.append(visible(text.slice(from, at), true), make('mark', {}, visible(text.slice(at, at + wanted.length), true)));
    from = at + wanted.length;
  }
  fragment.append(visible(text.slice(from), true));
  return fragment;
};

const leftOut = (line) => (line.cut > 0 ? make('span', { class: 'dim' }, ` … ${count(line.cut, 'more character')}`) : null);

/** Consoles with a search. */
const consoleSection = (place, report) => {
  const { lines } = report;
  let wanted = '';
  let hits = [];
  let at = -1;
  const list = new List('Lines of the consoles', (line, current) => make('div', { class: `line${current ? ' current' : ''}` }, timeOf(line), badge(report, line.console), make('span', { class: 'what' }, marked(line.text, wanted), leftOut(line))));
  const status = make('span', { class: 'status', role: 'status' });
  const numbers = [...new Set(lines.all.map((line) => line.console))].sort((a, b) => a - b);
  const chosen = new Set(numbers.filter((number) => number !== 1));
  const withRecords = make('input', { type: 'checkbox', onchange: () => update() });
  const onlyHits = make('input', { type: 'checkbox', onchange: () => update() });
  const search = make('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search in the consoles', spellcheck: false });
  const go = (step) => {
    if (hits.length === 0) return;
    at = (at + step + hits.length) % hits.length;
    list.reveal(hits[at]);
    say();
  };
  const say = () => { status.textContent = wanted ? (hits.length === 0 ? 'no line' : `${at >= 0 ? `${figure(at + 1)} of ` : ''}${count(hits.length, 'line')}`) : count(list.rows.length, 'line'); };
  const update = () => {
    let rows = lines.all.filter((line) => chosen.has(line.console) && (withRecords.checked || line.console === 0 || !line.record));
    const has = (line) => line.text.toLowerCase().includes(wanted);
    if (wanted && onlyHits.checked) rows = rows.filter(has);
    list.set(rows);
    hits = [];
    if (wanted) rows.forEach((line, i) => { if (has(line)) hits.push(i); });
    at = -1;
    if (hits.length > 0) go(1);
    say();
  };
  let waiting = 0;
  search.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(() => { wanted = search.value.toLowerCase(); update(); }, 80); });
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); go(event.shiftKey ? -1 : 1); }
    if (event.key === 'Escape') { search.value = ''; wanted = ''; update(); }
  });
  place.append(
    make('div', { class: 'tools' }, search,
      make('button', { onclick: () => go(-1), 'aria-label': 'Previous line found' }, '↑'),
      make('button', { onclick: () => go(1), 'aria-label': 'Next line found' }, '↓'),
      make('label', {}, onlyHits, 'only lines found'), status),
    make('div', { class: 'tools' }, numbers.map((number) => make('label', {},
      make('input', { type: 'checkbox', checked: chosen.has(number), onchange: (event) => { event.target.checked ? chosen.add(number) : chosen.delete(number); update(); } }), badge(report, number))),
    make('label', {}, withRecords, 'guests’ records')),
    list.element,
    lines.dropped > 0 ? make('p', { class: 'note' }, `${count(lines.dropped, 'earlier line')} not kept on this page; consoles/ beside it has more.`) : '');
  update();
  return search;
};

/** Records: what guests and the hypervisor report, as fields. */
const recordSection = (place, report) => {
  const rows = report.lines.all.filter((line) => line.record && line.text !== '').map((line) => {
    const text = line.text.replace(/^@tactus /, '');
    const space = text.indexOf(' ');
    return { ...line, kind: space < 0 ? text : text.slice(0, space), fields: space < 0 ? '' : text.slice(space + 1) };
  });
  const kinds = [...new Set(rows.map((row) => row.kind))].sort().slice(0, 100);
  let wanted = '';
  const status = make('span', { class: 'status', role: 'status' });
  const list = new List('Records', (row) => make('div', { class: 'line' }, timeOf(row), badge(report, row.console), make('span', { class: 'kind' }, visible(row.kind)), make('span', { class: 'what' }, marked(row.fields, wanted), leftOut(row))));
  const kind = make('select', { 'aria-label': 'Kind of record', onchange: () => update() }, make('option', { value: '' }, 'all kinds'), kinds.map((name) => make('option', { value: name }, plain(name))));
  const search = make('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the records', spellcheck: false });
  const update = () => {
    const shown = rows.filter((row) => (kind.value === '' || row.kind === kind.value) && (!wanted || row.fields.toLowerCase().includes(wanted)));
    list.set(shown);
    status.textContent = count(shown.length, 'record');
  };
  search.addEventListener('input', () => { wanted = search.value.toLowerCase(); update(); });
  place.append(make('div', { class: 'tools' }, search, kind, status), list.element);
  update();
};

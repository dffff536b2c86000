// Elements, texts, figures, colours and the data. Texts of guests only ever become text nodes, by `visible` and `plain`.

/** Makes an element: properties by name, listeners as `onclick`, attributes with a dash as they are. */
const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'class') element.className = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name.includes('-') || ['role', 'for', 'scope', 'colspan', 'open'].includes(name)) element.setAttribute(name, value === true ? '' : value);
    else element[name] = value;
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
};

/** Control and format characters, and those that are none: what could hide, reorder or break text. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;
/** Sequences that would colour a terminal or move its cursor. */
const TERMINAL = /\u001b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;

const codepoint = (character) => 'U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/** A guest's text as one line of plain text: what cannot be seen is named. */
const plain = (text) => String(text).replace(/\t/g, ' ').replace(UNSEEN, (character) => `⟨${codepoint(character)}⟩`);

/** A guest's text as nodes: what cannot be seen is named and marked. Tabs stay where `tabs` says so. */
const visible = (text, tabs = false) => {
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (const match of String(text).matchAll(UNSEEN)) {
    if (tabs && match[0] === '\t') continue;
    if (match.index > from) fragment.append(text.slice(from, match.index));
    fragment.append(make('span', { class: 'escape', title: 'a character that cannot be seen' }, codepoint(match[0])));
    from = match.index + match[0].length;
  }
  fragment.append(String(text).slice(from));
  return fragment;
};

/** A number with as many digits as help; thousands apart. */
const figure = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString('en');
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  if (magnitude < -6 || magnitude >= 15) return value.toExponential(3);
  return value.toLocaleString('en', { maximumFractionDigits: Math.min(9, Math.max(0, 3 - magnitude)) });
};

const count = (number, noun, nouns = noun + 's') => `${figure(number)} ${number === 1 ? noun : nouns}`;

/** Seconds in the unit that fits, with so many digits that steps of `step` seconds show. */
const seconds = (value, step = Math.abs(value) / 1e4) => {
  const size = Math.abs(value);
  const [unit, one] = size >= 1 || value === 0 ? ['s', 1] : size >= 1e-3 ? ['ms', 1e-3] : size >= 1e-6 ? ['µs', 1e-6] : ['ns', 1e-9];
  const digits = step > 0 ? Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / one) - 1e-9))) : 0;
  return `${(value / one).toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`;
};

const percent = (share) => (share === 0 ? '–' : share < 0.0001 ? '< 0.01 %' : `${(100 * share).toFixed(2)} %`);

/** A share of one on a logarithmic axis. */
const share = (value) => (value >= 0.00009 ? `${figure(Math.round(value * 1e6) / 1e4)} %` : `1e${Math.round(Math.log10(value))}`);

/** The page's colours, as the style says for the theme that is shown. */
const colours = { cache: new Map() };
const colour = (name) => {
  if (!colours.cache.has(name)) {
    colours.cache.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.cache.get(name);
};
const seriesColour = (index) => colour(`c${index % 6}`);
const FONT = 'system-ui, sans-serif';

/** What draws itself again when theme or size change. */
const drawn = new Set();
const redraw = () => {
  colours.cache.clear();
  for (const draw of drawn) draw();
};

/** Themes: the system's, or a chosen one, which is kept where the browser lets a page keep something. */
const theme = {
  names: ['auto', 'light', 'dark'],
  now: 'auto',
  set(name) {
    this.now = this.names.includes(name) ? name : 'auto';
    document.documentElement.dataset.theme = this.now;
    try { localStorage.setItem('tactus-theme', this.now); } catch { /* The choice lasts as long as the page. */ }
    redraw();
  },
  begin() {
    let kept = 'auto';
    try { kept = localStorage.getItem('tactus-theme') ?? 'auto'; } catch { /* As above. */ }
    this.set(kept);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  },
};

/** One report: its JSON, and the sequences that it refers to. */
class Report {
  static MAGIC = 'tactus page 1\n';

  static async read(element) {
    const packed = atob(element.textContent.trim());
    element.textContent = '';
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Report(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  constructor(content) {
    const decode = (bytes) => new TextDecoder().decode(bytes);
    const begin = Report.MAGIC.length;
    if (decode(content.subarray(0, begin)) !== Report.MAGIC) throw new Error('the data are of another version');
    const length = new DataView(content.buffer).getUint32(begin, true);
    this.json = JSON.parse(decode(content.subarray(begin + 4, begin + 4 + length)));
    this.bytes = content.subarray(begin + 4 + length);
    this.label = '';
  }

  numbers(reference) {
    const { at, length, count: size } = reference;
    const values = new Float64Array(size);
    const { bytes } = this;
    let position = at;
    for (let i = 0; i < size && position < at + length; i++) {
      let value = 0;
      let factor = 1;
      let byte = bytes[position++];
      while (byte >= 0x80) {
        value += (byte - 0x80) * factor;
        factor *= 128;
        byte = bytes[position++];
      }
      values[i] = value + byte * factor;
    }
    return values;
  }

  rising(reference) {
    const values = this.numbers(reference);
    for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
    return values;
  }

  texts(reference) {
    const { at, length, count: size } = reference;
    return size === 0 ? [] : new TextDecoder().decode(this.bytes.subarray(at, at + length)).split('\n');
  }
}

/** The first place of rising `values` that is above `value`. */
const above = (values, value, from = 0, to = values.length) => {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] <= value) from = middle + 1;
    else to = middle;
  }
  return from;
};

/** Round values between two, about so many. */
const ticks = (min, max, about) => {
  const rough = (max - min) / Math.max(1, about);
  if (!(rough > 0)) return [min];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const all = [];
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9 && all.length < 1000; i++) all.push(i * step || 0);
  all.step = step;
  return all;
};

/** Round values of a logarithmic axis. */
const logTicks = (min, max, about) => {
  if (!(min > 0) || max / min < 12) return ticks(min, max, about);
  const decades = Math.log10(max / min);
  const factors = decades * 3 <= about ? [1, 2, 5] : [1];
  const skip = Math.max(1, Math.ceil(decades / about));
  const all = [];
  for (let exponent = Math.floor(Math.log10(min)); exponent <= Math.log10(max); exponent++) {
    if (exponent % skip !== 0) continue;
    for (const factor of factors) {
      const value = factor * 10 ** exponent;
      if (value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9)) all.push(value);
    }
  }
  return all;
};

/** A table: `columns` are `{head, text, wide}`; cells are nodes or texts of ours, or guests' texts that were made visible. */
const table = (columns, rows, properties = {}) => {
  const cell = (tag, column, content) => make(tag, { class: column.wide ? 'text wide' : column.text ? 'text' : 'number', scope: tag === 'th' ? 'col' : undefined }, content);
  return make('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': properties.label ?? 'Table' },
    make('table', { class: properties.class },
      properties.caption ? make('caption', {}, properties.caption) : null,
      make('thead', {}, make('tr', {}, columns.map((column) => cell('th', column, column.head)))),
      make('tbody', {}, rows.map((row) => make('tr', { class: row.class }, columns.map((column, i) => cell('td', column, row[i] ?? '')))))));
};

const section = (id, title, note, ...children) => make('section', { id, 'aria-labelledby': `${id}-title` },
  make('div', { class: 'section-head' }, make('h2', { id: `${id}-title` }, title), note ? make('p', { class: 'note' }, note) : null),
  children);

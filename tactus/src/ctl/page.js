'use strict';

// How often the page looks, and how many shares it shows.
const LOOK_MS = 500;
const LOOKS = 60;
// The time of the system that a share is of.
const WINDOW_S = 1;
const ACTIONS = { restart: 'Restart', stop: 'Stop', start: 'Start' };

const rows = new Map();
const find = (id) => document.getElementById(id);

/** An element with a class and a text. Names and reasons come from VMs: they are only ever text. */
const element = (name, kind = '', text = '') => {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = text;
  return made;
};

const say = (id, text) => {
  if (find(id).textContent !== text) find(id).textContent = text;
};

/** What the manager answers; an error has its reason. */
const ask = async (path, options = {}) => {
  const answer = await fetch(path, { cache: 'no-store', ...options });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
};

const act = async (name, action, row) => {
  row.busy = true;
  enable(row);
  say('error', '');
  try {
    await ask(`vms/${encodeURIComponent(name)}/${action}`, { method: 'POST', headers: { 'X-Tactus': '1' } });
  } catch (error) {
    say('error', error.message);
  }
  row.busy = false;
  await look();
};

/** The row of a VM, made when it is first told of. */
const row_of = (name) => {
  if (rows.has(name)) return rows.get(name);
  const row = { cells: {}, buttons: {}, shares: [], seen: [], busy: false, vm: null };
  const line = element('tr');
  line.dataset.vm = name;
  const heading = element('th', '', name);
  heading.scope = 'row';
  line.append(heading);
  const cell = (id, kind) => {
    row.cells[id] = element('td', kind);
    line.append(row.cells[id]);
  };
  cell('state');
  cell('share');
  const share = element('div', 'share');
  row.share = element('output');
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${LOOKS - 1} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  row.curve = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
  svg.append(row.curve);
  share.append(row.share, svg);
  row.cells.share.append(share);
  for (const id of ['faults', 'restarts', 'jobs', 'missed', 'late', 'wait']) cell(id, 'figure');
  cell('actions');
  for (const [action, label] of Object.entries(ACTIONS)) {
    const button = element('button', '', label);
    button.type = 'button';
    button.setAttribute('aria-label', `${label} ${name}`);
    button.addEventListener('click', () => act(name, action, row));
    row.buttons[action] = button;
    row.cells.actions.append(button);
  }
  rows.set(name, row);
  find('vms').append(line);
  return row;
};

const enable = (row) => {
  const runs = row.vm !== null && ['running', 'loading'].includes(row.vm.state);
  row.buttons.restart.disabled = row.busy;
  row.buttons.stop.disabled = row.busy || !runs;
  row.buttons.start.disabled = row.busy || runs;
};

const show = (vm) => {
  const row = row_of(vm.name);
  while (row.seen.length > 1 && vm.time_s - row.seen[1].time_s >= WINDOW_S) row.seen.shift();
  const [before] = row.seen;
  if (before !== undefined && vm.time_s > before.time_s) {
    row.shares.push((vm.run_time_s - before.run_time_s) / (vm.time_s - before.time_s));
    row.shares = row.shares.slice(-LOOKS);
    row.share.textContent = `${(100 * row.shares.at(-1)).toFixed(1)} %`;
    const first = LOOKS - row.shares.length;
    const point = (share, index) => `${first + index},${100 - 100 * Math.min(share, 1)}`;
    row.curve.setAttribute('points', row.shares.map(point).join(' '));
  }
  row.seen.push(vm);
  row.vm = vm;
  const time = (us) => (vm.jobs === 0 ? '-' : `${us.toFixed(1)} \u00b5s`);
  const texts = {
    state: vm.state,
    faults: vm.faults,
    restarts: vm.restarts,
    jobs: vm.jobs === 0 ? '-' : vm.jobs,
    missed: vm.jobs === 0 ? '-' : vm.missed,
    late: time(vm.late_max_us),
    wait: time(vm.interference_max_us),
  };
  for (const [id, text] of Object.entries(texts)) row.cells[id].textContent = text;
  row.cells.state.className = vm.state;
  enable(row);
};

let looking = null;
/** Looks once; whoever asks while it looks waits for the same look. */
const look = () => {
  looking ??= (async () => {
    try {
      const vms = await ask('vms');
      vms.forEach(show);
      say('state', vms.length === 0 ? 'no VM is managed' : `${vms[0].time_s.toFixed(1)} s since reset`);
    } catch (error) {
      say('state', `no answer: ${error.message}`);
    }
    looking = null;
  })();
  return looking;
};

const go_on = async () => {
  await look();
  setTimeout(go_on, LOOK_MS);
};
go_on();

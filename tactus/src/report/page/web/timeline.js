// The run over time: who has each hart, what interrupts it, and what VMs, accelerators, pins and devices do.

const INTERRUPTS = { 1: 'supervisor software', 2: 'VS software', 3: 'machine software', 5: 'supervisor timer', 6: 'VS timer', 7: 'machine timer', 9: 'supervisor external', 10: 'VS external', 11: 'machine external', 12: 'guest external' };
const EXCEPTIONS = { 0: 'instruction address misaligned', 1: 'instruction access fault', 2: 'illegal instruction', 3: 'breakpoint', 4: 'load address misaligned', 5: 'load access fault', 6: 'store address misaligned', 7: 'store access fault', 8: 'call from user level', 9: 'call from HS-mode', 10: 'call from VS-mode', 11: 'call from M-mode', 12: 'instruction page fault', 13: 'load page fault', 15: 'store page fault', 20: 'instruction guest-page fault', 21: 'load guest-page fault', 22: 'virtual instruction', 23: 'store guest-page fault' };
const MODES = ['', 'VS-mode', 'HS-mode', 'M-mode'];

const trapName = (code) => {
  const [mode, cause] = [Math.floor(code / 256), code % 256];
  return mode > 0 ? `${INTERRUPTS[cause] ?? `interrupt ${cause}`} interrupt to ${MODES[mode]}` : EXCEPTIONS[cause] ?? `exception ${cause}`;
};

const workerColour = (worker) => (worker.kind === 'vm' && worker.vm !== null ? seriesColour(worker.vm) : colour(worker.kind === 'hypervisor' ? 'hypervisor' : worker.kind === 'idle' ? 'idle' : 'firmware'));

/** The workers as they are listed and stacked: VMs in the system's order, then the hypervisor and what is below it; not those that wait. */
const inOrderOf = (workers) => {
  const rank = ({ kind, vm }) => (kind === 'vm' ? vm ?? 1e6 : { hypervisor: 2e6, user: 3e6, firmware: 4e6 }[kind] ?? 5e6);
  return workers.map((worker, number) => number).filter((number) => workers[number].kind !== 'idle').sort((a, b) => rank(workers[a]) - rank(workers[b]));
};

/** Spans of one kind in time: rising `from`, and `to`. */
const spansIn = (lane, t0, t1, each) => {
  let i = Math.max(0, above(lane.from, t0) - 1);
  for (; i < lane.from.length && lane.from[i] <= t1; i++) if (lane.to[i] >= t0) each(i);
};

/** What a report has of time, as lanes. Times are in seconds. */
const lanesOf = (report) => {
  const { json } = report;
  const { timeline } = json;
  const lanes = [];
  const names = json.vms.map((vm) => vm.name);
  const end = timeline ? timeline.end / timeline.hz : json.seconds || 1;
  // VMs: from start to end, with phases where the times of lines are known.
  lanes.push({ kind: 'head', label: 'VMs' });
  const lines = report.lines;
  json.vms.forEach((vm, index) => {
    const from = [];
    const to = [];
    const what = [];
    const marks = [];
    let since = null;
    let phase = '';
    const close = (at) => { if (since !== null && at >= since) { from.push(since); to.push(at); what.push(phase); } since = null; };
    const events = json.life.filter((event) => event[0] === index).map(([, kind, at]) => ({ kind, at }));
    if (lines.timed) {
      for (const line of lines.all) {
        if (line.console !== index + 2 || !line.record) continue;
        const name = /^@tactus phase name=(\S+)/.exec(line.text);
        if (name) events.push({ kind: 'phase', at: line.time, name: name[1] });
      }
      events.sort((a, b) => a.at - b.at);
    }
    for (const event of events) {
      if (event.kind === 'start') { since = event.at; phase = ''; }
      else if (event.kind === 'off') close(event.at);
      else if (event.kind === 'phase') { close(event.at); since = event.at; phase = event.name; }
      else {
        marks.push(event);
        if (event.kind === 'fault') close(event.at);
        if (event.kind === 'restart') { close(event.at); since = event.at; }
      }
    }
    close(end);
    lanes.push({ kind: 'life', label: names[index], height: 16, vm: index, from: Float64Array.from(from), to: Float64Array.from(to), what, marks });
  });
  if (!timeline) return { lanes, end, workers: [] };
  const second = (cycles, hz = timeline.hz) => cycles.map((cycle) => cycle / hz);
  const { workers } = timeline;
  timeline.harts.forEach((hart, index) => {
    const from = second(report.rising(hart.turns));
    const to = new Float64Array(from.length);
    to.set(from.subarray(1));
    if (to.length > 0) to[to.length - 1] = Math.max(end, from[from.length - 1]);
    const who = report.numbers(hart.turn_workers);
    const overview = hart.overview && { width: hart.overview.width / timeline.hz, shares: report.numbers(hart.overview.shares) };
    const turns = { from, to, who, overview, since: hart.turns_dropped > 0 ? from[0] : 0 };
    lanes.push({ kind: 'head', label: `hart ${index}` });
    lanes.push({ kind: 'turns', label: 'runs', height: 26, turns, only: null, hart: index });
    const seen = new Set(who);
    for (const number of inOrderOf(workers)) if (seen.has(number)) lanes.push({ kind: 'turns', label: workers[number].name, height: 13, turns, only: number, group: 'workers', hart: index });
    const times = second(report.rising(hart.traps));
    const codes = report.numbers(hart.trap_codes);
    for (const [label, wanted] of [['interrupts', true], ['exceptions', false]]) {
      const picked = [];
      codes.forEach((code, i) => { if (code >= 256 === wanted) picked.push(i); });
      if (picked.length === 0) continue;
      const what = Float64Array.from(picked, (i) => codes[i]);
      lanes.push({ kind: 'instants', label, height: 11, from: Float64Array.from(picked, (i) => times[i]), name: (i) => trapName(what[i]), ink: wanted ? 'accent' : 'warn', group: 'traps', hart: index });
    }
  });
  if (timeline.accelerators.length > 0) {
    lanes.push({ kind: 'head', label: 'accelerators' });
    for (const one of timeline.accelerators) {
      const from = second(report.rising(one.from));
      const length = second(report.numbers(one.length));
      const what = report.numbers(one.what);
      const isPort = one.name === 'configuration port';
      const vm = names.findIndex((name) => one.name.endsWith(` of ${name}`));
      lanes.push({ kind: 'spans', label: one.name, height: 13, from, to: from.map((at, i) => at + length[i]), name: (i) => (isPort ? `configures region ${what[i]}` : 'request until result'), vm, group: 'accelerators' });
    }
  }
  if (timeline.pins) {
    const times = second(report.rising(timeline.pins.times), timeline.pins.hz);
    const levels = report.numbers(timeline.pins.levels);
    const used = levels.reduce((all, level) => all | level, 0);
    lanes.push({ kind: 'head', label: 'pins' });
    for (let pin = 0; pin < 32; pin++) {
      if (!((used >>> pin) & 1)) continue;
      const [from, to] = [[], []];
      let high = false;
      levels.forEach((level, i) => {
        const now = (level >>> pin) & 1;
        if (now && !high) from.push(times[i]);
        if (!now && high) to.push(times[i]);
        high = Boolean(now);
      });
      if (high) to.push(end);
      lanes.push({ kind: 'spans', label: `pin ${pin}`, height: 11, from: Float64Array.from(from), to: Float64Array.from(to), name: () => 'high', vm: -1, group: 'pins' });
    }
  }
  const devices = timeline.devices.filter((device) => device.times.count > 0);
  if (devices.length > 0) {
    lanes.push({ kind: 'head', label: 'devices', group: 'devices' });
    for (const device of devices) {
      const what = report.numbers(device.what);
      lanes.push({ kind: 'instants', label: device.name, height: 11, from: second(report.rising(device.times)), name: (i) => `${what[i] % 2 ? 'write' : 'read'} 0x${Math.floor(what[i] / 512).toString(16)} by hart ${Math.floor(what[i] / 2) % 256}`, ink: 'muted', group: 'devices' });
    }
  }
  return { lanes, end, workers };
};

class Timeline {
  constructor(place, report) {
    Object.assign(this, lanesOf(report));
    this.report = report;
    this.order = inOrderOf(this.workers);
    this.timed = report.json.board?.timed_since ?? null;
    this.view = [0, this.end];
    this.hidden = new Set(['devices']);
    this.lane = 1;
    this.canvas = make('canvas', { class: 'timeline', tabIndex: 0, role: 'application', 'aria-roledescription': 'timeline', 'aria-label': 'Timeline. Arrow keys left and right move, plus and minus zoom, zero shows all, up and down choose a lane.' });
    this.map = make('canvas', { class: 'minimap', 'aria-hidden': 'true' });
    this.tip = make('div', { class: 'tip', hidden: true });
    this.readout = make('p', { class: 'readout', 'aria-live': 'polite' });
    this.tools = make('div', { class: 'tools' },
      make('button', { onclick: () => this.zoom(0.5), 'aria-label': 'Zoom in' }, '+'),
      make('button', { onclick: () => this.zoom(2), 'aria-label': 'Zoom out' }, '−'),
      make('button', { onclick: () => this.show(0, this.end) }, 'Show all'),
      this.toggles());
    place.append(this.tools, this.legend(), make('div', { class: 'timeline-frame' }, this.map, this.canvas, this.tip), this.readout);
    this.listen();
    this.draw = this.draw.bind(this);
    drawn.add(this.draw);
  }

  toggles() {
    const groups = [['workers', 'VMs on each hart'], ['traps', 'interrupts and exceptions'], ['accelerators', 'accelerators'], ['pins', 'pins'], ['devices', 'devices']];
    return groups.filter(([group]) => this.lanes.some((lane) => lane.group === group)).map(([group, label]) => make('label', {},
      make('input', { type: 'checkbox', checked: !this.hidden.has(group), onchange: (event) => { event.target.checked ? this.hidden.delete(group) : this.hidden.add(group); this.draw(); } }), label));
  }

  legend() {
    const kinds = { hypervisor: 'hyp', firmware: 'fw', user: 'fw' };
    return make('ul', { class: 'legend' }, this.order.map((number) => this.workers[number]).map((worker) => make('li', {},
      make('span', { class: `box ${worker.kind === 'vm' && worker.vm !== null ? `s${worker.vm % 6}` : kinds[worker.kind] ?? 'fw'}`, 'aria-hidden': 'true' }), visible(worker.name))),
    this.workers.length > 0 ? make('li', {}, make('span', { class: 'box idle', 'aria-hidden': 'true' }), '(idle)') : null);
  }

  visibleLanes() {
    return this.lanes.filter((lane) => !this.hidden.has(lane.group) && !(lane.kind === 'head' && this.hidden.has(lane.label)));
  }

  show(from, to) {
    const least = Math.max(2e-9, this.end * 1e-10);
    if (to - from < least) { const middle = (from + to) / 2; [from, to] = [middle - least / 2, middle + least / 2]; }
    const span = Math.min(to - from, this.end);
    const begin = Math.max(0, Math.min(from, this.end - span));
    this.view = [begin, begin + span];
    if (!this.waiting) { this.waiting = true; requestAnimationFrame(() => { this.waiting = false; this.draw(); }); }
  }

  zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
    const [from, to] = this.view;
    this.show(at - (at - from) * factor, at + (to - at) * factor);
  }

  move(part) {
    const [from, to] = this.view;
    this.show(from + part * (to - from), to + part * (to - from));
  }

  draw() {
    const frame = getComputedStyle(this.canvas.parentElement);
    const width = Math.floor(this.canvas.parentElement.clientWidth - parseFloat(frame.paddingLeft) - parseFloat(frame.paddingRight));
    if (!(width > 50)) return;
    const lanes = this.visibleLanes();
    this.gutter = width < 560 ? 92 : 168;
    const axis = 22;
    let y = axis;
    for (const lane of lanes) {
      lane.y = y + (lane.kind === 'head' ? 4 : 1);
      lane.h = lane.kind === 'head' ? 15 : lane.height;
      y = lane.y + lane.h + (lane.kind === 'turns' && lane.only === null ? 3 : 1);
    }
    const height = y + 6;
    this.shown = lanes;
    this.plot = width - this.gutter - 1;
    const ctx = this.fit(this.canvas, width, height);
    ctx.fillStyle = colour('panel');
    ctx.fillRect(0, 0, width, height);
    this.drawAxis(ctx, axis, height);
    if (this.focused && lanes[this.lane]) {
      ctx.fillStyle = colour('grid');
      ctx.fillRect(0, lanes[this.lane].y - 1, width, lanes[this.lane].h + 2);
    }
    for (const lane of lanes) this.drawLabel(ctx, lane, width);
    ctx.save();
    ctx.beginPath();
    ctx.rect(this.gutter, axis, this.plot, height - axis);
    ctx.clip();
    const covers = new Map();
    for (const lane of lanes) {
      if (lane.kind === 'turns') {
        if (!covers.has(lane.turns)) covers.set(lane.turns, this.cover(lane.turns, this.plot));
        this.drawTurns(ctx, lane, covers.get(lane.turns));
      } else if (lane.kind === 'instants') this.drawInstants(ctx, lane);
      else if (lane.kind !== 'head') this.drawSpans(ctx, lane);
    }
    if (this.drag) {
      ctx.fillStyle = colour('select');
      const [a, b] = [Math.min(this.drag.from, this.drag.to), Math.max(this.drag.from, this.drag.to)];
      ctx.fillRect(a, axis, b - a, height - axis);
    }
    ctx.restore();
    this.drawMap(width);
    this.canvas.view = this.view;
  }

  fit(canvas, width, height) {
    const ratio = devicePixelRatio;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const ctx = canvas.getContext('2d');
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    return ctx;
  }

  x(time) { return this.gutter + ((time - this.view[0]) / (this.view[1] - this.view[0])) * this.plot; }
  time(x) { return this.view[0] + ((x - this.gutter) / this.plot) * (this.view[1] - this.view[0]); }

  drawAxis(ctx, axis, height) {
    ctx.font = `11px ${FONT}`;
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'center';
    const all = ticks(this.view[0], this.view[1], Math.max(2.5, this.plot / 120));
    for (const tick of all) {
      const x = Math.round(this.x(tick)) + 0.5;
      ctx.strokeStyle = colour('grid');
      ctx.beginPath();
      ctx.moveTo(x, axis - 4);
      ctx.lineTo(x, height);
      ctx.stroke();
      const text = seconds(tick, all.step);
      const half = ctx.measureText(text).width / 2;
      ctx.fillStyle = colour('muted');
      if (x - half > this.gutter - 4 && x + half < this.gutter + this.plot + 2) ctx.fillText(text, x, 9);
    }
    if (this.timed !== null && this.timed > this.view[0] && this.timed < this.view[1]) {
      const x = Math.round(this.x(this.timed)) + 0.5;
      ctx.strokeStyle = colour('muted');
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(x, axis - 6);
      ctx.lineTo(x, height);
      ctx.stroke();
      ctx.setLineDash([]);
    }
  }

  drawLabel(ctx, lane) {
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    const head = lane.kind === 'head';
    ctx.font = head ? `600 11.5px ${FONT}` : `11.5px ${FONT}`;
    ctx.fillStyle = colour(head ? 'ink' : 'muted');
    let text = plain(lane.label);
    const room = this.gutter - (head ? 6 : 18);
    if (ctx.measureText(text).width > room) {
      while (text.length > 1 && ctx.measureText(`${text}…`).width > room) text = text.slice(0, -1);
      text += '…';
    }
    ctx.fillText(text, head ? 2 : 12, lane.y + lane.h / 2 + 0.5);
  }

  /** Which part of each pixel each worker has. */
  cover(turns, pixels) {
    const [t0, t1] = this.view;
    const perPixel = (t1 - t0) / pixels;
    const workers = this.workers.length;
    const parts = new Float32Array(pixels * workers);
    const add = (worker, from, to) => {
      let a = (Math.max(from, t0) - t0) / perPixel;
      const b = (Math.min(to, t1) - t0) / perPixel;
      let pixel = Math.floor(a);
      while (a < b && pixel < pixels) {
        const end = Math.min(b, pixel + 1);
        parts[pixel * workers + worker] += end - a;
        a = end;
        pixel += 1;
      }
    };
    if (turns.overview && t0 < turns.since) {
      const { width, shares } = turns.overview;
      for (let bin = Math.max(0, Math.floor(t0 / width)); bin * width < Math.min(t1, turns.since) && bin * workers < shares.length; bin++) {
        let at = bin * width;
        const cycles = shares.subarray(bin * workers, (bin + 1) * workers);
        const sum = cycles.reduce((all, part) => all + part, 0);
        for (let worker = 0; worker < workers && sum > 0; worker++) {
          // Within a bin the order is not known: all share each of its pixels.
          const length = (cycles[worker] / sum) * width;
          const [first, last] = [Math.max(t0, bin * width), Math.min(t1, (bin + 1) * width, turns.since)];
          for (let pixel = Math.floor((first - t0) / perPixel); pixel <= (last - t0) / perPixel && pixel < pixels; pixel++) {
            const overlap = Math.min(last, t0 + (pixel + 1) * perPixel) - Math.max(first, t0 + pixel * perPixel);
            if (overlap > 0) parts[pixel * workers + worker] += (overlap / perPixel) * (length / width);
          }
          at += length;
        }
      }
    }
    spansIn(turns, t0, t1, (i) => add(turns.who[i], turns.from[i], turns.to[i]));
    return parts;
  }

  drawTurns(ctx, lane, parts) {
    const workers = this.workers.length;
    const pixels = this.plot;
    const bottom = lane.y + lane.h;
    const one = (worker, pixel) => parts[pixel * workers + worker];
    if (lane.only !== null) {
      ctx.fillStyle = workerColour(this.workers[lane.only]);
      for (let pixel = 0; pixel < pixels; pixel++) {
        const part = one(lane.only, pixel);
        if (part <= 0) continue;
        // However short a turn is, it shows.
        const height = part > 0.98 ? lane.h : Math.max(2, part * lane.h);
        let end = pixel + 1;
        while (part > 0.98 && end < pixels && one(lane.only, end) > 0.98) end += 1;
        ctx.fillRect(this.gutter + pixel, bottom - height, end - pixel, height);
        pixel = end - 1;
      }
    } else {
      ctx.fillStyle = colour('idle');
      ctx.fillRect(this.gutter, lane.y, pixels, lane.h);
      const inks = this.workers.map(workerColour);
      for (let pixel = 0; pixel < pixels; pixel++) {
        let y = bottom;
        for (const worker of this.order) {
          const part = one(worker, pixel);
          if (part <= 0) continue;
          ctx.fillStyle = inks[worker];
          let end = pixel + 1;
          if (part > 0.999) while (end < pixels && one(worker, end) > 0.999) end += 1;
          const height = Math.min(lane.h, part * lane.h);
          ctx.fillRect(this.gutter + pixel, y - height, end - pixel, height);
          y -= height;
          if (end > pixel + 1) { pixel = end - 1; break; }
        }
      }
    }
    if (lane.only === null) this.names(ctx, lane, lane.turns, (i) => (this.workers[lane.turns.who[i]].kind === 'idle' ? '' : this.workers[lane.turns.who[i]].name));
  }

  /** Names in the spans that are wide enough. */
  names(ctx, lane, spans, name) {
    const [t0, t1] = this.view;
    const first = Math.max(0, above(spans.from, t0) - 1);
    const last = above(spans.from, t1);
    if (last - first > 400) return;
    ctx.font = `11px ${FONT}`;
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    for (let i = first; i < last; i++) {
      const [a, b] = [Math.max(this.gutter, this.x(spans.from[i])), Math.min(this.gutter + this.plot, this.x(spans.to[i]))];
      if (b - a < 26) continue;
      const text = plain(name(i));
      if (!text || ctx.measureText(text).width > b - a - 8) continue;
      ctx.fillStyle = colour('on-series');
      ctx.fillText(text, a + 4, lane.y + lane.h / 2 + 0.5);
    }
  }

  drawSpans(ctx, lane) {
    const [t0, t1] = this.view;
    ctx.fillStyle = lane.vm >= 0 ? seriesColour(lane.vm) : colour('accent');
    let last = -1;
    spansIn(lane, t0, t1, (i) => {
      const a = Math.max(this.gutter, this.x(lane.from[i]));
      const b = Math.min(this.gutter + this.plot, this.x(lane.to[i]));
      if (b < last) return;
      const gap = lane.kind === 'life' && b - a > 4 ? 1 : 0;
      const width = Math.max(1, b - Math.max(a, last) - gap);
      ctx.fillRect(Math.max(a, last), lane.y, width, lane.h);
      last = Math.max(a, last) + width;
    });
    if (lane.kind === 'life') {
      this.names(ctx, lane, lane, (i) => lane.what[i]);
      for (const event of lane.marks) {
        ctx.fillStyle = colour('bad');
        ctx.fillRect(this.x(event.at) - 1, lane.y - 1, 2, lane.h + 2);
      }
    }
  }

  drawInstants(ctx, lane) {
    const [t0, t1] = this.view;
    ctx.fillStyle = colour(lane.ink);
    let last = -10;
    let many = 0;
    const flush = () => {
      if (many === 0) return;
      ctx.globalAlpha = Math.min(1, 0.7 + Math.log10(many) / 6);
      ctx.fillRect(last, lane.y, 1.2, lane.h);
    };
    for (let i = above(lane.from, t0 - 1e-12); i < lane.from.length && lane.from[i] <= t1; i++) {
      const x = Math.round(this.x(lane.from[i]));
      if (x !== last) { flush(); last = x; many = 0; }
      many += 1;
    }
    flush();
    ctx.globalAlpha = 1;
  }

  drawMap(width) {
    const height = 22;
    const ctx = this.fit(this.map, width, height);
    ctx.clearRect(0, 0, width, height);
    const view = this.view;
    const harts = this.lanes.filter((lane) => lane.kind === 'turns' && lane.only === null);
    if (harts.length === 0) { this.map.hidden = true; return; }
    if (!this.mapImage || this.mapImage.key !== `${width}/${colour('c0')}/${colour('idle')}`) {
      this.view = [0, this.end];
      const inks = this.workers.map(workerColour);
      const image = make('canvas');
      const paint = this.fit(image, width, height);
      const each = height / harts.length;
      harts.forEach((lane, hart) => {
        const parts = this.cover(lane.turns, this.plot);
        for (let pixel = 0; pixel < this.plot; pixel++) {
          let y = (hart + 1) * each - 1;
          for (const worker of this.order) {
            const part = parts[pixel * this.workers.length + worker];
            if (part <= 0) continue;
            paint.fillStyle = inks[worker];
            paint.fillRect(this.gutter + pixel, y - part * (each - 1), 1, part * (each - 1));
            y -= part * (each - 1);
          }
        }
      });
      this.view = view;
      this.mapImage = { key: `${width}/${colour('c0')}/${colour('idle')}`, image };
    }
    ctx.drawImage(this.mapImage.image, 0, 0, width, height);
    const at = (time) => this.gutter + (time / this.end) * this.plot;
    const [a, b] = [at(view[0]), Math.max(at(view[0]) + 3, at(view[1]))];
    ctx.fillStyle = colour('veil');
    ctx.fillRect(this.gutter, 0, a - this.gutter, height);
    ctx.fillRect(b, 0, this.gutter + this.plot - b, height);
    ctx.strokeStyle = colour('ink');
    ctx.strokeRect(a + 0.5, 0.5, b - a - 1, height - 1);
    ctx.font = `11px ${FONT}`;
    ctx.fillStyle = colour('muted');
    ctx.textBaseline = 'middle';
    ctx.fillText('whole run', 2, height / 2);
  }

  /** What is at a place, in words. */
  at(lane, x) {
    const time = this.time(x);
    const slack = (2.5 * (this.view[1] - this.view[0])) / this.plot;
    const span = (name, from, to) => `${name}: ${seconds(to - from)}, from ${seconds(from, Math.max(1e-9, (to - from) / 100))}`;
    const clock = this.report.json.timeline?.hz;
    const cycles = (from, to) => (clock ? `, ${count(Math.round((to - from) * clock), 'cycle')}` : '');
    if (lane.kind === 'turns') {
      const { turns } = lane;
      if (time < turns.since) return 'detail not kept: shares only';
      let i = above(turns.from, time) - 1;
      if (lane.only !== null && (i < 0 || turns.who[i] !== lane.only)) {
        // The nearest of this lane.
        let [left, right] = [i, i + 1];
        while (left >= 0 && turns.who[left] !== lane.only && time - turns.to[left] < slack) left -= 1;
        while (right < turns.from.length && turns.who[right] !== lane.only && turns.from[right] - time < slack) right += 1;
        if (left >= 0 && turns.who[left] === lane.only && time - turns.to[left] < slack) i = left;
        else if (right < turns.from.length && turns.who[right] === lane.only && turns.from[right] - time < slack) i = right;
        else return '';
      }
      return i < 0 ? '' : `hart ${lane.hart}, ${span(plain(this.workers[turns.who[i]].name), turns.from[i], turns.to[i])}${cycles(turns.from[i], turns.to[i])}`;
    }
    if (lane.kind === 'instants') {
      const [first, last] = [above(lane.from, time - slack), above(lane.from, time + slack)];
      if (first === last) return '';
      const kinds = new Map();
      for (let i = first; i < Math.min(last, first + 10000); i++) kinds.set(lane.name(i), (kinds.get(lane.name(i)) ?? 0) + 1);
      const top = [...kinds].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, number]) => (number > 1 ? `${figure(number)} × ${name}` : name));
      const more = kinds.size > 3 ? ` and ${count(kinds.size - 3, 'other kind')}` : '';
      return `${top.join(', ')}${more}${last - first === 1 ? ` at ${seconds(lane.from[first], 1e-9)}` : ''}`;
    }
    if (lane.kind === 'spans' || lane.kind === 'life') {
      for (const event of lane.marks ?? []) if (Math.abs(event.at - time) < slack) return `${plain(lane.label)}: ${event.kind} at ${seconds(event.at, 1e-7)}`;
      let found = '';
      spansIn(lane, time - slack, time + slack, (i) => {
        const name = lane.kind === 'life' ? (lane.what[i] ? `phase ${plain(lane.what[i])}` : 'runs') : lane.name(i);
        found = `${plain(lane.label)}: ${span(name, lane.from[i], lane.to[i])}`;
      });
      return found;
    }
    return '';
  }

  listen() {
    const { canvas, map } = this;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener('pointerdown', (event) => {
      const [x] = place(event);
      if (x < this.gutter || event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = { from: x, to: x, pan: event.shiftKey || event.pointerType === 'touch', view: [...this.view] };
      this.tip.hidden = true;
    });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = place(event);
      if (this.drag) {
        this.drag.to = Math.max(this.gutter, Math.min(this.gutter + this.plot, x));
        if (this.drag.pan) {
          const step = ((this.drag.from - x) / this.plot) * (this.drag.view[1] - this.drag.view[0]);
          this.show(this.drag.view[0] + step, this.drag.view[1] + step);
        } else this.draw();
        return;
      }
      const lane = this.shown?.find((one) => y >= one.y && y < one.y + one.h + 1);
      const text = lane && x >= this.gutter ? this.at(lane, x) : '';
      this.tip.hidden = !text;
      if (text) {
        this.tip.textContent = text;
        const left = Math.min(x + 14, canvas.clientWidth - this.tip.offsetWidth - 4);
        this.tip.style.left = `${Math.max(0, left)}px`;
        this.tip.style.top = `${y + canvas.offsetTop + 16}px`;
      }
    });
    const release = () => {
      const { drag } = this;
      this.drag = null;
      if (drag && !drag.pan && Math.abs(drag.to - drag.from) > 4) {
        this.show(this.time(Math.min(drag.from, drag.to)), this.time(Math.max(drag.from, drag.to)));
      } else if (drag) this.draw();
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', () => { this.drag = null; this.draw(); });
    canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    canvas.addEventListener('dblclick', () => this.show(0, this.end));
    canvas.addEventListener('wheel', (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 120), this.time(place(event)[0]));
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
        event.preventDefault();
        this.move((event.deltaX || event.deltaY) / this.plot);
      }
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const actions = {
        ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2), a: () => this.move(-0.2), d: () => this.move(0.2),
        '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), w: () => this.zoom(0.5), '-': () => this.zoom(2), s: () => this.zoom(2),
        0: () => this.show(0, this.end), Home: () => this.show(0, this.end),
        ArrowUp: () => this.choose(-1), ArrowDown: () => this.choose(1),
      };
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
      this.tell();
    });
    canvas.addEventListener('focus', () => { this.focused = canvas.matches(':focus-visible'); this.draw(); if (this.focused) this.tell(); });
    canvas.addEventListener('blur', () => { this.focused = false; this.draw(); });
    const jump = (event) => {
      const box = map.getBoundingClientRect();
      const middle = ((event.clientX - box.left - this.gutter) / this.plot) * this.end;
      const span = this.view[1] - this.view[0];
      this.show(middle - span / 2, middle + span / 2);
    };
    map.addEventListener('pointerdown', (event) => { map.setPointerCapture(event.pointerId); this.jumping = true; jump(event); });
    map.addEventListener('pointermove', (event) => { if (this.jumping) jump(event); });
    map.addEventListener('pointerup', () => { this.jumping = false; });
  }

  choose(step) {
    const lanes = this.visibleLanes();
    let lane = this.lane + step;
    while (lanes[lane]?.kind === 'head') lane += step;
    if (lanes[lane]) this.lane = lane;
    this.draw();
  }

  /** For those who cannot see the tip: the view, and what is in its middle in the chosen lane. */
  tell() {
    const [from, to] = this.view;
    const lane = this.visibleLanes()[this.lane];
    const what = lane && lane.kind !== 'head' && this.plot ? this.at(lane, this.gutter + this.plot / 2) : '';
    this.readout.textContent = `${seconds(from, (to - from) / 100)} to ${seconds(to, (to - from) / 100)}. ${lane ? plain(lane.label) : ''}: ${what || 'nothing in the middle'}`;
  }
}

// Charts by uPlot: how samples are distributed, the samples in their order, and figures over what they depend on.

const chartHeight = () => (innerWidth < 600 ? 260 : 330);

const axisStyle = () => ({
  stroke: colour('muted'),
  font: `12px ${FONT}`,
  labelFont: `12px ${FONT}`,
  grid: { stroke: colour('grid'), width: 1 },
  ticks: { stroke: colour('grid'), width: 1, size: 4 },
});

const dashes = (index) => [[], [], [], [7, 4], [7, 4], [7, 4]][index % 6];

/** Puts a chart into `place`, and again when theme or width change. `build(width)` gives uPlot's options and data. */
const chart = (place, build, describe) => {
  let plot = null;
  let window_ = null;
  const holder = make('div', { class: 'chart', tabIndex: 0, role: 'group', 'aria-roledescription': 'chart', 'aria-label': describe });
  const readout = make('p', { class: 'readout', 'aria-live': 'polite' });
  const api = {
    get plot() { return plot; },
    full: null,
    zoom(min, max) { if (plot) plot.setScale('x', { min, max }); },
    reset() { if (plot && api.full) plot.setScale('x', { min: api.full[0], max: api.full[1] }); },
    readout,
  };
  const draw = () => {
    const width = Math.floor(holder.clientWidth);
    if (width < 50) return;
    if (plot) { window_ = [plot.scales.x.min, plot.scales.x.max]; plot.destroy(); }
    const { options, data, full } = build(width, api);
    api.full = full;
    options.width = width;
    options.height = chartHeight();
    options.cursor = { drag: { x: true, y: false, setScale: true }, points: { size: 7 }, ...(options.cursor ?? {}) };
    options.padding = options.padding ?? [14, 16, 0, 0];
    plot = new uPlot(options, data, holder);
    if (window_) plot.setScale('x', { min: window_[0], max: window_[1] });
    holder.plot = plot;
  };
  holder.addEventListener('dblclick', () => api.reset());
  holder.addEventListener('keydown', (event) => {
    if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
    const { min, max } = plot.scales.x;
    const log = plot.scales.x.distr === 3 && min > 0;
    const [a, b] = log ? [Math.log(min), Math.log(max)] : [min, max];
    const span = b - a;
    const to = { ArrowLeft: [a - span / 5, b - span / 5], ArrowRight: [a + span / 5, b + span / 5], '+': [a + span / 4, b - span / 4], '=': [a + span / 4, b - span / 4], '-': [a - span / 2, b + span / 2] }[event.key];
    if (event.key === '0' || event.key === 'Home') api.reset();
    else if (to) {
      let [from, until] = log ? to.map(Math.exp) : to;
      if (api.full) { from = Math.max(from, api.full[0]); until = Math.min(until, api.full[1]); }
      if (until > from) api.zoom(from, until);
    } else return;
    event.preventDefault();
  });
  place.append(holder, make('div', { class: 'chart-tools' }, readout,
    make('button', { class: 'quiet', onclick: () => api.reset(), title: 'Show all (double click, or the key 0)' }, 'Show all')));
  drawn.add(draw);
  api.draw = draw;
  return api;
};

/** Text that can be read on top of lines. */
const haloed = (ctx, text, x, y) => {
  ctx.save();
  ctx.setLineDash([]);
  ctx.lineWidth = 4 * devicePixelRatio;
  ctx.lineJoin = 'round';
  ctx.strokeStyle = colour('panel');
  ctx.strokeText(text, x, y);
  ctx.restore();
  ctx.fillText(text, x, y);
};

/** A line across the chart with its name. */
const mark = (u, { x, y, text, ink, dash = [4, 4], left = false }) => {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 14 * ratio, bbox.width, bbox.height + 14 * ratio);
  ctx.clip();
  ctx.strokeStyle = ink;
  ctx.fillStyle = ink;
  ctx.lineWidth = 1.25 * ratio;
  ctx.setLineDash(dash.map((part) => part * ratio));
  ctx.font = `${11.5 * ratio}px ${FONT}`;
  ctx.textBaseline = 'alphabetic';
  ctx.beginPath();
  if (x !== undefined) {
    const at = u.valToPos(x, 'x', true);
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    const right = at + ctx.measureText(text).width + 8 * ratio > bbox.left + bbox.width;
    ctx.textAlign = right ? 'right' : 'left';
    haloed(ctx, text, at + (right ? -5 : 5) * ratio, bbox.top + 10 * ratio);
  } else {
    const at = u.valToPos(y, 'y', true);
    ctx.moveTo(bbox.left, at);
    ctx.lineTo(bbox.left + bbox.width, at);
    ctx.stroke();
    ctx.textAlign = left ? 'left' : 'right';
    haloed(ctx, text, left ? bbox.left + 4 * ratio : bbox.left + bbox.width - 4 * ratio, at - 4 * ratio);
  }
  ctx.restore();
};

/** A ring around a point, with its value. */
const ring = (u, x, y, ink, text, taken) => {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const [px, py] = [u.valToPos(x, 'x', true), u.valToPos(y, 'y', true)];
  if (px < bbox.left - 1 || px > bbox.left + bbox.width + 1) return;
  ctx.save();
  ctx.beginPath();
  ctx.arc(px, py, 4.5 * ratio, 0, 2 * Math.PI);
  ctx.fillStyle = colour('panel');
  ctx.fill();
  ctx.lineWidth = 2 * ratio;
  ctx.strokeStyle = ink;
  ctx.stroke();
  if (text) {
    ctx.font = `600 ${11.5 * ratio}px ${FONT}`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    ctx.fillStyle = ink;
    const width = ctx.measureText(text).width;
    const right = px + width + 12 * ratio > bbox.left + bbox.width;
    let top = py - (right ? 12 : 5) * ratio;
    const left = right ? px - width - 9 * ratio : px + 9 * ratio;
    // A place that no other label has.
    while (taken.some((box) => Math.abs(box.top - top) < 14 * ratio && left < box.right && box.left < left + width)) top -= 14 * ratio;
    taken.push({ top, left, right: left + width });
    haloed(ctx, text, left, top);
  }
  ctx.restore();
};

/** How series are distributed: for each, which share of its samples is at or above a value. `quantity` is
    `{unit, series: [{name, values, counts, total, max, colour, dashed}], marks: [{name, value}]}`. */
const distribution = (place, quantity, describe) => {
  const { unit, series, marks } = quantity;
  const shown = series.map(() => true);
  const all = [...new Set(series.flatMap((one) => Array.from(one.values)))].sort((a, b) => a - b);
  const most = Math.max(...series.map((one) => one.total));
  const floor = Math.min(0.5 / most, 0.005);
  const positive = all.find((value) => value > 0) ?? 1;
  const first = Math.min(positive, ...marks.map((one) => one.value).filter((value) => value > 0));
  const last = Math.max(all[all.length - 1], ...marks.map((one) => one.value));
  const log = last / first >= 100;
  const full = log ? [first / 1.25, last * 1.25] : [Math.min(all[0], first) - (last - all[0]) * 0.03, last + (last - all[0]) * 0.05 + 1e-9];
  const xs = Float64Array.from([full[0], ...(log ? all.filter((value) => value > 0) : all)]);
  const columns = series.map((one) => {
    // The samples at or above each of its values.
    const left = new Float64Array(one.values.length + 1);
    for (let i = one.values.length - 1; i >= 0; i--) left[i] = left[i + 1] + one.counts[i];
    return Array.from(xs, (x) => {
      const place_ = above(one.values, x);
      const at = place_ > 0 && one.values[place_ - 1] === x ? place_ - 1 : place_;
      return left[at] > 0 ? left[at] / one.total : null;
    });
  });
  const build = (width, api) => ({
    full,
    data: [xs, ...columns],
    options: {
      scales: {
        x: { time: false, distr: log ? 3 : 1, auto: false, min: full[0], max: full[1], range: (u, min, max) => [min, max] },
        y: { distr: 3, range: () => [floor, 1.25] },
      },
      axes: [
        { ...axisStyle(), label: `${quantity.name} (${unit})${log ? ', logarithmic' : ''}`, labelSize: 22, size: 34, splits: (u, axis, min, max) => (log ? logTicks : ticks)(min, max, Math.max(3, width / 90)), values: (u, splits) => splits.map(figure) },
        { ...axisStyle(), label: 'share of samples at or above', labelSize: 20, size: 58, splits: (u, axis, min, max) => logTicks(min, max, 12).filter((value) => value <= 1 && Math.abs(Math.log10(value) % 1) < 1e-6), values: (u, splits) => splits.map(share) },
      ],
      legend: { show: false },
      series: [{}, ...series.map((one, i) => ({
        label: plain(one.name),
        show: shown[i],
        stroke: seriesColour(one.colour),
        width: 2,
        dash: one.dashed ? [6, 4] : dashes(one.colour),
        spanGaps: false,
        points: { show: false },
        paths: uPlot.paths.stepped({ align: -1 }),
      }))],
      hooks: {
        draw: [(u) => {
          mark(u, { y: 0.01, text: 'p99', ink: colour('muted'), dash: [2, 4], left: true });
          for (const one of marks) mark(u, { x: one.value, text: `${plain(one.name)} ${figure(one.value)} ${unit}`, ink: colour('ink') });
          const taken = [];
          series.forEach((one, i) => {
            if (shown[i] && !one.dashed) ring(u, one.max, one.worst / one.total, seriesColour(one.colour), figure(one.max), taken);
          });
        }],
        setCursor: [(u) => {
          const { idx } = u.cursor;
          if (idx === null || idx === undefined) { api.readout.textContent = ''; return; }
          const parts = series.map((one, i) => (columns[i][idx] === null || columns[i][idx] === undefined ? null : `${plain(one.name)} ${share(columns[i][idx])} (${figure(Math.round(columns[i][idx] * one.total))})`));
          api.readout.textContent = `at or above ${figure(xs[idx])} ${unit}: ${parts.filter(Boolean).join(' · ') || 'none'}`;
        }],
      },
    },
  });
  const api = chart(place, build, describe);
  api.show = (index, on) => { shown[index] = on; api.plot?.setSeries(index + 1, { show: on }); };
  return api;
};

/** Least and greatest value of each pixel's samples, so that the worst one shows at any width. */
const columnsOf = (values, from, to, width) => {
  const least = new Float64Array(width).fill(Infinity);
  const most = new Float64Array(width).fill(-Infinity);
  const perPixel = (to - from) / width;
  const [first, end] = [Math.max(0, Math.floor(from)), Math.min(values.length, Math.ceil(to))];
  for (let i = first; i < end; i++) {
    const pixel = Math.min(width - 1, Math.max(0, Math.floor((i - from) / perPixel)));
    const value = values[i];
    if (value < least[pixel]) least[pixel] = value;
    if (value > most[pixel]) most[pixel] = value;
  }
  return { least, most, perPixel };
};

/** Samples in the order in which they were taken, phase after phase. */
const inOrder = (place, quantity, describe) => {
  const { unit, series, marks } = quantity;
  const all = series.filter((one) => one.order && one.order.length > 0);
  const total = all.reduce((sum, one) => sum + one.order.length, 0);
  const values = new Float64Array(total);
  const phases = [];
  let at = 0;
  for (const one of all) {
    values.set(one.order, at);
    phases.push({ from: at, to: at + one.order.length, one });
    at += one.order.length;
  }
  let [least, most, worst] = [Infinity, -Infinity, 0];
  for (let i = 0; i < total; i++) {
    if (values[i] > most) { most = values[i]; worst = i; }
    if (values[i] < least && values[i] > 0) least = values[i];
  }
  const deadline = marks.find((one) => one.value > 0);
  const top = deadline ? Math.max(most, deadline.value) : most;
  const log = top / least >= 100;
  const bottom = log ? least / 1.3 : Math.min(0, least);
  const full = [-0.5, Math.max(1, total) - 0.5];
  const build = (width, api) => {
    let shown = null;
    const decimate = (u) => {
      const [from, to] = [u.scales.x.min ?? full[0], u.scales.x.max ?? full[1]];
      const pixels = Math.max(50, Math.floor(Math.min(width, (to - from))));
      shown = { from, ...columnsOf(values, from + 0.5, to + 0.5, pixels) };
      const xs = Float64Array.from({ length: pixels }, (_, i) => from + (i + 0.5) * shown.perPixel);
      const ys = Array.from(shown.most, (value) => (value === -Infinity ? null : value));
      return [xs, ys];
    };
    const path = (u) => {
      const { ctx, bbox } = u;
      const ratio = devicePixelRatio;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      const [xs] = u.data;
      const step = bbox.width / Math.max(1, xs.length);
      const wide = Math.max(1, Math.min(step * 0.7, 5 * ratio));
      for (const phase of phases) {
        ctx.fillStyle = seriesColour(phase.one.colour);
        for (let i = 0; i < xs.length; i++) {
          if (shown.most[i] === -Infinity || xs[i] < phase.from - 0.5 || xs[i] >= phase.to - 0.5) continue;
          const [high, low] = [u.valToPos(shown.most[i], 'y', true), u.valToPos(Math.max(shown.least[i], bottom), 'y', true)];
          ctx.fillRect(u.valToPos(xs[i], 'x', true) - wide / 2, high - ratio, wide, Math.max(2 * ratio, low - high + 2 * ratio));
        }
      }
      ctx.restore();
      return null;
    };
    let busy = false;
    return {
      full,
      data: [Float64Array.from([full[0], full[1]]), [null, null]],
      options: {
        scales: {
          x: { time: false, auto: false, min: full[0], max: full[1], range: (u, min, max) => [min, max] },
          y: { distr: log ? 3 : 1, range: () => [bottom, log ? top * 1.3 : top * 1.08 + 1e-9] },
        },
        axes: [
          { ...axisStyle(), label: 'sample, in the order taken', labelSize: 22, size: 34, splits: (u, axis, min, max) => ticks(Math.max(0, min), max, Math.max(3, width / 110)), values: (u, splits) => splits.map((value) => (Number.isInteger(value) ? figure(value) : '')) },
          { ...axisStyle(), label: `${quantity.name} (${unit})${log ? ', logarithmic' : ''}`, labelSize: 20, size: 58, splits: (u, axis, min, max) => (log ? logTicks(min, max, 8) : ticks(min, max, 6)), values: (u, splits) => splits.map(figure) },
        ],
        legend: { show: false },
        series: [{}, { label: 'samples', points: { show: false }, paths: () => null }],
        hooks: {
          setScale: [(u, key) => {
            if (key !== 'x' || busy) return;
            busy = true;
            u.setData(decimate(u), false);
            busy = false;
          }],
          draw: [(u) => {
            path(u);
            for (const one of marks) mark(u, { y: one.value, text: `${plain(one.name)} ${figure(one.value)} ${unit}`, ink: colour('ink') });
            const taken = [];
            ring(u, worst, most, colour('ink'), `worst ${figure(most)}`, taken);
          }],
          ready: [(u) => u.setScale('x', { min: full[0], max: full[1] })],
          setCursor: [(u) => {
            const { idx } = u.cursor;
            if (idx === null || idx === undefined || !shown || shown.most[idx] === -Infinity) { api.readout.textContent = ''; return; }
            const [a, b] = [Math.max(0, Math.floor(shown.from + 0.5 + idx * shown.perPixel)), Math.min(total - 1, Math.ceil(shown.from + 0.5 + (idx + 1) * shown.perPixel) - 1)];
            const phase = phases.find((one) => a >= one.from && a < one.to);
            const which = b > a ? `samples ${figure(a)} to ${figure(b)}` : `sample ${figure(a)}`;
            const range = shown.least[idx] === shown.most[idx] ? figure(shown.most[idx]) : `${figure(shown.least[idx])} to ${figure(shown.most[idx])}`;
            api.readout.textContent = `${which}${phase ? `, phase ${plain(phase.one.name)}` : ''}: ${range} ${unit}`;
          }],
        },
      },
    };
  };
  const api = chart(place, build, describe);
  api.toWorst = () => {
    const span = Math.min(total, 60);
    const from = Math.max(full[0], Math.min(worst - span / 2, full[1] - span));
    api.zoom(from, Math.min(full[1], from + span));
  };
  return api;
};

/** Figures over what they depend on, the published ones dashed. */
const lineChart = (place, picture, describe) => {
  const at = Float64Array.from(picture.at, (_, i) => i);
  const rows = picture.lines.flatMap((line, i) => [
    { name: line.name, values: line.own, colour: i, dashed: false },
    ...(line.paper.some((value) => value !== null) ? [{ name: `${line.name}, paper`, values: line.paper, colour: i, dashed: true }] : []),
  ]);
  const positive = rows.flatMap((row) => row.values).filter((value) => value > 0);
  if (positive.length === 0) return null;
  const range = [Math.min(...positive) / 1.3, Math.max(...positive) * 1.3];
  const full = [-0.3, at.length - 0.7];
  const build = (width, api) => ({
    full,
    data: [at, ...rows.map((row) => row.values.map((value) => (value > 0 ? value : null)))],
    options: {
      scales: { x: { time: false, auto: false, min: full[0], max: full[1], range: (u, min, max) => [min, max] }, y: { distr: 3, range: () => range } },
      axes: [
        { ...axisStyle(), label: picture.x, labelSize: 22, size: 34, splits: () => Array.from(at), values: (u, splits) => splits.map((i) => figure(picture.at[i])) },
        { ...axisStyle(), label: `${picture.y}, logarithmic`, labelSize: 20, size: 66, splits: (u, axis, min, max) => logTicks(min, max, 8), values: (u, splits) => splits.map(figure) },
      ],
      legend: { show: false },
      series: [{}, ...rows.map((row) => ({ label: plain(row.name), stroke: seriesColour(row.colour), width: 2, dash: row.dashed ? [6, 4] : [], spanGaps: true, points: { show: true, size: 6, fill: seriesColour(row.colour) } }))],
      hooks: {
        setCursor: [(u) => {
          const { idx } = u.cursor;
          api.readout.textContent = idx === null || idx === undefined ? '' : `${figure(picture.at[idx])}: ${rows.map((row) => `${plain(row.name)} ${figure(row.values[idx])}`).join(' · ')}`;
        }],
      },
    },
  });
  place.append(make('ul', { class: 'legend' }, rows.map((row) => make('li', {}, swatch(row.colour, row.dashed), visible(row.name)))));
  return chart(place, build, describe);
};

/** A piece of a series' line, for legends. */
const swatch = (index, dashed = false) => make('span', { class: `swatch s${index % 6}${dashed ? ' dashed' : ''}`, 'aria-hidden': 'true' });

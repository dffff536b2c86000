// The sections of a run's page, for one report or for two side by side.

/** One part for each report, side by side where there are two. */
const sideBySide = (reports, part) => (reports.length === 1 ? part(reports[0]) : make('div', { class: 'pair' }, reports.map((report) => make('div', { class: 'half' }, make('h3', { class: 'of' }, make('span', { class: 'letter' }, report.label), visible(report.json.title)), part(report)))));

const fact = (label, value, note, kind) => make('div', { class: `fact ${kind ?? ''}` }, make('dt', {}, label), make('dd', {}, value, note ? make('span', { class: 'note' }, note) : null));

const commitText = (commit) => (commit ? `${commit.hash.slice(0, 9)}${commit.modified ? ', modified' : ''}` : 'not known');

const boardText = (json) => (json.board ? `${json.board.profile} at ${figure(json.board.clock_hz / 1e6)} MHz` : json.platform ?? json.profile);

/** The line under the title: where a report comes from. */
const origin = (json) => {
  const parts = [['commit', commitText(json.commit)], ['board', boardText(json)]];
  const pace = json.board?.pace ?? paces(json);
  if (pace) parts.push(['pace', pace]);
  if (json.form) parts.push(['form', json.form]);
  const seed = json.board?.seed ?? json.seed;
  if (seed !== undefined) parts.push(['seed', figure(seed)]);
  if (json.hash) parts.push(['trace hash', json.hash]);
  return make('p', { class: 'origin' }, parts.map(([name, value]) => make('span', {}, make('b', {}, name), ' ', make('span', { class: name === 'commit' || name === 'trace hash' ? 'code' : '' }, visible(value)))));
};

const verdictBadge = (json) => make('span', { class: `verdict ${json.verdict.good ? 'good' : 'bad'}` }, make('span', { 'aria-hidden': 'true' }, json.verdict.good ? '✓ ' : '✕ '), visible(json.verdict.text));

/** The worst sample of a quantity, and where. */
const worstOf = (quantity) => quantity.phases.reduce((worst, phase) => (phase.summary && (!worst || phase.summary.max > worst.summary.max) ? phase : worst), null);

/** How many samples of a quantity are above its deadline. */
const late = (report, quantity) => {
  if (!quantity.deadline) return null;
  let number = 0;
  for (const phase of quantity.phases) {
    const { values, counts } = seriesOf(report, phase);
    for (let i = values.length - 1; i >= 0 && values[i] > quantity.deadline.value; i--) number += counts[i];
  }
  return number;
};

const seriesOf = (report, phase) => {
  phase.read ??= {
    values: report.rising(phase.values).map((value) => value * phase.factor),
    counts: report.numbers(phase.counts),
  };
  return phase.read;
};

const summarySection = (reports) => section('summary', 'Summary', null,
  sideBySide(reports, (report) => {
    const { json } = report;
    const failed = json.vms.filter((vm) => vm.bad).length;
    const checks = json.vms.reduce((sum, vm) => sum + vm.passed.length, 0);
    const broken = json.vms.flatMap((vm) => vm.failed.map(([name, reason]) => ({ vm: vm.name, name, reason })));
    const faults = json.vms.reduce((sum, vm) => sum + vm.faults, 0);
    const facts = [
      fact('Verdict', verdictBadge(json), visible(json.verdict.reason)),
      fact('Virtual time', `${json.ended || json.board ? '' : 'at least '}${seconds(json.board?.seconds ?? json.seconds, 1e-6)}`),
      fact('Virtual machines', figure(json.vms.length), failed > 0 ? `${failed} ended badly` : 'none failed', failed > 0 ? 'is-bad' : ''),
      fact('Checks', figure(checks), broken.length > 0 ? `${broken.length} failed` : 'passed, none failed', broken.length > 0 ? 'is-bad' : ''),
      fact('Faults', figure(faults), null, faults > 0 ? 'is-warn' : ''),
    ];
    for (const quantity of json.quantities.filter((one) => ['ns', 'µs', 'ms', 's'].includes(one.unit)).slice(0, 3)) {
      const worst = worstOf(quantity);
      const beyond = late(report, quantity);
      if (worst) facts.splice(1, 0, fact('Worst ' + plain(quantity.name), `${figure(worst.summary.max)} ${quantity.unit}`, [visible(`${quantity.vm}, phase ${worst.name}`), beyond === null ? null : `; ${figure(beyond)} above the deadline of ${figure(quantity.deadline.value)} ${quantity.unit}`], beyond > 0 ? 'is-bad' : ''));
    }
    const rows = json.vms.map((vm) => [visible(vm.name), vm.class ? visible(vm.class) : '–', make('span', { class: vm.bad ? 'bad-text' : '' }, visible(vm.end)), vm.started === null ? '–' : vm.started.toFixed(6), vm.off === null ? '–' : vm.off.toFixed(6), figure(vm.faults), figure(vm.restarts), figure(vm.passed.length), figure(vm.failed.length)]);
    return [
      make('dl', { class: 'facts' }, facts),
      broken.length > 0 ? make('ul', { class: 'problems' }, broken.map((one) => make('li', {}, make('b', {}, visible(one.vm)), ': check “', visible(one.name), '” failed: ', visible(one.reason)))) : null,
      table([{ head: 'VM', text: true }, { head: 'class', text: true }, { head: 'end', text: true }, { head: 'started (s)' }, { head: 'off (s)' }, { head: 'faults' }, { head: 'restarts' }, { head: 'checks passed' }, { head: 'failed' }], rows, { label: 'Virtual machines' }),
      json.remarks.length > 0 ? make('div', {}, make('h3', {}, 'Remarks'), make('ul', { class: 'remarks' }, json.remarks.map((remark) => make('li', {}, visible(remark))))) : null,
    ];
  }),
  reports.length === 2 ? differences(reports) : null);

/** What two runs differ in. */
const differences = (reports) => {
  const [a, b] = reports.map((report) => report.json);
  const rows = [];
  const row = (what, x, y, unit) => {
    const change = x > 0 && y !== null && y !== undefined ? (100 * (y - x)) / x : null;
    rows.push([what, figure(x), figure(y), unit, change === null ? '–' : change === 0 ? 'same' : `${change > 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`]);
  };
  for (const quantity of a.quantities) {
    const other = b.quantities.find((one) => one.vm === quantity.vm && one.name === quantity.name);
    if (!other) continue;
    const scale = (other.phases[0]?.factor && quantity.unit !== other.unit) ? null : 1;
    if (scale === null) continue;
    for (const phase of quantity.phases) {
      const second = other.phases.find((one) => one.name === phase.name);
      if (!phase.summary || !second?.summary) continue;
      for (const [key, name] of [['mean', 'mean'], ['p99', 'p99'], ['max', 'worst']]) row([visible(`${quantity.name}, ${phase.name}`), ` ${name}`], phase.summary[key], second.summary[key], quantity.unit);
    }
  }
  const metrics = (json) => new Map((json.tables.find((one) => one.title === 'Measurements')?.rows ?? []).map(([vm, name, value, unit]) => [`${vm}\n${name}\n${unit}`, Number(value.replaceAll(',', ''))]));
  const [x, y] = [metrics(a), metrics(b)];
  for (const [key, value] of x) {
    if (!y.has(key)) continue;
    const [vm, name, unit] = key.split('\n');
    row(visible(`${name} of ${vm}`), value, y.get(key), visible(unit));
  }
  if (rows.length === 0) return null;
  const same = a.hash && a.hash === b.hash;
  return make('div', {}, make('h3', {}, 'A and B'),
    make('p', { class: 'note' }, same ? 'The two trace hashes are equal: both runs did the same at the same times.' : 'The difference is that of B from A.'),
    table([{ head: 'figure', text: true }, { head: 'A' }, { head: 'B' }, { head: 'unit', text: true }, { head: 'difference' }], rows, { label: 'Differences' }));
};

/** The quantities of all reports; those of the same VM and name together. */
const quantitiesOf = (reports) => {
  const all = [];
  reports.forEach((report, r) => {
    for (const quantity of report.json.quantities) {
      let known = all.find((one) => one.vm === quantity.vm && one.name === quantity.name && one.unit === quantity.unit);
      if (!known) {
        known = { vm: quantity.vm, name: quantity.name, unit: quantity.unit, cycles: quantity.cycles, phases: [], deadline: quantity.deadline };
        all.push(known);
      }
      for (const phase of quantity.phases) known.phases.push({ report, r, phase });
    }
  });
  return all;
};

const latencySection = (reports) => {
  const quantities = quantitiesOf(reports);
  if (quantities.length === 0) return null;
  return section('latency', 'Latency', 'Each outline is one phase: the share of its samples at or above a value, so the few worst are seen as well as the many others. Drag to zoom, double click to show all.',
    quantities.map((quantity, number) => {
      const names = [...new Set(quantity.phases.map((one) => one.phase.name))];
      const two = reports.length === 2;
      const series = quantity.phases.filter((one) => one.phase.summary).map(({ report, r, phase }) => {
        const { values, counts } = seriesOf(report, phase);
        let worst = 0;
        for (let i = values.length - 1; i >= 0 && values[i] === values[values.length - 1]; i--) worst += counts[i];
        return { name: two ? `${phase.name} ${report.label}` : phase.name, values, counts, total: phase.summary.samples, max: values[values.length - 1] ?? 0, worst, colour: names.indexOf(phase.name), dashed: r === 1, report, phase };
      });
      const marks = quantity.deadline ? [{ name: 'deadline', value: quantity.deadline.value }] : [];
      const cdf = make('div', { class: 'panel' }, make('h4', {}, 'Distribution'));
      const orders = make('div', { class: 'panel' });
      const head = ['phase', 'samples', 'min', 'mean', 'p50', 'p99', 'p99.9', 'worst'];
      const rows = [];
      let plot = null;
      series.forEach((one, i) => {
        const s = one.phase.summary;
        const box = make('input', { type: 'checkbox', checked: true, 'aria-label': `Show ${plain(one.name)}`, onchange: (event) => plot.show(i, event.target.checked) });
        rows.push([make('label', { class: 'series' }, box, swatch(one.colour, one.dashed), visible(one.name)), figure(s.samples), ...[s.min, s.mean, s.p50, s.p99, s.p999].map(figure), make('b', {}, figure(s.max))]);
        if (quantity.cycles && !two) rows.push(Object.assign([make('span', { class: 'dim indent' }, 'in cycles'), '', ...[s.min, s.mean, s.p50, s.p99, s.p999, s.max].map((value, k) => figure(k === 1 ? value * quantity.cycles : Math.round(value * quantity.cycles)))], { class: 'dim' }));
      });
      const block = make('article', { class: 'quantity' },
        make('h3', {}, visible(quantity.name), make('span', { class: 'dim' }, ' of ', visible(quantity.vm)), quantity.deadline ? make('span', { class: 'note' }, `deadline ${figure(quantity.deadline.value)} ${quantity.unit}, ${quantity.deadline.of}`) : null),
        make('div', { class: 'charts' }, cdf, orders),
        table(head.map((name, i) => ({ head: i > 1 ? `${name} (${quantity.unit})` : name, text: i === 0 })), rows, { label: `${plain(quantity.name)} of ${plain(quantity.vm)}` }));
      plot = distribution(cdf, { name: plain(quantity.name), unit: quantity.unit, series, marks }, `Distribution of ${plain(quantity.name)} of ${plain(quantity.vm)}. Arrow keys move, plus and minus zoom, zero shows all.`);
      const ordered = reports.flatMap((report) => {
        const own = series.filter((one) => one.report === report && one.phase.order);
        for (const one of own) one.order ??= report.numbers(one.phase.order).map((value) => value * one.phase.factor);
        return own.some((one) => one.order.length > 0) ? [{ report, own }] : [];
      });
      for (const { report, own } of ordered) {
        const known = own.reduce((sum, one) => sum + one.order.length, 0);
        const all = own.reduce((sum, one) => sum + one.total, 0);
        const place = make('div', {}, make('h4', {}, two ? `In the order taken, ${report.label}` : 'In the order taken'));
        const order = inOrder(place, { name: plain(quantity.name), unit: quantity.unit, series: own, marks }, `Samples of ${plain(quantity.name)} in their order. Arrow keys move, plus and minus zoom, zero shows all.`);
        place.querySelector('.chart-tools').append(make('button', { class: 'quiet', onclick: () => order.toWorst() }, 'Go to the worst'));
        if (known < all) place.append(make('p', { class: 'note' }, `The first ${figure(known)} of ${figure(all)} samples; the distribution has all.`));
        orders.append(place);
      }
      if (ordered.length === 0) { orders.remove(); }
      block.dataset.number = number;
      return block;
    }));
};

const timelineSection = (reports) => section('timeline', 'Timeline',
  `Drag to zoom into a part, hold Shift and drag to move, Ctrl and the wheel to zoom; with the keyboard: arrows, + and −, 0.${reports.some((report) => report.json.board?.timed_since > 0) ? ' From the dashed line on, costs are charged (timed).' : ''}`,
  sideBySide(reports, (report) => {
    const place = make('div', {});
    report.drawnTimeline = new Timeline(place, report);
    const { timeline } = report.json;
    const notes = [];
    if (!timeline) notes.push('This run was on no virtual board, so who has each hart when is not known; VMs are shown from start to end.');
    else {
      const inner = timeline.harts.reduce((sum, hart) => sum + hart.inner_exceptions, 0);
      if (inner > 0) notes.push(`${figure(inner)} exceptions that guests took by themselves (system calls, page faults) are not shown.`);
      const turns = timeline.harts.reduce((sum, hart) => sum + hart.turns_dropped, 0);
      if (turns > 0) notes.push(`${figure(turns)} earlier changes of who has a hart are kept as shares only.`);
      const others = timeline.harts.reduce((sum, hart) => sum + hart.traps_dropped, 0) + timeline.accesses_dropped + timeline.requests_dropped + (timeline.pins?.dropped ?? 0);
      if (others > 0) notes.push(`${figure(others)} earlier interrupts, accesses, requests and pin changes are not kept.`);
    }
    if (notes.length > 0) place.append(make('p', { class: 'note' }, notes.join(' ')));
    return place;
  }));

const cpuSection = (reports) => {
  if (!reports.some((report) => report.json.cpu)) return null;
  return section('cpu', 'CPU shares', null, sideBySide(reports, (report) => {
    const { cpu, vms } = report.json;
    if (!cpu) return make('p', { class: 'note' }, 'The hypervisor gave no account.');
    const ink = (row) => (row.kind === 'vm' ? `s${Math.max(0, vms.findIndex((vm) => vm.name === row.who)) % 6}` : { hypervisor: 'hyp', idle: 'idle', open: 'idle' }[row.kind] ?? 'fw');
    const harts = cpu.rows[0]?.shares.length ?? 0;
    const bars = Array.from({ length: harts }, (_, hart) => make('div', { class: 'bar-row' },
      make('span', { class: 'bar-label' }, `hart ${hart}`),
      make('div', { class: 'bar', role: 'img', 'aria-label': cpu.rows.map((row) => `${plain(row.who)} ${percent(row.shares[hart])}`).join(', ') },
        cpu.rows.filter((row) => row.shares[hart] > 0).map((row) => {
          const part = make('span', { class: `part ${ink(row)}`, title: `${plain(row.who)}: ${percent(row.shares[hart])}` }, row.shares[hart] > 0.07 ? visible(row.who) : '');
          part.style.flexGrow = String(row.shares[hart]);
          return part;
        }))));
    const rows = cpu.rows.map((row) => [make('span', { class: 'series' }, make('span', { class: `box ${ink(row)}`, 'aria-hidden': 'true' }), visible(row.who)), ...row.shares.map(percent), percent(row.shares.reduce((sum, one) => sum + one, 0) / harts)]);
    return [make('p', { class: 'note' }, `Of ${cpu.of}.`), make('div', { class: 'bars' }, bars),
      table([{ head: 'who', text: true }, ...Array.from({ length: harts }, (_, hart) => ({ head: `hart ${hart}` })), { head: 'all' }], rows, { label: 'CPU shares', class: 'narrow' })];
  }));
};

const plainTable = (one) => table(one.head.map((head, i) => ({ head: visible(head), text: one.text_columns.includes(i) })), one.rows.map((row) => row.map((cell) => visible(cell))), { caption: visible(one.title), label: plain(one.title) });

const measurementSection = (reports) => {
  if (!reports.some((report) => report.json.tables.length > 0)) return null;
  return section('measurements', 'Measurements', null, sideBySide(reports, (report) => make('div', { class: 'tables' }, report.json.tables.map(plainTable))));
};

const consolesSection = (reports) => section('consoles', 'Consoles', reports[0].lines.timed ? 'Times are those of the end of the 100 µs in which a line came out. Enter finds the next line, Shift and Enter the previous one.' : 'Enter finds the next line, Shift and Enter the previous one.',
  sideBySide(reports, (report) => { const place = make('div', {}); report.search = consoleSection(place, report); return place; }));

const recordsSection = (reports) => section('records', 'Records', 'What guests and the hypervisor report. Long ones are cut here; records.jsonl beside this page has all.',
  sideBySide(reports, (report) => { const place = make('div', {}); recordSection(place, report); return place; }));

/** Lines of two texts, each with whether the other has it as well (a longest common subsequence). */
const compareLines = (a, b) => {
  const [x, y] = [a.split('\n'), b.split('\n')];
  if (x.length * y.length > 4e6) return null;
  const width = y.length + 1;
  const longest = new Uint32Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) longest[i * width + j] = x[i] === y[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  const [own, other] = [x.map(() => false), y.map(() => false)];
  for (let i = 0, j = 0; i < x.length && j < y.length;) {
    if (x[i] === y[j]) { own[i++] = true; other[j++] = true; } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return [own, other];
};

const sourceText = (text, same) => make('pre', { class: 'source', tabIndex: 0 }, text.split('\n').map((line, i) => make('span', { class: `source-line${same && !same[i] ? ' differs' : ''}` }, visible(line, true), '\n')));

const configurationSection = (reports) => {
  const texts = reports.map((report) => report.json.configuration);
  const same = texts.length === 2 && texts.every(Boolean) ? compareLines(texts[0], texts[1]) : null;
  return section('configuration', 'Configuration', null, sideBySide(reports, (report) => {
    const { json } = report;
    const rows = [
      [json.kind === 'run' ? 'system' : 'experiment', json.title], ['form', json.form], ['command', json.command], ['commit', json.commit ? json.commit.hash + (json.commit.modified ? ', with changes that are not committed' : '') : 'not known'],
      ['tactus', json.tactus], ['hypervisor', json.hypervisor], ['board', boardText(json)], ['pace', json.board?.pace ?? (paces(json) || null)],
      ['seed', json.board?.seed ?? json.seed], ['trace hash', json.hash],
    ].filter(([, value]) => value !== null && value !== undefined);
    const vms = (json.vms ?? []).filter((vm) => vm.vcpus);
    return [
      make('dl', { class: 'plain' }, rows.map(([name, value]) => [make('dt', {}, name), make('dd', { class: 'code' }, visible(String(value)))])),
      vms.length > 0 ? table([{ head: 'VM', text: true }, { head: 'class', text: true }, { head: 'memory' }, { head: 'vCPUs', text: true }], vms.map((vm) => [visible(vm.name), visible(vm.class), visible(vm.memory), visible(vm.vcpus.join(' · '))]), { label: 'VMs in the configuration' }) : null,
      json.configuration ? make('details', { open: true }, make('summary', {}, visible(json.title)), sourceText(json.configuration, same?.[reports.indexOf(report)])) : null,
    ];
  }));
};

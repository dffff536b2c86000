// The sections of an experiment's page.

const hasLimit = (one) => one.limit !== null || one.least !== null;

/** The paces of an experiment's runs; nothing for a run. */
const paces = (json) => [...new Set((json.runs ?? []).map((run) => run.pace).filter(Boolean))].join(', ');

/** How many times as good as the published figure one is; `null` where that cannot be said. */
const gain = (one) => {
  if (!(one.paper > 0) || !(one.value > 0)) return null;
  return one.least !== null ? one.value / one.paper : one.paper / one.value;
};

const benchSummarySection = (reports) => section('summary', 'Summary', visible(reports[0].json.subtitle), sideBySide(reports, (report) => {
  const { json } = report;
  const limited = json.figures.filter(hasLimit);
  const failed = json.figures.filter((one) => !one.good);
  const missed = json.figures.filter((one) => one.good && one.reason !== null);
  const published = json.figures.map(gain).filter((value) => value !== null);
  const better = published.filter((value) => value >= 1).length;
  const bad = json.runs.filter((run) => !run.good).length;
  const time = json.runs.reduce((sum, run) => sum + run.seconds, 0);
  const facts = [
    fact('Verdict', verdictBadge(json), visible(json.verdict.reason)),
    fact('Figures', figure(json.figures.length), json.left_out.length > 0 ? `${figure(json.left_out.length)} left out of this form` : `${json.form} form`),
    fact('Within limits', `${figure(limited.length - failed.length - missed.length)} of ${figure(limited.length)}`, [missed.length > 0 ? count(missed.length, 'known miss', 'known misses') : null, missed.length > 0 && failed.length > 0 ? ', ' : null, failed.length > 0 ? `${figure(failed.length)} failed` : null, failed.length + missed.length === 0 ? 'none missed' : null], failed.length > 0 ? 'is-bad' : missed.length > 0 ? 'is-warn' : ''),
    published.length > 0 ? fact('Better than published', `${figure(better)} of ${figure(published.length)}`, 'figures that the paper has') : null,
    json.runs.length > 0 ? fact('Runs', figure(json.runs.length), bad > 0 ? `${figure(bad)} ended badly` : 'none failed', bad > 0 ? 'is-bad' : '') : null,
    json.runs.length > 0 ? fact('Virtual time', seconds(time, 1e-3), 'of all runs together') : null,
  ];
  const item = (one) => make('li', {}, make('b', { class: 'code' }, visible(one.name)), one.value === null ? ' is missing' : [` is ${figure(one.value)} `, visible(one.unit)], hasLimit(one) ? `, limit ${limitText(one)}` : null, one.reason !== null ? [': known miss; ', visible(one.reason)] : null);
  const reasons = [...new Set(json.left_out.map((one) => one.reason))];
  return [
    make('dl', { class: 'facts' }, facts),
    failed.length > 0 ? make('ul', { class: 'problems' }, failed.map(item)) : null,
    missed.length > 0 ? make('div', {}, make('h3', {}, 'Known misses'), make('ul', { class: 'remarks' }, missed.map(item))) : null,
    reasons.length > 0 ? make('div', {}, make('h3', {}, 'Left out'), make('ul', { class: 'remarks' }, reasons.map((reason) => make('li', {}, `${count(json.left_out.filter((one) => one.reason === reason).length, 'figure')}: `, visible(reason))))) : null,
  ];
}));

const limitText = (one) => (one.least !== null ? `≥ ${figure(one.least)}` : figure(one.limit));

/** A value beside its limit, and the published figure, on a scale that begins at zero and ends a little behind the limit. */
const meter = (one) => {
  const bound = one.limit ?? one.least;
  if (one.value === null || (bound === null && one.paper === null)) return '';
  const most = 1.1 * Math.max(one.value, bound ?? one.paper);
  if (!(most > 0)) return '';
  const at = (value) => `${Math.max(0, Math.min(100, (100 * value) / most))}%`;
  const value = make('span', { class: `meter-value${one.good ? (one.reason === null ? '' : ' missed') : ' past'}` });
  value.style.width = at(one.value);
  const bar = make('span', { class: 'meter', role: 'img', 'aria-label': `${figure(one.value)}${bound !== null ? ` of a limit of ${limitText(one)}` : ''}${one.paper !== null ? `, published ${figure(one.paper)}` : ''}` }, value);
  for (const [kind, place] of [['limit', bound], ['paper', one.paper]]) {
    if (place === null) continue;
    const mark_ = make('span', { class: place > most ? `meter-${kind} beyond` : `meter-${kind}` });
    mark_.style.left = at(place);
    bar.append(mark_);
  }
  return bar;
};

const verdictOf = (one) => {
  if (one.mark === '') return '';
  return make(one.good ? 'span' : 'b', { class: one.good ? (one.reason === null ? 'good-text' : 'warn-text') : 'bad-text' }, visible(one.mark));
};

const figuresSection = (reports) => {
  const [first, second] = reports.map((report) => report.json);
  const groups = [
    ['With limits', first.figures.filter(hasLimit)],
    ['Beside the published figures', first.figures.filter((one) => !hasLimit(one) && one.paper !== null)],
    ['Reported only', first.figures.filter((one) => !hasLimit(one) && one.paper === null)],
  ].filter(([, figures]) => figures.length > 0);
  return section('figures', 'Figures', null, groups.map(([title, figures]) => {
    const limits = figures.some(hasLimit);
    const papers = figures.some((one) => one.paper !== null);
    const columns = [
      { head: 'figure', text: true }, { head: second ? 'A' : 'value' }, ...(second ? [{ head: 'B' }, { head: 'difference' }] : []), { head: 'unit', text: true },
      ...(limits ? [{ head: 'limit' }, { head: 'verdict', text: true }] : []), ...(papers ? [{ head: 'paper' }] : []),
      ...(limits || papers ? [{ head: limits ? 'value | limit ○ paper' : 'value ○ paper', text: true }] : []), { head: 'what it is', text: true, wide: true },
    ];
    const rows = figures.map((one) => {
      const other = second?.figures.find((two) => two.name === one.name);
      const change = other && one.value > 0 && other.value !== null ? (100 * (other.value - one.value)) / one.value : null;
      return [
        visible(one.name), figure(one.value), ...(second ? [figure(other?.value), change === null ? '–' : change === 0 ? 'same' : `${change > 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`] : []), visible(one.unit),
        ...(limits ? [limitText(one), verdictOf(one)] : []), ...(papers ? [figure(one.paper)] : []), ...(limits || papers ? [meter(one)] : []),
        make('span', { class: 'dim' }, visible(one.text), one.notes ? visible(` (${one.notes})`) : ''),
      ];
    });
    return make('details', { open: title !== 'Reported only' || figures.length <= 20, class: 'group' }, make('summary', {}, `${title} (${figure(figures.length)})`), table(columns, rows, { label: `Figures: ${title}` }));
  }));
};

/** The distribution of some series, with a table of its numbers. */
const distributionPanel = (title, quantity, series, head) => {
  const panel = make('article', { class: 'quantity' }, make('h3', {}, title),
    make('ul', { class: 'legend' }, series.map((each) => make('li', {}, swatch(each.colour), visible(each.name)))));
  distribution(panel, { ...quantity, series }, plain(quantity.name));
  panel.append(table([{ head, text: true }, ...['samples', 'min', 'mean', 'p50', 'p99', 'p99.9', 'worst'].map((name) => ({ head: name }))], series.map(({ name, phase: { summary: s } }) => [visible(name), figure(s.samples), ...[s.min, s.mean, s.p50, s.p99, s.p999, s.max].map(figure)]), { label: plain(quantity.name) }));
  return panel;
};

const seriesOfPhases = (report, phases) => phases.filter((phase) => phase.summary).map((phase, i) => {
  const { values, counts } = seriesOf(report, phase);
  return { name: phase.name, values, counts, total: phase.summary.samples, max: values[values.length - 1] ?? 0, worst: counts[counts.length - 1] ?? 1, colour: i, dashed: false, phase };
});

const picturesSection = (reports) => {
  const place = make('div', {});
  reports.forEach((report) => {
    const { json } = report;
    const of = reports.length === 2 ? `${report.label}: ` : '';
    for (const picture of json.lines_of_figures) {
      const panel = make('article', { class: 'quantity' }, make('h3', {}, of, visible(picture.title)));
      if (lineChart(panel, { ...picture, x: plain(picture.x), y: plain(picture.y) }, plain(picture.title))) place.append(panel);
    }
    for (const one of json.distributions) {
      const series = seriesOfPhases(report, one.phases);
      if (series.length > 0) place.append(distributionPanel([of, visible(one.title)], { name: plain(one.name), unit: one.unit, marks: one.marks }, series, 'series'));
    }
  });
  return place.childElementCount > 0 ? section('pictures', 'Pictures', null, place) : null;
};

/** Samples and records of a run. */
const runDetail = (report, run) => {
  const samples = run.quantities.map((quantity) => [quantity, seriesOfPhases(report, quantity.phases)]).filter(([, series]) => series.length > 0);
  const records = report.texts(run.records).map((line) => line.split('\t', 2));
  return [
    samples.map(([quantity, series]) => distributionPanel(visible(`${quantity.name} of ${quantity.vm}`), { name: plain(quantity.name), unit: quantity.unit, marks: quantity.deadline ? [{ name: 'deadline', value: quantity.deadline.value }] : [] }, series, 'phase')),
    make('h3', {}, 'Records ', make('span', { class: 'note' }, count(records.length, 'record'), run.records_left_out > 0 ? `; ${figure(run.records_left_out)} later ones are left out` : null)),
    make('div', { class: 'lines records', tabIndex: 0, role: 'region', 'aria-label': 'Records of the run' }, records.map(([from, text]) => make('div', { class: 'line' }, make('span', { class: 'who' }, visible(from)), make('span', { class: 'what' }, visible(text))))),
  ];
};

const runsSection = (reports) => {
  if (!reports.some((report) => report.json.runs.length > 0)) return null;
  return section('runs', 'Runs', null, sideBySide(reports, (report) => {
    const { runs } = report.json;
    if (runs.length === 0) return null;
    const place = make('div', {});
    // The charts of the run that is shown, which go with it.
    let charts = [];
    const show = (index) => {
      for (const draw of charts) drawn.delete(draw);
      const others = new Set(drawn);
      place.replaceChildren(...runDetail(report, runs[index]).flat(Infinity));
      charts = [...drawn].filter((draw) => !others.has(draw));
    };
    const select = make('select', { 'aria-label': 'Run whose samples and records are shown', onchange: () => { show(Number(select.value)); redraw(); } }, runs.map((run, i) => make('option', { value: String(i) }, plain(run.name))));
    const first = Math.max(0, runs.findIndex((run) => run.quantities.length > 0));
    select.value = String(first);
    show(first);
    return [
      table([{ head: 'run', text: true }, { head: 'end', text: true }, { head: 'board', text: true }, { head: 'pace', text: true }, { head: 'virtual time (s)' }, { head: 'trace hash', text: true }],
        runs.map((run) => [visible(run.name), make('span', { class: run.good ? '' : 'bad-text' }, visible(run.end)), visible(run.board ?? report.json.profile), visible(run.pace ?? '–'), run.seconds.toFixed(6), run.hash ? make('span', { class: 'code' }, run.hash) : '–']), { label: 'Runs' }),
      make('div', { class: 'tools' }, make('label', {}, 'Samples and records of ', select)),
      place,
    ];
  }));
};

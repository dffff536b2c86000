// The sections of an experiment's page.

const figuresSection = (reports) => {
  const [first, second] = reports.map((report) => report.json);
  const judged = (one) => (one.value === null ? make('b', { class: 'bad-text' }, 'missing') : one.good ? (one.limit !== null || one.least !== null ? make('span', { class: 'good-text' }, 'ok') : '') : make('b', { class: 'bad-text' }, 'past its limit'));
  const scale = (one) => {
    // The value between nothing and its limit, and the published figure beside it.
    const bound = one.limit ?? one.least;
    const most = Math.max(one.value ?? 0, bound ?? 0, one.paper ?? 0);
    if (!(most > 0) || one.value === null || (bound === null && one.paper === null)) return '';
    const at = (value) => `${Math.max(0, Math.min(100, (100 * value) / most))}%`;
    const value = make('span', { class: `meter-value${one.good ? '' : ' past'}` });
    value.style.width = at(one.value);
    const meter = make('span', { class: 'meter', role: 'img', 'aria-label': `${figure(one.value)}${one.limit !== null ? ` of a limit of ${figure(one.limit)}` : ''}${one.paper !== null ? `, published ${figure(one.paper)}` : ''}` }, value);
    for (const [kind, place] of [['limit', bound], ['paper', one.paper]]) {
      if (place === null) continue;
      const mark_ = make('span', { class: `meter-${kind}` });
      mark_.style.left = at(place);
      meter.append(mark_);
    }
    return meter;
  };
  const columns = [{ head: 'figure', text: true }, { head: second ? 'A' : 'value' }, ...(second ? [{ head: 'B' }, { head: 'difference' }] : []), { head: 'unit', text: true }, { head: 'limit' }, { head: '', text: true }, { head: 'paper' }, { head: 'value | limit ○ paper', text: true }, { head: 'what it is', text: true }];
  const rows = first.figures.map((one) => {
    const other = second?.figures.find((two) => two.name === one.name);
    const change = other && one.value > 0 && other.value !== null ? (100 * (other.value - one.value)) / one.value : null;
    return [visible(one.name), figure(one.value), ...(second ? [figure(other?.value), change === null ? '–' : change === 0 ? 'same' : `${change > 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`] : []), visible(one.unit), one.least !== null ? `≥ ${figure(one.least)}` : figure(one.limit), judged(one), figure(one.paper), scale(one), make('span', { class: 'dim' }, visible(one.text), one.notes ? visible(` (${one.notes})`) : '')];
  });
  return section('figures', 'Figures', visible(first.subtitle), table(columns, rows, { label: 'Figures' }));
};

const picturesSection = (reports) => {
  const place = make('div', {});
  reports.forEach((report) => {
    const { json } = report;
    for (const picture of json.lines_of_figures) {
      const panel = make('article', { class: 'quantity' }, make('h3', {}, reports.length === 2 ? `${report.label}: ` : '', visible(picture.title)));
      if (lineChart(panel, { ...picture, x: plain(picture.x), y: plain(picture.y) }, plain(picture.title))) place.append(panel);
    }
    for (const one of json.distributions) {
      const series = one.phases.filter((phase) => phase.summary).map((phase, i) => {
        const { values, counts } = seriesOf(report, phase);
        return { name: phase.name, values, counts, total: phase.summary.samples, max: values[values.length - 1] ?? 0, worst: counts[counts.length - 1] ?? 1, colour: i, dashed: false, phase };
      });
      if (series.length === 0) continue;
      const panel = make('article', { class: 'quantity' }, make('h3', {}, reports.length === 2 ? `${report.label}: ` : '', visible(one.title)),
        make('ul', { class: 'legend' }, series.map((each) => make('li', {}, swatch(each.colour), visible(each.name)))));
      distribution(panel, { name: plain(one.name), unit: one.unit, series, marks: one.marks }, plain(one.title));
      panel.append(table([{ head: 'series', text: true }, ...['samples', 'min', 'mean', 'p50', 'p99', 'p99.9', 'worst'].map((head) => ({ head }))], series.map(({ name, phase: { summary: s } }) => [visible(name), figure(s.samples), ...[s.min, s.mean, s.p50, s.p99, s.p999, s.max].map(figure)]), { label: plain(one.title) }));
      place.append(panel);
    }
  });
  return place.childElementCount > 0 ? section('pictures', 'Pictures', null, place) : null;
};

const runsSection = (reports) => {
  if (!reports.some((report) => report.json.runs.length > 0)) return null;
  return section('runs', 'Runs', null, sideBySide(reports, (report) => table([{ head: 'run', text: true }, { head: 'end', text: true }, { head: 'virtual time (s)' }, { head: 'trace hash', text: true }],
    report.json.runs.map((run) => [visible(run.name), visible(run.end), run.seconds.toFixed(6), run.hash ? make('span', { class: 'code' }, run.hash) : '–']), { label: 'Runs' })));
};

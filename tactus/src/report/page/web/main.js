// Puts the page together.

const header = (reports, sections) => {
  const [first] = reports;
  const two = reports.length === 2;
  const button = make('button', { class: 'theme', onclick: () => { theme.set(theme.names[(theme.names.indexOf(theme.now) + 1) % 3]); name(); } });
  const name = () => { button.textContent = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' }[theme.now]; };
  name();
  return [
    make('header', {},
      make('div', { class: 'title' }, make('h1', {}, two ? 'Two reports side by side' : visible(first.json.title)), two ? null : verdictBadge(first.json), make('span', { class: 'brand' }, 'Tactus report')),
      reports.map((report) => (two ? make('div', { class: 'of' }, make('span', { class: 'letter' }, report.label), visible(report.json.title), verdictBadge(report.json), origin(report.json)) : origin(report.json)))),
    make('nav', { 'aria-label': 'Sections' },
      make('div', { class: 'links' }, sections.map((one) => make('a', { href: `#${one.id}` }, one.querySelector('h2').textContent))),
      make('div', { class: 'actions' }, button, make('button', { onclick: () => print() }, 'Print'))),
  ];
};

/** Shows in the navigation which section is in view. */
const follow = (sections) => {
  const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.getAttribute('href').slice(1), link]));
  const now = () => {
    let current = sections[0];
    for (const one of sections) if (one.getBoundingClientRect().top < 140) current = one;
    for (const [id, link] of links) {
      if (id === current.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  addEventListener('scroll', now, { passive: true });
  now();
};

const begin = async () => {
  const began = performance.now();
  theme.begin();
  const reports = await Promise.all([...document.querySelectorAll('script.data')].map(Report.read.bind(Report)));
  reports.forEach((report, i) => { report.label = 'AB'[i]; });
  const [{ json }] = reports;
  const isRun = json.kind === 'run';
  if (isRun) reports.forEach(readLines);
  const parts = isRun ? [summarySection, latencySection, timelineSection, cpuSection, measurementSection, consolesSection, recordsSection, configurationSection] : [benchSummarySection, figuresSection, picturesSection, runsSection, configurationSection];
  const sections = parts.map((part) => part(reports)).filter(Boolean);
  document.title = `${plain(json.title)}${reports.length === 2 ? ' and another' : ''} – Tactus report`;
  document.getElementById('page').replaceChildren(...header(reports, sections), make('main', { id: 'main', tabIndex: -1 }, sections),
    make('footer', {}, 'Made by tactus ', visible(json.tactus), '. Charts by uPlot (MIT). This page makes no connection.'));
  redraw();
  follow(sections);
  let width = document.documentElement.clientWidth;
  new ResizeObserver(() => {
    const now = document.documentElement.clientWidth;
    if (now !== width) { width = now; requestAnimationFrame(redraw); }
  }).observe(document.documentElement);
  // On paper everything is light, whatever the screen is.
  addEventListener('beforeprint', () => { document.documentElement.dataset.print = 'true'; redraw(); });
  addEventListener('afterprint', () => { delete document.documentElement.dataset.print; redraw(); });
  addEventListener('keydown', (event) => {
    if (event.key === '/' && !/input|select|textarea/i.test(event.target.tagName) && reports[0].search) { event.preventDefault(); reports[0].search.focus(); }
  });
  document.documentElement.dataset.ready = String(Math.round(performance.now() - began));
};

begin().catch((error) => {
  document.getElementById('page').replaceChildren(make('p', { class: 'wait' }, `The report cannot be shown: ${error.message}. report.md beside this page has the tables.`));
  document.documentElement.dataset.ready = 'failed';
  console.error(error);
});

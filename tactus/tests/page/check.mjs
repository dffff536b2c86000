// Checks the report's page in Chromium: `node check.mjs CHROMIUM NODE_MODULES DIRECTORY`. The directory has the reports that
// tests/page.rs makes. With TACTUS_PAGE_PICTURES=DIR pictures of the pages go there.

import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

const [chromium, modules, directory] = process.argv.slice(2);
const playwright = createRequire(path.join(modules, 'none.js'))('playwright-core');
const pictures = process.env.TACTUS_PAGE_PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });

let failed = 0;
const check = (name, good, detail = '') => {
  if (!good) failed += 1;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${name}${good || detail === '' ? '' : `: ${detail}`}`);
};

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });

/** Opens a report's page; notes what should not happen. */
const open = async (name, options = {}, file = 'report.html') => {
  const context = await browser.newContext({ viewport: { width: 1600, height: 900 }, ...options });
  const page = await context.newPage();
  // A machine with other work takes its time.
  page.setDefaultTimeout(120000);
  const wrong = [];
  const address = `file://${path.join(directory, name, file)}`;
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('dialog', (dialog) => { wrong.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (request.url() !== address && !request.url().startsWith('data:')) wrong.push(`request ${request.url()}`); });
  // How long the page computes is told in time of its thread, which other work on this machine does not lengthen.
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 120000 });
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const ready = await page.evaluate(() => document.documentElement.dataset.ready);
  if (ready === 'failed') wrong.push('the page could not be shown');
  const { metrics } = await session.send('Performance.getMetrics');
  const computed = metrics.find((metric) => metric.name === 'TaskDuration').value;
  return { page, wrong, computed, close: () => context.close() };
};

/** Whether a canvas has something on it: more than a few colours. */
const painted = (page, selector) => page.locator(selector).first().evaluate((canvas) => {
  const data = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 7) seen.add(data[i]);
  return seen.size;
});

const frames = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

// Widths, light and dark.
for (const width of [360, 900, 1600]) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [name, file] of [['fast', 'report.html'], ['experiment', 'report.html'], ['fast', 'comparison.html']]) {
      const { page, wrong, close } = await open(name, { viewport: { width, height: 900 }, colorScheme }, file);
      const label = `${name}/${file} at ${width}, ${colorScheme}`;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      check(`${label}: nothing is wider than the window`, wide <= 0, `${wide} pixels`);
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const dark = background.match(/\d+/g).slice(0, 3).every((part) => Number(part) < 80);
      check(`${label}: the theme is the system's`, dark === (colorScheme === 'dark'), background);
      check(`${label}: no errors, no connections`, wrong.length === 0, wrong.join('; '));
      if (pictures) await page.screenshot({ path: path.join(pictures, `${name}-${file.replace('.html', '')}-${width}-${colorScheme}.png`), fullPage: true });
      await close();
    }
  }
}

// The timeline: zoom by mouse and keyboard, hover.
{
  const { page, wrong, close } = await open('fast');
  const canvas = page.locator('canvas.timeline');
  await canvas.scrollIntoViewIfNeeded();
  check('the timeline is drawn', (await painted(page, 'canvas.timeline')) > 5);
  const view = () => canvas.evaluate((element) => element.view);
  const [from, to] = await view();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 120);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 120, { steps: 4 });
  await page.mouse.up();
  await frames(page);
  const [a, b] = await view();
  check('dragging zooms the timeline', a > from && b < to && b - a < (to - from) / 5, `${a} ${b} of ${from} ${to}`);
  await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 120);
  await frames(page);
  check('a double click shows all', JSON.stringify(await view()) === JSON.stringify([from, to]));
  await canvas.focus();
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowRight');
  await frames(page);
  const [c, d] = await view();
  check('keys zoom and move the timeline', c > from && d - c < (to - from) * 0.6, `${c} ${d}`);
  await page.keyboard.press('ArrowDown');
  const told = await page.locator('#timeline .readout').textContent();
  check('keys tell what is there', told.includes('hello') || told.includes('hart') || told.includes('runs') || told.includes('nothing'), told);
  await page.keyboard.press('0');
  await frames(page);
  check('the key 0 shows all', JSON.stringify(await view()) === JSON.stringify([from, to]));
  const y = await canvas.evaluate((element) => element.getBoundingClientRect().top);
  let tip = '';
  for (let row = 30; row < 160 && !/hart \d/.test(tip); row += 6) {
    await page.mouse.move(box.x + box.width * 0.7, y + row);
    tip = await page.locator('.tip').evaluate((element) => (element.hidden ? '' : element.textContent));
  }
  check('hovering tells who had a hart, for how long, in cycles', /^hart \d, .*: .*(ns|µs|ms|s), from .*cycle/.test(tip), tip);
  check('the timeline makes no errors', wrong.length === 0, wrong.join('; '));
  await close();
}

// Search, themes, navigation by keyboard, print.
{
  const { page, wrong, close } = await open('fast');
  await page.keyboard.press('Tab');
  const skip = await page.evaluate(() => document.activeElement.className);
  check('the first stop of the keyboard skips to the report', skip === 'skip', skip);
  const reached = new Set();
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => { const e = document.activeElement; return e.tagName === 'CANVAS' || e.type === 'search' ? e.getAttribute('aria-label') ?? '' : e.className || e.textContent.slice(0, 20); }));
  }
  for (const [what, wanted] of [['the timeline', 'Timeline.'], ['the search', 'Search in the consoles'], ['the lines', 'lines']]) {
    check(`the keyboard reaches ${what}`, [...reached].some((name) => name.startsWith(wanted)), [...reached].join(', '));
  }
  await page.locator('#consoles input[type=search]').fill('hello from');
  await page.waitForFunction(() => /line/.test(document.querySelector('#consoles [role=status]').textContent) && document.querySelector('#consoles mark'), null, { timeout: 120000 });
  const status = await page.locator('#consoles [role=status]').textContent();
  check('the search counts lines', /^1 of \d+ lines?$/.test(status), status);
  check('the search marks what it found', (await page.locator('#consoles mark').first().textContent()).toLowerCase() === 'hello from');
  await page.locator('#consoles input[type=search]').press('Enter');
  await page.locator('#consoles input[type=search]').fill('there is no such line');
  await page.waitForFunction(() => document.querySelector('#consoles [role=status]').textContent === 'no line', null, { timeout: 120000 });
  check('the search says when there is none', true);
  await page.locator('#consoles input[type=search]').press('Escape');
  await page.locator('button.theme').click();
  await page.locator('button.theme').click();
  check('the theme can be chosen', (await page.evaluate(() => document.documentElement.dataset.theme)) === 'dark');
  const ink = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check('dark is dark', ink.match(/\d+/g).slice(0, 3).every((part) => Number(part) < 80), ink);
  const records = await page.locator('#records .line').count();
  check('records are listed', records > 3, String(records));
  const pdf = await page.pdf({ format: 'A4' });
  check('the page can be printed', pdf.length > 20000, String(pdf.length));
  await page.emulateMedia({ media: 'print' });
  const hidden = await page.evaluate(() => getComputedStyle(document.querySelector('nav')).display);
  check('what is for the screen only is not printed', hidden === 'none', hidden);
  check('no errors by then', wrong.length === 0, wrong.join('; '));
  await close();
}

// A million samples: quick, and the worst one shows at every zoom.
{
  const { page, wrong, computed, close } = await open('million');
  check(`a million samples are shown within 2 s (${computed.toFixed(2)} s of the thread)`, computed < 2, `${computed} s`);
  const orders = page.locator('#latency .chart').nth(1);
  const highest = () => orders.evaluate((element) => Math.max(...element.plot.data[1].filter((value) => value !== null)));
  check('the worst of a million shows', Math.abs((await highest()) - 98.765) < 0.001, String(await highest()));
  check('it is at most a few samples a pixel', (await orders.evaluate((element) => element.plot.data[0].length)) < 2000);
  const range = () => orders.evaluate((element) => [element.plot.scales.x.min, element.plot.scales.x.max]);
  await page.getByRole('button', { name: 'Go to the worst' }).click();
  await frames(page);
  const [from, to] = await range();
  check('it can be gone to', to - from < 100 && from < 437219 && to > 437219 && (await highest()) > 98, `${from} ${to}`);
  await orders.focus();
  await page.keyboard.press('0');
  await frames(page);
  const box = await orders.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 100, { steps: 4 });
  await page.mouse.up();
  await frames(page);
  const [c, d] = await range();
  check('dragging zooms a chart', d - c < 400000 && d - c > 10000, `${c} ${d}`);
  await page.mouse.move(box.x + box.width * 0.6, box.y + 120);
  await frames(page);
  const readout = await page.locator('#latency .readout').nth(1).textContent();
  check('hovering a chart tells the samples', /samples? .*µs/.test(readout), readout);
  await orders.focus();
  await page.keyboard.press('0');
  await frames(page);
  check('the key 0 shows all samples', (await range())[1] > 900000);
  const distribution = page.locator('#latency .chart').first();
  await distribution.hover();
  check('hovering the distribution tells shares', /at or above/.test(await page.locator('#latency .readout').first().textContent()));
  check('the deadline is there', (await page.locator('#latency h3').textContent()).includes('deadline 200 µs'));
  check('a million samples make no errors', wrong.length === 0, wrong.join('; '));
  if (pictures) await page.screenshot({ path: path.join(pictures, 'million.png'), fullPage: true });
  await close();
}

// A hostile guest.
{
  const { page, wrong, close } = await open('hostile');
  for (const box of await page.locator('#consoles input[type=checkbox]').all()) await box.check();
  await frames(page);
  check('no script of a guest has run', (await page.evaluate(() => window.broken)) === undefined);
  const strange = await page.evaluate(() => document.querySelectorAll('main img, main svg, main script, main style, main iframe, main b script').length);
  check('no element of a guest is in the page', strange === 0, String(strange));
  const scripts = await page.evaluate(() => document.scripts.length);
  check('the page has its own scripts only', scripts === 3, String(scripts));
  const shown = await page.locator('body').textContent();
  check('a guest’s text is shown as text', shown.includes('<script>window.broken=1</script>') && shown.includes('&#60;script&#62;'));
  const unseen = await page.evaluate(() => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) => (node.parentElement.closest('script') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
    const found = [];
    while (walk.nextNode()) for (const match of walk.currentNode.textContent.matchAll(/[\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/gu)) found.push(match[0].codePointAt(0).toString(16));
    for (const element of document.querySelectorAll('[title], [aria-label]')) for (const name of ['title', 'aria-label']) if (/\p{Cf}/u.test(element.getAttribute(name) ?? '')) found.push(name);
    if (/[\p{Cf}\p{Cc}]/u.test(document.title)) found.push('title of the page');
    return found;
  });
  check('no character that cannot be seen is in the page', unseen.length === 0, unseen.join(' '));
  check('U+202E is named', shown.includes('U+202E'));
  const policy = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.broken = 7';
    document.body.append(script);
    return window.broken;
  });
  check('the policy stops a script that got in', policy === undefined);
  const stopped = await page.evaluate(() => new Promise((done) => {
    document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
    const picture = document.createElement('img');
    picture.src = 'http://127.0.0.1:9/x';
    document.body.append(picture);
  }));
  check('the policy stops connections', stopped === 'img-src', stopped);
  // The two above are told on the console, as they should be.
  const own = /Content Security Policy|^request http:\/\/127\.0\.0\.1:9\/x$/;
  const others = wrong.filter((text) => !own.test(text));
  check('nothing else went wrong', others.length === 0, others.join('; '));
  check('nothing of the guests was stopped by the policy alone', wrong.length - others.length <= 3, wrong.join('; '));
  if (pictures) await page.screenshot({ path: path.join(pictures, 'hostile.png'), fullPage: true });
  await close();
}

// Two runs side by side.
{
  const { page, wrong, close } = await open('fast', {}, 'comparison.html');
  check('both runs have a timeline', (await page.locator('canvas.timeline').count()) === 2);
  const text = await page.locator('#summary').textContent();
  check('the differences are listed', text.includes('A and B') || (await page.locator('.letter').count()) >= 2, text.slice(0, 200));
  check('comparing makes no errors', wrong.length === 0, wrong.join('; '));
  await close();
}

// An experiment.
{
  const { page, wrong, computed, close } = await open('experiment');
  const summary = await page.locator('#summary').textContent();
  for (const wanted of ['2 figures are missing or fail', '1 of 4', '1 known miss', 'no fast path yet', 'run `make synth`']) check(`the summary says "${wanted}"`, summary.includes(wanted), summary);
  check('figures are in groups by what they are held to', (await page.locator('#figures details').count()) === 2);
  check('figures without a limit are told apart', (await page.locator('#figures details').nth(1).textContent()).includes('reported'));
  check('each verdict is shown', JSON.stringify(await page.locator('#figures .good-text, #figures .bad-text, #figures .warn-text').allTextContents()) === JSON.stringify(['ok', 'past its limit', 'past its limit', 'known miss']));
  check('pictures are drawn', (await page.locator('#pictures canvas').count()) === 2 && (await painted(page, '#pictures canvas')) > 5);
  const chart = page.locator('#pictures .chart').nth(1);
  await chart.scrollIntoViewIfNeeded();
  await chart.hover();
  check('hovering a distribution tells shares', /at or above/.test(await page.locator('#pictures .readout').nth(1).textContent()));
  check('runs are listed', (await page.locator('#runs tbody tr').count()) >= 2);
  await page.locator('#runs select').selectOption('1');
  await frames(page);
  check('a run has the distributions of its samples', (await page.locator('#runs canvas').count()) === 1 && (await painted(page, '#runs canvas')) > 3);
  const records = await page.locator('#runs .lines').textContent();
  check('a run has its records, as text', records.includes('metric name=</script> value=7') && !records.includes('samples name='), records.slice(0, 300));
  check('the configuration is there', (await page.locator('#configuration').textContent()).includes('quick'));
  check(`an experiment opens within 1 s (${computed.toFixed(2)} s of the thread)`, computed < 1, `${computed} s`);
  check('an experiment makes no errors', wrong.length === 0, wrong.join('; '));
  await close();
}

// The page alone, without its directory.
{
  const { page, wrong, close } = await open('experiment/alone', {}, 'page.html');
  check('a page alone is whole', (await page.locator('#figures tbody tr').count()) === 5 && wrong.length === 0, wrong.join('; '));
  await close();
}

// Figures of an experiment are readable on a narrow screen: names break, descriptions keep a readable width.
{
  const { page, close } = await open('experiment', { viewport: { width: 360, height: 900 } });
  const cell = await page.locator('#figures tbody tr').first().locator('td').nth(1).boundingBox();
  check('the value is in view at 360 pixels', cell.x + cell.width <= 360, JSON.stringify(cell));
  await close();
}

await browser.close();
console.log(failed === 0 ? 'The page is as it should be.' : `${failed} checks of the page failed.`);
process.exit(failed === 0 ? 0 : 1);

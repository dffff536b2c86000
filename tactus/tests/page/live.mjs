// Checks the live page of a campaign in Chromium: `node live.mjs CHROMIUM NODE_MODULES DIRECTORY`. The directory has the pages that
// tests/page.rs makes; `real.html` is that of a campaign that goes on now. With TACTUS_PAGE_PICTURES=DIR pictures go there.

import { createRequire } from 'node:module';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
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
const picture = async (page, name) => { if (pictures) await page.screenshot({ path: path.join(pictures, `live-${name}.png`), fullPage: true }); };
const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });

/** Opens a page; notes what should not happen, and counts how often it is loaded. */
const open = async (file, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 700 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  const wrong = [];
  const address = `file://${path.join(directory, file)}`;
  const seen = { loads: 0 };
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => { if (request.url() !== address) wrong.push(`request ${request.url()}`); });
  page.on('load', () => { seen.loads += 1; });
  await page.goto(address);
  return { page, wrong, seen, close: () => context.close() };
};

/** A text of an element, also where the page is being loaded again just now. */
const text = async (page, selector) => {
  for (;;) {
    try { return await page.locator(selector).textContent(); } catch (error) {
      if (!/context was destroyed|navigat/i.test(error.message)) throw error;
    }
  }
};

/** Puts a page in the place of another one, as the tool does: at once, and as written now, but the one that is to be old. */
const replace = (from, to) => {
  const beside = path.join(directory, '.new');
  const page = readFileSync(path.join(directory, from), 'utf8');
  writeFileSync(beside, from === 'old.html' ? page : page.replace(/data-written="\d+"/, `data-written="${Date.now()}"`));
  renameSync(beside, path.join(directory, to));
};

// The page of a campaign that goes on, from some page before the end to the last one, as a reader sees it.
{
  const { page, wrong, seen, close } = await open('real.html');
  const first = await text(page, '#state');
  check('a campaign goes on', first === 'going on', first);
  const counts = new Set();
  const until = Date.now() + 300000;
  let shot = false;
  while ((await text(page, '#state')) === 'going on' && Date.now() < until) {
    const done = await text(page, '#done');
    counts.add(done);
    if (!shot && counts.size > 2) {
      shot = true;
      await picture(page, 'going-on');
    }
    await sleep(200);
  }
  await page.waitForLoadState();
  check('the last page comes by itself', (await text(page, '#state')) === 'all runs are done');
  const last = await text(page, '#done');
  check('all runs are done', last.startsWith('120 of 120'), last);
  check('runs were seen to be done', counts.size > 1, [...counts].join('; '));
  const loads = seen.loads;
  await sleep(4500);
  check('the last page is not loaded again', seen.loads === loads, `${seen.loads} loads, ${loads} before`);
  const commands = await page.locator('.command').allTextContents();
  check('each of the worst runs has its command', commands.length > 0 && commands.every((command) => /^tactus faults \S+ --seed \d+ --run \d+$/.test(command)), commands.join('; '));
  check('the real page makes no errors and no connections', wrong.length === 0, wrong.join('; '));
  await picture(page, 'end');
  await close();
}

// Widths, light and dark.
for (const width of [360, 900, 1600]) {
  for (const colorScheme of ['light', 'dark']) {
    const { page, wrong, close } = await open('hostile.html', { viewport: { width, height: 900 }, colorScheme });
    const label = `at ${width}, ${colorScheme}`;
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(`${label}: nothing is wider than the window`, wide <= 0, `${wide} pixels`);
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = background.match(/\d+/g).slice(0, 3).every((part) => Number(part) < 80);
    check(`${label}: the theme is the system's`, dark === (colorScheme === 'dark'), background);
    check(`${label}: no errors, no connections`, wrong.length === 0, wrong.join('; '));
    await picture(page, `hostile-${width}-${colorScheme}`);
    await close();
  }
}

// A hostile guest, and a page that reloads itself.
{
  replace('hostile.html', 'now.html');
  const { page, wrong, seen, close } = await open('now.html');
  check('no script of a guest has run', (await page.evaluate(() => window.broken)) === undefined);
  const strange = await page.evaluate(() => document.querySelectorAll('main img, main script, main style, main iframe, main svg svg, main [onload]').length);
  check('no element of a guest is in the page', strange === 0, String(strange));
  check('the page has its own script only', (await page.evaluate(() => document.scripts.length)) === 1);
  const shown = await page.locator('body').textContent();
  check('a guest’s text is shown as text', shown.includes('<script>window.broken=1</script>') && shown.includes('[U+202E]'));
  const bar = await page.locator('.bar rect').evaluateAll((parts) => parts.map((part) => [part.getAttribute('class'), part.getBoundingClientRect().width, getComputedStyle(part).fill]));
  check('the bar has its parts, each in a colour of its own', bar.length >= 2 && bar.every(([, width]) => width > 0) && new Set(bar.map(([, , fill]) => fill)).size === bar.length, JSON.stringify(bar));

  await page.evaluate(() => window.scrollTo(0, 300));
  const scrolled = await page.evaluate(() => window.scrollY);
  check('there is something to scroll', scrolled === 300, String(scrolled));
  replace('later.html', 'now.html');
  await page.waitForFunction(() => document.getElementById('done')?.textContent.startsWith('1,500 of'));
  check('what was written meanwhile is shown', true);
  await sleep(300);
  check('the page stays where it was scrolled to', (await page.evaluate(() => window.scrollY)) === 300, String(await page.evaluate(() => window.scrollY)));

  // A click selects a command; while it is selected nothing is loaded.
  const command = page.locator('.command').first();
  await command.click();
  const selected = await page.evaluate(() => String(getSelection()));
  check('a click selects the command', selected.trim() === (await command.textContent()), selected);
  let loads = seen.loads;
  await sleep(4500);
  check('nothing is loaded while a text is selected', seen.loads === loads && /selected/.test(await text(page, '#news')), await text(page, '#news'));
  await page.evaluate(() => getSelection().removeAllRanges());
  await page.waitForEvent('load');
  check('it goes on when nothing is selected', true);

  // The reader may stop it.
  await page.getByRole('button', { name: 'Hold' }).click();
  loads = seen.loads;
  await sleep(4500);
  check('nothing is loaded while the reader holds it', seen.loads === loads && /^As of \d+ s ago/.test(await text(page, '#news')), await text(page, '#news'));
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.waitForEvent('load');
  check('the reader lets it go on', true);

  // A tool that was killed writes no last page.
  replace('old.html', 'now.html');
  await page.waitForFunction(() => /may have been ended/.test(document.getElementById('news')?.textContent ?? ''));
  check('a page that has not been written for long says so', true);
  await picture(page, 'old');
  replace('ended.html', 'now.html');
  await page.waitForFunction(() => document.getElementById('state')?.textContent === 'ended');
  check('why it ended is said', (await text(page, '#news')).includes('<img src=x onerror=window.broken=2>'));
  await picture(page, 'ended');
  check('reloading makes no errors and no connections', wrong.length === 0, wrong.join('; '));
  await close();
}

// Without scripts it reloads itself, too.
{
  replace('hostile.html', 'now.html');
  const { page, seen, close } = await open('now.html', { javaScriptEnabled: false });
  replace('later.html', 'now.html');
  const until = Date.now() + 60000;
  while (seen.loads < 2 && Date.now() < until) await sleep(200);
  check('it reloads itself without scripts', seen.loads >= 2 && (await page.locator('#done').textContent()).startsWith('1,500 of'));
  await close();
}

check('the last page has no script', !readFileSync(path.join(directory, 'ended.html'), 'utf8').includes('<script'));
await browser.close();
console.log(failed === 0 ? 'The live page is as it should be.' : `${failed} checks of the live page failed.`);
process.exit(failed === 0 ? 0 : 1);

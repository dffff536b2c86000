// Checks the page of `tactus ctl page` in Chromium: `node manager.mjs CHROMIUM NODE_MODULES ADDRESS`. The manager is that of
// systems/managed.toml. With TACTUS_PAGE_PICTURES=DIR pictures go there.

import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

const [chromium, modules, address] = process.argv.slice(2);
const playwright = createRequire(path.join(modules, 'none.js'))('playwright-core');
const pictures = process.env.TACTUS_PAGE_PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });

let failed = 0;
const check = (name, good, detail = '') => {
  if (!good) failed += 1;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${name}${good || detail === '' ? '' : `: ${detail}`}`);
};

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 600 } });
const page = await context.newPage();
page.setDefaultTimeout(60000);
const wrong = [];
page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
page.on('pageerror', (error) => wrong.push(error.message));
page.on('request', (request) => { if (!request.url().startsWith(address) && !request.url().startsWith('data:')) wrong.push(`request ${request.url()}`); });
await page.goto(address);

const row = (vm) => page.locator(`tr[data-vm="${vm}"]`);
const cell = (vm, number) => row(vm).locator('td').nth(number);
/** Waits until a cell has such a text. */
const wait = async (vm, number, wanted) => {
  const until = Date.now() + 60000;
  for (;;) {
    const text = (await cell(vm, number).textContent()).trim();
    if (wanted(text)) return text;
    if (Date.now() > until) return `still ${text}`;
    await page.waitForTimeout(100);
  }
};
const [STATE, SHARE, FAULTS, RESTARTS, JOBS, , LATE] = [0, 1, 2, 3, 4, 5, 6];

check('a VM is shown that runs', (await wait('control', STATE, (text) => text === 'running')) === 'running');
check('a VM is shown that has crashed', (await wait('crasher', STATE, (text) => text === 'faulted')) === 'faulted');
check('only managed VMs are shown', (await page.locator('tbody tr').count()) === 2);
const faults = await cell('crasher', FAULTS).textContent();
check('its fault is counted', faults === '1', faults);
const share = await wait('control', SHARE, (text) => parseFloat(text) > 5);
check('its share is shown', parseFloat(share) > 5 && parseFloat(share) < 60, share);
const jobs = Number(await cell('control', JOBS).textContent());
check('figures are live', Number(await wait('control', JOBS, (text) => Number(text) > jobs)) > jobs);
const late = await cell('control', LATE).textContent();
check('a latency is shown', /^[0-9.]+ \u00b5s$/.test(late), late);
if (pictures) await page.screenshot({ path: path.join(pictures, 'manager.png'), fullPage: true });

await row('crasher').getByRole('button', { name: 'Restart crasher', exact: true }).click();
const restarts = await wait('crasher', RESTARTS, (text) => text === '1');
check('a button restarts a VM', restarts === '1', restarts);
const again = await wait('crasher', FAULTS, (text) => text === '2');
check('it crashes again', again === '2', again);
await row('control').getByRole('button', { name: 'Stop control', exact: true }).click();
check('a button stops a VM', (await wait('control', STATE, (text) => text === 'off')) === 'off');
check('what is off cannot be stopped', await row('control').getByRole('button', { name: 'Stop control', exact: true }).isDisabled());
await row('control').getByRole('button', { name: 'Start control', exact: true }).focus();
await page.keyboard.press('Enter');
check('the keyboard starts it', (await wait('control', STATE, (text) => text === 'running')) === 'running');

// By hand: another program has stopped it just now, and the page does not know yet.
const refused = await page.evaluate(async () => {
  const answer = await fetch('vms/other/restart', { method: 'POST', headers: { 'X-Tactus': '1' } });
  return [answer.status, (await answer.json()).error];
});
check('what is not managed is refused', refused[0] === 409 && refused[1] === 'no VM other is managed here', refused.join());
const plain = await page.evaluate(async () => (await fetch('vms/crasher/restart', { method: 'POST' })).status);
check('only the script of the page is heard', plain === 403, String(plain));
for (const width of [320, 700]) {
  await page.setViewportSize({ width, height: 700 });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  check(`fits ${width} pixels`, over <= 0, String(over));
}
if (pictures) {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: path.join(pictures, 'manager-dark.png'), fullPage: true });
}
const expected = wrong.filter((text) => /status of (403|409)/.test(text));
check('nothing else goes wrong', wrong.length === expected.length, wrong.join('; '));
await browser.close();
process.exit(failed === 0 ? 0 : 1);

// Chromium without a window, for the tests of HTML pages: opens pages, collects what they complain
// about, and counts checks.
//
// npm ci installs playwright-core. DMLOP_CHROMIUM names the browser; the default is
// /usr/bin/chromium. If one of them is missing, the process says so and exits with 77.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

function skip(reason) {
  console.log(`SKIPPED: ${reason}`);
  process.exit(77);
}

const playwright = await import('playwright-core').catch(() => null);
if (!playwright) skip('playwright-core is not installed; run npm ci in tests/html');
const executable = process.env.DMLOP_CHROMIUM || '/usr/bin/chromium';
if (!fs.existsSync(executable)) {
  skip(`${executable} does not exist; install Chromium or set DMLOP_CHROMIUM`);
}

export const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dmlop-html-'));
// Every launch has a new, empty profile.
const browser = await playwright.chromium.launch({executablePath: executable, headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync']});

// Opens a file; what the page complains about or asks for is collected and must stay empty.
export async function open(file, hash = '', options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(300000);
  const address = pathToFileURL(file).href;
  page.complaints = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', error => page.complaints.push(String(error)));
  page.on('dialog', dialog => {
    page.complaints.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', request => {
    const url = request.url();
    if (url.split('#')[0] !== address && !url.startsWith('data:')) {
      page.complaints.push(`request of ${url}`);
    }
  });
  await page.goto(address + hash);
  return page;
}

export async function close(page) {
  assert.deepEqual(page.complaints, [], 'no errors, no requests');
  await page.context().close();
}

let checks = 0;
let failures = 0;
export async function check(name, body) {
  ++checks;
  try {
    await body();
    console.log(`ok    ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAIL  ${name}\n${String(error.stack ?? error).replace(/^/gm, '      ')}`);
  }
}

// The visible texts whose contrast with what lies behind them is below 4.5.
export async function poor_contrasts(page) {
  return page.evaluate(() => {
    const parse = color => color.match(/[\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(channel => channel / 255)
      .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = node => {
      for (let at = node; at; at = at.parentElement) {
        const color = parse(getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] === 1) return color;
      }
      return [255, 255, 255];
    };
    const poor = [];
    for (const node of document.querySelectorAll('body *')) {
      const has_text = [...node.childNodes].some(one => one.nodeType === 3 && one.data.trim());
      if (!has_text || !node.checkVisibility()) continue;
      const [low, high] = [light(parse(getComputedStyle(node).color)), light(behind(node))]
        .sort((a, b) => a - b);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < 4.5) poor.push(`${node.className || node.tagName}: ${ratio.toFixed(2)}`);
    }
    return poor;
  });
}

export const background = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// Runs the checks, closes the browser, and says how it went.
export async function finish(checks_of_a_page) {
  try {
    await checks_of_a_page();
  } finally {
    await browser.close();
    fs.rmSync(folder, {recursive: true, force: true});
  }
  console.log(`${checks - failures} of ${checks} checks hold`);
  process.exitCode = failures ? 1 : 0;
}

// Opens the page of dmlop ops --html in headless Chromium and checks it.
//
//   node operators_test.mjs OPERATORS.html OPERATORS.json
//
// OPERATORS.json is what dmlop ops --format json prints. browser.mjs says what it needs. Exit code 0:
// all checks hold; 1: one does not; 77: something is missing.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import {background, check, close, finish, open, poor_contrasts} from './browser.mjs';

const file = path.resolve(process.argv[2]);
const operators = JSON.parse(fs.readFileSync(process.argv[3], 'utf8'));
const names = operators.map(one => one.name.replace('DML_OPERATOR_', ''));
const phone = {viewport: {width: 390, height: 844}, isMobile: true, hasTouch: true};

const shown_views = page => page.$$eval('.view, #index, #found',
  all => all.filter(one => one.checkVisibility()).map(one => one.id));
// An address takes effect with an event that follows it.
async function check_shown(page, expected) {
  let shown = await shown_views(page);
  for (let waited = 0; waited < 10000 && String(shown) !== String(expected); waited += 50) {
    await page.waitForTimeout(50);
    shown = await shown_views(page);
  }
  assert.deepEqual(shown, expected);
}
const results = page => page.$$eval('#results a', all => all.map(one => one.textContent));
const width_beyond = page => page.evaluate(
  () => document.documentElement.scrollWidth - document.documentElement.clientWidth);
// Follows an address as a link does.
async function go(page, hash) {
  await page.evaluate(to => { location.hash = to; }, hash);
  await page.waitForFunction(to => decodeURIComponent(location.hash) === to, hash || '');
}

async function check_views() {
  await check('at first all operators are listed', async () => {
    const page = await open(file);
    await check_shown(page, ['index']);
    const listed = await page.$$eval('.list a', all => all.map(one => one.textContent));
    assert.deepEqual([...listed].sort(), [...names].sort());
    assert.ok(listed.length >= 177);
    await close(page);
  });

  await check('each operator has an address of its own, and is shown alone', async () => {
    const page = await open(file);
    const shown = await page.evaluate(all => all.map(name => {
      location.hash = '#' + name;
      return [...document.querySelectorAll('.view, #index, #found')]
        .filter(one => one.checkVisibility()).map(one => one.id).join();
    }), names);
    assert.deepEqual(shown, names);
    await go(page, '#PADDING');
    await page.waitForFunction(() => document.title === 'PADDING – DirectML operators');
    await close(page);
  });

  await check('an address may be a part or a field of an operator, which is in sight', async () => {
    for (const hash of ['#PADDING/PaddingMode', '#LSTM/errors', '#GEMM/speed']) {
      const page = await open(file, hash);
      await check_shown(page, [hash.slice(1).split('/')[0]]);
      const [top, below] = await page.evaluate(() => [
        document.querySelector(':target').getBoundingClientRect().top,
        document.querySelector('header').getBoundingClientRect().bottom]);
      assert.ok(top >= below && top < 900, `${hash} is at ${top}, the header ends at ${below}`);
      await close(page);
    }
  });

  await check('links lead from the list to an operator, its neighbors and back', async () => {
    const page = await open(file);
    await page.click('.list a:text-is("PADDING")');
    await check_shown(page, ['PADDING']);
    await page.click('#PADDING >> text="PADDING1"');
    await check_shown(page, ['PADDING1']);
    await page.goBack();
    await check_shown(page, ['PADDING']);
    await page.click('#PADDING .steps [rel=next]');
    await check_shown(page, ['PADDING1']);
    await page.click('#PADDING1 .crumb a:last-child');
    await check_shown(page, ['index']);
    await page.waitForFunction(() => document.title === 'DirectML operators', null, {timeout: 10000});
    await page.click('.lead a:has-text("Differences")');
    await check_shown(page, ['differences']);
    await page.click('h1 a');
    await check_shown(page, ['index']);
    await close(page);
  });

  await check('without JavaScript everything but the search is there', async () => {
    const page = await open(file, '', {javaScriptEnabled: false});
    const visible = selector => page.locator(selector).first().isVisible();
    assert.ok(await visible('#index'));
    assert.ok(!await visible('#search') && !await visible('#theme'));
    await page.click('.list a:text-is("GEMM")');
    assert.ok(await visible('#GEMM'));
    assert.ok(!await visible('#index') && !await visible('#PADDING'));
    assert.equal(await page.locator('#GEMM .copied button').count(), 0);
    await close(page);
  });
}

async function check_search() {
  await check('names are found, the best first', async () => {
    const page = await open(file);
    for (const [text, first] of [['padding', 'PADDING'], ['DML_OPERATOR_GEMM', 'GEMM'],
      ['gemm', 'GEMM'], ['add', 'ELEMENT_WISE_ADD'], ['lstm', 'LSTM'],
      ['DML_SLICE1_OPERATOR_DESC', 'SLICE1'], ['max pool', 'MAX_POOLING']]) {
      await page.fill('#search', text);
      assert.equal((await results(page))[0], first, text);
      await check_shown(page, ['found']);
    }
    await page.fill('#search', '');
    await check_shown(page, ['index']);
    await close(page);
  });

  await check('every operator is found by its name', async () => {
    const page = await open(file);
    const first = await page.evaluate(all => all.map(name => {
      const search = document.getElementById('search');
      search.value = name.toLowerCase();
      search.dispatchEvent(new Event('input'));
      return document.querySelector('#results a')?.textContent;
    }), names);
    assert.deepEqual(first, names);
    await close(page);
  });

  await check('fields, values of enumerations, types and summaries are found', async () => {
    const page = await open(file);
    const having = test => names.filter((name, i) => test(operators[i])).sort();
    const search = async text => {
      await page.fill('#search', text);
      return (await results(page)).sort();
    };
    assert.deepEqual(await search('NewZeroPoint'), []);
    assert.match(await page.innerText('#shown'), /^No operator has “NewZeroPoint”/);
    assert.deepEqual(await search('HiddenInitTensor'),
      having(one => one.fields.some(field => field.name === 'HiddenInitTensor')));
    assert.deepEqual(await search('reflection'), having(one => one.fields.some(field =>
      field.values?.some(value => value.name === 'REFLECTION'))));
    for (const type of ['INT4', 'FLOAT64']) {
      const having_type = having(one => [...one.support, ...one['supportOfDirectML1.15.4'] ?? []]
        .some(row => row.dataTypes.includes(type)));
      assert.ok(having_type.length > 0);
      assert.deepEqual(await search(type.toLowerCase()), having_type);
    }
    assert.ok((await search('gauss error function')).includes('ELEMENT_WISE_ERF'));
    assert.deepEqual(await search('PADDING paddingmode WRAP'), ['PADDING', 'PADDING1']);
    assert.match(await page.innerText('#results .match'), /field PaddingMode|value WRAP/);
    await close(page);
  });

  await check('the address holds the search', async () => {
    const page = await open(file, '#search=top%20k');
    assert.equal(await page.inputValue('#search'), 'top k');
    assert.equal((await results(page))[0], 'TOP_K');
    await page.click('#results a:text-is("TOP_K1")');
    await check_shown(page, ['TOP_K1']);
    await page.goBack();
    await check_shown(page, ['found']);
    assert.equal(await page.inputValue('#search'), 'top k');
    await go(page, '#TOP_K');
    await page.fill('#search', 'gather');
    await check_shown(page, ['found']);
    await close(page);
    const wrong = await open(file, '#search=%E0%A4%A');
    await check_shown(wrong, ['index']);
    await close(wrong);
    const nowhere = await open(file, '#NO_SUCH_OPERATOR');
    await check_shown(nowhere, ['index']);
    await close(nowhere);
  });

  await check('the keyboard is enough', async () => {
    const page = await open(file);
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press('/');
    await page.keyboard.type('slice');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'SLICE');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'SLICE1');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
    await page.keyboard.press('Enter');
    await check_shown(page, ['SLICE']);
    await page.keyboard.press('Escape');
    await check_shown(page, ['index']);
    assert.equal(await page.inputValue('#search'), '');
    await close(page);
  });
}

async function check_looks() {
  await check('on a phone no view is wider than the screen', async () => {
    const page = await open(file, '', phone);
    assert.equal(await width_beyond(page), 0);
    const views = [...names, 'differences', 'measurements'];
    const wide = await page.evaluate(all => all.filter(name => {
      location.hash = '#' + name;
      const {scrollWidth, clientWidth} = document.documentElement;
      return !document.getElementById(name).checkVisibility() || scrollWidth > clientWidth;
    }), views);
    assert.deepEqual(wide, []);
    await go(page, '#search=tensor');
    assert.equal(await width_beyond(page), 0);
    await close(page);
  });

  await check('text can be read in light and in dark colors', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(file, '', {colorScheme});
      for (const hash of ['', '#search=mode', '#PADDING', '#LP_POOLING', '#measurements']) {
        await go(page, hash);
        assert.deepEqual(await poor_contrasts(page), [], `${colorScheme} ${hash}`);
      }
      await close(page);
    }
  });

  await check('the colors can be chosen, and stay', async () => {
    const page = await open(file, '', {colorScheme: 'light'});
    const light = await background(page);
    await page.click('#theme');
    await page.click('#theme');
    assert.equal(await page.innerText('#theme'), 'Colors: dark');
    const dark = await background(page);
    assert.notEqual(dark, light);
    await page.reload();
    assert.equal(await background(page), dark);
    await close(page);
  });

  await check('an example is copied as it is, and is the one of the operator', async () => {
    const page = await open(file, '#GEMM',
      {permissions: ['clipboard-read', 'clipboard-write']});
    await page.click('#GEMM .copied button');
    await page.waitForFunction(
      () => document.querySelector('#GEMM .copied button').textContent === 'Copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(JSON.parse(copied), operators[names.indexOf('GEMM')].example);
    await close(page);
  });
}

await finish(async () => {
  await check_views();
  await check_search();
  await check_looks();
});

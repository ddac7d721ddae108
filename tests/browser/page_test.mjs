// Uses the page as a reader would, in headless Chromium without a network, and compares it with the native program:
//   node page_test.mjs PAGE BROWSER_ANSWER
import {pathToFileURL} from 'node:url';
import {Page} from './chromium.mjs';
import {check, checkFile, close, native, pages as file, runAll, same, sleep} from './harness.mjs';

const url = pathToFileURL(file).href;
const ready = `!document.getElementById('counter').textContent.startsWith('Loading')`;
const text = (page, id) => page.evaluate(`document.getElementById('${id}').textContent`);
const at = (step) => `document.getElementById('progress').value >= ${step}`;
const stopped = `document.getElementById('go').textContent === 'Go'`;

async function open(browser, hash = '', options = {}) {
  const page = await Page.open(browser, options);
  await page.go(url + hash);
  await page.until(ready);
  return page;
}

// The CSV that the page would save, as rows of an object each.
async function csvOf(page) {
  const csv = await page.evaluate(`new Promise((resolve) => {
    const before = URL.createObjectURL;
    URL.createObjectURL = (blob) => { URL.createObjectURL = before; blob.text().then(resolve); return before.call(URL, blob); };
    HTMLAnchorElement.prototype.click = () => {};
    document.getElementById('csv').click();
  })`);
  const [head, ...rows] = csv.trim().split('\n').map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
}

// --- the tests

async function lossesOfTheNativeProgram(browser) {
  let largest = 0, losses = 0;
  for (const settings of [
         {placements: ['Pre-LN', 'Post-LN'], layers: 6, rate: 0.003, warmup: 0, start: 'fan_in', seed: 0, steps: 20},
         {placements: ['DeepNorm', 'ReZero'], layers: 3, rate: 0.01, warmup: 10, start: 'gpt2', seed: 7, steps: 20},
         {placements: ['Admin', 'SiameseNorm'], layers: 2, rate: 0.001, warmup: 0, start: 'xavier', seed: 2, steps: 20},
       ]) {
    const {placements, ...rest} = settings;
    const page = await open(browser, '#' + new URLSearchParams({first: placements[0], second: placements[1], ...rest}));
    await page.click('go');
    await page.until(`document.getElementById('ends').textContent`, 120);
    const rows = await csvOf(page);
    const [, {steps}, verdict] = native({do: 'begin', settings}, {do: 'step', count: 20}, {do: 'verdict'});
    same(rows.length, 40, 'lines of the CSV');
    steps.forEach((both, i) => both.forEach((here, which) => {
      const there = rows[20 * which + i];
      same(there.placement, placements[which], 'placement in the CSV');
      const off = Math.abs(Number(there.loss) - here.loss);
      largest = Math.max(largest, off);
      ++losses;
      check(off <= 1e-4, `${there.placement}, step ${i + 1}: loss ${there.loss}, native ${here.loss}`);
      for (const [l, size] of here.stream.entries())
        check(Math.abs(Number(there[`stream_${l + 1}`]) / size - 1) < 1e-3, `${there.placement}: stream of block ${l + 1}`);
    }));
    same(await text(page, 'verdict'), verdict.verdict, 'verdict');
    check((await text(page, 'ends')).includes('Seeds so far: 1.'), 'the end says how many seeds there are');
    await close(page);
  }
  console.log(`${losses} losses as the native program's to ${largest.toExponential(1)}`);
}

async function buttons(browser) {
  const page = await open(browser, '#layers=2&steps=300');
  await page.click('go');
  await page.until(at(5));
  same(await text(page, 'go'), 'Stop', 'the button while it runs');
  await page.click('go');
  await page.until(stopped);
  const before = (await csvOf(page)).length / 2;  // answered after the step under way
  await page.until(at(before));
  check(before < 300, 'it stopped before the end');
  check((await text(page, 'status')).startsWith('Stopped at step'), 'stopping is said');
  await page.click('step');
  await page.until(at(before + 1));
  same((await csvOf(page)).length, 2 * (before + 1), 'one step more, of both');
  check(await page.evaluate(`document.querySelectorAll('#loss .drawing path.line').length`) === 4, 'four lines of loss');
  check(await page.evaluate(`document.querySelector('#stream-0 .drawing svg').getAttribute('aria-label').includes('in block 2')`),
        'the chart says in words what it shows');
  await page.evaluate(`document.querySelector('#loss details').open = true`);
  await page.until(`document.querySelectorAll('#loss tbody tr').length > 1`);

  await page.evaluate(`(() => { const s = document.getElementById('shown'); s.value = 2; s.dispatchEvent(new Event('input')); })()`);
  same(await text(page, 'shown-step'), '2', 'looking at an earlier step');
  check((await page.evaluate(`document.getElementById('stream-1').querySelector('figcaption').textContent`)).includes('step 2'),
        'the profile is that of the step looked at');

  await page.click('reset');
  await page.until(`document.getElementById('progress').value === 0`);
  await page.evaluate(`document.getElementById('csv').click()`);
  check((await text(page, 'problem')).startsWith('There is no run yet'), 'no CSV without a run');

  await page.evaluate(`(() => { const s = document.getElementById('steps'); s.value = 3; s.dispatchEvent(new Event('change', {bubbles: true})); })()`);
  await page.click('go');
  await page.until(`document.getElementById('ends').textContent.includes('Seeds so far: 1')`);
  await page.click('next');
  await page.until(`document.getElementById('ends').textContent.includes('Seeds so far: 2')`);
  check((await text(page, 'verdict')).startsWith('No clear difference in reliability'), 'a verdict over two seeds');
  check((await page.evaluate(`document.getElementById('link').hash`)).includes('seed=1'), 'the link has the new seed');
  await close(page);
}

async function badSettings(browser) {
  const page = await open(browser, '#first=Nowhere&second=Post-LN&layers=2&steps=4&rate=0.02');
  check((await text(page, 'problem')).includes('first=Nowhere'), 'what a link asks for in vain is said');
  same(await page.evaluate(`document.getElementById('rate').value`), '0.02', 'the rest of the link is set');
  await page.evaluate(`document.getElementById('first').value = 'Post-LN'`);
  await page.click('go');
  await page.until(`document.getElementById('problem').textContent.includes('cannot be compared with itself')`);
  await page.evaluate(`document.getElementById('first').value = 'Peri-LN'; document.getElementById('layers').value = 99`);
  await page.click('go');
  await sleep(300);
  same(await page.evaluate(`document.getElementById('progress').value`), 0, 'no run with 99 blocks');
  await page.evaluate(`document.getElementById('layers').value = 2`);
  await page.click('go');
  await page.until(`document.getElementById('ends').textContent`);
  check(await page.evaluate(`document.getElementById('problem').hidden`), 'the complaint goes');
  await close(page);
}

async function badLinks(browser) {
  for (const [hash, refused] of [
         ['layers=100', 'layers=100'], ['steps=-5&layers=2', 'steps=-5'], ['rate=0', 'rate=0'], ['rate=NaN&seed=', 'rate=NaN, seed='],
         ['rate=1e400', 'rate=1e400'], ['layers=2.5', 'layers=2.5'], ['warm-up=50&layers=2', 'warm-up=50'], ['seed=3&rate=1e-2', ''],
       ]) {
    const page = await open(browser, '#' + hash);
    same(await text(page, 'problem'), refused && `The link contains settings that this page does not have: ${refused}. The others are set.`, hash);
    same(await page.evaluate(`document.querySelectorAll('#settings :invalid').length`), 0, `${hash}: fields that are no good`);
    if (hash.includes('layers=2&') || hash.endsWith('layers=2')) same(await page.evaluate(`$('layers').value`), '2', `${hash}: the rest`);
    await close(page, hash);
  }
  const page = await open(browser);
  await page.evaluate(`location.hash = '#rate=0.03&layers=2'`);
  await page.until(`$('rate').value === '0.03'`);
  await page.evaluate(`history.back()`);
  await page.until(`location.hash === ''`);
  await page.until(`$('rate').value === '0.003' && $('layers').value === '6'`, 5);
  await close(page, 'Back');
}

const done = `document.getElementById('status').textContent.startsWith('Done.')`;
async function finished(browser, hash, options) {
  const page = await open(browser, hash, options);
  await page.click('go');
  await page.until(done, 120);
  return page;
}
const put = (page, id, value) => page.evaluate(`(() => { $('${id}').value = '${value}';
    $('${id}').dispatchEvent(new Event('change', {bubbles: true})); })()`);

async function wordsOfARun(browser) {
  const first = await finished(browser, '#layers=2&steps=25');
  check(/^Done\. Loss, mean of the last 20 steps: Pre-LN \d\.\d\d, Post-LN \d\.\d\d\.$/.test(await text(first, 'status')),
        `which loss, and three digits: ${await text(first, 'status')}`);
  const [, pre, post] = (await text(first, 'ends')).match(/Loss on held-out text, after the last step: Pre-LN ([\d.]+), Post-LN ([\d.]+)\./).map(Number);
  same(await text(first, 'run-words'), `Seed 0: ${pre < post ? 'Pre-LN' : 'Post-LN'} ended lower. One seed may be chance. ` +
       'Neither got below the 3-gram baseline: neither has learned to look back.', 'what this run shows');
  same(await text(first, 'stale'), '', 'results and fields agree');
  await put(first, 'warmup', 10);
  await put(first, 'layers', 1);
  same(await text(first, 'stale'), 'These results are for 2 blocks, warm-up 0; press Go for the new settings.', 'they do not');
  check(await first.evaluate(`$('stale').getBoundingClientRect().height > 10`), 'this can be seen');
  await put(first, 'layers', 2);
  await put(first, 'warmup', 0);
  check(await first.evaluate(`$('stale').hidden`), 'they do again');
  await put(first, 'warmup', 500);
  same(await text(first, 'warmup-hint'), 'more than 25 steps: the full rate is never reached', 'a warm-up that does not end');
  await close(first);

  for (const [hash, words] of [
         ['layers=2&steps=10&rate=1', 'Seed 0: both diverged. The learning rate 1 is far above the usual 0.001 to 0.03.'],
         ['layers=2&steps=40&rate=0.3', 'The learning rate 0.3 is far above the usual 0.001 to 0.03.'],
       ]) {
    const page = await finished(browser, '#' + hash);
    check((await text(page, 'run-words')).endsWith(words), `${hash}: ${await text(page, 'run-words')}`);
    await close(page);
  }
  const late = await finished(browser, '#layers=48&steps=1&rate=1&first=no+norm&second=Post-LN');
  for (const id of ['status', 'ends'])
    check((await text(late, id)).includes('Post-LN diverged after the last step'), `${id}: ${await text(late, id)}`);
  check((await text(late, 'verdict')).includes('in 0 of 1 runs'), 'beside the verdict');
  await close(late);

  const page = await open(browser);
  same(await page.evaluate(`[-1e-5, 1e-5, -2.5e-7, -12.34, 0].map(numberText).join(' ')`), '−10⁻⁵ 10⁻⁵ −2.5·10⁻⁷ −12.3 0', 'numbers');
  same(await page.evaluate(`[3, 0.9239, 12, null, 1e9].map(lossText).join(' ')`), '3.00 0.924 12.0 – 10⁹', 'losses');
  await close(page);
}

// Lines that leave the axes stand at the edge, and the label says so.
async function insideTheCharts(browser) {
  for (const [hash, options] of [['rate=0.3&steps=60&layers=6', {}], ['layers=48&steps=10&rate=0.01', {width: 360, phone: true, dark: true}]]) {
    const page = await finished(browser, '#' + hash, options);
    await page.until(`document.querySelector('#gradient-1 figcaption').textContent.includes('step')`);
    const out = await page.evaluate(`[...document.querySelectorAll('.pair svg[role=img]')].filter((svg) => {
      const base = Math.max(...[...svg.querySelectorAll('line.axis')].map((line) => line.y1.baseVal.value));
      return [...svg.querySelectorAll('path.line')].some((line) => line.getBBox().y + line.getBBox().height > base + 0.1);
    }).length`);
    same(out, 0, `${hash}: charts with a line below their axis`);
    const labels = await page.evaluate(`[...document.querySelectorAll('[id^=gradient] svg[role=img]')].map((svg) => {
      const label = svg.querySelector('text');
      return label.textContent.includes(': at the edge)') && label.getBBox().x + label.getBBox().width <= svg.viewBox.baseVal.width;
    }).join()`);
    same(labels, 'true,true', `${hash}: the gradients' labels say it, inside the chart`);
    await close(page, hash);
  }
}

async function keyboard(browser) {
  const page = await open(browser, '#layers=1&steps=2');
  const order = [];
  for (let i = 0; i < 30; ++i) {
    await page.key('Tab', {number: 9});
    const id = await page.evaluate(`document.activeElement.id || document.activeElement.tagName`);
    order.push(id);
    const outline = await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`);
    if (id !== 'BODY') check(outline !== 'none', `${id} shows that it has the focus`);
  }
  for (const id of ['first', 'second', 'start', 'layers', 'rate', 'warmup', 'steps', 'seed', 'go', 'step', 'reset', 'next', 'onward',
                    'link', 'csv', 'shown', 'SUMMARY'])
    check(order.includes(id), `${id} is reached by Tab`);
  await page.evaluate(`document.getElementById('seed').focus()`);
  await page.key('Enter', {text: '\r', number: 13});
  await page.until(`document.getElementById('ends').textContent`);
  const unnamed = await page.evaluate(`[...document.querySelectorAll('select,input,button,progress')].filter((e) =>
      !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.id).join()`);
  same(unnamed, '', 'controls without a name');
  await close(page);
}

async function shapes(browser) {
  for (const width of [360, 390, 800, 1280])
    for (const dark of [false, true])
      for (const dir of ['ltr', 'rtl']) {
        const page = await open(browser, '#layers=2&steps=3', {width, dark, phone: width < 500, calm: dark});
        await page.evaluate(`document.documentElement.dir = '${dir}'`);
        await page.evaluate(`document.querySelectorAll('details').forEach((d) => { d.open = true; })`);
        await page.click('go');
        await page.until(`document.getElementById('ends').textContent`);
        await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 300))`);
        const words = `${width} px, ${dark ? 'dark' : 'light'}, ${dir}`;
        const wide = await page.evaluate(`[document.documentElement.scrollWidth,
            ...[...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, .hidden')).map((e) =>
                Math.max(e.getBoundingClientRect().right, innerWidth - e.getBoundingClientRect().left))]
            .reduce((a, b) => Math.max(a, b))`);
        check(wide <= width + 0.5, `${words}: reaches ${wide} px`);
        const paper = await page.evaluate(`getComputedStyle(document.body).backgroundColor`);
        same(paper, dark ? 'rgb(23, 25, 29)' : 'rgb(255, 255, 255)', `${words}: background`);
        await close(page, words);
      }
}

// Of the renderer's processor time too, which tells more where the machine has other work.
async function speed(browser) {
  const page = await open(browser, '#layers=6&steps=400');
  const spent = async () => (await browser.send('SystemInfo.getProcessInfo')).processInfo
      .filter((one) => one.type === 'renderer').reduce((sum, one) => sum + one.cpuTime, 0);
  const made = () => page.evaluate(`document.getElementById('progress').value`);
  await page.click('go');
  await page.until(at(10));
  const [from, first, before] = [performance.now(), await made(), await spent()];
  await page.until(at(first + 40), 200);
  const [to, last, after] = [performance.now(), await made(), await spent()];
  const rate = (seconds) => ((last - first) / seconds).toFixed(1);
  const frame = await page.evaluate(`new Promise((resolve) => { let longest = 0, before = performance.now(), n = 0;
      const tick = () => { const now = performance.now(); longest = Math.max(longest, now - before); before = now;
                           if (++n < 60) requestAnimationFrame(tick); else resolve(longest); };
      requestAnimationFrame(tick); })`);
  console.log(`6 blocks: ${rate((to - from) / 1000)} steps a second of each model, ${rate(after - before)} a second of processor ` +
              `time; longest time between two frames ${frame.toFixed(0)} ms`);
  await page.close();
}

checkFile(file);
await runAll([lossesOfTheNativeProgram, buttons, badSettings, badLinks, wordsOfARun, insideTheCharts, keyboard, shapes, speed]);

// Uses the live figures as a reader would, in headless Chromium without a network, and compares what they show with the
// native program:
//   node figures_test.mjs FOLDER BROWSER_ANSWER
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Page} from './chromium.mjs';
import {check, checkFile, close, native as natives, pages as folder, runAll, same, sleep} from './harness.mjs';

const FIGURES = ['tape', 'adam', 'attention', 'layer_norm', 'placement', 'schedule'];
const native = (request) => natives(request)[0];
const said = `document.getElementById('words').textContent`;

async function open(browser, name, hash = '', options = {}) {
  const page = await Page.open(browser, options);
  await page.go(pathToFileURL(join(folder, name + '.html')).href + hash);
  await page.until(said);
  return page;
}

const number = (text) => Number(text.replace('−', '-').replace(' …', ''));
const numbers = (text) => text.split(', ').map(number);
// As people read them: to the digits shown.
function near(shown, value, words) {
  check(shown.length === value.length && shown.every((v, i) => Math.abs(v - value[i]) <= 0.0051 * Math.max(1, Math.abs(value[i]))),
        `${words}: shows ${shown}, native ${value}`);
}
// The cells of a table's body, row by row.
const cells = (page, table) => page.evaluate(`[...document.querySelectorAll('${table} tbody tr')]
    .map((row) => [...row.children].map((one) => one.textContent))`);
const set = (page, id, value) => page.evaluate(`(() => { const e = document.getElementById('${id}');
    if (e.type === 'checkbox') e.checked = ${JSON.stringify(value)}; else e.value = ${JSON.stringify(value)};
    for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, {bubbles: true})); })()`);
const graph = `document.querySelector('figure svg').getAttribute('aria-label')`;

// --- the tests

async function tape(browser) {
  const {expressions} = native({do: 'tapes'});
  const page = await open(browser, 'tape');
  for (const {name, values} of expressions) {
    await set(page, 'expression', name);
    const {notes, visits} = native({do: 'tape', expression: name, values});
    await page.until(`document.getElementById('count').textContent === '0 of ${notes.length + visits.length}'`);
    const total = new Map();
    for (let step = 1; step <= notes.length + visits.length; ++step) {
      await page.click('next');
      await page.until(`document.getElementById('count').textContent.startsWith('${step} ')`);
      const rows = (await cells(page, '#notes')).reverse();
      same(rows.filter((row) => row[4] !== '').length, Math.min(step, notes.length), `${name}: notes written after ${step} steps`);
      if (step <= notes.length) {
        near(numbers(rows[step - 1][4]), notes[step - 1].value, `${name}: value of ${notes[step - 1].name}`);
        same(rows[step - 1][2], notes[step - 1].op, `${name}: op`);
        continue;
      }
      const visit = visits[step - notes.length - 1];
      total.set(visit.note, visit.gradient);
      for (const handed of visit.handed) total.set(handed.to, handed.total);
      for (const [note, gradient] of total) near(numbers(rows[note][5]), gradient, `${name}: gradient of ${notes[note].name} at step ${step}`);
      check(!rows[visit.note][5].endsWith('…'), `${name}: the gradient of ${notes[visit.note].name} is complete`);
    }
    same(await page.evaluate(`document.getElementById('next').ariaDisabled`), 'true', `${name}: nothing comes after the end`);
  }
  await page.click('start');
  await page.until(`document.getElementById('count').textContent.startsWith('0 ')`);
  same(await page.evaluate(`document.getElementById('back').ariaDisabled`), 'true', 'nothing comes before the start');
  await page.click('end');
  await page.click('back');
  await set(page, 'expression', 'twice');
  await page.until(`document.getElementById('count').textContent === '0 of 10'`);
  await page.evaluate(`document.getElementById('v0').focus()`);
  await page.key('ArrowRight', {number: 39});
  await page.evaluate(`document.getElementById('at').focus()`);
  await page.key('End', {number: 35});
  await page.until(`document.getElementById('count').textContent === '10 of 10'`);
  near(numbers((await cells(page, '#notes'))[4][5]), [2 * (2 * 6.2 + 1)], 'the gradient of w once w is 3.1');
  await page.until(`${said}.startsWith('Step 10 of 10, backward at node 1')`);
  check((await page.evaluate(graph)).includes('backward at node 1'), 'the graph says in words what it shows');
  await close(page, 'tape');
}

async function adam(browser) {
  const page = await open(browser, 'adam');
  await page.evaluate(`document.querySelectorAll('details').forEach((d) => { d.open = true; })`);
  const settings = {size: 1, rate: 0.001, beta1: 0.9, beta2: 0.999, eps: 1e-8, warmup: 0, seed: 0};
  for (const change of [{}, {stream: 'spike', warmup: 10}, {stream: 'constant', size: 1000, beta2: 0.9}, {stream: 'drift', seed: 3, rate: 0.1},
                        {stream: 'alternating', eps: 1, warmup: 0, size: 1}]) {
    Object.assign(settings, change);
    const before = await page.evaluate(`document.getElementById('charts').textContent`);
    for (const [id, value] of Object.entries(change)) await set(page, id, String(value));
    if (Object.keys(change).length) await page.until(`document.getElementById('charts').textContent !== ${JSON.stringify(before)}`);
    const {gradients, adam: a, sgd, mean, root} = native({do: 'adam', stream: 'noise', ...settings});
    await page.until(`document.querySelector('#sgd tbody').rows[39].cells[2].textContent.length > 0`);
    await sleep(300);
    for (const [id, ...columns] of [['adam', a.taken], ['sgd', sgd.taken], ['inside', mean, root], ['weight', a.weight, sgd.weight]]) {
      const rows = await cells(page, '#' + id);
      same(rows.length, 40, 'steps');
      for (const [c, values] of [gradients, ...columns].entries())
        values.forEach((value, i) => {
          const shown = rows[i][c + 1];
          if (/[·⁻]|^10/.test(shown) && !/^10(\.\d)?$/.test(shown)) return;  // powers of ten
          check(Math.abs(number(shown) - value) <= 0.0051 * Math.abs(value) + 1e-12, `${id} at step ${i + 1}: shows ${shown}, native ${value}`);
        });
    }
  }
  await set(page, 'rate', '7');
  await page.until(`!document.getElementById('problem').hidden`);
  check((await page.evaluate(`document.getElementById('problem').textContent`)).startsWith('Learning rate'), 'a rate of 7 is refused');
  await set(page, 'rate', '0.01');
  await page.until(`document.getElementById('problem').hidden`);
  await close(page, 'adam');
}

async function attention(browser) {
  const page = await open(browser, 'attention');
  const settings = {text: 'abracadabra', rule: 'same', causal: true, scaled: true, axis: 'keys', seed: 0};
  for (const change of [{}, {rule: 'previous'}, {rule: 'next', causal: false}, {axis: 'queries', causal: true, rule: 'random', seed: 5},
                        {scaled: false, axis: 'keys'}, {text: 'سلام دنیا', scaled: true, rule: 'same'}, {text: 'x'}]) {
    Object.assign(settings, change);
    for (const [id, value] of Object.entries(change)) await set(page, id, typeof value === 'number' ? String(value) : value);
    const {weights, sums, future} = native({do: 'attention', letters: [...settings.text], rule: settings.rule, causal: settings.causal,
                                            scaled: settings.scaled, over_queries: settings.axis === 'queries', seed: settings.seed});
    await sleep(400);
    await page.until(`document.querySelectorAll('#all tbody tr').length === ${weights.length}`);
    const all = await cells(page, '#all'), rows = await cells(page, '#rows');
    const words = JSON.stringify(settings);
    weights.forEach((row, i) => {
      near(all[i].slice(1).map(number), row, `${words}: row ${i + 1}`);
      near([number(rows[i][3]), number(rows[i][4])], [sums[i], future[i]], `${words}: sum of row ${i + 1} and what is on later letters`);
    });
    same(await page.evaluate(`document.querySelectorAll('#map .cell').length`),
         weights.length * (settings.causal ? (weights.length + 1) / 2 : weights.length), `${words}: cells`);
  }
  await set(page, 'text', 'abracadabra');
  await set(page, 'axis', 'queries');
  await page.until(`${said}.includes('leaks, in spite of the mask')`);
  await set(page, 'axis', 'keys');
  await page.until(`${said}.includes('nothing leaks')`);
  await page.evaluate(`document.getElementById('row').focus()`);
  await page.key('Home', {number: 36});
  await page.until(`${said}.startsWith('Row 1, “a”, looks at 1 “a” with 1.00.')`);
  await page.evaluate(`document.querySelector('#map [data-row="3"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))`);
  await page.until(`${said}.startsWith('Row 3, “r”')`);
  await set(page, 'text', 'a text that has more than 24 letters');
  await page.until(`document.getElementById('problem').textContent.includes('there are 36')`);
  await close(page, 'attention');
}

async function layerNorm(browser) {
  for (const width of [360, 1280]) {
    const page = await Page.open(browser, {width, phone: width < 500});
    await page.go(pathToFileURL(join(folder, 'layer_norm.html')).href);
    await page.until(`document.querySelector('#numbers tr')`);
    const row = (i) => page.evaluate(`[...document.querySelectorAll('#numbers tr')[${i}].querySelectorAll('td')]
        .map((cell) => Number(cell.textContent.replace('−', '-')))`);
    const nearly = (a, b, words) => check(Math.abs(a - b) < 0.08, `${words}: got ${a}, expects ${b}`);
    const [y, dx, before] = [await row(1), await row(3), await row(0)];
    nearly(Math.hypot(...y), Math.sqrt(3), 'length of y');
    nearly(y[0] * dx[0] + y[1] * dx[1] + y[2] * dx[2], 0, 'dx is at right angles to y');
    const box = await page.evaluate(`(() => { const r = document.getElementById('token').getBoundingClientRect();
        return {x: r.x + r.width / 2, y: r.y + r.height / 2 + scrollY, top: scrollY}; })()`);
    await page.evaluate(`document.getElementById('plane').scrollIntoView({block: 'center'})`);
    const top = await page.evaluate(`scrollY`);
    for (const [type, dx2] of [['mousePressed', 0], ['mouseMoved', -60], ['mouseReleased', -60]])
      await page.send('Input.dispatchMouseEvent', {type, x: box.x + dx2, y: box.y - top, button: 'left', buttons: 1, clickCount: 1});
    await page.until(`Math.abs(Number(document.querySelector('#numbers td').textContent.replace('−', '-')) - ${before[0]}) > 0.1`);
    const after = await row(0);
    nearly(after[0] + after[1] + after[2], before[0] + before[1] + before[2], 'dragging keeps the mean, to the steps of the sliders');
    await page.evaluate(`document.getElementById('x2').focus()`);
    await page.key('ArrowRight', {number: 39});
    await page.until(`document.querySelectorAll('#numbers td')[2].textContent !== '${after[2].toFixed(2).replace('-', '−')}'`);
    check(await page.evaluate(`document.documentElement.scrollWidth`) <= width, `${width} px: the figure reaches farther`);
    await close(page, 'layer norm');
  }
}

async function links(browser) {
  const page = await open(browser, 'attention', '#text=banana&rule=previous&causal=false&seed=2000');
  same(await page.evaluate(`document.getElementById('text').value`), 'banana', 'the link holds the text');
  same(await page.evaluate(`document.getElementById('causal').checked`), false, 'the link holds the mask');
  check((await page.evaluate(`document.getElementById('problem').textContent`)).includes('seed=2000'), 'what a link asks for in vain is said');
  await set(page, 'rule', 'next');
  await page.until(`document.getElementById('link').hash === '#text=banana&rule=next&causal=false'`);
  await close(page, 'a link');
  const second = await open(browser, 'tape', '#expression=neuron&v1=0.5&theme=dark');
  near(numbers((await second.evaluate(`document.querySelector('#inputs output[for=v1]').textContent`))), [0.5], 'an input of the link');
  same(await second.evaluate(`getComputedStyle(document.body).backgroundColor`), 'rgb(23, 25, 29)', 'the theme of the link');
  await close(second, 'a link to the tape');
}

// In the page of a course: headings are hidden, and that page is told the height.
async function frame(browser) {
  for (const name of FIGURES) {
    const page = await Page.open(browser, {width: 700});
    await page.go('about:blank');
    const source = readFileSync(join(folder, name + '.html'), 'utf8');
    await page.evaluate(`new Promise((resolve) => {
      addEventListener('message', ({data}) => { if (data.figureHeight > 200) { window.told = data.figureHeight; resolve(); } });
      const frame = document.createElement('iframe');
      frame.title = 'A figure';
      frame.style.width = '600px';
      frame.srcdoc = ${JSON.stringify(source)};
      document.body.append(frame);
    })`);
    await page.until(`document.querySelector('iframe').contentDocument.getElementById('words').textContent`);
    const inside = (script) => page.evaluate(`(() => { const d = document.querySelector('iframe').contentDocument; return ${script}; })()`);
    same(await inside(`d.documentElement.classList.contains('framed')`), true, `${name}: knows that it is in a frame`);
    check(await inside(`d.querySelector('header').getBoundingClientRect().height`) <= 1, `${name}: its heading is hidden`);
    check(await inside(`d.querySelector('.why').getBoundingClientRect().height`) <= 1, `${name}: its text is hidden`);
    await page.until(`window.told === Math.ceil(document.querySelector('iframe').contentDocument.querySelector('.page').offsetHeight)`);
    await close(page, `${name} in a frame`);
  }
}

async function keyboard(browser) {
  for (const name of FIGURES) {
    const page = await open(browser, name);
    const wanted = await page.evaluate(`[...document.querySelectorAll('select,input,button,summary,a[href]')]
        .filter((e) => e.checkVisibility() && !e.disabled).map((e) => e.id || e.tagName)`);
    const order = [];
    for (let i = 0; i < wanted.length + 6; ++i) {
      await page.key('Tab', {number: 9});
      const [id, outline] = await page.evaluate(`[document.activeElement.id || document.activeElement.tagName,
          getComputedStyle(document.activeElement).outlineStyle]`);
      order.push(id);
      if (id !== 'BODY') check(outline !== 'none', `${name}: ${id} shows that it has the focus`);
    }
    for (const id of wanted) check(order.includes(id), `${name}: ${id} is reached by Tab`);
    const unnamed = await page.evaluate(`[...document.querySelectorAll('select,input,button,svg,[role=region],[role=group],form')].filter((e) =>
        !(e.labels?.length || e.getAttribute('aria-label') || (e.matches('button') && e.textContent.trim())))
        .map((e) => e.id || e.tagName).join()`);
    same(unnamed, '', `${name}: controls without a name`);
    same(await page.evaluate(`document.getElementById('words').getAttribute('aria-live')`), 'polite', `${name}: words are said`);
    check(await page.evaluate(`document.querySelectorAll('table tbody tr').length`) > 2, `${name}: has its numbers as a table`);
    await close(page, name);
  }
}

async function shapes(browser) {
  for (const name of FIGURES)
    for (const [width, dark, dir] of [[360, false, 'ltr'], [390, true, 'rtl'], [800, true, 'ltr'], [1280, false, 'rtl'], [1280, true, 'ltr']]) {
      const page = await open(browser, name, name === 'tape' ? '#expression=parts' : name === 'attention' ? '#text=twenty-four%20letters%20....' : '',
                              {width, dark, phone: width < 500, calm: dark});
      await page.evaluate(`document.documentElement.dir = '${dir}'; document.querySelectorAll('details').forEach((d) => { d.open = true; })`);
      if (name === 'tape') await page.click('end');
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 300))`);
      const words = `${name}, ${width} px, ${dark ? 'dark' : 'light'}, ${dir}`;
      const wide = await page.evaluate(`[document.documentElement.scrollWidth,
          ...[...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, .hidden')).map((e) =>
              Math.max(e.getBoundingClientRect().right, innerWidth - e.getBoundingClientRect().left))]
          .reduce((a, b) => Math.max(a, b))`);
      check(wide <= width + 0.5, `${words}: reaches ${wide} px`);
      same(await page.evaluate(`getComputedStyle(document.body).backgroundColor`), dark ? 'rgb(23, 25, 29)' : 'rgb(255, 255, 255)', `${words}: background`);
      await close(page, words);
    }
}

for (const name of FIGURES) checkFile(join(folder, name + '.html'));
await runAll([tape, adam, attention, layerNorm, links, frame, keyboard, shapes]);

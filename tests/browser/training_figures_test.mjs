// The live figures that train: placement and schedule, used as a reader would and compared with the native program:
//   node training_figures_test.mjs FOLDER BROWSER_ANSWER
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Page} from './chromium.mjs';
import {check, close, native, pages as folder, runAll, same, sleep} from './harness.mjs';

const said = `document.getElementById('words').textContent`;
const problem = `document.getElementById('problem').textContent`;
const number = (text) => Number(text.replace('−', '-').replace('×', ''));
// As people read them, in three digits; powers of ten are left out.
function near(shown, value, words) {
  if (/[⁰¹²³⁴⁵⁶⁷⁸⁹]/.test(shown)) return;
  check(Math.abs(number(shown) - value) <= 0.0051 * Math.abs(value) + 1e-4, `${words}: shows ${shown}, native ${value}`);
}
const cells = (page, table) => page.evaluate(`[...document.querySelectorAll('${table} tbody tr')]
    .map((row) => [...row.children].map((one) => one.textContent))`);
const set = (page, id, value) => page.evaluate(`(() => { const e = document.getElementById('${id}');
    e.value = ${JSON.stringify(String(value))}; for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, {bubbles: true})); })()`);

async function open(browser, name, hash = '', options = {}) {
  const page = await Page.open(browser, options);
  await page.go(pathToFileURL(join(folder, name + '.html')).href + hash);
  await page.until(said);
  return page;
}
// Does something, and waits for what is said then.
async function then(page, act, words = '') {
  await page.evaluate(`document.getElementById('words').textContent = ''`);
  await act();
  await page.until(`${said}.includes(${JSON.stringify(words)}) && ${said} !== ''`);
}

// --- placement

const other = (placement) => (placement === 'Pre-LN' ? 'Post-LN' : 'Pre-LN');

async function placement(browser) {
  const page = await open(browser, 'placement', '#layers=4');
  const now = {placement: 'Pre-LN', layers: 4, start: 'fan_in', seed: 0, steps: 0};
  for (const change of [{}, {placement: 'Post-LN'}, {placement: 'Peri-LN', layers: 6}, {placement: 'OLMo 2', seed: 3},
                        {placement: 'no norm', start: 'small'}, {placement: 'Post-LN', start: 'fan_in', layers: 3, steps: 3}]) {
    Object.assign(now, change);
    for (const [id, value] of Object.entries(change))  // one after the other: a drawing may lie between two
      await then(page, () => set(page, id, value), id === 'steps' ? `After ${value} steps` : `${now.placement}: |x|²/d`);
    const words = JSON.stringify(now), settings = {placements: [now.placement, other(now.placement)], layers: now.layers, start: now.start,
                                                   seed: now.seed, rate: 0.003, steps: 5000};
    const {models} = native({do: 'begin', settings}, {do: 'step', count: now.steps}, {do: 'trace'})[2];
    for (const id of ['stream', 'gradient']) {
      const rows = await cells(page, '#' + id);
      same(rows.length, now.layers + 1, `${words}: rows`);
      rows.forEach((row, l) => models.forEach((model, i) => near(row[i + 1], model[id][l], `${words}: ${id} after block ${l}`)));
    }
    const shown = Math.min(now.layers, Number(await page.evaluate(`document.getElementById('block').value`)));
    const {norms, blocks} = models[0], parts = new Map(await cells(page, '#drawn'));
    for (const [name, g] of [['FFN', blocks[shown - 1].ffn], ['attention', blocks[shown - 1].attention]]) {
      near(parts.get(name), g.f, `${words}: ${name}`);
      near(parts.get(`the whole branch of ${name}`), g.branch, `${words}: branch of ${name}`);
      same(parts.get(`shortcut of ${name}`), '×1', `${words}: the shortcut`);
      for (const [part, key] of [[`norm before ${name}`, 'before'], [`norm after ${name}`, 'after'], [`norm on the stream, after ${name}`, 'on_stream']]) {
        same(parts.has(part), norms[key], `${words}: ${part}`);
        if (norms[key]) near(parts.get(part), g[key], `${words}: ${part}`);
      }
    }
    const drawn = await page.evaluate(`document.querySelectorAll('#drawn .norm').length`);
    same(drawn, 2 * (norms.before + norms.after + norms.on_stream), `${words}: norms drawn`);
    same(await page.evaluate(`document.querySelectorAll('#drawn .free').length > 0`), !norms.on_stream, `${words}: an untouched shortcut is drawn as one`);
  }
  await page.evaluate(`document.getElementById('block').focus()`);
  await then(page, () => page.key('Home', {number: 36}), 'block 1,');
  check((await page.evaluate(`document.querySelector('#drawn svg').ariaLabel`)).startsWith('Post-LN, block 1 of 3, at step 3.'), 'the drawing says what it shows');
  await set(page, 'rate', 7);
  await page.until(`${problem}.startsWith('Learning rate')`);
  await then(page, () => set(page, 'rate', 0.01), 'After 3 steps');
  await page.until(`document.getElementById('problem').hidden`);
  await close(page, 'placement');
  const linked = await open(browser, 'placement', '#placement=DeepNorm&layers=2');
  check((await linked.evaluate(problem)).includes('placement=DeepNorm'), 'a placement that cannot be drawn is refused');
  await close(linked, 'placement by a link');
}

// A setting that changes while it trains: the training begins anew.
async function changedMeanwhile(browser) {
  const page = await open(browser, 'placement', '#layers=2&steps=1000');
  same(await page.evaluate(said), 'It trains for 1000 steps.', 'that it trains is said at once');
  await page.until(`document.querySelector('#drawn figcaption')?.textContent.includes('at step')`);
  await then(page, async () => { await set(page, 'layers', 3); await set(page, 'steps', 0); }, 'Before training');
  same((await cells(page, '#stream')).length, 4, 'rows of the new depth');
  await close(page, 'changed meanwhile');
}

// --- schedule

const trained = async (page) => {
  await page.until(`document.getElementById('go').textContent === 'Train' && ${said}.startsWith('Try')`, 120);
  return cells(page, '#tries');
};

async function schedule(browser) {
  const page = await open(browser, 'schedule', '#steps=25&layers=1&warmup=10&decay=cosine');
  const settings = {placements: ['Pre-LN', 'Post-LN'], steps: 25, layers: 1, warmup: 10, decay: 'cosine', rate: 0.0032, seed: 0};
  const [rates] = native({do: 'rates', settings});
  for (const [step, rate] of await cells(page, '#rate')) near(rate, rates.rates[step - 1], `rate of step ${step}`);
  for (const [i, warmup] of [10, 0].entries()) {
    if (i) {
      await page.evaluate(`document.getElementById('warmup').focus()`);
      await page.key('Home', {number: 36});
      await page.until(`document.querySelector('#rate tbody').rows[0].cells[1].textContent.startsWith('0.0031')`);
    }
    await page.click('go');
    await page.until(`document.querySelectorAll('#tries tbody tr').length === ${i + 1}`);
    await page.until(`!document.querySelector('#tries tbody').textContent.includes('…')`);
    const row = (await trained(page))[i];
    const {models} = native({do: 'begin', settings: {...settings, warmup}}, {do: 'step', count: 25}, {do: 'verdict'})[2];
    same([row[0], ...row.slice(3)].join(), `${i + 1},${warmup},0.0032,cosine,25,1,0`, 'the try');
    models.forEach((model, m) => near(row[1 + m], model.final_loss, `try ${i + 1}: loss of ${model.placement}`));
  }
  await page.until(`${said}.includes('Than in try 1')`);
  same(await page.evaluate(`['#rate', '#loss'].map((id) => document.querySelectorAll(id + ' .line.thin').length).join()`), '2,2', 'tries stay as thin lines');
  same(await page.evaluate(`document.querySelector('#rate .handle') !== null`), true, 'there is a dot to drag');

  same(await page.evaluate(`document.querySelectorAll('#loss .mark').length`), 0, 'marks at the ends of lines');
  await set(page, 'steps', 5);
  await page.until(`${problem}.startsWith('Steps')`);
  await set(page, 'steps', 2000);
  await page.until(`document.getElementById('problem').hidden`);
  await page.click('go');
  await page.until(`document.getElementById('progress').value >= 1 && document.querySelectorAll('#tries tbody tr').length === 3`);
  same(await page.evaluate(`document.getElementById('warmup').disabled`), true, 'the schedule does not change while it trains');
  await page.click('go');
  await trained(page);
  await page.until(`document.querySelectorAll('#tries tbody tr')[2].cells[1].textContent === 'stopped'`);
  same(await page.evaluate(`document.getElementById('warmup').disabled`), false, 'the schedule may change again');
  await page.click('clear');
  await page.until(`document.querySelectorAll('#tries tbody tr').length === 0`);
  await close(page, 'schedule');
}

async function drag(browser) {
  const page = await open(browser, 'schedule');
  const handle = () => page.evaluate(`(() => { const e = document.querySelector('#rate .handle'); e.scrollIntoView({block: 'center'});
      const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()`);
  const {x, y} = await handle();
  const mouse = (type, x, y) => page.send('Input.dispatchMouseEvent', {type, x, y, button: 'left', buttons: 1, clickCount: 1});
  await mouse('mousePressed', x, y);
  await mouse('mouseMoved', x + 100, y + 30);
  await page.until(`Number(document.getElementById('warmup').value) > 10 && Number(document.getElementById('peak').value) < -2.5`);
  await mouse('mouseReleased', x + 100, y + 30);
  const value = (id) => page.evaluate(`document.getElementById('${id}').value`);
  const before = await value('warmup');
  await mouse('mouseMoved', x + 200, y);
  same(await value('warmup'), before, 'what is let go stays');
  await close(page, 'drag');
}

// The worker has one session: Stop and Train at once must not train two tries in it.
async function stopTwice(browser) {
  const page = await open(browser, 'schedule', '#steps=300&layers=2');
  await page.click('go');
  await page.until(`document.getElementById('progress').value > 5`);
  await page.evaluate(`(() => { const go = document.getElementById('go'); go.click(); go.click(); })()`);
  await trained(page);
  await sleep(300);
  const rows = await cells(page, '#tries');
  same(rows.map((row) => row[1]).join(), 'stopped', 'tries after Stop was pressed twice');
  same(await page.evaluate(`tries.map((one) => one.losses[0].length < 300).join()`), 'true', 'steps of the try that was stopped');
  await close(page, 'Stop twice');
}

async function warmupAndSteps(browser) {
  const page = await open(browser, 'schedule', '#steps=100000&warmup=500');
  same(await page.evaluate(problem), 'The link contains settings that this figure does not have: warmup=500, steps=100000.', 'a warm-up longer than the steps that are left');
  await set(page, 'warmup', 150);
  await page.evaluate(`document.getElementById('steps').select(); document.getElementById('steps').focus()`);
  for (const digit of '1000') await page.key(digit, {text: digit});
  await page.key('Enter', {text: '\r', number: 13});
  await page.until(`document.querySelector('#rate svg').ariaLabel.includes('1000 steps')`);
  same(await page.evaluate(`document.getElementById('warmup').value`), '150', 'warm-up once 1000 is typed as steps');
  await then(page, () => set(page, 'steps', 100), 'Warm-up is now 100.');
  await then(page, () => set(page, 'decay', 'cosine'), 'Warm-up is now 95.');  // a decay to 0 needs a step
  same(await page.evaluate(`document.getElementById('problem').hidden`), true, 'the longest warm-up is no error');
  same(await page.evaluate(`document.querySelector('label[for=peak]').textContent`), 'Peak learning rate', 'the peak');
  await close(page, 'warm-up and steps');
}

async function linkWhileTraining(browser) {
  const page = await open(browser, 'schedule', '#steps=150&layers=1');
  await page.click('go');
  await page.until(`document.getElementById('progress').value > 1`);
  await page.evaluate(`location.hash = '#steps=100&layers=3'`);
  await trained(page);
  await page.until(`document.getElementById('layers').value === '3' && document.getElementById('link').hash === '#steps=100&layers=3'`);
  await close(page, 'a link while it trains');
}

// Before there is a try, and on a telephone after one.
async function shapesOfSchedule(browser) {
  const page = await open(browser, 'schedule', '#steps=20&layers=1', {width: 360, phone: true});
  const axes = `['rate', 'loss'].map((id) => document.querySelector('#' + id + ' line.axis').getAttribute('x2')).join()`;
  const [a, b] = (await page.evaluate(axes)).split(',');
  same(a, b, 'the right ends of the axes of steps');
  check((await page.evaluate(`document.querySelector('#loss svg').textContent`)).includes('3.5'), 'the axis of the loss has room for the start');
  same(await page.evaluate(`document.getElementById('tries').checkVisibility()`), false, 'a table without a try is hidden');
  await page.click('go');
  await page.until(`document.querySelectorAll('#tries tbody tr').length`);
  await trained(page);
  const right = await page.evaluate(`document.querySelector('#tries tbody tr').cells[2].getBoundingClientRect().right`);
  check(right <= 344, `both losses are in sight, up to ${right} px`);
  await close(page, 'schedule on a telephone');
}

// What no float holds is not 0.
async function beyondFloats(browser) {
  const page = await open(browser, 'placement', '#layers=48&placement=no+norm&seed=1');
  const words = await page.evaluate(said);
  check(words.includes('more than a float holds arrives below'), `a gradient that is not finite: ${words}`);
  check(!/[0-9]{6}/.test(words), `long numbers: ${words}`);
  check((await page.evaluate(`[...document.querySelectorAll('#drawn .down')].at(-1).style.strokeWidth`)).startsWith('7'), 'its arrow is the widest');
  await close(page, 'beyond floats');
}

async function divergence(browser) {
  for (const [hash, words] of [['#placement=no+norm&layers=6&steps=60&rate=0.05&seed=1', 'no norm diverged at step 2, and its training ended there.'],
                               ['#placement=Post-LN&layers=12&steps=40&rate=1', 'Both diverged at step 2, and their training ended there.']]) {
    const page = await open(browser, 'placement', hash);
    await page.until(`${said}.includes('diverged')`, 120);
    const shown = await page.evaluate(said);
    check(shown.endsWith(words), `${hash}: says ${shown}`);
    same(shown.includes('for comparison, after 60 steps,'), words.startsWith('no'), `${hash}: how many steps the other has made`);
    await close(page, hash);
  }
}

async function blockStays(browser) {
  const page = await open(browser, 'placement', '#layers=4');
  await then(page, () => set(page, 'block', 4), 'block 4,');
  await then(page, () => set(page, 'seed', 1), 'block 4,');
  await then(page, () => page.click('link'), 'block 4,');
  same(await page.evaluate(`document.getElementById('block-name').textContent`), '4 of 4', 'its own link keeps the block');
  await then(page, () => page.evaluate(`location.hash = '#layers=6'`), 'block 3,');
  await close(page, 'the block stays');
}

await runAll([placement, changedMeanwhile, beyondFloats, divergence, blockStays, schedule, stopTwice, warmupAndSteps, linkWhileTraining,
              shapesOfSchedule, drag]);

// What a reader may press while an answer of the module is under way. Answers are held back here until a test lets them
// through, so that nothing depends on speed:
//   node presses_test.mjs PAGE BROWSER_ANSWER
import {pathToFileURL} from 'node:url';
import {Page} from './chromium.mjs';
import {check, close, pages as file, runAll, same, sleep} from './harness.mjs';

const text = (page, id) => page.evaluate(`document.getElementById('${id}').textContent`);
const value = (page, id) => page.evaluate(`document.getElementById('${id}').value`);
const at = (step) => `document.getElementById('progress').value >= ${step}`;
const button = (words) => `document.getElementById('go').textContent === '${words}'`;
const said = (words) => `document.getElementById('status').textContent.startsWith('${words}')`;
const set = (page, id, to) => page.evaluate(`(() => { const e = document.getElementById('${id}'); e.value = '${to}';
    e.dispatchEvent(new Event('change', {bubbles: true})); })()`);
const shows = async (page, words) => {
  check(await page.evaluate(`document.getElementById('problem').hidden`), `${words}: no complaint is shown: ${await text(page, 'problem')}`);
};

// A page whose answers to `held` requests wait for letThrough.
async function open(browser, hash, held = []) {
  const page = await Page.open(browser);
  await page.go(pathToFileURL(file).href + hash);
  await page.until(`document.getElementById('counter').textContent.startsWith('Step')`);
  await page.evaluate(`(() => {
    const plain = ask;
    window.held = new Set(${JSON.stringify(held)});
    window.waiting = [];
    window.requests = [];
    window.ask = async (request) => {
      requests.push(request.do);
      const hold = held.has(request.do) && new Promise((go) => waiting.push(go));
      try { return await plain(request); } finally { await hold; }
    };
  })()`);
  return page;
}
const wait = (page, count = 1) => page.until(`waiting.length >= ${count}`);
const letThrough = (page) => page.evaluate(`held.clear(); waiting.splice(0).forEach((go) => go());`);

// --- the tests

async function resetWhileRunning(browser) {
  for (const [button, held, steps] of [['go', 'step', 50], ['step', 'step', 50], ['go', 'begin', 50], ['step', 'begin', 50], ['go', 'verdict', 1]]) {
    const words = `reset after ${button}, before ${held} is answered`;
    const page = await open(browser, `#layers=1&steps=${steps}`, [held]);
    await page.click(button);
    await wait(page);
    await page.click('reset');
    await letThrough(page);
    await sleep(300);
    await shows(page, words);
    same(await text(page, 'status'), 'Back at the start, with seed 0.', words);
    same(await text(page, 'go'), 'Go', words);
    same(await value(page, 'progress'), 0, `${words}: steps`);
    await page.click('step');
    await page.until(at(1));
    await close(page, words);
  }
}

async function stopBeforeBeginIsAnswered(browser) {
  const page = await open(browser, '#layers=2&steps=50', ['begin']);
  await page.click('go');
  await wait(page);
  same(await text(page, 'status'), 'Preparing two models of 2 blocks …', 'preparing is said');
  same(await text(page, 'counter'), 'Preparing …', 'preparing is shown');
  await page.click('go');
  same(await text(page, 'go'), 'Go', 'it has stopped');
  await letThrough(page);
  await page.until(said('Stopped at step 0.'));
  await sleep(200);
  same(await value(page, 'progress'), 0, 'nothing trains');
  await page.click('go');
  await page.until(at(3));
  same(await page.evaluate(`requests.filter((one) => one === 'begin').length`), 1, 'what was prepared is used');
  await shows(page, 'stop before begin');
  await close(page);
}

async function overtaken(browser) {
  for (const [presses, seed] of [[['next', 'next'], 2], [['go', 'next'], 1], [['go', 'reset', 'go'], 0], [['step', 'go'], 0], [['go', 'go', 'go'], 0]]) {
    const words = presses.join(', ');
    const page = await open(browser, '#layers=1&steps=3000', ['begin']);
    for (const id of presses) await page.click(id);
    await wait(page);
    await letThrough(page);
    await page.until(at(3));
    same(await text(page, 'go'), 'Stop', `${words}: it runs`);
    same(await value(page, 'seed'), String(seed), `${words}: seed`);
    check((await text(page, 'counter')).includes(`seed ${seed}`), `${words}: the counter says ${await text(page, 'counter')}`);
    await shows(page, words);
    await close(page, words);
  }
}

async function stopAtTheEnd(browser) {
  for (const held of ['step', 'verdict']) {
    const page = await open(browser, '#layers=1&steps=1', [held]);
    await page.click('onward');
    await page.click('go');
    await wait(page);
    await page.click('go');
    await letThrough(page);
    await page.until(`document.getElementById('ends').textContent.includes('Seeds so far: 1')`);
    await page.until(said('Done. '));
    await sleep(300);
    same(await value(page, 'seed'), '0', `stop before the last ${held} is answered: no seed follows`);
    same(await text(page, 'go'), 'Go', 'it has stopped');
    await close(page);
  }
  const page = await open(browser, '#layers=1&steps=1', ['verdict']);
  await page.click('onward');
  await page.click('go');
  await wait(page);
  await letThrough(page);
  await page.until(`document.getElementById('ends').textContent.includes('Seeds so far: 3')`);
  await page.click('go');
  await close(page, 'without Stop seeds follow');
}

async function stopSaysTheStep(browser) {
  const page = await open(browser, '#layers=1&steps=3000', ['step']);
  await page.click('go');
  await wait(page);
  await page.click('go');
  await letThrough(page);
  await page.until(said('Stopped at step 1.'));
  same(await value(page, 'progress') <= 1, true, 'the step said is the step made');
  await close(page);
}

async function refusedBegin(browser) {
  const page = await open(browser, '#layers=1&steps=3000');
  await page.click('go');
  await page.until(at(3));
  await page.click('go');
  await page.until(said('Stopped at step'));
  const before = Number((await text(page, 'status')).match(/\d+/)[0]);
  await set(page, 'second', 'Pre-LN');
  await page.click('go');
  await page.until(`document.getElementById('problem').textContent.includes('cannot be compared with itself')`);
  same(await text(page, 'go'), 'Go', 'nothing trains');
  await set(page, 'second', 'Post-LN');
  await page.click('step');
  await page.until(said(`Step ${before + 1}.`));
  await shows(page, 'the run goes on after settings that were refused');
  await close(page);
}

async function linksWhileRunning(browser) {
  const page = await open(browser, '#layers=1&steps=3000');
  await page.click('go');
  await page.until(at(2));
  await page.click('link');
  await page.until(`document.getElementById('status').textContent.match(/opied/)`);
  same(await text(page, 'go'), 'Stop', 'its own link changes nothing');
  await page.evaluate(`location.hash = '#layers=2&seed=4'`);
  await page.until(button('Go'));
  await page.until(said('Stopped at step'));
  check((await text(page, 'status')).includes('The settings have changed.'), 'it says why');
  same(await value(page, 'layers') + await value(page, 'seed'), '24', 'the fields are those of the link');
  await page.click('go');
  await page.until(`document.getElementById('counter').textContent.includes('seed 4 · ')`);
  await close(page);
}

async function editedWhilePreparing(browser) {
  for (const onward of [false, true]) {
    const page = await open(browser, '#layers=1&steps=2', ['begin']);
    if (onward) await page.click('onward');
    await page.click('go');
    await wait(page);
    await set(page, 'seed', '5');
    await letThrough(page);
    await page.until(said('Stopped at step 0. The settings have changed.'));
    await sleep(300);
    same(await value(page, 'seed'), '5', 'what was edited stays');
    await page.click('step');
    await page.until(`document.getElementById('counter').textContent.includes('seed 5') && ${at(1)}`);
    await close(page);
  }
}

async function divergence(browser) {
  const page = await open(browser, '#layers=2&steps=30&rate=1');
  await page.click('go');
  await page.until(said('Done. Pre-LN diverged at step'));
  check((await text(page, 'status')).includes('Post-LN diverged at step'), 'the second model too');
  await page.until(`document.getElementById('counter').textContent.includes('both diverged')`);
  await page.until(at(30));
  same(await page.evaluate(`[...document.querySelectorAll('#loss text')].filter((e) => /^P.*-LN diverged at step/.test(e.textContent)).length`), 2,
       'both lines say it');
  check(await page.evaluate(`document.querySelector('#loss svg').getAttribute('aria-label').includes('where it diverged')`), 'and so does the chart');
  check(await page.evaluate(`[...document.querySelectorAll('#loss text')].every((e) => e.getBBox().x + e.getBBox().width <=
      e.ownerSVGElement.viewBox.baseVal.width)`), 'all words are inside the chart');
  await close(page);
}

// What the page would save: name and text.
const watchSaved = (page) => page.evaluate(`(() => {
  window.saved = [];
  const before = URL.createObjectURL;
  URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return before.call(URL, blob); };
  HTMLAnchorElement.prototype.click = function() { saved.push(this.download); };
})()`);

async function savedWhilePreparing(browser) {
  const page = await open(browser, '#layers=1&steps=2');
  await watchSaved(page);
  await page.click('go');
  await page.until(said('Done.'));
  await set(page, 'first', 'Keel');
  await page.evaluate(`held.add('begin')`);
  await page.click('step');
  await wait(page);
  await page.click('csv');
  await sleep(200);
  same(await page.evaluate(`saved.length`), 0, 'nothing is saved while a run is being prepared');
  await letThrough(page);
  await page.until(`saved.length === 2 || !document.getElementById('problem').hidden`);
  const saved = await page.evaluate(`saved`);
  check(saved.length === 0 || saved[0].includes('Keel') && saved[1].includes('Keel,1,') && saved[1].split('\n').length === 4,
        `a saved run bears its own name and has its steps: ${JSON.stringify(saved)}`);
  await page.until(said('Step 1.'));
  await page.evaluate(`saved.length = 0`);
  await page.click('csv');
  await page.until(`saved.length === 2`);
  same(await page.evaluate(`saved.join().match(/Keel,1/g).length + saved[0]`), '1gradus-Keel-Post-LN-seed-0.csv', 'the new run is saved');
  await close(page);
}

async function oneStepAfterTheEnd(browser) {
  const page = await open(browser, '#layers=1&steps=2');
  await page.click('go');
  await page.until(said('Done.'));
  const verdict = await text(page, 'verdict');
  await page.click('step');
  await page.until(said('All steps are made: Reset or Go starts over.'));
  await sleep(200);
  same(await value(page, 'progress') + await text(page, 'verdict'), 2 + verdict, 'the run stays');
  await page.click('reset');
  await page.click('step');
  await page.until(said('Step 1.'));
  await close(page);
}

async function verdictOfSeedsStays(browser) {
  const page = await open(browser, '#layers=1&steps=1');
  await page.click('go');
  await page.until(said('Done.'));
  await page.click('next');
  await page.until(`document.getElementById('ends').textContent.includes('Seeds so far: 2')`);
  const verdict = await text(page, 'verdict');
  check(verdict.includes('of 2 seeds') && !verdict.includes('best rate'), `a verdict over two seeds, said once: ${verdict}`);
  await page.evaluate(`held.add('begin')`);
  await page.click('next');
  await wait(page);
  await page.click('go');
  await letThrough(page);
  await page.until(said('Stopped at step 0.'));
  same(await text(page, 'verdict'), verdict, 'it stays when the third is stopped');
  check((await text(page, 'run-words')).startsWith('Seed 1: '), 'the words about one run name its seed');
  check(await page.evaluate(`document.getElementById('stale').hidden`), 'it is for these settings');
  await page.click('reset');
  same(await text(page, 'status') + await text(page, 'verdict'), `Back at the start, with seed 2.${verdict}`, 'and after Reset');
  await set(page, 'warmup', '10');
  check((await text(page, 'stale')).includes('are for warm-up 0;'), 'for other settings it is marked');
  await page.click('step');
  await page.until(at(1));
  check(!(await text(page, 'verdict')).includes('of 2 seeds'), 'and then it goes');
  await close(page);
}

async function whatIsSaid(browser) {
  const page = await open(browser, '#layers=24&steps=2');
  same(await page.evaluate(`[...document.querySelectorAll('output')].filter((e) => e.ariaLive !== 'off').map((e) => e.id).join()`), '',
       'numbers that change many times a second are not said');
  check(await page.evaluate(`document.getElementById('status').getBoundingClientRect().height`) > 10, 'what is said can be seen too');
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', {value: undefined})`);
  await page.click('link');
  await page.until(said('Not copied; the address'));
  await page.evaluate(`document.querySelector('#stream-0 details').open = true`);
  await page.click('step');
  await page.until(`document.querySelectorAll('#stream-0 tbody tr').length === 24`);
  await close(page, '24 blocks');
}

await runAll([resetWhileRunning, stopBeforeBeginIsAnswered, overtaken, stopAtTheEnd, stopSaysTheStep, refusedBegin, linksWhileRunning,
              editedWhilePreparing, divergence, savedWhilePreparing, oneStepAfterTheEnd, verdictOfSeedsStays, whatIsSaid]);

// The lab's page and a live figure, used again and again: no more memory, nodes, listeners, workers, processes and open files than
// after the first times, the same results each time, no NaN, no complaint. GRADUS_SOAK_MINUTES goes on for so long:
//   GRADUS_SOAK_MINUTES=120 node soak_test.mjs FOLDER BROWSER_ANSWER
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Page} from './chromium.mjs';
import {check, close, pages as folder, runAll, same} from './harness.mjs';

const minutes = Number(process.env.GRADUS_SOAK_MINUTES ?? 0), ROUNDS = 8, WARM_UP = 4;
const RENDERER_FILES = 8;  // that a browser opens and closes by itself

const text = (page, id) => page.evaluate(`document.getElementById('${id}').textContent`);

// A page and its worker, which Chromium names as soon as it starts.
async function open(browser, name, hash, ready) {
  const page = await Page.open(browser);
  page.name = name;
  page.workers = new Set();
  browser.listeners.push(({method, params, sessionId}) => {
    if (sessionId !== page.session) return;
    if (method === 'Target.attachedToTarget' && params.targetInfo.type === 'worker') page.workers.add(params.sessionId);
    if (method === 'Target.detachedFromTarget') page.workers.delete(params.sessionId);
  });
  await page.send('Target.setAutoAttach', {autoAttach: true, waitForDebuggerOnStart: false, flatten: true});
  await page.go(pathToFileURL(join(folder, name + '.html')).href + hash);
  await page.until(ready);
  return page;
}

const front = (page) => page.send('Page.bringToFront');

// A run of the lab, and back to the start; returns what it says.
async function lab(page) {
  await front(page);
  await page.click('go');
  await page.until(`document.getElementById('status').textContent.startsWith('Done.') && document.getElementById('ends').textContent`, 600);
  const words = [await text(page, 'status'), await text(page, 'ends'), await text(page, 'run-words')].join(' ');
  await noNaN(page);
  await page.click('reset');
  await page.until(`document.getElementById('progress').value === 0`);
  return words;
}

// A try of the schedule's figure, which is then cleared.
async function schedule(page) {
  await front(page);
  await page.click('go');
  await page.until(`document.querySelectorAll('#tries tbody tr').length === 1`, 600);
  await page.until(`document.getElementById('go').textContent === 'Train' && !document.querySelector('#tries tbody').textContent.includes('…')`, 600);
  const words = await text(page, 'tries');
  await noNaN(page);
  await page.click('clear');
  await page.until(`document.querySelectorAll('#tries tbody tr').length === 0`);
  return words;
}

// Neither in words nor in drawings.
async function noNaN(page) {
  const found = await page.evaluate(`document.querySelector('main').outerHTML.match(/.{0,40}\\b(NaN|Infinity|undefined)\\b.{0,40}/)?.[0] ?? ''`);
  same(found, '', `${page.name}: not a number`);
}

// After a garbage collection: bytes of the heap of JavaScript.
async function heapOf(browser, session) {
  await browser.send('HeapProfiler.collectGarbage', {}, session);
  return (await browser.send('Runtime.getHeapUsage', {}, session)).usedSize;
}

// Bytes of WebAssembly's memory in a worker.
async function memoryOf(browser, session) {
  const {result, exceptionDetails} = await browser.send('Runtime.evaluate', {
    expression: 'ready.then((module) => module.HEAPU8.buffer.byteLength)', awaitPromise: true, returnByValue: true}, session);
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

async function taken(browser, all) {
  const now = {heap: 0, wasm: 0, workers: 0, nodes: 0, listeners: 0, documents: 0, pending: 0, processes: 0, files: 0};
  for (const page of all) {
    now.workers += page.workers.size;
    now.heap += await heapOf(browser, page.session);
    for (const worker of page.workers) {
      now.wasm += await memoryOf(browser, worker);
      now.heap += await heapOf(browser, worker);
    }
    now.pending += await page.evaluate('asked.size');
  }
  const counters = await all[0].send('Memory.getDOMCounters');  // of the process: both pages
  Object.assign(now, {nodes: counters.nodes, listeners: counters.jsEventListeners, documents: counters.documents});
  for (const {type, id} of (await browser.send('SystemInfo.getProcessInfo')).processInfo) {
    if (type !== 'renderer') continue;
    ++now.processes;
    now.files += readdirSync(`/proc/${id}/fd`).length;
  }
  return now;
}

async function soak(browser) {
  const all = [await open(browser, 'lab', '#layers=2&steps=40', `!document.getElementById('counter').textContent.startsWith('Loading')`),
               await open(browser, 'schedule', '#steps=40&layers=1', `document.getElementById('words').textContent`)];
  const start = performance.now(), passed = () => (performance.now() - start) / 60000;
  let first, words, rounds = 0, warm = 0, said = 0;
  const most = {};
  const measured = () => {
    const change = (name) => `${(first[name] / 1e6).toFixed(2)} MB, at most ${((most[name] / first[name] - 1) * 100).toFixed(2)}% more`;
    return `${rounds} rounds in ${passed().toFixed(1)} minutes, ${warm} of them to warm up; heap of JavaScript ${change('heap')}; ` +
           `WebAssembly ${change('wasm')}; ${first.workers} workers, ${first.processes} renderers; at first and at most ` +
           ['nodes', 'listeners', 'files'].map((name) => `${first[name]} and ${most[name]} ${name}`).join(', ');
  };
  while (rounds < ROUNDS || passed() < minutes) {
    ++rounds;
    const told = `${await lab(all[0])}\n${await schedule(all[1])}`;
    words ??= told;
    same(told, words, `round ${rounds}: the results`);
    if (rounds < WARM_UP || passed() < Math.min(2, minutes / 10)) continue;
    const now = await taken(browser, all);
    if (!first) warm = rounds;
    first ??= now;
    for (const [name, value] of Object.entries(now)) most[name] = Math.max(most[name] ?? 0, value);
    for (const name of ['workers', 'documents', 'processes', 'pending', 'wasm'])
      same(now[name], first[name], `round ${rounds}: ${name}`);
    same(now.pending, 0, `round ${rounds}: requests without an answer`);
    for (const [name, limit] of [['heap', 1.01 * first.heap + 1e5], ['nodes', 1.01 * first.nodes], ['listeners', first.listeners],
                                 ['files', first.files + RENDERER_FILES]])
      check(now[name] <= limit, `round ${rounds}: ${name} ${now[name]}, at first ${first[name]}`);
    if (passed() - said > 5) {
      said = passed();
      console.log(`soak: ${measured()}`);
    }
  }
  same(first.workers, all.length, 'workers');
  console.log(`soak: ${measured()}`);
  for (const page of all) await close(page, page.name);
}

await runAll([soak]);

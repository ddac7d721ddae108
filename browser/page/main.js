// The page: settings, buttons, and the loop that asks the worker for steps.
'use strict';

const calm = matchMedia('(prefers-reduced-motion: reduce)');

// --- settings, which also stand in the address behind #

const NUMBERS = ['layers', 'rate', 'warmup', 'steps', 'seed'], WORDS = ['first', 'second', 'start'];

const settings = () => ({
  placements: [$('first').value, $('second').value], start: $('start').value,
  ...Object.fromEntries(NUMBERS.map((name) => [name, Number($(name).value)])),
});

function setSettings(given) {
  const values = {...given, first: given.placements[0], second: given.placements[1]};
  for (const name of [...NUMBERS, ...WORDS]) $(name).value = values[name];
}

function showSettings() {
  const words = new URLSearchParams([...WORDS, ...NUMBERS].map((name) => [name, $(name).value]));
  $('link').href = '#' + words;
  for (const name of ['first', 'second'])
    $(name + '-equation').textContent = facts.placements.find((one) => one.name === $(name).value)?.equation ?? '';
}

// Takes what the address says; what it does not name stays.
function readAddress() {
  const unknown = [];
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (![...WORDS, ...NUMBERS].includes(name)) continue;
    const before = $(name).value;
    $(name).value = value;
    if ($(name).value === '' || WORDS.includes(name) && $(name).value !== value) {
      $(name).value = before;
      unknown.push(`${name}=${value}`);
    }
  }
  problem(unknown.length ? `The link asks for what this page does not have: ${unknown.join(', ')}. The rest is set.` : '');
  showSettings();
}

// --- what is shown

let facts = null, run = null, running = false, token = 0, follow = true, loaded = false;
let drawnAt = 0, drawing = 0, saidAt = 0, speed = null, loops = 0;
const figures = {};

function problem(text) {
  $('problem').hidden = !text;
  $('problem').textContent = text;
}

function say(text) {
  saidAt = performance.now();
  $('status').textContent = text;
}

const emptyRun = () => ({
  settings: settings(), done: false,
  models: settings().placements.map((placement) => ({placement, steps: [], mean: []})),
});
const stepsMade = (of) => Math.max(...of.models.map((model) => model.steps.length));
const shownStep = (of) => (follow ? stepsMade(of) : Number($('shown').value));

const PROFILES = [{id: 'stream', key: 'stream', title: 'Size of the stream', axis: 'root mean square'},
                  {id: 'gradient', key: 'gradients', title: 'Size of the gradient', axis: 'norm of the gradient'}];

function draw() {
  drawing = 0;
  drawnAt = performance.now();
  const of = run ?? emptyRun(), made = stepsMade(of), shown = shownStep(of);
  $('shown').max = Math.max(1, made);
  if (follow) $('shown').value = Math.max(1, made);
  $('shown-step').textContent = made === 0 ? 'none yet' : follow ? `${made}, the last` : shown;
  drawLoss(figures.loss, of, facts, made && !follow ? shown : null);
  for (const what of PROFILES) {
    const extent = extentOf(of, what.key);
    for (const style of [0, 1]) drawProfile(figures[`${what.id}-${style}`], of, style, what, shown, extent);
  }
  $('progress').max = of.settings.steps;
  $('progress').value = made;
  $('counter').textContent = counterText(of, made);
}

// Soon, and not more often than the eye needs.
function drawSoon() {
  if (drawing) return;
  const wait = Math.max(0, (calm.matches ? 1000 : 120) - (performance.now() - drawnAt));
  drawing = setTimeout(() => requestAnimationFrame(draw), wait);
}

function counterText(of, made) {
  const words = [`Step ${made} of ${of.settings.steps}`, `seed ${of.settings.seed}`];
  if (speed && running) {
    const left = (of.settings.steps - made) / speed;
    words.push(`${speed.toFixed(speed < 10 ? 1 : 0)} steps a second each`);
    if (left >= 1) words.push(left < 90 ? `${Math.ceil(left)} s left` : `${Math.round(left / 60)} minutes left`);
  }
  return words.join(' · ');
}

function lossesInWords(of) {
  return of.models.filter((model) => model.steps.length)
      .map((model) => `${model.placement} ${numberText(model.mean.at(-1))}`).join(', ');
}

function setRunning(now) {
  running = now;
  $('go').textContent = now ? 'Stop' : 'Go';
}

// --- the run

async function begin() {
  const mine = ++token;
  const answer = await ask({do: 'begin', settings: settings()});
  if (mine !== token) return false;
  setSettings(answer.settings);
  showSettings();
  run = {settings: answer.settings, done: false, models: answer.models.map((model) => ({...model, steps: [], mean: []}))};
  follow = true;
  $('verdict').textContent = 'It comes when both models have made all their steps.';
  $('ends').textContent = '';
  return true;
}

// Makes `count` steps; false when the run has ended, or is no longer the present one.
async function makeSteps(count) {
  const mine = token, answer = await ask({do: 'step', count});
  if (mine !== token) return false;
  for (const both of answer.steps)
    both.forEach((at, i) => { if (at) addStep(run.models[i], at); });
  run.done = answer.done;
  drawSoon();
  if (run.done) await showVerdict();
  return !run.done;
}

async function showVerdict() {
  const mine = token, end = await ask({do: 'verdict'});
  if (mine !== token) return;
  $('verdict').textContent = end.verdict;
  const ends = end.models.map((model) => model.diverged_at !== null ? `${model.placement} diverged at step ${model.diverged_at}`
                                                                    : `${model.placement} ${model.final_loss.toFixed(4)}`);
  $('ends').textContent = `Loss on text kept aside: ${ends.join(', ')}. Seeds so far: ${end.seeds}.`;
}

// How many steps to ask for at a time: short enough to stop at once.
async function loop() {
  const mine = ++loops, first = stepsMade(run), since = performance.now();
  let count = 1;
  while (running && mine === loops) {
    const before = performance.now();
    const go = await makeSteps(count);
    if (mine !== loops) return;
    const now = performance.now();
    speed = (stepsMade(run) - first) / (now - since) * 1000;
    count = Math.max(1, Math.min(16, Math.round(count * 60 / Math.max(1, now - before))));
    if (now - saidAt > 10000) say(`Step ${stepsMade(run)} of ${run.settings.steps}. Loss: ${lossesInWords(run)}.`);
    if (!go) return run?.done ? finish() : undefined;
  }
}

async function finish() {
  setRunning(false);
  say(`Done. Loss: ${lossesInWords(run)}.`);
  drawSoon();
  if ($('onward').checked && Number($('seed').value) < 999) await nextSeed();
}

const sameSettings = () => run !== null && JSON.stringify(sorted(run.settings)) === JSON.stringify(sorted(settings()));
const sorted = (object) => Object.fromEntries(Object.entries(object).sort());

// Whether there is a run to go on with, begun now where there was none.
async function haveRun() {
  if (run && !run.done && sameSettings()) return true;
  if (!$('settings').reportValidity()) return false;
  problem('');
  return begin();
}

async function go() {
  if (!loaded) return;
  if (running) {
    setRunning(false);
    say(`Stopped at step ${stepsMade(run)}. Loss: ${lossesInWords(run)}.`);
    drawSoon();
    return;
  }
  setRunning(true);
  try {
    if (!await haveRun()) return setRunning(false);
    say(`Training ${run.models[0].placement} and ${run.models[1].placement}, seed ${run.settings.seed}.`);
    await loop();
  } catch (error) {
    fail(error);
  }
}

async function oneStep() {
  if (!loaded) return;
  setRunning(false);
  try {
    if (!await haveRun()) return;
    await makeSteps(1);
    say(`Step ${stepsMade(run)}. Loss: ${run.models.map((m) => `${m.placement} ${numberText(m.steps.at(-1).loss)}`).join(', ')}.`);
  } catch (error) {
    fail(error);
  }
}

function reset() {
  ++token;
  setRunning(false);
  run = null;
  follow = true;
  $('verdict').textContent = 'It comes when both models have made all their steps.';
  $('ends').textContent = '';
  problem('');
  say('Back at the start.');
  if (loaded) draw();
}

async function nextSeed() {
  if (!loaded) return;
  if (Number($('seed').value) >= 999) return problem('Seeds go up to 999.');
  ++token;
  setRunning(false);
  $('seed').value = Number($('seed').value) + 1;
  showSettings();
  await go();
}

function fail(error) {
  setRunning(false);
  problem(error.message);
}

async function save() {
  if (!run || stepsMade(run) === 0) return problem('There is no run yet: press Go first.');
  const {csv} = await ask({do: 'csv'});
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([csv], {type: 'text/csv'}));
  link.download = `gradus-${run.settings.placements.join('-')}-seed-${run.settings.seed}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// --- from the first moment

function addOptions(select, options) {
  select.replaceChildren(...options.map(({name, title}) => new Option(title ?? name, name)));
}

async function load() {
  try {
    startWorker();
    facts = await ask({do: 'facts'});
  } catch (error) {
    $('counter').textContent = '';
    return problem(`This browser could not start the module (${error.message}). A Chrome, Firefox or Safari of 2022 or ` +
                   'later can.');
  }
  addOptions($('first'), facts.placements);
  addOptions($('second'), facts.placements);
  addOptions($('start'), facts.starts);
  $('best').textContent = facts.entropy.toFixed(3);
  for (const [id, title] of [['loss', 'Loss by step'], ['stream-0', 'Stream, first model'], ['stream-1', 'Stream, second model'],
                             ['gradient-0', 'Gradient, first model'], ['gradient-1', 'Gradient, second model']])
    figures[id] = new Figure(id, title);
  setSettings(facts.settings);
  readAddress();
  loaded = true;
  draw();
  say('Ready.');
}

$('settings').addEventListener('submit', (event) => { event.preventDefault(); go(); });
$('settings').addEventListener('change', ({target}) => {
  if (!loaded || target.id === 'onward') return;
  showSettings();
  if (running) { setRunning(false); say('Stopped: the settings have changed.'); }
  if (!run) draw();
});
$('step').addEventListener('click', oneStep);
$('reset').addEventListener('click', reset);
$('next').addEventListener('click', nextSeed);
$('csv').addEventListener('click', () => save().catch(fail));
$('shown').addEventListener('input', () => { follow = $('shown').value === $('shown').max; if (loaded) draw(); });
$('link').addEventListener('click', () => {
  navigator.clipboard?.writeText(new URL($('link').href, location.href).href).then(() => say('Link copied.'), () => {});
});
addEventListener('hashchange', () => { if (loaded) { readAddress(); if (!run) draw(); } });
new ResizeObserver(() => { if (loaded) drawSoon(); }).observe($('loss'));
load();

// A schedule drawn by the reader, and two models trained with it, with the earlier tries.
'use strict';

const NAMES = ['Pre-LN', 'Post-LN'], MEAN = 20, FAINT = 8, TOP = 24, UNTRAINED = 3.6;  // the lab's mean; tries drawn; drawChart's margin; a loss
let facts = null, rates = [], tries = [], dragging = false, high = 0;  // of the axis of rates
let running = false, stopping = false, linkWaits = false;  // Stop takes effect at the next answer, a link after the training

const peak = () => Number((10 ** Number($('peak').value)).toPrecision(2));
const settings = () => ({placements: NAMES, warmup: Number($('warmup').value), rate: peak(), decay: $('decay').value,
                         steps: Number($('steps').value), layers: Number($('layers').value), seed: Number($('seed').value)});
const shapeOf = ({warmup, rate, decay}) => `${warmup ? `warm-up ${warmup}` : 'no warm-up'}, peak ${numberText(rate)}, ` +
    `${{none: 'no decay', linear: 'linear decay', cosine: 'cosine decay', root: 'decay as 1/√step'}[decay]}`;

// Means of the last 20 losses, thinned out to a visible number of points.
function smooth(losses) {
  const points = [], stride = Math.ceil(losses.length / 200);
  for (let step = 1; step <= losses.length; ++step) {
    if (step % stride && step !== losses.length) continue;
    const last = losses.slice(Math.max(0, step - MEAN), step);
    points.push([step, last.includes(null) ? null : last.reduce((sum, loss) => sum + loss, 0) / last.length]);
  }
  return points;
}
const everyStep = (values) => values.map((v, i) => [i + 1, v]);

// --- the charts

const RATE = {id: 'rate', title: 'The schedule'}, LOSS = {id: 'loss', title: 'The loss'};

const earlier = () => tries.filter((one) => !one.running).slice(-FAINT);
const last = () => tries[tries.length - 1];
const steps = () => ({low: 1, high: longest(), label: 'step'});
const longest = () => Math.max(rates.length, ...tries.map((one) => one.settings.steps));

// About twenty steps of a run, the first and the last among them.
const someSteps = (count) => Array.from({length: count}, (_, i) => i + 1)
    .filter((step) => step === 1 || step === count || step % Math.max(1, Math.round(count / 20)) === 0);

function drawRate() {
  const now = settings();
  if (!dragging) high = 1.25 * Math.max(...rates, ...earlier().flatMap((one) => one.rates));
  fillChart(RATE, {
    height: 230, x: steps(), label: `The schedule: ${shapeOf(now)}, ${now.steps} steps. The last rate is ${numberText(rates[rates.length - 1])}.`,
    y: {low: 0, high, label: 'learning rate'},
    lines: [...earlier().map((one) => ({style: 2, kind: 'thin', points: everyStep(one.rates)})),
            {style: 2, name: 'present', points: everyStep(rates)}],
  }, ['step', 'rate'], someSteps(rates.length).map((step) => [step, numberText(rates[step - 1])]));
  const svg = $('rate').querySelector('svg'), {x, y} = plane();
  svg.insertAdjacentHTML('beforeend', `<circle class="handle" cx="${px(x(Math.max(1, now.warmup)))}" cy="${px(y(now.rate))}" r="9"/>`);
}

// Converts steps and rates to positions in the drawing, by its axes.
function plane() {
  const axis = $('rate').querySelector('line.axis'), at = (name) => Number(axis.getAttribute(name));
  const left = at('x1'), right = at('x2'), base = at('y1');
  return {x: (step) => left + (step - 1) / (longest() - 1) * (right - left), y: (rate) => base - rate / high * (base - TOP),
          step: (x) => 1 + (x - left) / (right - left) * (longest() - 1), rate: (y) => (base - y) / (base - TOP) * high};
}

function drawLoss() {
  const now = last(), shown = [...earlier().filter((one) => one !== now), ...(now ? [now] : [])];
  const lines = shown.flatMap((one) => one.losses.map((losses, style) => ({
    style, points: smooth(losses), ...(one === now ? {name: NAMES[style]} : {kind: 'thin'})})));
  if (!now) lines.push(...NAMES.map((name, style) => ({style, name, points: []})));  // leaves room for their names
  const values = lines.flatMap((line) => line.points.map(([, v]) => v)).filter((v) => v !== null);
  const top = now ? Math.max(1.15 * facts.baseline.loss, Math.min(1.2 * now.start, Math.max(0, ...values))) : UNTRAINED;
  fillChart(LOSS, {
    height: 300, x: steps(),
    label: now ? `The loss of each step’s batch, mean of 20. ${tries.map((_, i) => resultOf(i)).join(' ')}` : 'The loss. No try yet.',
    y: {low: 0.9 * facts.entropy, high: top, label: 'nats per character, mean of 20'}, lines,
    references: [{y: facts.entropy, label: 'lowest possible'}, {y: facts.baseline.loss, label: facts.baseline.words}],
  }, ['step', ...NAMES], now ? someSteps(Math.max(1, ...now.losses.map((one) => one.length)))
      .map((step) => [step, ...now.losses.map((losses) => numberText(losses[step - 1] ?? null))]) : []);
}

// --- tries as text and as a table

const endText = (one, i) => (one.diverged[i] !== null ? `diverged at step ${one.diverged[i]}` : one.ends[i] !== null ? fixed(one.ends[i], 3) : '–');

function resultOf(index) {
  const one = tries[index];
  if (one.running || one.stopped) return `Try ${index + 1}: ${shapeOf(one.settings)}, ${one.running ? 'in training' : 'stopped'}.`;
  const ends = NAMES.map((name, i) => `${name} ${one.diverged[i] !== null ? '' : 'ends at '}${endText(one, i)}`);
  return `Try ${index + 1}: ${shapeOf(one.settings)}. ${ends.join(', ')}.`;
}

function compared() {
  const now = last(), alike = ({steps, layers, seed}) => JSON.stringify([steps, layers, seed]);
  const before = tries.slice(0, -1).filter((one) => one.ends[0] !== undefined && alike(one.settings) === alike(now.settings)).pop();
  const least = NAMES.map((name, i) => [name, now.ends[i]]).filter(([, end]) => end !== null && end < facts.baseline.loss).map(([name]) => name);
  const learned = least.length ? `${listed(least)} end${least.length > 1 ? '' : 's'} below the loss of counting, ${fixed(facts.baseline.loss, 3)}.`
                               : `Neither ends below the loss of counting, ${fixed(facts.baseline.loss, 3)}.`;
  if (!before) return learned;
  const changes = NAMES.map((name, i) => [name, now.ends[i] - before.ends[i], now.ends[i] !== null && before.ends[i] !== null])
      .filter(([, , known]) => known).map(([name, by]) => `${name} ${fixed(Math.abs(by), 3)} ${by < 0 ? 'lower' : 'higher'}`);
  return `${learned}${changes.length ? ` Than in try ${tries.indexOf(before) + 1}: ${listed(changes)}.` : ''}`;
}

function drawTries() {
  $('tries').innerHTML = '<caption class="hidden">The tries</caption>' +
      tableText(['try', ...NAMES, 'warm-up', 'peak', 'then', 'steps', 'blocks', 'seed'],
                tries.map((one, i) => [i + 1, ...NAMES.map((_, m) => (one.running ? '…' : one.stopped ? 'stopped' : endText(one, m))),
                                       one.settings.warmup, numberText(one.settings.rate), one.settings.decay, one.settings.steps,
                                       one.settings.layers, one.settings.seed]));
  $('tries').parentNode.hidden = !tries.length;
}

function show() {
  drawRate();
  drawLoss();
  drawTries();
}

// --- input

// The longest allowed warm-up. A decay to 0 needs a step after it.
const limitWarmup = () => { $('warmup').max = $('steps').value - ['linear', 'cosine'].includes($('decay').value); };

const update = oneAtATime(async () => {
  if (running) return;
  const wrong = controls().find((one) => !one.checkValidity());
  if (wrong) throw new Error(`${wrong.labels[0].textContent}: ${wrong.validationMessage}`);
  const warmup = $('warmup').value;
  limitWarmup();
  const shortened = $('warmup').value === warmup ? '' : `Warm-up is now ${$('warmup').value}. `;
  document.querySelector('output[for=warmup]').textContent = $('warmup').value;
  document.querySelector('output[for=peak]').textContent = numberText(peak());
  $('peak').ariaValueText = numberText(peak());
  rates = (await ask({do: 'rates', settings: settings()})).rates;
  show();
  if (shortened && tries.length) say(shortened);
  if (!tries.length) say(`${shortened}${shapeOf(settings())[0].toUpperCase()}${shapeOf(settings()).slice(1)}. Press Train to see what it does.`, 400);
  writeLink();
});

function setRunning(now) {
  [running, stopping] = [now, false];
  $('go').removeAttribute('aria-disabled');
  $('go').textContent = now ? 'Stop' : 'Train';
  for (const one of [...controls(), $('clear')]) one.disabled = now;
}

async function train() {
  const one = {settings: settings(), losses: [[], []], ends: [], diverged: [null, null], running: true, stopped: false};
  rates = one.rates = (await ask({do: 'rates', settings: one.settings})).rates;  // update() may already be requesting them
  const {models} = await ask({do: 'begin', settings: one.settings});
  one.start = Math.max(...models.map((model) => model.start_loss));
  tries.push(one);
  show();
  say(`Try ${tries.length} trains: ${shapeOf(one.settings)}.`);
  $('progress').max = one.settings.steps;
  for (let count = 1, done = false; !done && !stopping;) {
    const before = performance.now(), answer = await ask({do: 'step', count});
    for (const both of answer.steps) both.forEach((at, i) => { if (at) one.losses[i].push(at.loss); });
    done = answer.done;
    const made = Math.max(...one.losses.map((losses) => losses.length));
    $('progress').value = made;
    $('counter').textContent = `Step ${made} of ${one.settings.steps}`;
    drawLoss();
    count = Math.max(1, Math.min(16, Math.round(count * 150 / (performance.now() - before))));
    one.running = !done;
  }
  [one.stopped, one.running] = [one.running, false];
  if (one.stopped) return;
  for (const [i, model] of (await ask({do: 'verdict'})).models.entries())
    [one.ends[i], one.diverged[i]] = [model.final_loss, model.diverged_at];
}

async function go() {
  if (!opened) return;
  if (running) {
    stopping = true;  // presses until the worker has answered have no effect: the worker has one session
    $('go').setAttribute('aria-disabled', true);
    return;
  }
  if (!controls().every((one) => one.checkValidity())) return update();
  setRunning(true);
  let failure = '';
  try {
    await train();
    say(`${resultOf(tries.length - 1)}${last().stopped ? '' : ' ' + compared()}`);
  } catch (error) {
    failure = error.message;
  }
  setRunning(false);
  if (linkWaits) readSettings();
  await update();
  if (failure) complain(failure);
}

function clear() {
  tries = [];
  $('progress').value = 0;
  $('counter').textContent = '';
  update();
}

// Dragging the dot sets both sliders.
function drag(event) {
  const svg = $('rate').querySelector('svg'), box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
  const {step, rate} = plane();
  $('warmup').value = Math.round(step((event.clientX - box.left) * scale));
  $('peak').value = Math.log10(Math.max(1e-4, rate((event.clientY - box.top) * scale)));
  update();
}

async function begin() {
  startWorker();
  makeCharts([RATE, LOSS]);
  facts = await ask({do: 'facts'});
  fillMenu('decay', facts.decays, 'none');
  remember();
  await drawLinked(update, readSettings);
}

// Steps and decay first: the longest warm-up depends on them.
function readSettings() {
  linkWaits = running;
  if (running) return;
  for (const id of ['steps', 'decay']) {
    give($(id), linked().get(id) ?? beginnings.get(id));
    if (!$(id).value || !$(id).checkValidity()) give($(id), beginnings.get(id));
  }
  limitWarmup();
  readLink();
}

$('go').addEventListener('click', go);
$('clear').addEventListener('click', clear);
for (const one of controls()) one.addEventListener(one.id === 'steps' ? 'change' : 'input', update);  // 20 is not yet 2000
new ResizeObserver(() => { if (rates.length) show(); }).observe($('charts'));
begin().then(() => {
  const drawing = $('rate').querySelector('.drawing');
  drawing.addEventListener('pointerdown', (event) => {
    if (running || !event.target.closest('.handle')) return;
    dragging = true;
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener('pointermove', (event) => { if (dragging) drag(event); });
  for (const end of ['pointerup', 'pointercancel'])
    drawing.addEventListener(end, () => {
      if (!dragging) return;
      dragging = false;
      update();
    });
}).catch((error) => complain(error.message));

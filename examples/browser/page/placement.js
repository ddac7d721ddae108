// A block with a choice of norms, the gradient's path through it, and stream and gradient by depth.
'use strict';

const AT_ONCE = 150;  // milliseconds of training between two drawings
let models = [], begun = '', made = 0, ended = false, diverged = [null, null];  // the worker's models: the chosen one and the one for comparison

const other = (placement) => (placement === 'Pre-LN' ? 'Post-LN' : 'Pre-LN');
const wanted = () => ({placements: [$('placement').value, other($('placement').value)], layers: Number($('layers').value),
                       start: $('start').value, seed: Number($('seed').value), rate: Number($('rate').value), steps: 5000});
const block = () => Math.min(Number($('block').value), models[0].blocks.length);

// --- the block, from bottom to top, with the gradient's path inside

const STREAM = 112, BRANCH = 264, INSIDE = 15, HEIGHT = 212, BOTTOM = 470;  // of one branch, of its foot

const times = (factor) => (factor === 1 ? '×1' : `×${numberText(factor)}`);
const part = (kind, x, y, width, name) => `<g class="${kind}"><rect x="${x - width / 2}" y="${y - 14}" width="${width}" height="28" rx="5"/>` +
                                          `<text class="box" x="${x}" y="${y + 5}">${name}</text></g>`;
const words = (x, y, text, kind) => `<text class="${kind}" x="${x}" y="${y}">${text}</text>`;
// null means a value that overflows a float; a product with it is null, too.
const product = (...factors) => (factors.includes(null) ? null : factors.reduce((a, b) => a * b));
const wide = (size) => (size === null ? 7 : px(Math.min(7, Math.max(0.8, 3 * size))));

// The gradient's path, wider where it is larger, with a tip at its end.
function down(path, size, [x, y], to) {
  const point = {down: 'l-5 -9h10z', left: 'l9 -5v10z', right: 'l-9 -5v10z'}[to];
  return `<path class="down" d="${path}" style="stroke-width:${wide(size)}"/><path class="downtip" d="M${x} ${y}${point}"/>`;
}

// One branch; `size` is the gradient from above as a share of the whole block's.
function drawBranch(foot, name, norms, g, size) {
  const fork = foot - 12, low = foot - 52, middle = foot - 96, high = foot - 140, join = foot - 168, top = foot - HEIGHT;
  const x = STREAM + INSIDE, z = BRANCH - INSIDE, side = BRANCH + 50;
  const sum = product(size, g.on_stream), fed = product(sum, g.after), out = product(fed, g.f), added = product(sum, g.branch);
  const free = norms.on_stream ? '' : 'free';
  return `<path class="way ${free}" d="M${STREAM} ${foot}V${join + 18}"/><path class="tip ${free}" d="M${STREAM} ${join + 10}l-4.5 9h9z"/>` +
         `<path class="way ${free}" d="M${STREAM} ${join - 10}V${top}"/>` +
         `<path class="way" d="M${STREAM} ${fork}H${BRANCH}V${join}H${STREAM + 18}"/><path class="tip" d="M${STREAM + 10} ${join}l9 -4.5v9z"/>` +
         down(`M${x} ${top - 26}V${join + 8}`, size, [x, join - 12], 'down') +
         down(`M${x} ${join + 8}V${fork - 20}`, sum, [x, fork - 14], 'down') +
         down(`M${x + 3} ${join + 14}H${z}V${high}`, sum, [z, high - 15], 'down') + down(`M${z} ${high}V${middle}`, fed, [z, middle - 15], 'down') +
         down(`M${z} ${middle}V${low}`, out, [z, low - 15], 'down') +
         down(`M${z} ${low}V${fork - 12}H${x + 14}`, added, [x + 8, fork - 12], 'left') +
         `<g class="sum"><circle cx="${STREAM}" cy="${join}" r="10"/><path d="M${STREAM - 5} ${join}h10m-5 -5v10"/></g>` +
         (norms.on_stream ? part('norm on', STREAM, join - 27, 64, 'LN') + words(STREAM - 38, join - 22, times(g.on_stream), 'times end') : '') +
         (norms.after ? part('norm', BRANCH, high, 84, 'LN') + words(side, high + 5, times(g.after), 'times') : '') +
         part('', BRANCH, middle, 84, name) + words(side, middle + 5, times(g.f), 'times') +
         (norms.before ? part('norm', BRANCH, low, 84, 'LN') + words(side, low + 5, times(g.before), 'times') : '') +
         words(STREAM - 12, middle, '×1', 'times end') + words(STREAM - 12, middle + 16, 'unchanged', 'soft end') +
         words(x + 16, fork - 35, 'adds', 'times') + words(x + 16, fork - 20, times(g.branch), 'times');
}

function drawBlock() {
  const model = models[0], l = block(), {attention, ffn} = model.blocks[l - 1], {norms, gradient} = model;
  const top = BOTTOM - 2 * HEIGHT;
  const place = `${norms.placement}, block ${l} of ${model.blocks.length}${model.steps ? `, at step ${model.steps}` : ''}`;
  const label = `${place}. ` + partsOf(model, l).map(([name, factor]) => `${name} ${times(factor)}`).join(', ');
  $('drawn').innerHTML = `<figcaption>${place}</figcaption>` +
      `<svg viewBox="0 0 376 ${BOTTOM + 30}" role="img" aria-label="${escapeText(label)}">` +
      drawBranch(BOTTOM, 'Attn', norms, attention, ffn.all) + drawBranch(BOTTOM - HEIGHT, 'FFN', norms, ffn, 1) +
      `<path class="way ${norms.on_stream ? '' : 'free'}" d="M${STREAM} ${top}v-14"/>` +
      `<path class="tip ${norms.on_stream ? '' : 'free'}" d="M${STREAM} ${top - 22}l-4.5 9h9z"/>` +
      down(`M${STREAM + INSIDE} ${BOTTOM - 26}V${BOTTOM + 12}`, product(ffn.all, attention.all), [STREAM + INSIDE, BOTTOM + 18], 'down') +
      words(STREAM - 12, top - 12, `x<tspan dy="3" font-size="9">${l}</tspan>`, 'end') +
      words(STREAM - 12, BOTTOM + 14, `x<tspan dy="3" font-size="9">${l - 1}</tspan>`, 'end') +
      words(STREAM + 32, top - 10, `gradient ${numberText(gradient[l])}`, 'times') +
      words(STREAM + 32, BOTTOM + 16, `gradient ${numberText(gradient[l - 1])}`, 'times') + '</svg>' +
      '<details><summary>Table</summary><div class="scroll" tabindex="0" role="region" aria-label="The gradient’s path as a table"><table>' +
      tableText(['part, from above', 'gradient'], partsOf(model, l).map(([name, factor]) => [name, times(factor)])) + '</table></div></details>';
}

// The parts that the gradient passes, from top to bottom.
function partsOf({norms, blocks}, l) {
  return [['FFN', blocks[l - 1].ffn], ['attention', blocks[l - 1].attention]].flatMap(([name, g]) => [
    ...(norms.on_stream ? [[`norm on the stream, after ${name}`, g.on_stream]] : []),
    [`shortcut of ${name}`, 1],
    ...(norms.after ? [[`norm after ${name}`, g.after]] : []),
    [name, g.f],
    ...(norms.before ? [[`norm before ${name}`, g.before]] : []),
    [`the whole branch of ${name}`, g.branch],
  ]);
}

// --- by depth

// After each block; the input of the first is in the tables.
const CHARTS = [{id: 'stream', title: 'The stream: its mean square, |x|²/d', y: '|x|²/d after block l'},
                {id: 'gradient', title: 'The gradient of the stream: its norm, |dL/dx|', y: '|dL/dx| after block l'}];

function drawChartOf(chart) {
  const {id, title, y} = chart;
  const layers = models[0].blocks.length, values = models.flatMap((model) => model[id].slice(1)).filter((v) => v !== null && v > 0);
  const low = Math.min(...values), high = Math.max(0, ...values), log = high > 300 * low;
  const axis = log ? {low: low / 1.3, high: high * 1.3, log} : {low: 0, high: high * 1.06};
  fillChart(chart, {
    height: 250, label: `${title}. ${models.map((model) => endsOf(model, id)).join(' ')}`,
    x: {low: 1, high: layers, label: 'block', whole: true}, y: {...axis, label: y + (log ? ', log scale' : '')}, cursor: block(),
    lines: models.map((model, style) => ({style, name: model.norms.placement, marks: layers <= 24,
                                          points: model[id].map((v, l) => [l, v]).slice(1)})),
  }, ['after block', ...models.map((model) => model.norms.placement)],
            models[0][id].map((_, l) => [l === 0 ? '0, the input' : l, ...models.map((model) => numberText(model[id][l]))]));
}

function show() {
  $('block').max = models[0].blocks.length;
  $('block-name').textContent = `${block()} of ${models[0].blocks.length}`;
  drawBlock();
  CHARTS.forEach(drawChartOf);
}

// --- as text

const amount = (value) => (value === null ? 'more than a float holds' : numberText(value));
const stepsText = (count) => `${count} step${count > 1 ? 's' : ''}`;

function endsOf(model, id) {
  const values = model[id], last = values.length - 1, half = Math.floor(last / 2), name = model.norms.placement;
  if (id === 'stream') {
    const before = values[half], after = values[2 * half];
    const growth = before === null || after === null ? '' : `; from block ${half} to ${2 * half} the depth doubles, and it becomes ` +
                                                            `${numberText(after / before)} times as large`;
    return `${name}: |x|²/d is ${amount(values[1])} after block 1 and ${amount(values[last])} after block ${last}${growth}.`;
  }
  return `${name}: the gradient is ${amount(values[last])} after block ${last} and ${amount(values[1])} after block 1.`;
}

function blockWords() {
  const model = models[0], l = block(), {attention, ffn} = model.blocks[l - 1], {norms} = model;
  const on = product(attention.on_stream, ffn.on_stream), all = product(attention.all, ffn.all);
  return `Of a gradient of 1 from above block ${l}, the shortcuts ` +
         (norms.on_stream ? `alone would pass on all of it, but the two norms on them leave ${amount(on)}` : 'pass on 1, unchanged') +
         `; with the parts of the branches, ${amount(all)} ${all === null ? 'arrives' : 'arrive'} below.`;
}

function beside() {
  const {norms, stream, steps} = models[1], after = steps === models[0].steps ? '' : `, after ${stepsText(steps)}`;
  return `In ${norms.placement}, for comparison${after}, |x|²/d is ${amount(stream[1])} and ${amount(stream[stream.length - 1])}.`;
}

function divergence() {
  const ends = models.map((model, i) => [model.norms.placement, diverged[i]]).filter(([, step]) => step !== null);
  if (!ends.length) return '';
  if (ends.length === 1) return ` ${ends[0][0]} diverged at step ${ends[0][1]}, and its training ended there.`;
  return diverged[0] === diverged[1] ? ` Both diverged at step ${diverged[0]}, and their training ended there.`
                                     : ` Both diverged, ${listed(ends.map(([name, step]) => `${name} at step ${step}`))}.`;
}

function summary() {
  const steps = models[0].steps;
  return `${steps ? `After ${stepsText(steps)} of training` : 'Before training'}. ${endsOf(models[0], 'stream')} ` +
         `${endsOf(models[0], 'gradient').replace(/^.*?: t/, 'T')} ${blockWords()} ${beside()}${divergence()}`;
}

// --- input

const update = oneAtATime(async () => {
  $('layers').labels[0].nextElementSibling.nextElementSibling.textContent = $('layers').value;
  const wrong = controls().find((one) => !one.checkValidity());
  if (wrong) throw new Error(`${wrong.labels[0].textContent}: ${wrong.validationMessage}`);
  const settings = wanted(), key = JSON.stringify(settings), goal = Number($('steps').value);
  if (key !== begun || made > goal) {
    begun = '';
    await ask({do: 'begin', settings});
    [begun, made, ended, diverged] = [key, 0, false, [null, null]];
  }
  writeLink();
  if (made < goal) say(`It trains for ${goal} steps.`);
  for (let count = 1;;) {
    models = (await ask({do: 'trace'})).models;
    show();
    if (made === goal || ended || key !== JSON.stringify(wanted()) || goal !== Number($('steps').value)) break;
    const before = performance.now();
    const answer = await ask({do: 'step', count: Math.min(count, goal - made)});
    made += Math.min(count, goal - made);
    [ended, diverged] = [answer.done, answer.diverged];
    count = Math.max(1, Math.min(50, Math.round(count * AT_ONCE / (performance.now() - before))));
  }
  say(summary(), 400);
});

async function begin() {
  startWorker();
  makeCharts(CHARTS);
  const {placements, starts} = await ask({do: 'blocks'});
  fillMenu('placement', placements, 'Pre-LN');
  fillMenu('start', starts, 'fan_in');
  remember();
  await drawLinked(update, () => {
    const before = models.length ? $('layers').value : '';
    readLink();
    $('block').max = $('layers').value;
    if ($('layers').value !== before) $('block').value = Math.ceil($('layers').value / 2);
  });
}

for (const one of controls()) one.addEventListener('input', update);
$('block').addEventListener('input', () => {
  if (!models.length) return;
  show();
  say(summary(), 300);
});
new ResizeObserver(() => { if (models.length) show(); }).observe($('charts'));
begin().catch((error) => complain(error.message));

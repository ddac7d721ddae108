// The page's figures, drawn from a run:
//   {settings, models: [{placement, steps: [{step, loss, gradient, stream, gradients}], mean: [], diverged: step or null},
//   the other]}
'use strict';

const SMOOTHING = 20;  // steps; the lab's

// A model's step, or its last one if it made fewer.
function stepOf(model, step) {
  return model.steps[Math.min(step, model.steps.length) - 1];
}

function addStep(model, at) {
  model.steps.push(at);
  const last = model.steps.slice(-SMOOTHING).map((one) => one.loss);
  model.mean.push(last.includes(null) ? null : last.reduce((sum, loss) => sum + loss, 0) / last.length);
}

// A figure: caption, drawing, and a table of the same data, which is filled while it is open.
class Figure {
  constructor(id, tableTitle) {
    this.element = document.getElementById(id);
    this.element.innerHTML = '<figcaption></figcaption><div class="drawing"></div><details><summary>As a table</summary>' +
                             '<div class="scroll" tabindex="0" role="region"></div></details>';
    [this.caption, this.drawing, this.details] = this.element.children;
    this.table = this.details.lastElementChild;
    this.table.setAttribute('aria-label', tableTitle);
    this.details.addEventListener('toggle', () => this.fill());
    this.rows = () => null;
  }
  width() { return Math.max(260, Math.floor(this.drawing.clientWidth)); }
  show(caption, svg, rows) {
    if (this.caption.innerHTML !== caption) this.caption.innerHTML = caption;
    this.drawing.innerHTML = svg;
    this.rows = rows;
    this.fill();
  }
  fill() {
    if (!this.details.open) return;
    const rows = this.rows() ?? [['No run yet']];
    const cell = (tag, scope) => (text) => `<${tag}${scope}>${escapeText(text)}</${tag}>`;
    const [head, ...body] = rows;
    this.table.innerHTML = '<table><thead><tr>' + head.map(cell('th', ' scope="col"')).join('') + '</tr></thead><tbody>' +
        body.map(([first, ...rest]) => '<tr>' + cell('th', ' scope="row"')(first) + rest.map(cell('td', '')).join('') +
                                       '</tr>').join('') + '</tbody></table>';
  }
}

const captionOf = (style, text) => drawKey(style) + `<span>${escapeText(text)}</span>`;

// --- the loss

function lossTable(run) {
  const steps = Math.max(...run.models.map((model) => model.steps.length));
  if (steps === 0) return null;
  const stride = Math.max(1, Math.round(run.settings.steps / 20));
  const rows = [['step', ...run.models.map((model) => model.placement)]];
  for (let step = 1; step <= steps; ++step)
    if (step === 1 || step === steps || step % stride === 0)
      rows.push([step, ...run.models.map((model) => lossText(model.steps[step - 1]?.loss ?? null))]);
  return rows;
}

function lossWords(run) {
  const words = run.models.filter((model) => model.steps.length).map((model) =>
      `${model.placement} from ${lossText(model.steps[0].loss)} to ${lossText(model.mean.at(-1))} ` +
      `after ${model.steps.length} steps` + (model.diverged ? ', where it diverged' : ''));
  return 'Loss against steps. ' + (words.length ? words.join('; ') + '.' : 'No steps yet.');
}

function drawLoss(figure, run, facts, cursor) {
  const lines = [];
  run.models.forEach((model, style) => lines.push(
      {style, kind: 'raw', points: model.steps.map((at) => [at.step, at.loss])}));
  run.models.forEach((model, style) => lines.push(
      {style, endMark: true, name: model.placement, note: model.diverged ? divergedWords(model) : '',
       points: model.mean.map((loss, i) => [i + 1, loss])}));
  const means = run.models.flatMap((model) => model.mean.filter((loss) => loss !== null)), highest = Math.max(3.6, ...means);
  const width = figure.width();
  figure.show('', drawChart({
    width, height: width < 500 ? 270 : 330, lines, cursor, label: lossWords(run),
    x: {low: 0, high: run.settings.steps, label: 'step'},
    y: {low: Math.min(0.8, facts.entropy - 0.1), high: Math.min(6, highest * 1.05), label: 'nats per character' + (highest > 6 ? ' (above 6: drawn at the edge)' : '')},
    references: [{y: facts.entropy, label: `best possible ${facts.entropy.toFixed(3)}`},
                 {y: facts.baseline.loss, label: `${facts.baseline.words.replace(/^the /, '')} ${facts.baseline.loss.toFixed(3)}`}],
  }), () => lossTable(run));
}

// --- block by block

// Steps whose profiles are shown as thin lines, in addition to the one at `shown`.
const earlierSteps = (shown) => [1, 10, 100, 1000].filter((step) => step <= shown / 2);

function profileTable(model, key, shown) {
  const steps = [...earlierSteps(shown), shown].filter((step) => step >= 1);
  if (!model.steps.length) return null;
  return [['block', ...steps.map((step) => `step ${step}`)],
          ...stepOf(model, 1)[key].map((_, l) => [l + 1, ...steps.map((step) => numberText(stepOf(model, step)[key][l]))])];
}

// The values of all steps of all models: axes only grow. `clipped`: some values are below `low`.
function extentOf(run, key) {
  let low = Infinity, high = 0, least = Infinity;
  for (const model of run.models)
    for (const at of model.steps)
      for (const value of at[key])
        if (value !== null && Number.isFinite(value)) {
          least = Math.min(least, value), high = Math.max(high, value);
          if (value > 0) low = Math.min(low, value);
        }
  if (high === 0) return {low: 0.1, high: 10};
  low = Math.max(low, high * 1e-8);
  const room = Math.max(1.08, Math.sqrt(4 / (high / low)));  // at least a factor of 4
  low /= room;
  return {low, high: high * room, clipped: least < low};
}

function drawProfile(figure, run, style, what, shown, extent) {
  const model = run.models[style], layers = run.settings.layers;
  const points = (step) => stepOf(model, step)[what.key].map((value, l) => [l + 1, value === 0 ? extent.low : value]);
  const lines = [];
  let caption = model.placement, words = 'No steps yet.';
  if (model.steps.length) {
    const last = Math.min(shown, model.steps.length);
    for (const step of earlierSteps(last)) lines.push({style, kind: 'thin', name: `step ${step}`, points: points(step)});
    lines.push({style, marks: true, name: `step ${last}`, points: points(last)});
    caption += `, step ${last}` + (last === model.diverged ? ': diverged' : '');
    const values = stepOf(model, last)[what.key];
    words = `${model.placement}, step ${last}: from ${numberText(values[0])} in block 1 to ` +
            `${numberText(values.at(-1))} in block ${layers}.`;
  }
  const width = figure.width();
  figure.show(captionOf(style, caption), drawChart({
    width, height: 250, lines, label: `${what.title} by block. ${words}`,
    x: {low: layers === 1 ? 0 : 1, high: layers, whole: true, label: 'block'},
    y: {...extent, log: true, label: what.axis + (extent.clipped ? ` (below ${numberText(extent.low)}: at the edge)` : '')},
  }), () => profileTable(model, what.key, Math.min(shown, model.steps.length)));
}

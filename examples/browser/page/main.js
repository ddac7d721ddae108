// The page: the display of a run, and the buttons.
'use strict';

const calm = matchMedia('(prefers-reduced-motion: reduce)');
let facts = null, follow = true;
let drawnAt = 0, drawing = 0, saidAt = 0;
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
  models: settings().placements.map((placement) => ({placement, steps: [], mean: [], diverged: null})),
});
const runShown = () => (run && stepsMade(run) ? run : emptyRun());
const shownStep = (of) => (follow ? stepsMade(of) : Number($('shown').value));

const PROFILES = [{id: 'stream', key: 'stream', title: 'Size of the stream', axis: 'root mean square'},
                  {id: 'gradient', key: 'gradients', title: 'Size of the gradient', axis: 'norm of the gradient'}];

function draw() {
  clearTimeout(drawing);
  drawing = 0;
  drawnAt = performance.now();
  const of = runShown(), made = stepsMade(of), shown = shownStep(of);
  $('shown').max = Math.max(1, made);
  if (follow) $('shown').value = Math.max(1, made);
  $('shown-step').textContent = made === 0 ? 'none yet' : follow ? `${made}, the last` : shown;
  drawLoss(figures.loss, of, facts, made && !follow ? shown : null);
  for (const what of PROFILES) {
    const extent = extentOf(of, what.key);
    for (const style of [0, 1]) drawProfile(figures[`${what.id}-${style}`], of, style, what, shown, extent);
  }
  $('progress').max = of.settings.steps;
  $('progress').value = of.done ? of.settings.steps : made;
  showCounter();
  showStale();
}

// Soon, and not more often than is visible.
function drawSoon() {
  if (drawing) return;
  const wait = Math.max(0, (calm.matches ? 1000 : 120) - (performance.now() - drawnAt));
  drawing = setTimeout(() => requestAnimationFrame(draw), wait);
}

function showCounter() {
  $('counter').textContent = beginning ? 'Preparing …' : counterText(runShown());
}

function counterText(of) {
  const made = stepsMade(of), words = [`Step ${made} of ${of.settings.steps}`, `seed ${of.settings.seed}`];
  if (of.done && made < of.settings.steps) words.push('both diverged');
  if (speed && running) {
    const left = (of.settings.steps - made) / speed;
    words.push(`${speed.toFixed(speed < 10 ? 1 : 0)} steps per second each`);
    if (left >= 1) words.push(left < 90 ? `${Math.ceil(left)} s left` : `${Math.round(left / 60)} minutes left`);
  }
  return words.join(' · ');
}

async function save() {
  while (beginning) await beginning.answered.catch(() => {});  // the module replaces its session by the next one
  if (!run) return problem('There is no run yet: press Go first.');
  if (stepsMade(run) === 0) return problem('This run has made no steps yet.');
  const {placements, seed} = run.settings, {csv} = await ask({do: 'csv'});
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([csv], {type: 'text/csv'}));
  link.download = `gradus-${placements.join('-')}-seed-${seed}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The link's address contains the settings already.
async function copyLink() {
  try {
    await navigator.clipboard.writeText(new URL($('link').href, location.href).href);
    say('Link copied.');
  } catch {
    say('Not copied; the address of this page is the link now.');
  }
}

// --- at the start

function addOptions(select, options) {
  select.replaceChildren(...options.map(({name, title}) => new Option(title ?? name, name)));
}

async function load() {
  try {
    startWorker();
    facts = await ask({do: 'facts'});
  } catch (error) {
    $('counter').textContent = '';
    return problem(`This browser could not start the module (${error.message}). Chrome from version 95, Firefox from 113 and ` +
                   'Safari from 16.4 can.');
  }
  addOptions($('first'), facts.placements);
  addOptions($('second'), facts.placements);
  addOptions($('start'), facts.starts);
  $('best').textContent = facts.entropy.toFixed(3);
  for (const [id, title] of [['loss', 'Loss by step'], ['stream-0', 'Stream, first model'], ['stream-1', 'Stream, second model'],
                             ['gradient-0', 'Gradient, first model'], ['gradient-1', 'Gradient, second model']])
    figures[id] = new Figure(id, title);
  setSettings(facts.settings);
  problem(readAddress());
  loaded = true;
  draw();
  say('Ready.');
}

$('settings').addEventListener('submit', (event) => { event.preventDefault(); go(); });
$('settings').addEventListener('change', ({target}) => { if (loaded && target.id !== 'onward') settingsChanged(); });
$('step').addEventListener('click', oneStep);
$('reset').addEventListener('click', reset);
$('next').addEventListener('click', nextSeed);
$('csv').addEventListener('click', () => save().catch(fail));
$('shown').addEventListener('input', () => { follow = $('shown').value === $('shown').max; if (loaded) draw(); });
$('link').addEventListener('click', copyLink);
addEventListener('hashchange', () => {
  if (!loaded) return;
  setSettings(facts.settings);  // which an address may omit
  problem(readAddress());
  settingsChanged();
});
new ResizeObserver(() => { if (loaded) drawSoon(); }).observe($('loss'));
load();

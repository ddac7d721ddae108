// The run: the actions of Go, Stop, One step, Reset and Next seed, and the loop that requests steps.
//
// The worker answers in order, and a reader may press anything while an answer is pending. Each press of a
// button is a turn. An action that finds a newer turn than its own ends silently. Stop is not a turn: it
// clears `running`, and the current turn ends at its next answer.
'use strict';

let run = null, running = false, turn = 0, loaded = false;
let beginning = null;  // {wanted, answered}: a begin without an answer; the module's session may no longer be `run`
let stopReason = '', speed = null;

const stepsMade = (of) => Math.max(...of.models.map((model) => model.steps.length));

function setRunning(now) {
  running = now;
  $('go').textContent = now ? 'Stop' : 'Go';
}

// "Loss, mean of the last 20 steps: Pre-LN 2.82, Post-LN 3.00."; nothing before the first step.
function lossesInWords(of, one = (model) => model.mean.at(-1), count = Math.min(SMOOTHING, stepsMade(of))) {
  if (count === 0) return '';
  const words = of.models.map((model) => `${model.placement} ${model.diverged ? divergedWords(model) : lossText(one(model))}`);
  const what = of.models.every((model) => model.diverged) ? '' : count === 1 ? 'Loss: ' : `Loss, mean of the last ${count} steps: `;
  return `${what}${words.join(', ')}.`;
}

// The module has one session: an answer to begin is always the current run, even if nothing waits for it any
// more. Fields that have been changed in the meantime keep their values.
async function begin() {
  const asked = settings(), answer = await ask({do: 'begin', settings: asked});
  run = {settings: answer.settings, done: false, models: answer.models.map((model) => ({...model, steps: [], mean: [], diverged: null}))};
  speed = null;
  forgetVerdict(run.settings);
  if (keyOf(settings()) !== keyOf(asked)) return;
  setSettings(answer.settings);
  showSettings();
}

// Whether there is a run with these settings to continue; begins one if there is none.
async function haveRun() {
  const wanted = keyOf(settings());
  problem('');
  if (!beginning && run && !run.done && keyOf(run.settings) === wanted) return true;
  if (!$('settings').reportValidity()) return false;
  if (beginning?.wanted !== wanted) {
    const mine = beginning = {wanted};
    mine.answered = begin().finally(() => {
      if (beginning === mine) beginning = null;
      drawSoon();
    });
  }
  const {layers} = settings();
  say(`Preparing two models of ${layers} block${layers === 1 ? '' : 's'} …`);
  showCounter();
  showStale();
  await beginning.answered;
  return true;
}

// Makes `count` steps of a run. They are made whether or not anything still waits for them, so they always
// belong to it.
async function makeSteps(of, count) {
  const answer = await ask({do: 'step', count});
  if (run !== of) return;
  for (const both of answer.steps)
    both.forEach((at, i) => { if (at) addStep(of.models[i], at); });
  of.models.forEach((model, i) => { model.diverged = answer.diverged[i]; });
  of.done = answer.done;
  drawSoon();
  if (of.done) await showVerdict(of);
}

// How many steps to request at a time: as many as take about 60 ms, so that Stop takes effect soon.
async function loop(mine) {
  const of = run, first = stepsMade(of), since = performance.now();
  let count = 1;
  while (mine === turn && running && !of.done) {
    const before = performance.now();
    await makeSteps(of, count);
    if (run !== of || mine !== turn) return;
    const now = performance.now();
    speed = (stepsMade(of) - first) / (now - since) * 1000;
    count = Math.max(1, Math.min(16, Math.round(count * 60 / Math.max(1, now - before))));
    if (running && now - saidAt > 10000) say(`Step ${stepsMade(of)} of ${of.settings.steps}. ${lossesInWords(of)}`);
  }
}

// --- buttons

function stop(reason = '') {
  stopReason = reason;
  setRunning(false);
  say(`Stopping. ${reason}`.trim());
}

async function go() {
  if (!loaded) return;
  if (running) return stop();
  const mine = ++turn;
  stopReason = '';
  setRunning(true);
  try {
    const there = await haveRun();
    if (mine !== turn) return;
    if (!there) return setRunning(false);
    if (running) {
      say(`Training ${run.models[0].placement} and ${run.models[1].placement}, seed ${run.settings.seed}.`);
      await loop(mine);
      if (mine !== turn) return;
    }
    await ended();
  } catch (error) {
    if (mine === turn) fail(error);
  }
}

async function ended() {
  const onward = running && run.done && $('onward').checked && Number($('seed').value) < 999;
  setRunning(false);
  const words = lossesInWords(run);
  say(`${run.done ? 'Done.' : `Stopped at step ${stepsMade(run)}.`} ${stopReason}${words}`);
  drawSoon();
  if (onward) await nextSeed();
}

async function oneStep() {
  if (!loaded) return;
  setRunning(false);
  if (!beginning && run?.done && keyOf(run.settings) === keyOf(settings())) return say('All steps are made: Reset or Go starts over.');
  const mine = ++turn;
  try {
    if (!await haveRun() || mine !== turn) return;
    const of = run;
    await makeSteps(of, 1);
    if (mine !== turn) return;
    say(`Step ${stepsMade(of)}. ${lossesInWords(of, (model) => model.steps.at(-1).loss, 1)}`);
  } catch (error) {
    if (mine === turn) fail(error);
  }
}

function reset() {
  if (!loaded) return;
  ++turn;
  setRunning(false);
  run = null;
  forgetVerdict(settings());
  problem('');
  say(`Back at the start, with seed ${$('seed').value}.`);
  draw();
}

async function nextSeed() {
  if (!loaded) return;
  if (Number($('seed').value) >= 999) return problem('Seeds go up to 999.');
  ++turn;
  setRunning(false);
  $('seed').value = Number($('seed').value) + 1;
  showSettings();
  await go();
}

// Fields and run differ: training stops, and the next Go starts over.
function settingsChanged() {
  showSettings();
  const present = beginning ? beginning.wanted : run && keyOf(run.settings);
  if (running && present !== keyOf(settings())) stop('The settings have changed. ');
  if (!run || !stepsMade(run)) draw();
  else showStale();
}

function fail(error) {
  setRunning(false);
  say('');
  problem(error.message);
  drawSoon();
}

// The run: what Go, Stop, One step, Reset and Next seed do, and the loop that asks the worker for steps.
//
// The worker answers in order, and a reader may press anything while an answer is under way. Each press of a button is a
// turn. What finds a newer turn than its own has been overtaken: it ends and says nothing. Stop is no turn: it takes
// `running` away, and the present turn ends at its next answer.
'use strict';

let run = null, running = false, turn = 0, loaded = false;
let beginning = null;  // {wanted, answered}: a begin without an answer; the module's session may no longer be `run`
let stopReason = '', speed = null;

const stepsMade = (of) => Math.max(...of.models.map((model) => model.steps.length));

function setRunning(now) {
  running = now;
  $('go').textContent = now ? 'Stop' : 'Go';
}

function lossesInWords(of) {
  return of.models.filter((model) => model.steps.length).map((model) =>
      model.diverged ? `${model.placement} diverged at step ${model.diverged}` : `${model.placement} ${numberText(model.mean.at(-1))}`)
      .join(', ');
}

// The module has one session: an answer to begin is always the present run, even if nobody waits for it any more. Fields
// that have been changed meanwhile keep what they hold.
async function begin() {
  const asked = settings(), answer = await ask({do: 'begin', settings: asked});
  run = {settings: answer.settings, done: false, models: answer.models.map((model) => ({...model, steps: [], mean: [], diverged: null}))};
  speed = null;
  forgetVerdict();
  if (keyOf(settings()) !== keyOf(asked)) return;
  setSettings(answer.settings);
  showSettings();
}

// Whether there is a run of these settings to go on with, begun now where there was none.
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
  await beginning.answered;
  return true;
}

// Makes `count` steps of a run. They are made whether or not anybody still waits for them, so they always belong to it.
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

async function showVerdict(of) {
  const end = await ask({do: 'verdict'});
  if (run !== of) return;
  $('verdict').textContent = end.verdict;
  const ends = end.models.map((model) => model.diverged_at !== null ? `${model.placement} diverged at step ${model.diverged_at}`
                                                                    : `${model.placement} ${model.final_loss.toFixed(4)}`);
  $('ends').textContent = `Loss on text kept aside: ${ends.join(', ')}. Seeds so far: ${end.seeds}.`;
}

function forgetVerdict() {
  follow = true;
  $('verdict').textContent = 'It comes when both models have made all their steps.';
  $('ends').textContent = '';
}

// How many steps to ask for at a time: as many as take about 60 ms, so that Stop is soon heard.
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
    if (running && now - saidAt > 10000) say(`Step ${stepsMade(of)} of ${of.settings.steps}. Loss: ${lossesInWords(of)}.`);
  }
}

// --- what a reader presses

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
  if (run.done) say(`Done. ${stopReason}Loss: ${words}.`);
  else say(`Stopped at step ${stepsMade(run)}. ${stopReason}${words && `Loss: ${words}.`}`);
  drawSoon();
  if (onward) await nextSeed();
}

async function oneStep() {
  if (!loaded) return;
  const mine = ++turn;
  setRunning(false);
  try {
    if (!await haveRun() || mine !== turn) return;
    const of = run;
    await makeSteps(of, 1);
    if (mine !== turn) return;
    const words = of.models.map((m) => m.diverged ? `${m.placement} diverged at step ${m.diverged}`
                                                  : `${m.placement} ${numberText(m.steps.at(-1).loss)}`);
    say(`Step ${stepsMade(of)}. Loss: ${words.join(', ')}.`);
  } catch (error) {
    if (mine === turn) fail(error);
  }
}

function reset() {
  ++turn;
  setRunning(false);
  run = null;
  forgetVerdict();
  problem('');
  say('Back at the start.');
  if (loaded) draw();
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

// Fields and run differ: what trains stops, and the next Go begins anew.
function settingsChanged() {
  showSettings();
  const present = beginning ? beginning.wanted : run && keyOf(run.settings);
  if (running && present !== keyOf(settings())) stop('The settings have changed. ');
  if (!run || !stepsMade(run)) draw();
}

function fail(error) {
  setRunning(false);
  say('');
  problem(error.message);
  drawSoon();
}

// The verdict, in the lab's wording, the page's report on the last run alone, and the settings for which the
// results were computed.
'use strict';

const NO_VERDICT = 'It appears when both models have made all their steps.';
const USUAL = {most: 0.03, words: 'the usual 0.001 to 0.03'};  // learning rates
let verdictOf = null;  // the settings it is about

// One text for settings that differ only in the seed: these runs belong to one lab and one verdict.
const labOf = (some) => keyOf({...some, seed: 0});

// `late`: the loss of each step was within bounds, but not that after the last.
const divergedWords = (model) => (model.late ? 'diverged after the last step' : `diverged at step ${model.diverged}`);

// "Seed 0: Pre-LN ended lower. One seed may be chance."
function runWords(of, {models, seeds}) {
  const {rate, seed} = of.settings, {loss, words} = facts.baseline;
  const wild = rate > USUAL.most ? ` The learning rate ${numberText(rate)} is far above ${USUAL.words}.` : '';
  const [good, bad] = [false, true].map((diverged) => models.filter((one) => (one.diverged_at !== null) === diverged));
  if (bad.length === 2) return `Seed ${seed}: both diverged.${wild || ' A lower learning rate or a warm-up may help.'}`;
  const [low, high] = good.sort((a, b) => a.final_loss - b.final_loss);
  const end = bad.length ? `${bad[0].placement} diverged, ${low.placement} did not`
              : low.final_loss.toFixed(4) === high.final_loss.toFixed(4) ? 'both ended at the same loss' : `${low.placement} ended lower`;
  const learned = low.final_loss < loss;
  return `Seed ${seed}: ${end}.` + (seeds === 1 ? ' One seed may be chance.' : '') +
         (learned ? '' : ` Neither got below ${words}: neither has learned to look back.`) + (bad.length || !learned ? wild : '');
}

async function showVerdict(of) {
  const end = await ask({do: 'verdict'});
  if (run !== of) return;
  verdictOf = of.settings;
  end.models.forEach(({diverged_at}, i) => {
    if (diverged_at !== null && !of.models[i].diverged) Object.assign(of.models[i], {diverged: diverged_at, late: true});
  });
  $('verdict').textContent = end.verdict;
  $('run-words').textContent = runWords(of, end);
  const ends = of.models.map((model, i) => model.diverged ? `${model.placement} ${divergedWords(model)}`
                                                          : `${model.placement} ${end.models[i].final_loss.toFixed(4)}`);
  $('ends').textContent = `Loss on held-out text, after the last step: ${ends.join(', ')}. Seeds so far: ${end.seeds}.`;
  drawSoon();
}

// The verdict on other seeds of the same lab stays: the next verdict counts them, too.
function forgetVerdict(next) {
  follow = true;
  if (verdictOf && labOf(verdictOf) === labOf(next)) return;
  verdictOf = null;
  $('verdict').textContent = NO_VERDICT;
  $('run-words').textContent = $('ends').textContent = '';
}

// --- results and fields

const NAMES = {
  first: (of) => `first model ${of.placements[0]}`, second: (of) => `second model ${of.placements[1]}`,
  start: (of) => `initial weights ${facts.starts.find((one) => one.name === of.start).title}`,
  layers: (of) => `${of.layers} block${of.layers === 1 ? '' : 's'}`, rate: (of) => `learning rate ${of.rate}`,
  warmup: (of) => `warm-up ${of.warmup}`, steps: (of) => `${of.steps} step${of.steps === 1 ? '' : 's'}`, seed: (of) => `seed ${of.seed}`,
};

// Says how the settings of the results differ from those of the fields.
function showStale() {
  const now = settings(), made = run && stepsMade(run) > 0, of = made ? run.settings : verdictOf;
  const other = (name) => NAMES[name](of) !== NAMES[name](now) && (made || name !== 'seed');
  const words = of && beginning?.wanted !== keyOf(now) ? Object.keys(NAMES).filter(other).map((name) => NAMES[name](of)) : [];
  const text = words.length ? `These results are for ${words.join(', ')}; press Go for the new settings.` : '';
  $('stale').hidden = !text;
  if ($('stale').textContent !== text) $('stale').textContent = text;
}

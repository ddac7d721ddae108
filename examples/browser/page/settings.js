// The reader's settings; they are also in the address, after #.
'use strict';

const NUMBERS = ['layers', 'rate', 'warmup', 'steps', 'seed'], WORDS = ['first', 'second', 'start'];

const settings = () => ({
  placements: [$('first').value, $('second').value], start: $('start').value,
  ...Object.fromEntries(NUMBERS.map((name) => [name, Number($(name).value)])),
});

// One text for equal settings.
const keyOf = (some) => JSON.stringify(Object.entries(some).sort());

function setSettings(given) {
  const values = {...given, first: given.placements[0], second: given.placements[1]};
  for (const name of [...NUMBERS, ...WORDS]) $(name).value = values[name];
}

function showSettings() {
  const words = new URLSearchParams([...WORDS, ...NUMBERS].map((name) => [name, $(name).value]));
  $('link').href = '#' + words;
  for (const name of ['first', 'second'])
    $(name + '-equation').textContent = facts.placements.find((one) => one.name === $(name).value)?.equation ?? '';
  const {warmup, steps} = settings();
  $('warmup-hint').textContent = warmup > steps ? `more than ${steps} steps: the full rate is never reached` : 'steps; 0: none';
}

// Valid numbers according to the browser, which warns about others.
const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// Whether the field accepts it; if not, it keeps its value.
function give(name, value) {
  const field = $(name), before = field.value, number = NUMBERS.includes(name);
  if (number && !(NUMBER.test(value) && Number.isFinite(Number(value)))) return false;
  field.value = value;
  if (number ? field.validity.valid : field.value === value) return true;
  field.value = before;
  return false;
}

// Applies the settings in the address; others keep their values. Returns a message about invalid ones.
function readAddress() {
  const refused = [...new URLSearchParams(location.hash.slice(1))]
      .filter(([name, value]) => ![...WORDS, ...NUMBERS].includes(name) || !give(name, value));
  showSettings();
  return refused.length ? `The link contains settings that this page does not have: ${refused.map((one) => one.join('=')).join(', ')}. ` +
                          'The others are set.' : '';
}

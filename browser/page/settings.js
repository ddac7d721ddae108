// What a reader has chosen; it also stands in the address, behind #.
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
}

// Takes what the address says; what it does not name stays. What it asks for in vain is answered.
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
  showSettings();
  return unknown.length ? `The link asks for what this page does not have: ${unknown.join(', ')}. The rest is set.` : '';
}

// One head's weights on a short text, as a map, as text and as tables.
'use strict';

const MOST = 24, NARROW = 19;  // letters; pixels of a cell that fits .25
const rules = new Map();
let head = null, letters = [];

// Letters as a reader counts them.
function lettersOf(text) {
  if (!Intl.Segmenter) return [...text];
  return [...new Intl.Segmenter(undefined, {granularity: 'grapheme'}).segment(text)].map(({segment}) => segment);
}
const seen = (letter) => (letter.trim() ? letter : '␣');
const wrong = (value) => Math.abs(value) > 5e-3;  // visible after rounding to two digits
const leaks = (t) => t + 1 < letters.length && head.change[t] > 1e-9;

// --- the map

// A colour's relative luminance, 0 to 1: 0.18 has the same contrast with black as with white.
const lightness = (colour) => colour.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

function colourOf(name) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
  const wide = hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
  return [0, 2, 4].map((i) => parseInt(wide.slice(i, i + 2), 16) / 255);
}

// The number in a cell, black or white, whichever is easier to read there.
function numberIn(weight, ahead, x, y, narrow) {
  const paper = colourOf('--paper'), cell = colourOf(ahead ? '--c1' : '--c0'), share = Math.max(0, Math.min(1, weight));
  const light = lightness(paper.map((v, i) => v + share * (cell[i] - v)));
  const digits = narrow ? fixed(weight).replace(/^0(?=\.)/, '').replace(/^1\.00$/, '1') : fixed(weight);  // .25 if 0.25 does not fit
  return `<text class="weight ${light > 0.18 ? 'black' : 'white'}${narrow ? ' narrow' : ''}" x="${x}" y="${y}">${digits}</text>`;
}

function drawMap() {
  const n = letters.length, width = Math.max(300, Math.min(640, $('map').clientWidth)), left = 26, right = 46, top = 42;
  const side = Math.min(44, (width - left - right) / n), chosen = Number($('row').value) - 1, {causal} = head;
  const parts = [`<text class="soft" x="${left}" y="13">a row looks at columns${side < NARROW ? ' (numbers: below)' : ''}</text>`,
                 `<text class="soft sum" x="${px(left + n * side + 42)}" y="32">sum</text>`];
  letters.forEach((letter, j) => {
    parts.push(`<text class="letter" x="${px(left + (j + 0.5) * side)}" y="32">${escapeText(seen(letter))}</text>`);
  });
  head.weights.forEach((row, i) => {
    const y = top + i * side, middle = px(y + side / 2 + 4);
    parts.push(`<text class="letter" x="12" y="${middle}">${escapeText(seen(letters[i]))}</text>` +
               `<text class="sum ${wrong(head.sums[i] - 1) ? 'bad' : ''}" x="${px(left + n * side + 42)}" y="${middle}">${fixed(head.sums[i])}</text>`);
    row.forEach((weight, j) => {
      const x = left + j * side, box = `x="${px(x)}" y="${px(y)}" width="${px(side)}" height="${px(side)}"`;
      parts.push(`<g class="${j > i ? 'ahead' : ''}">` +
                 (causal && j > i ? `<path class="masked" d="M${px(x + side * 0.35)} ${px(y + side * 0.65)}l${px(side * 0.3)} ${px(-side * 0.3)}"/>`
                                  : `<rect class="cell" ${box} fill-opacity="${Math.max(0, weight).toFixed(3)}"/>`) +
                 `<rect class="frame" ${box}/>` +
                 (side >= NARROW && !(causal && j > i) ? numberIn(weight, j > i, px(x + side / 2), middle, side < 30) : '') + '</g>');
    });
    parts.push(`<rect class="row" data-row="${i + 1}" x="0" y="${px(y)}" width="${width}" height="${px(side)}"/>`);
  });
  parts.push(`<rect class="chosen" x="${left}" y="${px(top + chosen * side)}" width="${px(n * side)}" height="${px(side)}"/>`);
  $('map').innerHTML = `<svg viewBox="0 0 ${width} ${px(top + n * side + 8)}" style="max-inline-size:${width}px" role="img" ` +
      `aria-label="${escapeText('The weights as a map. ' + summary())}">${parts.join('')}</svg>`;
}

// --- as text

// The places a row looks at, largest weight first, grouped by the displayed weight: [['0.25', [0, 3, 5, 7]],
// ['0.00', ...]].
function ranked(row) {
  const groups = new Map();
  for (const [j] of [...row.entries()].sort(([i, a], [j, b]) => Number(fixed(b)) - Number(fixed(a)) || i - j))
    groups.set(fixed(row[j]), [...groups.get(fixed(row[j])) ?? [], j]);
  return [...groups];
}
const manyLetters = (places, name) => (places.length > 6 ? `${places.length} letters` : listed(places.map(name)));

function rowWords(i) {
  const groups = ranked(head.weights[i]).filter(([weight]) => weight !== '0.00'), best = [];
  for (let count = 0; groups.length && count < 3; count += best.at(-1)[1].length) best.push(groups.shift());
  const looks = best.length ? 'looks at ' + best.map(([weight, places]) => manyLetters(places, (j) => `${j + 1} “${seen(letters[j])}”`) +
                                                    ` with ${weight}${places.length > 1 ? ' each' : ''}`).join('; ')
                            : 'looks at nothing';
  return `Row ${i + 1}, “${seen(letters[i])}”, ${looks}.`;
}

function summary() {
  const low = Math.min(...head.sums), high = Math.max(...head.sums), future = head.future.reduce((sum, v) => sum + v, 0);
  const sums = wrong(low - 1) || wrong(high - 1) ? `Rows sum to ${fixed(low)} to ${fixed(high)}, not to 1.` : 'Every row sums to 1.';
  const ahead = wrong(future) ? `Weight on later letters: ${fixed(future)} in all.` : 'There is no weight on later letters.';
  const changed = letters.filter((_, t) => leaks(t)).length;
  const meaning = head.causal ? 'the future leaks, in spite of the mask.' : 'they see the future.';
  const leak = changed ? `Another last letter changes ${changed} earlier row${changed > 1 ? 's' : ''}, by up to ` +
                             `${numberText(Math.max(...head.change.slice(0, -1)))}: ${meaning}`
                       : 'Another last letter changes no earlier row: nothing leaks.';
  return `${sums} ${ahead} ${leak}`;
}

function drawTables() {
  const chosen = Number($('row').value) - 1;
  $('rows').innerHTML = '<caption class="hidden">The rows</caption>' +
      tableText(['row', 'looks most at', 'weight', 'sum', 'on later', 'leak'], letters.map((letter, i) => {
        const [[weight, places]] = ranked(head.weights[i]);
        return [`${i + 1} ${seen(letter)}`, manyLetters(places, (j) => `${j + 1} ${seen(letters[j])}`), weight, fixed(head.sums[i]),
                fixed(head.future[i]), i + 1 === letters.length ? '–' : numberText(leaks(i) ? head.change[i] : 0)];
      }));
  $('rows').querySelectorAll('tbody tr').forEach((row, i) => {
    row.classList.toggle('now', i === chosen);
    row.children[3].classList.toggle('bad', wrong(head.sums[i] - 1));
    row.children[4].classList.toggle('bad', wrong(head.future[i]));
    row.children[5].classList.toggle('bad', leaks(i));
  });
  $('all').innerHTML = '<caption class="hidden">All weights</caption>' +
      tableText(['', ...letters.map((letter, j) => `${j + 1} ${seen(letter)}`)],
                head.weights.map((row, i) => [`${i + 1} ${seen(letters[i])}`, ...row.map((weight) => fixed(weight))]));
}

function show() {
  const row = Number($('row').value) - 1;
  $('row-name').textContent = `${row + 1} “${seen(letters[row])}”`;
  drawMap();
  drawTables();
  return `${rowWords(row)} ${summary()}`;
}

// --- input

const update = oneAtATime(async () => {
  const wanted = lettersOf($('text').value);
  $('rule-hint').textContent = rules.get($('rule').value).words;
  $('random').hidden = $('rule').value !== 'random';
  if (wanted.length < 1 || wanted.length > MOST) throw new Error(`Text: expects 1 to ${MOST} letters, there are ${wanted.length}.`);
  if (!$('seed').checkValidity()) throw new Error(`Seed: ${$('seed').validationMessage}`);
  const causal = $('causal').checked;
  head = {causal, ...await ask({do: 'attention', letters: wanted, rule: $('rule').value, causal, scaled: $('scaled').checked,
                                over_queries: $('axis').value === 'queries', seed: Number($('seed').value)})};
  letters = wanted;
  $('row').max = letters.length;
  say(show(), 400);
  writeLink();
});

async function begin() {
  startWorker();
  const {heads} = await ask({do: 'heads'});
  for (const one of heads) rules.set(one.name, one);
  fillMenu('rule', heads, 'same');
  remember();
  $('row').max = MOST;
  $('row').value = Math.min(8, lettersOf(linked().get('text') ?? $('text').value).length);
  await drawLinked(update);
}

for (const one of controls()) one.addEventListener('input', update);
const showSoon = () => { if (head) say(show(), 150); };
$('row').addEventListener('input', showSoon);
document.addEventListener('themechange', showSoon);
$('map').addEventListener('click', (event) => {
  const row = event.target.dataset?.row;
  if (!row) return;
  $('row').value = row;
  say(show());
});
new ResizeObserver(() => { if (head) show(); }).observe($('map'));
begin().catch((error) => complain(error.message));

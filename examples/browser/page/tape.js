// The nodes of a tape as a graph, recorded one by one, then visited backward one by one.
'use strict';

const BOX = 60, GAP = 36;  // heights: of a node's box, and between two rows
let shown = null;          // the module's answer
let shownFor = '';         // and the request for it

const text = (values) => (values.length === 1 ? numberText(values[0]) : values.map((v) => fixed(v)).join(', '));
const known = new Map();  // the expressions

// --- the places of the boxes: from bottom to top, an operation above its inputs, an input just below its
// first user

function rowsOf(notes) {
  const row = notes.map(() => 0);
  notes.forEach((note, i) => { if (note.inputs.length) row[i] = 1 + Math.max(...note.inputs.map((from) => row[from])); });
  notes.forEach((note, i) => {
    if (!note.inputs.length) row[i] = Math.min(...notes.flatMap((user, u) => (user.inputs.includes(i) ? [row[u]] : []))) - 1;
  });
  return row;
}

function placesOf(notes, width) {
  const row = rowsOf(notes), top = Math.max(...row), count = row.map((r) => row.filter((other) => other === r).length), next = new Map();
  return notes.map((note, i) => {
    const before = next.get(row[i]) ?? 0;
    next.set(row[i], before + 1);
    const wide = Math.min(note.value.length > 1 ? 190 : 150, width / count[i] - 14);
    // A single box is a little to the left, to leave room for lines that pass it.
    const x = count[i] === 1 ? width / 2 - 20 : (before + 0.5) * width / count[i];
    return {row: row[i], x, y: 8 + (top - row[i]) * (BOX + GAP), wide};
  });
}

// The line from an input to its user; `which` of `of` if there are several between these two.
function edgePath(a, b, which, of) {
  const shift = (which - (of - 1) / 2) * 44;
  if (b.row - a.row === 1) {
    const x0 = a.x + Math.max(-a.wide / 3, Math.min(a.wide / 3, shift + (b.x - a.x) / 6)), y0 = a.y;
    const left = (shift || a.x - b.x) < 0;  // the text next to it
    const x1 = b.x + Math.max(-b.wide / 3, Math.min(b.wide / 3, shift + (a.x - b.x) / 3)), y1 = b.y + BOX;
    return {path: `M${px(x0)} ${y0}L${px(x1)} ${y1 + 7}`, tip: [x1, y1, 0, -1], start: [x0, y0, 0, 1],
            middle: [(x0 + x1) / 2 + (left ? -8 : 8), (y0 + y1) / 2 + 4, left ? 'end' : 'start']};
  }
  const x0 = a.x + a.wide / 2, y0 = a.y + BOX / 2, x1 = b.x + b.wide / 2, y1 = b.y + BOX / 2 + 8;
  const out = Math.max(x0, x1) + 14 + 10 * (b.row - a.row);
  return {path: `M${px(x0)} ${y0}C${px(out)} ${y0} ${px(out)} ${y1} ${px(x1 + 7)} ${y1}`, tip: [x1, y1, -1, 0], start: [x0, y0, -1, 0],
          middle: [(Math.max(x0, x1) + 3 * out) / 4 + 5, (y0 + y1) / 2 + 4, 'start']};
}

// The tip of an arrow at (x, y) that points along (dx, dy).
function tipPath([x, y, dx, dy]) {
  const bx = x - 9 * dx, by = y - 9 * dy;
  return `M${px(x)} ${px(y)}L${px(bx - 4.5 * dy)} ${px(by + 4.5 * dx)}L${px(bx + 4.5 * dy)} ${px(by - 4.5 * dx)}z`;
}

// --- the state after a number of steps

function stateAt(step) {
  const {notes, visits} = shown, back = Math.max(0, step - notes.length);
  const gathered = notes.map(() => null), done = notes.map(() => false);
  for (const visit of visits.slice(0, back)) {
    gathered[visit.note] = visit.gradient;
    done[visit.note] = true;
    for (const {to, total} of visit.handed) gathered[to] = total;
  }
  return {written: Math.min(step, notes.length), gathered, done, visit: back ? visits[back - 1] : null,
          now: step === 0 ? -1 : back ? visits[back - 1].note : step - 1};
}

function drawEdges(places, state) {
  const parts = [];
  shown.notes.forEach((note, i) => {
    const already = new Map();
    note.inputs.forEach((from, number) => {
      const which = already.get(from) ?? 0;
      already.set(from, which + 1);
      const edge = edgePath(places[from], places[i], which, note.inputs.filter((other) => other === from).length);
      const handed = state.visit?.note === i ? state.visit.handed[number] : null;
      const style = handed ? 'hands' : i < state.written ? '' : 'waiting';
      parts.push(`<path class="edge ${style}" d="${edge.path}"/><path class="tip ${style}" d="${tipPath(handed ? edge.start : edge.tip)}"/>`);
      if (handed?.part.length === 1)
        parts.push(`<text class="part halo" style="text-anchor:${edge.middle[2]}" x="${px(edge.middle[0])}" y="${px(edge.middle[1])}">` +
                   `${text(handed.part)}</text>`);
    });
  });
  return parts.join('');
}

function drawNote(i, place, state) {
  const note = shown.notes[i], written = i < state.written, gradient = state.gathered[i];
  const style = [written ? '' : 'waits', state.now === i ? 'now' : '', state.visit ? 'back' : '', state.done[i] ? 'done' : ''].join(' ');
  const line = (y, kind, words) => `<text class="${kind}" x="${px(place.x)}" y="${place.y + y}">${escapeText(words)}</text>`;
  return `<g class="${style}"><rect x="${px(place.x - place.wide / 2)}" y="${place.y}" width="${px(place.wide)}" height="${BOX}" rx="6"/>` +
         line(18, 'code', note.code ? `${note.name} = ${note.code}` : note.name) + (written ? line(35, 'value', text(note.value)) : '') +
         (gradient ? line(52, state.done[i] ? 'gradient' : 'gradient gathers', text(gradient)) : '') + '</g>';
}

// --- the same as text and as a table

function wordsAt(step, state) {
  const {notes, visits} = shown, all = notes.length + visits.length;
  if (step === 0) return `Nothing is computed yet. ${notes.length} nodes will be recorded, then visited backward.`;
  const note = notes[state.now], place = `Step ${step} of ${all}`;
  if (!state.visit) {
    const head = `${place}, forward, node ${state.now + 1}: ${note.name} = `;
    return note.code ? `${head}${note.code} = ${text(note.value)}. The tape calls it ${note.op}.`
                     : `${head}${text(note.value)}, an input; the tape calls it ${note.op}.`;
  }
  const head = `${place}, backward at node ${state.now + 1}: the gradient of ${note.name} is complete, ${text(state.visit.gradient)}. `;
  if (!state.visit.handed.length) return `${head}${note.name} is an input and keeps it.`;
  const parts = state.visit.handed.map(({to, part, total}) => {
    const sum = total.some((v, i) => v !== part[i]) ? ` (${text(total)} together)` : '';
    return `${text(part)} to ${notes[to].name}${sum}`;
  });
  return `${head}${note.op} passes on ${listed(parts)}.`;
}

function drawTable(state) {
  $('notes').innerHTML = '<caption class="hidden">The nodes</caption>' + tableText(
      ['#', 'note', 'op', 'reads', 'value', 'gradient'],
      shown.notes.map((note, i) => {
        const written = i < state.written, gradient = state.gathered[i];
        return [i + 1, note.name, written ? note.op : '', note.inputs.map((from) => '#' + (from + 1)).join(' '),
                written ? text(note.value) : '', gradient ? text(gradient) + (state.done[i] ? '' : ' …') : ''];
      }).reverse());
  const rows = $('notes').querySelectorAll('tbody tr');
  rows.forEach((row, i) => {
    row.classList.toggle('now', rows.length - 1 - i === state.now);
    row.lastChild.classList.add('gradient');
  });
}

function show() {
  const step = Number($('at').value), state = stateAt(step), width = Math.max(300, Math.min(560, $('graph').clientWidth));
  const places = placesOf(shown.notes, width), height = Math.max(...places.map((place) => place.y)) + BOX + 8;
  const words = wordsAt(step, state);
  $('graph').innerHTML = `<svg viewBox="0 0 ${width} ${height}" style="max-inline-size:${width}px" role="img" ` +
      `aria-label="${escapeText('The nodes as a graph. ' + words)}">` +
      drawEdges(places, state) + places.map((place, i) => drawNote(i, place, state)).join('') + '</svg>' +
      '<figcaption>Below its name a node’s value; <span class="gradient">below that its gradient, in italics while parts are ' +
      'to come.</span></figcaption>';
  drawTable(state);
  $('count').textContent = `${step} of ${$('at').max}`;
  const last = Number($('at').max);
  for (const [id, nothing] of [['back', step === 0], ['start', step === 0], ['next', step === last], ['end', step === last]])
    $(id).setAttribute('aria-disabled', nothing);  // disabled would take the keyboard's focus away
  return words;
}

// --- input

function makeSliders() {
  const {inputs, values} = known.get($('expression').value);
  $('inputs').innerHTML = inputs.map((name, i) => `<label class="mono" for="v${i}">${name}</label>` +
      `<input id="v${i}" type="range" min="-4" max="4" step="0.1" value="${values[i]}"><output aria-live="off" for="v${i}" class="numbers">` +
      '</output>').join('');
}

const update = oneAtATime(async () => {
  const expression = $('expression').value;
  const inputs = [...$('inputs').querySelectorAll('input')], values = inputs.map((input) => Number(input.value));
  inputs.forEach((input) => { input.nextElementSibling.textContent = fixed(Number(input.value), 1); });
  const wanted = JSON.stringify([expression, values]);
  if (wanted !== shownFor) shown = await ask({do: 'tape', expression, values});
  shownFor = wanted;
  $('at').max = shown.notes.length + shown.visits.length;
  say(show(), 150);
  writeLink();
});

function go(step) {
  $('at').value = step;
  update();
}

async function begin() {
  startWorker();
  const {expressions} = await ask({do: 'tapes'});
  for (const one of expressions) known.set(one.name, one);
  fillMenu('expression', expressions, 'twice');
  choose('twice');
  await drawLinked(update, () => {
    const wanted = linked().get('expression') ?? 'twice';
    choose(known.has(wanted) ? wanted : 'twice');
    readLink();
  });
}

// Its sliders too, which start at the expression's initial values.
function choose(expression) {
  const before = $('expression').value;
  $('expression').value = expression;
  makeSliders();
  remember();
  beginnings.set('expression', 'twice');
  if (before !== expression) $('at').value = 0;
}

$('expression').addEventListener('change', () => {
  choose($('expression').value);
  go(0);
});
$('inputs').addEventListener('input', update);
$('at').addEventListener('input', update);
$('next').addEventListener('click', () => go(Number($('at').value) + 1));
$('back').addEventListener('click', () => go(Number($('at').value) - 1));
$('start').addEventListener('click', () => go(0));
$('end').addEventListener('click', () => go($('at').max));
new ResizeObserver(() => { if (shown) show(); }).observe($('graph'));
begin().catch((error) => complain(error.message));

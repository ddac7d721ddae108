// A token of three numbers, seen along (1, 1, 1): the screen shows the plane of all tokens with the same
// mean.
'use strict';

// The drawing's size, and of one unit in it: the farthest token, (3, 3, -3), is 4.9 units from the middle.
const REACH = 5.3;
let SIDE = 520, UNIT = 260 / REACH;
// Two directions of the plane, at right angles to (1, 1, 1) and to each other.
const RIGHT = [1 / Math.sqrt(2), -1 / Math.sqrt(2), 0], UP = [1 / Math.sqrt(6), 1 / Math.sqrt(6), -2 / Math.sqrt(6)];
const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
const seen = (v) => [SIDE / 2 + UNIT * dot(v, RIGHT), SIDE / 2 - UNIT * dot(v, UP)];
// The outline of all tokens with numbers from -3 to 3.
const CORNERS = [[3, 3, -3], [3, -3, -3], [3, -3, 3], [-3, -3, 3], [-3, 3, 3], [-3, 3, -3]];
const LENGTH = 1.2;  // of dy

const token = () => [0, 1, 2].map((i) => Number($('x' + i).value));
function gradient() {
  const angle = Number($('angle').value) * Math.PI / 180;
  return RIGHT.map((r, i) => LENGTH * (Math.cos(angle) * r + Math.sin(angle) * UP[i]));
}

function arrow(from, to, style, name, dashed) {
  const [x0, y0] = from, [x1, y1] = to, length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 2) return `<g class="c${style}"><text class="halo name" x="${x0 + 8}" y="${y0 + 18}">${name} = 0</text></g>`;
  const ux = (x1 - x0) / length, uy = (y1 - y0) / length, size = Math.min(9, length / 2);
  const tip = `M${x1} ${y1}L${x1 - size * ux - size / 2 * uy} ${y1 - size * uy + size / 2 * ux}` +
              `L${x1 - size * ux + size / 2 * uy} ${y1 - size * uy - size / 2 * ux}z`;
  return `<g class="c${style}"><path class="arrow ${dashed ? 'dashed' : ''}" d="M${x0} ${y0}L${x1} ${y1}"/><path class="tip" d="${tip}"/>` +
         `<text class="halo name" x="${x1 + 10 * ux - 8}" y="${y1 + 14 * uy + 5}">${name}</text></g>`;
}

const plus = (a, b) => a.map((v, i) => v + b[i]);

function draw(x, dy, {y, dx, mean, deviation}) {
  SIDE = Math.max(280, Math.min(520, $('plane').clientWidth));
  UNIT = SIDE / 2 / REACH;
  const center = [SIDE / 2, SIDE / 2], edge = seen(CORNERS[0]), at = seen(x), on = seen(y), inside = seen(y.map((v) => 0.8 * v));
  const axes = [0, 1, 2].map((i) => {
    const end = seen([0, 1, 2].map((j) => (i === j ? 5.4 : 0)));
    return `<path class="axis3" d="M${center}L${end}"/><text class="soft" x="${end[0] - 8}" y="${end[1] + 5}">x${'₁₂₃'[i]}</text>`;
  });
  const words = `mean ${fixed(mean)}, deviation ${fixed(deviation)}, length of y ${fixed(Math.hypot(...y))}, ` +
                `dx ${fixed(Math.hypot(...dx))} long where dy is ${fixed(LENGTH)}`;
  $('plane').innerHTML = `<svg viewBox="0 0 ${SIDE} ${SIDE}" style="max-inline-size:${SIDE}px" role="img" ` +
      `aria-label="The token and its norm in the plane: ${words}">` +
      axes.join('') + `<path class="axis3" d="M${CORNERS.map(seen).join('L')}z"/><text class="soft" x="${edge[0] + 12}" y="${edge[1] + 4}">−3 to 3</text>` +
      `<circle class="circle" cx="${SIDE / 2}" cy="${SIDE / 2}" r="${UNIT * Math.sqrt(3)}"/>` +
      `<text class="soft halo" x="${SIDE / 2 - 10}" y="${SIDE / 2 + UNIT * Math.sqrt(3) + 18}">√3</text>` +
      `<path class="ray" d="M${center}L${at}"/>` + arrow(on, seen(plus(y, dy)), 1, 'dy', true) + arrow(at, seen(plus(x, dx)), 1, 'dx', false) +
      `<g class="c1"><rect class="token" style="cursor:default" x="${on[0] - 6}" y="${on[1] - 6}" width="12" height="12"/></g>` +
      `<text class="halo" x="${inside[0] - 4}" y="${inside[1] + 5}">y</text>` +
      `<g class="c0"><circle class="token" id="token" cx="${at[0]}" cy="${at[1]}" r="11"/></g>` +
      `<text class="halo" x="${at[0] + 14}" y="${at[1] - 10}">x</text></svg>`;
  const row = (name, values) => `<tr><th scope="row">${name}</th>${values.map((v) => `<td>${fixed(v)}</td>`).join('')}</tr>`;
  $('numbers').innerHTML = row('x', x) + row('y', y) + row('dy', dy) + row('dx', dx);
  return words;
}

const update = oneAtATime(async () => {
  for (const output of document.querySelectorAll('output'))
    output.textContent = output.htmlFor[0] === 'angle' ? `${$('angle').value}°` : fixed(Number($(output.htmlFor[0]).value));
  const x = token(), dy = gradient();
  const words = draw(x, dy, await ask({do: 'layer_norm', x, dy}));
  say(words[0].toUpperCase() + words.slice(1) + '.', 600);
  writeLink();
});

// --- dragging preserves the mean; it starts only near the token, so that a thumb can scroll past the drawing

const PER_UNIT = 20;  // steps of a slider
let dragging = false, total = 0;  // of the three numbers when the drag began, in steps

function isNear({clientX, clientY}) {
  const {left, top, width, height} = $('token').getBoundingClientRect();
  return Math.hypot(clientX - left - width / 2, clientY - top - height / 2) < 40;
}

// Three whole numbers with the sum `total`, about total / 3 + away, or as far in that direction as the
// sliders reach.
function withMean(total, away) {
  const mean = total / 3, end = 3 * PER_UNIT;
  const share = Math.min(1, ...away.filter((v) => v !== 0).map((v) => (Math.sign(v) * end - mean) / v));
  const exact = away.map((v) => mean + share * v), whole = exact.map(Math.round), excess = whole[0] + whole[1] + whole[2] - total;
  if (excess === 0) return whole;
  const errors = whole.map((v, i) => Math.sign(excess) * (v - exact[i]));  // the rounding error goes to the number where it was largest
  whole[errors.indexOf(Math.max(...errors))] -= excess;
  return whole;
}

function drag(event) {
  const box = $('plane').querySelector('svg').getBoundingClientRect(), scale = SIDE / box.width;
  const right = ((event.clientX - box.left) * scale - SIDE / 2) / UNIT, up = (SIDE / 2 - (event.clientY - box.top) * scale) / UNIT;
  withMean(total, RIGHT.map((r, i) => PER_UNIT * (right * r + up * UP[i]))).forEach((steps, i) => { $('x' + i).value = steps / PER_UNIT; });
  update();
}

$('plane').addEventListener('touchstart', (event) => { if ($('token') && isNear(event.touches[0])) event.preventDefault(); },
                             {passive: false});  // or the page would scroll with the finger
$('plane').addEventListener('pointerdown', (event) => {
  if (!$('token') || !isNear(event)) return;
  dragging = true;
  total = Math.round(PER_UNIT * (dot(token(), [1, 1, 1])));
  $('plane').setPointerCapture(event.pointerId);
  drag(event);
});
$('plane').addEventListener('pointermove', (event) => { if (dragging) drag(event); });
for (const end of ['pointerup', 'pointercancel']) $('plane').addEventListener(end, () => { dragging = false; });
for (const input of document.querySelectorAll('input')) input.addEventListener('input', update);
startWorker();
remember();
drawLinked(update);
new ResizeObserver(update).observe($('plane'));

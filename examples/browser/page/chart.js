// A line chart as SVG text. Lines differ in colour, dashes and marks, and have their names at the end.
'use strict';

// 0.003, 12.4, 3·10⁻⁷: three digits, for readers.
function numberText(value) {
  if (value === null || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
    const [digits, power] = value.toExponential(1).split('e');
    const raised = [...String(Number(power))].map((c) => (c === '-' ? '⁻' : [...'⁰¹²³⁴⁵⁶⁷⁸⁹'][c])).join('');
    const plain = digits.replace('-', '').replace(/\.0$/, '');
    return (value < 0 ? '−' : '') + (plain === '1' ? '' : plain + '·') + '10' + raised;
  }
  return String(Number(value.toPrecision(3))).replace('-', '−');
}

// A loss, with trailing zeros: 3.00.
function lossText(value) {
  return value !== null && value >= 0.1 && value < 100 ? value.toPrecision(3) : numberText(value);
}

// Round values inside the range: steps of 1, 2 or 5 times a power of ten; on a log axis powers of ten, with 2
// and 5 between them if there is room.
function niceTicks(low, high, wanted, log) {
  const ticks = [];
  if (log) {
    const decades = Math.log10(high / low);
    const between = decades <= 1.5 ? [1, 2, 5] : decades <= 3 ? [1, 3] : [1];
    const stride = Math.max(1, Math.ceil(decades / wanted));
    const first = Math.floor(Math.log10(low));
    for (let power = first; 10 ** power <= high; ++power)
      if (power % stride === 0)
        for (const digit of between) ticks.push(digit * 10 ** power);
  } else {
    const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough * 0.999);
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i) ticks.push(i * step);
  }
  return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}

function escapeText(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c]));
}

// A number, rounded to a tenth of a pixel.
const px = (value) => Math.round(value * 10) / 10;

function markPath(style, x, y, r) {
  if (style === 0) return `M${px(x - r)} ${px(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  const side = r * 0.9;
  return `M${px(x - side)} ${px(y - side)}h${2 * side}v${2 * side}h${-2 * side}z`;
}

// Labels at the end of lines, at least `apart` apart, inside low..high.
function spreadLabels(labels, apart, low, high) {
  labels.sort((a, b) => a.y - b.y);
  for (let i = 0; i < labels.length; ++i)
    labels[i].y = Math.max(labels[i].y, i === 0 ? low : labels[i - 1].y + apart);
  for (let i = labels.length - 1; i >= 0; --i)
    labels[i].y = Math.min(labels[i].y, i === labels.length - 1 ? high : labels[i + 1].y - apart);
  return labels;
}

// Where a label next to a horizontal line at height `at` hides the least of the curves, lists of [x, y]: {x, y} of its text.
function freePlace(wide, at, curves, {left, right, top, base}) {
  const hidden = ({x, y}) => {
    const inside = ([px, py]) => px > x - 5 && px < x + wide + 5 && py > y - 16 && py < y + 8;
    let count = 0;
    for (const curve of curves)
      for (let i = 1; i < curve.length; ++i) {
        const [[ax, ay], [bx, by]] = [curve[i - 1], curve[i]], steps = Math.ceil(Math.hypot(bx - ax, by - ay) / 3);
        for (let k = 0; k <= steps; ++k) count += inside([ax + (bx - ax) * k / (steps || 1), ay + (by - ay) * k / (steps || 1)]);
      }
    return count;
  };
  const places = [left + 6, (left + right - wide) / 2, right - wide - 6].flatMap((x) => [{x, y: at - 5}, {x, y: at + 14}])
      .filter(({y}) => y > top + 8 && y < base - 2);
  return places.reduce((best, place) => (hidden(place) < hidden(best) ? place : best), places[0] ?? {x: left + 6, y: at - 5});
}

// Values outside the axes are drawn at the edge of the drawing; say so in y.label. spec: {width, height,
// label, x: {low, high, label, whole}, y: {low, high, label, log},
//        lines: [{style: 0 or 1, kind: '', 'thin' or 'raw', marks, name, note, points: [[x, y]]}],
//        references: [{y, label}], cursor: x}
function drawChart(spec) {
  const {width, height, x, y} = spec;
  const longest = Math.max(0, ...spec.lines.map((line) => (line.name ?? '').length));
  const left = 46, right = longest ? 20 + 7.2 * longest : 12, top = 24, bottom = 40;
  const span = (axis) => (axis.log ? Math.log(axis.high / axis.low) : axis.high - axis.low) || 1;
  const along = (axis, v) => (axis.log ? Math.log(v / axis.low) : v - axis.low) / span(axis);
  const atX = (v) => left + along(x, v) * (width - left - right);
  const atY = (v) => height - bottom - Math.max(0, Math.min(1.02, along(y, v))) * (height - top - bottom);
  const parts = [`<text class="soft" x="4" y="13">${escapeText(y.label)}</text>`];

  for (const tick of niceTicks(y.low, y.high, Math.max(2, (height - top - bottom) / 42), y.log)) {
    const at = px(atY(tick));
    parts.push(`<line class="grid" x1="${left}" x2="${px(width - right)}" y1="${at}" y2="${at}"/>` +
               `<text class="soft" x="${left - 6}" y="${at + 4}" text-anchor="end">${numberText(tick)}</text>`);
  }
  const base = height - bottom;
  parts.push(`<line class="axis" x1="${left}" x2="${px(width - right)}" y1="${base}" y2="${base}"/>`);
  const ticks = x.whole && x.high - x.low <= 12
                    ? Array.from({length: x.high - x.low + 1}, (_, i) => x.low + i)
                    : niceTicks(x.low, x.high, Math.max(2, (width - left - right) / 70), false);
  for (const tick of ticks) {
    const at = px(atX(tick));
    parts.push(`<line class="axis" x1="${at}" x2="${at}" y1="${base}" y2="${base + 4}"/>` +
               `<text class="soft" x="${at}" y="${base + 17}" text-anchor="middle">${numberText(tick)}</text>`);
  }
  parts.push(`<text class="soft" x="${px((left + width - right) / 2)}" y="${height - 6}" text-anchor="middle">` +
             `${escapeText(x.label)}</text>`);

  const words = [];  // over the lines
  const curves = spec.lines.map(({points}) => points.filter(([, v]) => v !== null && Number.isFinite(v) && (!y.log || v > 0))
                                                .map(([vx, vy]) => [atX(vx), atY(vy)]));
  for (const reference of spec.references ?? []) {
    const at = px(atY(reference.y));
    parts.push(`<line class="ref" x1="${left}" x2="${px(width - right)}" y1="${at}" y2="${at}"/>`);
    const place = freePlace(7.2 * reference.label.length, at, curves, {left, right: width - right, top, base});
    words.push(`<text class="halo" x="${px(place.x)}" y="${px(place.y)}">${escapeText(reference.label)}</text>`);
  }
  if (spec.cursor) {
    const at = px(atX(spec.cursor));
    parts.push(`<line class="cursor" x1="${at}" x2="${at}" y1="${top}" y2="${base}"/>`);
  }

  const names = [];
  for (const line of spec.lines) {
    let path = '', marks = '', pen = 'M', last = null;
    for (const [vx, vy] of line.points) {
      const drawn = vy !== null && Number.isFinite(vy) && (!y.log || vy > 0);
      if (!drawn) { pen = 'M'; continue; }
      last = {x: atX(vx), y: atY(vy)};
      path += `${pen}${px(last.x)} ${px(last.y)}`;
      pen = 'L';
      if (line.marks) marks += markPath(line.style, last.x, last.y, 3.6);
    }
    if (!last) continue;
    if (line.endMark) marks += markPath(line.style, last.x, last.y, 4);
    parts.push(`<g class="c${line.style}"><path class="line ${line.kind ?? ''}" d="${path}"/>` +
               (marks ? `<path class="mark" d="${marks}"/>` : '') + '</g>');
    const text = [line.name, line.note].filter(Boolean).join(' ');  // with a note wider than the margin: inside the drawing
    if (text) names.push({y: last.y, x: Math.min(last.x + 9, width - 7.2 * text.length), line, text});
  }
  for (const {y: at, x: end, line, text} of spreadLabels(names, 15, top + 4, base - 2))
    parts.push(`<g class="c${line.style}"><text class="name halo ${line.kind ?? ''}" x="${px(end)}" ` +
               `y="${px(at + 4)}">${escapeText(text)}</text></g>`);
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(spec.label)}">${parts.join('')}${words.join('')}</svg>`;
}

// The line and mark of a model, for use next to its name.
function drawKey(style) {
  return `<svg class="key c${style}" viewBox="0 0 34 12" aria-hidden="true"><path class="line" d="M0 6H34"/>` +
         `<path class="mark" d="${markPath(style, 17, 6, 3.6)}"/></svg>`;
}

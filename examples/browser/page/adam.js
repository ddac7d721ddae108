// The first 40 steps of Adam and of SGD on a stream of gradients.
'use strict';

let steps = null;  // the module's answer

const CHARTS = [
  {id: 'adam', title: 'Adam’s step', y: 'taken from w, in units of the rate', lines: (s) => [['Adam', 0, s.adam.taken]]},
  {id: 'sgd', title: 'SGD’s step', y: 'taken from w, in units of the rate', lines: (s) => [['SGD', 1, s.sgd.taken]]},
  {id: 'inside', title: 'What Adam divides', y: 'mean of gradients m̂, root of squares √v̂',
   lines: (s) => [['m̂', 0, s.mean], ['√v̂', 1, s.root]]},
  {id: 'weight', title: 'Where the weight goes', y: 'w', lines: (s) => [['Adam', 0, s.adam.weight], ['SGD', 1, s.sgd.weight]]},
];

// An axis that includes all values and 0, with some room.
function rangeOf(values) {
  const low = Math.min(0, ...values), high = Math.max(0, ...values), room = 0.06 * (high - low || 1);
  return {low: low < 0 ? low - room : 0, high: high > 0 ? high + room : low < 0 ? 0 : 0.06};
}

const biggest = (values) => Math.max(...values.map(Math.abs));
const meanSize = (values) => values.reduce((sum, v) => sum + Math.abs(v), 0) / values.length;

function drawOne(chart) {
  const {title, y, lines} = chart, drawn = lines(steps);
  const range = rangeOf(drawn.flatMap(([, , values]) => values));
  const label = `${title}. ` + drawn.map(([name, , values]) =>
      `${name}: ${[1, 10, 40].map((step) => `${numberText(values[step - 1])} at step ${step}`).join(', ')}, ` +
      `at most ${numberText(biggest(values))} in size`).join('; ') + '.';
  fillChart(chart, {
    height: 240, label, x: {low: 1, high: 40, label: 'step'}, y: {...range, label: y},
    lines: drawn.map(([name, style, values]) => ({style, name, marks: true, points: values.map((v, i) => [i + 1, v])})),
    references: range.low < 0 ? [{y: 0, label: ''}] : [],
  }, ['step', 'gradient', ...drawn.map(([name]) => name)],
            steps.gradients.map((g, i) => [i + 1, numberText(g), ...drawn.map(([, , values]) => numberText(values[i]))]));
}

const show = () => CHARTS.forEach(drawOne);

function words() {
  const adam = steps.adam.taken, sgd = steps.sgd.taken;
  const size = (values, from, to) => numberText(meanSize(values.slice(from, to)));
  return `The first gradient is ${numberText(steps.gradients[0])}. Adam’s first step is ${numberText(adam[0])} times the rate, ` +
         `SGD’s ${numberText(sgd[0])} times. The mean size of the first five steps is ${size(adam, 0, 5)} for Adam and ` +
         `${size(sgd, 0, 5)} for SGD, of the last ten ${size(adam, 30, 40)} and ${size(sgd, 30, 40)}.`;
}

const update = oneAtATime(async () => {
  const wrong = controls().find((one) => !one.checkValidity());
  if (wrong) throw new Error(`${wrong.labels[0].textContent}: ${wrong.validationMessage}`);
  const request = {do: 'adam'};
  for (const one of controls()) request[one.id] = one.type === 'number' ? Number(one.value) : one.value;
  steps = await ask(request);
  show();
  say(words(), 400);
  writeLink();
});

async function begin() {
  startWorker();
  makeCharts(CHARTS);
  const {streams} = await ask({do: 'streams'});
  fillMenu('stream', streams, 'noise');
  remember();
  await drawLinked(update);
}

for (const one of controls()) one.addEventListener('input', update);
new ResizeObserver(() => { if (steps) show(); }).observe($('charts'));
begin().catch((error) => complain(error.message));

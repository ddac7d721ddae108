// Records the tries of the picture figure_schedule.svg, as the page schedule.html makes them:
//   node docs/draw/schedule_tries.mjs build/release/browser_answer > docs/data/schedule_tries.csv
import {spawnSync} from 'node:child_process';

const TRIES = [{warmup: 0, decay: 'none'}, {warmup: 60, decay: 'none'}, {warmup: 60, decay: 'cosine'}];
const MEAN = 20, STRIDE = 5;

console.log('try,warmup,decay,step,rate,Pre-LN,Post-LN');
TRIES.forEach((shape, i) => {
  const requests = [{do: 'begin', settings: {layers: 6, steps: 200, rate: 0.0032, ...shape}}, {do: 'step', count: 200}];
  const {stdout} = spawnSync(process.argv[2], {input: requests.map((one) => JSON.stringify(one) + '\n').join(''), encoding: 'utf8', maxBuffer: 1 << 28});
  const {steps} = JSON.parse(stdout.trim().split('\n')[1]);
  for (let step = STRIDE; step <= steps.length; step += STRIDE) {
    const last = steps.slice(Math.max(0, step - MEAN), step);
    const means = [0, 1].map((model) => last.reduce((sum, both) => sum + both[model].loss, 0) / last.length);
    console.log([i + 1, shape.warmup, shape.decay, step, steps[step - 1][0].rate, ...means.map((v) => v.toFixed(4))].join());
  }
});

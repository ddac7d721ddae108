// What the tests of pages share: checks that count, the native program, and running one test after another.
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, statSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {Chromium} from './chromium.mjs';

// Of the command line: a page or their folder, and the native program.
export const [pages, program] = process.argv.slice(2).map((path) => resolve(path));

// CHROMIUM in the environment names one.
const chromium = process.env.CHROMIUM ?? ['chromium', 'chromium-browser', 'google-chrome']
    .find((name) => process.env.PATH.split(':').some((folder) => existsSync(join(folder, name))));
if (!existsSync(program) || !chromium) {
  console.log(existsSync(program) ? 'skipped: there is no Chromium here' : `skipped: ${program} has not been built`);
  process.exit(77);
}

let failed = 0, checks = 0;

export function check(condition, words) {
  ++checks;
  if (condition) return;
  ++failed;
  console.log(`FAILED: ${words}`);
}
export const same = (a, b, words) => check(a === b, `${words}: got ${JSON.stringify(a)}, expects ${JSON.stringify(b)}`);

// What the native program answers to the same requests.
export function native(...requests) {
  const {stdout, status} = spawnSync(program, {input: requests.map((one) => JSON.stringify(one) + '\n').join(''),
                                               encoding: 'utf8', maxBuffer: 1 << 28});
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  return stdout.trim().split('\n').map((line) => JSON.parse(line));
}

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export async function close(page, words = 'the page') {
  same(page.complaints.join('; '), '', `${words}: complaints`);
  await page.close();
}

// Small, and whole.
export function checkFile(file) {
  const size = statSync(file).size;
  console.log(`${file.replace(/.*\//, '')} has ${(size / 1e6).toFixed(2)} MB`);
  check(size < 3e6, `${file} has ${size} bytes, expects fewer than 3000000`);
  check(!/\bsrc="(?!data:|#)|<link\b[^>]*\bhref="(?!data:|#)/.test(readFileSync(file, 'utf8')), `${file} loads nothing`);
}

// Ends this program. TEST=name in the environment runs that one alone.
export async function runAll(tests) {
  const browser = await Chromium.open(chromium);
  try {
    for (const test of tests) {
      if (process.env.TEST && test.name !== process.env.TEST) continue;
      const before = failed;
      try {
        await test(browser);
      } catch (error) {
        ++failed;
        console.log(`FAILED: ${error.stack}`);
      }
      console.log(`${test.name}: ${failed === before ? 'passed' : 'FAILED'}`);
    }
  } finally {
    await browser.close();
  }
  console.log(`${checks} checks, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

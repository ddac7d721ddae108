// The page of docs/browser.md's example trains, in headless Chromium: node your_own_page_test.mjs index.html PROGRAM
import {pathToFileURL} from 'node:url';
import {Page} from './chromium.mjs';
import {check, close, pages, runAll} from './harness.mjs';

async function itLearns(browser) {
  const page = await Page.open(browser);
  await page.go(pathToFileURL(pages).href);
  const value = (id) => page.evaluate(`+document.getElementById('${id}').value`);
  await page.until(`+document.getElementById('step').value >= 1`);
  const first = await value('loss');
  await page.until(`document.getElementById('step').value === '300'`);
  check(first > 0.1, `the first loss is ${first}`);
  const last = await value('loss');
  check(last < first / 10, `after 300 steps the loss is ${last}, at first ${first}`);
  await close(page);
}

await runAll([itLearns]);

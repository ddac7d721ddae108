// Looks at every page of the site in a headless Chromium, as wide as a phone: node site_test.mjs build/docs/html [NAME...]
// NAME: only pages with that in their name.
// Fails at links and anchors that lead nowhere, pictures that are missing or have no words, pages wider than the screen,
// scripts that complain; and when search finds nothing or dark mode is not dark.
import {existsSync, readdirSync} from 'node:fs';
import {join, relative, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {Chromium, Page} from '../browser/chromium.mjs';

const WIDTH = 360;
const root = resolve(process.argv[2] ?? 'build/docs/html');
const names = process.argv.slice(3);
const files = readdirSync(root, {recursive: true}).filter((file) => file.endsWith('.html') && !/^(_static|live)\//.test(file) &&
    (names.length === 0 || names.some((name) => file.includes(name)))).sort();
const failures = [];
const fail = (page, what) => failures.push(`${page}: ${what}`);

// Runs in the page.
const look = `(() => {
  const pictures = [...document.querySelectorAll('img, iframe, svg[role=img]')].map((e) =>
      ({name: e.getAttribute('src') ?? e.tagName, words: e.alt || e.title || e.getAttribute('aria-label') || '',
        broken: e.tagName === 'IMG' && e.loading !== 'lazy' && !e.naturalWidth}));
  const wide = [...document.querySelectorAll('h1, h2, h3, h4, p, li, dt, dd, header')]
      .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1 && !e.closest('pre, table'))
      .map((e) => e.tagName.toLowerCase() + ' ' + e.textContent.trim().slice(0, 40));
  // Code and tables scroll by themselves; nothing that holds them does.
  const scrolling = [...document.querySelectorAll('body, main, .main, .content')]
      .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => e.tagName.toLowerCase());
  const narrow = [...document.querySelectorAll('td, th')].filter((e) => e.clientWidth && e.clientWidth < 50 && e.textContent.trim().length > 24)
      .map((e) => e.textContent.trim().slice(0, 40));
  return {pictures, wide, narrow, scrolling, width: document.documentElement.scrollWidth, title: document.title,
          ids: [...document.querySelectorAll('[id], a[name]')].map((e) => e.id || e.name),
          comments: /<!-- /.test([...document.querySelectorAll('article > section > p')].map((e) => e.innerText).join()),
          links: [...document.querySelectorAll('a[href]')].map((e) => e.href)};
})()`;

const browser = await Chromium.open();
const pages = new Map();
let pictures = 0;
const visit = async (page, file) => {
  page.complaints.length = 0;
  await page.go(pathToFileURL(join(root, file)).href);
  const seen = await page.evaluate(look);
  pages.set(file, {ids: new Set(seen.ids), links: seen.links});
  pictures += seen.pictures.length;
  if (!seen.title) fail(file, 'has no title');
  if (seen.width > WIDTH) fail(file, `is ${seen.width} pixels wide on a screen of ${WIDTH}`);
  else if (seen.scrolling.length > 0) fail(file, `scrolls sideways: ${seen.scrolling[0]}`);
  if (seen.wide.length > 0) fail(file, `has words beyond the screen's edge: ${seen.wide.slice(0, 3).join(' | ')}`);
  if (seen.narrow.length > 0) fail(file, `has cells too narrow to be read: ${seen.narrow[0]}`);
  if (seen.comments) fail(file, 'shows a comment');
  for (const {name, words, broken} of seen.pictures) {
    if (!words.trim()) fail(file, `${name} has no text that stands for it`);
    if (broken) fail(file, `${name} is missing`);
  }
  for (const complaint of new Set(page.complaints)) fail(file, `complains: ${complaint}`);
};

// Two pages at a time: while one is laid out, the other is read.
const queue = [...files];
await Promise.all([1, 2].map(async () => {
  const page = await Page.open(browser, {width: WIDTH, phone: true});
  for (let file; (file = queue.shift()) !== undefined;) await visit(page, file);
}));

let links = 0;
for (const [file, {links: targets}] of pages) {
  for (const target of new Set(targets)) {
    if (!target.startsWith('file:')) continue;
    ++links;
    const url = new URL(target);
    const name = relative(root, fileURLToPath(url.href.replace(/[?#].*/s, '')));
    const anchor = decodeURIComponent(url.hash.slice(1));
    if (name.startsWith('..') || !existsSync(join(root, name))) fail(file, `links to ${name}, which is not there`);
    else if (anchor && pages.has(name) && !pages.get(name).ids.has(anchor)) fail(file, `links to ${name}#${anchor}, an anchor that is not there`);
  }
}

// What a reader does with a page.
const reader = async () => {
  const page = await Page.open(browser, {dark: true});
  await page.go(pathToFileURL(join(root, 'index.html')).href);
  const shade = `(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number); return (r + g + b) / 3; })()`;
  const dark = await page.evaluate(shade);
  if (dark > 60) fail('index.html', `is not dark on a dark screen: ${dark}`);
  await page.evaluate(`[...document.querySelectorAll('button.theme-toggle')].find((e) => e.offsetParent).click()`);
  const light = await page.evaluate(shade);
  if (light < 200) fail('index.html', `stays dark when light is asked for: ${light}`);
  for (const [word, expected] of [['layer_norm', 'api/'], ['warm-up', 'docs/course/']]) {
    await page.go(pathToFileURL(join(root, 'search.html')).href + '?q=' + word);
    const found = `[...document.querySelectorAll('#search-results li a')].some((e) => e.href.includes('${expected}'))`;
    await page.until(found, 20).catch(() => fail('search.html', `finds no page of ${expected} for ${word}`));
  }
};

// Live figures in their frames: as high as they need, and as dark as the page. Without figures there is nothing to look at.
const liveFigures = async () => {
  const file = 'docs/figures.html', page = await Page.open(browser, {width: 700});
  await page.go(pathToFileURL(join(root, file)).href);
  const count = await page.evaluate(`document.querySelectorAll('iframe.live').length`);
  for (let i = 0; i < count; ++i) {
    const frame = `document.querySelectorAll('iframe.live')[${i}]`;
    await page.evaluate(`${frame}.scrollIntoView()`);
    await page.until(`parseFloat(${frame}.style.height) > 200`, 60).catch(() => fail(file, `the frame of figure ${i + 1} is not as high as it needs`));
  }
  if (count) console.log(`${count} live figures`);
};
if (names.length === 0) await reader();
if (files.includes('docs/figures.html')) await liveFigures();
await browser.close();

for (const failure of failures) console.log(failure);
console.log(`${pages.size} pages, ${pictures} pictures, ${links} links: ${failures.length} failures`);
process.exit(failures.length > 0 || pages.size < (names.length ? 1 : 100) ? 1 : 0);

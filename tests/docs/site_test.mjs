// Looks at every page of the site in a headless Chromium, as wide as a phone: node site_test.mjs build/docs/html [NAME...]
// NAME: only pages with that in their name.
// Fails at links and anchors that lead nowhere, pictures that are missing or have no words, pages wider than the screen,
// scripts that complain, formulas wider than the screen, what paper would cut off, translated pages that call themselves English, and Persian pages whose
// formulas are torn in two; and when search finds nothing or dark mode is not dark.
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {join, relative, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {Chromium, Page} from '../browser/chromium.mjs';

const WIDTH = 360, PAPER = 718;  // A4, less its margins
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
  const cut = [...document.querySelectorAll('div.formula, span.formula')].filter((e) => e.matches('div') ?
          e.scrollWidth > e.clientWidth + 1 : !e.closest('table') && e.getBoundingClientRect().right > innerWidth)
      .map((e) => e.querySelector('annotation').textContent.trim().slice(0, 60));
  const backwards = [...document.querySelectorAll('.katex')].filter((e) => getComputedStyle(e).direction !== 'ltr').length;
  const narrow = [...document.querySelectorAll('td, th')].filter((e) => e.clientWidth && e.clientWidth < 50 && e.textContent.trim().length > 24)
      .map((e) => e.textContent.trim().slice(0, 40));
  return {pictures, wide, narrow, cut, backwards, scrolling, width: document.documentElement.scrollWidth, title: document.title,
          ids: [...document.querySelectorAll('[id], a[name]')].map((e) => e.id || e.name),
          language: [document.documentElement.lang, document.documentElement.dir],
          comments: /<!-- /.test([...document.querySelectorAll('article > section > p')].map((e) => e.innerText).join()),
          links: [...document.querySelectorAll('a[href]')].map((e) => e.href)};
})()`;

// Runs in a page that runs from right to left: short code and formulas that stand on two lines and would fit on one.
const torn = `[...document.querySelectorAll('article code, article bdi')].filter((e) => {
  const lines = () => new Set([...e.getClientRects()].map((r) => Math.round(r.top))).size;
  if (e.textContent.trim().length >= 25 || e.closest('pre') || lines() < 2) return false;
  const block = e.closest('p, li, td, th, h1, h2, h3, h4, summary'), before = e.style.whiteSpace;
  e.style.whiteSpace = 'nowrap';
  const fits = lines() < 2 && e.getBoundingClientRect().width <= block.clientWidth;
  e.style.whiteSpace = before;
  return fits || e.closest('table');
}).map((e) => e.textContent.trim())`;

// Runs in a page that is about to be printed: what is closed, and what paper, which does not scroll, would cut off.
const print = `(() => {
  dispatchEvent(new Event('beforeprint'));
  const all = [...document.querySelectorAll('article, body.source')].flatMap((e) => [...e.querySelectorAll('*')]);
  const edge = (e) => (e.parentElement.closest('article, body.source > main') ?? document.body).getBoundingClientRect();
  const cut = all.filter((e) => e.clientWidth && e.matches('pre, table, .table-wrapper, .highlight, img, iframe, div.formula') &&
          (e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > edge(e).right + 1 || e.getBoundingClientRect().left < edge(e).left - 1))
      .map((e) => e.tagName.toLowerCase() + ' ' + e.textContent.trim().slice(0, 40));
  const closed = all.filter((e) => e.matches('details:not([open])')).map((e) => 'closed: ' + e.textContent.trim().slice(0, 40));
  dispatchEvent(new Event('afterprint'));
  return [...cut, ...closed];
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
  if (seen.cut.length > 0) fail(file, `has formulas wider than the screen: ${seen.cut.join(' | ')}`);
  if (seen.backwards > 0) fail(file, `has ${seen.backwards} formulas that run from right to left`);
  if (seen.comments) fail(file, 'shows a comment');
  for (const {name, words, broken} of seen.pictures) {
    if (!words.trim()) fail(file, `${name} has no text that stands for it`);
    if (broken) fail(file, `${name} is missing`);
  }
  const language = /^(fa|pt|zh|tr)\//.exec(file)?.[1] ?? 'en', direction = language === 'fa' ? 'rtl' : 'ltr';
  if (seen.language[0] !== language || (seen.language[1] || 'ltr') !== direction)
    fail(file, `says it is ${seen.language.join(' ')}, not ${language} ${direction}`);
  const parts = direction === 'rtl' ? await page.evaluate(torn) : [];
  if (parts.length > 0) fail(file, `tears in two: ${parts.slice(0, 3).join(' | ')}`);
  await page.show({width: PAPER, media: 'print'});
  const lost = await page.evaluate(print);
  if (lost.length > 0) fail(file, `loses on paper ${lost.slice(0, 3).join(' | ')}`);
  await page.show({width: WIDTH, phone: true});
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
  const wanted = [['layer_norm', 'api/'], ['warm-up', 'docs/course/']];
  // Chinese has no spaces: a word is found wherever it stands, and a character, too.
  for (const word of ['注意力', '归一化', '层'])
    for (const file of files.filter((file) => file.startsWith('zh/') && readFileSync(join(root, file), 'utf8').split('<article')[1]?.includes(word)))
      wanted.push([word, file]);
  if (wanted.length < 5) fail('search.html', 'no page in Chinese is left to be found');
  for (const [word, expected] of wanted) {
    const address = pathToFileURL(join(root, 'search.html')).href + '?q=' + encodeURIComponent(word);
    if (await page.evaluate('location.href') !== address) await page.go(address);
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

// Looks at every page of the site in a headless Chromium, as wide as a phone: node site_test.mjs build/docs/html [NAME...]
// NAME: only pages with that in their name; search: also what search finds.
// Fails at links and anchors that lead nowhere, pictures that are missing or have no words, pages wider than the screen,
// scripts that complain, formulas wider than the screen, words in pictures too small to read, wide code, tables and pictures
// without a sign that they go on, verdicts without contrast, what paper would cut off, translated pages that call themselves
// English, have an English navigation or do not ask for corrections, and Persian pages whose headings are not at the edge or
// whose formulas are torn in two; and when search finds no section or shows no excerpt, or dark mode is not dark.
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
        broken: e.tagName === 'IMG' && e.loading !== 'lazy' && !e.naturalWidth, src: e.tagName === 'IMG' ? e.src : '', width: e.clientWidth}));
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
  // What scrolls says so at its edge (edges.js).
  const edgeless = [...document.querySelectorAll('pre, .table-wrapper, div.wide')]
      .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 2 && !(e.matches('.more-left, .more-right') && getComputedStyle(e).maskImage !== 'none'))
      .map((e) => e.tagName.toLowerCase() + ' ' + e.textContent.trim().slice(0, 40));
  // The contrast of verdicts, with colours under a translucent one blended.
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (e) => { const c = e ? parse(getComputedStyle(e).backgroundColor) : [255, 255, 255]; return c[3] === 0 ? ground(e.parentElement) : c; };
  const contrast = (e) => { const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
  const faint = [...document.querySelectorAll('.verdict')].filter((e) => contrast(e) < 4.5).map((e) => e.textContent);
  const verdicts = new Set([...document.querySelectorAll('.verdict')].map((e) => e.className)).size;
  const text = (query) => [...document.querySelectorAll(query)].map((e) => e.textContent.trim()).filter(Boolean);
  const around = {captions: text('.sidebar-tree .caption-text'), here: text('.sidebar-tree .current-page > a'), heading: text('article h1')[0]?.replace(/[#\u00b6]$/, ''),
                  search: document.querySelector('.sidebar-search')?.placeholder, corrections: [...document.querySelectorAll('article .admonition a[href]')].filter((e) => e.href.includes('docs/translations.html')).length};
  const edges = [...document.querySelectorAll('article h1, article h2, article h3')].map((e) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    const frame = (e.closest('section') ?? e.parentElement).getBoundingClientRect(), words = [...range.getClientRects()].filter((r) => r.width > 0);
    return {words: e.textContent.trim().slice(0, 40), left: Math.min(...words.map((r) => r.left)) - frame.left, right: frame.right - Math.max(...words.map((r) => r.right))};
  });
  return {edgeless, faint, verdicts, around, edges, pictures, wide, narrow, cut, backwards, scrolling, width: document.documentElement.scrollWidth, title: document.title,
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

// The height of a drawing's smallest words, as a share of its width; 0 without words.
const LEAST = 10;  // pixels, on a phone
const THUMBNAIL = 120;  // pixels; a smaller picture is a sign, not to be read
const smallest = new Map();
const smallestWords = (path) => {
  if (!smallest.has(path)) {
    const drawing = existsSync(path) ? readFileSync(path, 'utf8') : '', box = /viewBox="0 0 ([\d.]+) /.exec(drawing);
    const sizes = [...drawing.matchAll(/font(?:-size)?: ?(?:\d00 )?([\d.]+)px/g)].map((match) => Number(match[1]));
    smallest.set(path, box && sizes.length > 0 ? Math.min(...sizes) / Number(box[1]) : 0);
  }
  return smallest.get(path);
};

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
  if (seen.edgeless.length > 0) fail(file, `does not show that this goes on: ${seen.edgeless.slice(0, 3).join(' | ')}`);
  if (seen.faint.length > 0) fail(file, `has verdicts of too little contrast: ${seen.faint.slice(0, 3).join(' | ')}`);
  if (/^docs\/(claims|results)\.html$/.test(file)) {
    if (seen.verdicts < 6) fail(file, `colours ${seen.verdicts} kinds of verdicts, not 6`);
    await page.show({width: WIDTH, phone: true, dark: true});
    const {faint} = await page.evaluate(look);
    if (faint.length > 0) fail(file, `has dark verdicts of too little contrast: ${faint.slice(0, 3).join(' | ')}`);
    await page.show({width: WIDTH, phone: true});
  }
  for (const {name, src, width} of seen.pictures) {
    if (width < THUMBNAIL) continue;
    const size = src.startsWith('file:') && src.endsWith('.svg') ? smallestWords(fileURLToPath(src)) * width : LEAST;
    if (size > 0 && size < LEAST - 0.2) fail(file, `${name} has words ${size.toFixed(1)} pixels high, less than ${LEAST}`);
  }
  for (const {name, words, broken} of seen.pictures) {
    if (!words.trim()) fail(file, `${name} has no text that stands for it`);
    if (broken) fail(file, `${name} is missing`);
  }
  const language = /^(fa|pt|zh|tr)\//.exec(file)?.[1] ?? 'en', direction = language === 'fa' ? 'rtl' : 'ltr';
  if (seen.language[0] !== language || (seen.language[1] || 'ltr') !== direction)
    fail(file, `says it is ${seen.language.join(' ')}, not ${language} ${direction}`);
  if (language !== 'en') {
    const {captions, here, heading, search, corrections} = seen.around;
    const english = [...captions, search].filter((words) => /^(The course|How to|Models|The lab|Reference|Background|Languages|Search)$/i.test(words));
    if (english.length > 0 || captions.length < 5) fail(file, `has an English navigation: ${english.join(' | ') || 'no headings'}`);
    if (here.length !== 1 && !file.endsWith('/index.html')) fail(file, 'is not marked in the navigation');
    if (here[0] && here[0] !== heading) fail(file, `is called ${here[0]} in the navigation, not ${heading}`);
    if (!seen.title.startsWith(heading)) fail(file, `is called ${seen.title}, not ${heading}`);
    if (!corrections) fail(file, 'does not say that it awaits a native reviewer and how to correct it');
    await page.show({width: 1280});
    for (const {words, left, right} of (await page.evaluate(look)).edges)
      if ((direction === 'rtl' ? right : left) > 3) fail(file, `has a heading away from the edge: ${words}`);
    await page.show({width: WIDTH, phone: true});
  }
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
    for (const file of files.filter((file) => file.startsWith('zh/') && readFileSync(join(root, file), 'utf8').split('<article')[1]?.split('</article>')[0].includes(word)))
      wanted.push([word, file]);
  if (wanted.length < 5) fail('search.html', 'no page in Chinese is left to be found');
  for (const [word, expected] of wanted) {
    const address = pathToFileURL(join(root, 'search.html')).href + '?q=' + encodeURIComponent(word);
    if (await page.evaluate('location.href') !== address) await page.go(address);
    const found = `[...document.querySelectorAll('#search-results li a')].some((e) => e.href.includes('${expected}')) ||
                   document.querySelector('#search-more:not([hidden])')?.click()`;
    await page.until(found, 20).catch(() => fail('search.html', `finds no page of ${expected} for ${word}`));
  }
  // Most results are sections, their anchors exist, and an excerpt shows the words.
  const first = {layer_norm: /^api\/ops\.html#layer_norm$/, perplexity: /^docs\/.*#/, 'warm-up': /^docs\/.*#/};
  for (const [word, expected] of Object.entries(first)) {
    await page.go(pathToFileURL(join(root, 'search.html')).href + '?q=' + encodeURIComponent(word));
    const results = await page.evaluate(`[...document.querySelectorAll('#search-results li')].map((e) => ({href: e.querySelector('a').href, marks: e.querySelectorAll('mark').length, text: e.querySelector('p')?.textContent ?? ''}))`);
    const named = results.map(({href}) => [relative(root, fileURLToPath(href.replace(/#.*/, ''))), decodeURIComponent(new URL(href).hash.slice(1))]);
    if (!named[0] || !expected.test(named[0].join('#'))) fail('search.html', `finds ${named[0]?.join('#')} first for ${word}`);
    if (named.filter(([, anchor]) => anchor).length < 0.6 * named.length) fail('search.html', `leads to pages, not to sections, for ${word}`);
    if (results.some(({marks}) => marks === 0) || results.filter(({text}) => text).length < 0.8 * results.length) fail('search.html', `shows no excerpts for ${word}`);
    for (const [name, anchor] of named)
      if (anchor && pages.has(name) && !pages.get(name).ids.has(anchor)) fail('search.html', `leads to ${name}#${anchor}, an anchor that is not there`);
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
if (names.length === 0 || names.includes('search')) await reader();
if (files.includes('docs/figures.html')) await liveFigures();
await browser.close();

for (const failure of failures) console.log(failure);
console.log(`${pages.size} pages, ${pictures} pictures, ${links} links: ${failures.length} failures`);
process.exit(failures.length > 0 || pages.size < (names.length ? 1 : 100) ? 1 : 0);

// What the live figures do beside showing numbers: links opened in the same page, focus, touch, contrast, themes:
//   node figure_states_test.mjs FOLDER BROWSER_ANSWER
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Page} from './chromium.mjs';
import {check, close, pages as folder, runAll, same, sleep} from './harness.mjs';

const FIGURES = ['tape', 'adam', 'attention', 'layer_norm', 'placement', 'schedule'];
const text = (page, id) => page.evaluate(`document.getElementById('${id}').textContent`);
const value = (page, id) => page.evaluate(`document.getElementById('${id}').value`);

async function open(browser, name, hash = '', options = {}, until = `document.getElementById('words').textContent`) {
  const page = await Page.open(browser, options);
  await page.go(pathToFileURL(join(folder, name + '.html')).href + hash);
  await page.until(until);
  return page;
}
const goTo = (page, hash) => page.evaluate(`location.hash = '${hash}'`);

// --- the tests

async function linksInTheSamePage(browser) {
  const page = await open(browser, 'attention', '#text=banana');
  await goTo(page, '#rule=previous&causal=false');
  await page.until(`document.querySelectorAll('#all tbody tr').length === 11 && document.getElementById('words').textContent.includes('they see')`);
  same(await value(page, 'text'), 'abracadabra', 'what a link leaves out is as it began');
  same(await page.evaluate(`document.getElementById('causal').checked`), false, 'the mask is that of the second link');
  await goTo(page, '#causal=perhaps');
  await page.until(`document.getElementById('problem').textContent.includes('causal=perhaps')`);
  same(await page.evaluate(`document.getElementById('causal').checked`), true, 'the mask is as it began');
  await close(page, 'attention');

  const tape = await open(browser, 'tape', '#expression=neuron&v1=0.5');
  await tape.click('next');
  await tape.until(`document.getElementById('count').textContent.startsWith('1 ')`);
  await tape.click('link');  // its own: nothing changes
  await sleep(300);
  check((await text(tape, 'count')).startsWith('1 '), 'its own link keeps the step');
  await goTo(tape, '#expression=tanh&v0=1.5');
  await tape.until(`document.querySelectorAll('#notes tbody tr').length === 6`);
  check((await text(tape, 'count')).startsWith('0 '), 'another expression begins at the start');
  same(await value(tape, 'v0') + ' ' + await value(tape, 'v1'), '1.5 -0.5', 'inputs of the second link');
  await close(tape, 'tape');

  const adam = await open(browser, 'adam');
  await goTo(adam, '#stream=spike&warmup=7');
  await adam.until(`document.getElementById('link').hash === '#stream=spike&warmup=7'`);
  await close(adam, 'adam');
  const norm = await open(browser, 'layer_norm');
  await goTo(norm, '#x0=-2');
  await norm.until(`document.querySelector('#numbers td').textContent === '−2.00'`);
  await close(norm, 'layer norm');
}

async function misspelledLinks(browser) {
  const page = await open(browser, 'tape', '#expression=neuron&v1=0.5&v7=3&warm-up=9&theme=dark');
  same(await text(page, 'problem'), 'The link contains settings that this figure does not have: v7=3, warm-up=9.', 'names that are not known');
  await close(page, 'misspelled links');
}

// A browser fills in what was there; the link must still hold it.
async function back(browser) {
  for (const [name, id, changed] of [['adam', 'rate', '0.01'], ['placement', 'rate', '0.01'], ['schedule', 'layers', '3']]) {
    const page = await open(browser, name);
    await page.evaluate(`(() => { const e = document.getElementById('${id}'); e.value = '${changed}'; e.dispatchEvent(new Event('input')); })()`);
    await page.until(`document.getElementById('link').hash === '#${id}=${changed}'`);
    await page.go('data:text/html,elsewhere');
    const {entries, currentIndex} = await page.send('Page.getNavigationHistory');
    const loaded = new Promise((done) => { page.loaded = done; });
    await page.send('Page.navigateToHistoryEntry', {entryId: entries[currentIndex - 1].id});
    await Promise.race([loaded, sleep(3000)]);  // a page that was kept loads nothing
    await page.until(`document.getElementById('words')?.textContent`);
    const shown = await value(page, id), hash = await page.evaluate(`document.getElementById('link').hash`);
    check((shown === changed) === (hash === `#${id}=${changed}`), `${name} after Back: ${id} is ${shown}, the link ${hash}`);
    await close(page, `${name} after Back`);
  }
}

// Weights that a mask was not part of are not shown under it.
async function maskOfTheWeights(browser) {
  const page = await open(browser, 'attention', '#causal=false&text=abcab');
  await page.evaluate(`(() => { const e = document.getElementById('text'); e.value = ''; e.dispatchEvent(new Event('input')); })()`);
  await page.until(`!document.getElementById('problem').hidden`);
  await page.evaluate(`document.getElementById('causal').click()`);
  await page.evaluate(`document.getElementById('row').focus()`);
  await page.key('Home', {number: 36});
  await page.until(`document.getElementById('words').textContent.startsWith('Row 1')`);
  same(await page.evaluate(`document.querySelectorAll('#map .masked').length`), 0, 'masked cells of weights without a mask');
  check(!(await text(page, 'words')).includes('in spite of the mask'), 'what is said of weights without a mask');
  await close(page, 'the mask of the weights');
}

async function equalWeights(browser) {
  const page = await open(browser, 'attention', '', {width: 360, phone: true});
  check((await text(page, 'words')).startsWith('Row 8, “a”, looks at 1 “a”, 4 “a”, 6 “a” and 8 “a” with 0.25 each.'), `letters with equal weights: ${await text(page, 'words')}`);
  same(await page.evaluate(`document.querySelectorAll('#rows tbody tr')[7].cells[1].textContent`), '1 a, 4 a, 6 a and 8 a', 'letters with the most weight');
  const wide = await page.evaluate(`Math.max(...[...document.querySelectorAll('#map text.weight')].map((e) => e.getBBox().width /
      document.querySelector('#map .frame').getBBox().width))`);
  check(wide > 0.2 && wide < 1, `numbers in narrow cells take ${wide} of them`);
  await close(page, 'equal weights');
}

// What is dragged keeps its mean, also past the ends of the sliders.
async function dragPastTheEnd(browser) {
  const page = await open(browser, 'layer_norm');
  const {x, y, cx, cy, wide} = await page.evaluate(`(() => { document.getElementById('plane').scrollIntoView({block: 'center'});
      const t = document.getElementById('token').getBoundingClientRect(), s = document.querySelector('#plane svg').getBoundingClientRect();
      return {x: t.x + t.width / 2, y: t.y + t.height / 2, cx: s.x + s.width / 2, cy: s.y + s.height / 2, wide: s.width}; })()`);
  const mouse = (type, x, y) => page.send('Input.dispatchMouseEvent', {type, x, y, button: 'left', buttons: 1, clickCount: 1});
  const numbers = async () => Promise.all(['x0', 'x1', 'x2'].map(async (id) => Number(await value(page, id))));
  await mouse('mousePressed', x, y);
  for (let i = 0; i < 48; ++i) {
    const angle = i / 24 * 2 * Math.PI, radius = wide * (i < 24 ? 0.2 : 0.48);
    await mouse('mouseMoved', cx + radius * Math.cos(angle), cy + radius * Math.sin(angle));
    const sum = (await numbers()).reduce((a, b) => a + b);
    check(Math.abs(sum - 1.8) < 1e-9, `the sum of the three numbers at move ${i}: ${sum}`);
  }
  await mouse('mouseMoved', cx + wide * 0.48, cy);
  check((await numbers())[0] === 3, `far to the right: ${await numbers()}`);
  await mouse('mouseReleased', cx, cy);
  await close(page, 'a drag past the end');
}

// Where nothing is above 0, the axis ends there.
async function smallSteps(browser) {
  const page = await open(browser, 'adam', '#stream=constant&rate=0.00001', {width: 320});
  const [low, high] = await page.evaluate(`(() => { const d = document.querySelector('#weight .line.line').getBBox(), h = document.querySelector('#weight svg').viewBox.baseVal.height;
      return [d.height, h]; })()`);
  check(low > 0.5 * high, `the weight’s line takes ${low} of ${high}`);
  same(await page.evaluate(`[...document.querySelectorAll('#charts text')].filter((e) => e.getBoundingClientRect().left < 0).length`), 0, 'numbers beyond the page');
  same(await page.evaluate(`getComputedStyle(document.querySelector('#weight svg')).overflow`), 'visible', 'a long number beside an axis');
  await close(page, 'small steps');
}

// Before there is anything to show a reader may turn everything.
async function tooLongAText(browser) {
  const page = await open(browser, 'attention', '#text=' + 'x'.repeat(30), {}, `!document.getElementById('problem').hidden`);
  check((await text(page, 'problem')).includes('there are 30'), `a link with 30 letters: ${await text(page, 'problem')}`);
  await page.evaluate(`document.getElementById('row').focus()`);
  await page.key('Home', {number: 36});
  await sleep(300);
  await page.evaluate(`(() => { const e = document.getElementById('text'); e.value = 'x'.repeat(24); e.dispatchEvent(new Event('input')); })()`);
  await page.until(`document.querySelectorAll('#all tbody tr').length === 24`);
  await close(page, 'a text that is too long');
}

async function earlyMoves(browser) {
  for (const [name, id] of [['attention', 'row'], ['attention', 'axis'], ['adam', 'size'], ['tape', 'at'], ['layer_norm', 'x0']]) {
    const page = await Page.open(browser);
    await page.send('Page.addScriptToEvaluateOnNewDocument', {source: `addEventListener('DOMContentLoaded', () =>
        document.getElementById('${id}').dispatchEvent(new Event('input', {bubbles: true})))`});
    await page.go(pathToFileURL(join(folder, name + '.html')).href);
    check(await page.evaluate(`document.getElementById('problem').hidden`), `${name}: no complaint while it is loading`);
    await page.until(`document.getElementById('words').textContent`);
    check(await page.evaluate(`document.getElementById('problem').hidden`), `${name}: nor after`);
    await close(page, `${name}, ${id} moved early`);
  }
}

// As WCAG computes it. Text of a cell's size needs 4.5.
async function contrast(browser) {
  for (const dark of [false, true])
    for (const causal of [true, false]) {
      const page = await open(browser, 'attention', `#rule=random&causal=${causal}&text=abcdefghijk`, {dark});
      const lowest = await page.evaluate(`(() => {
        const lightness = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const rgb = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
        const paper = rgb(getComputedStyle(document.body).backgroundColor);
        let lowest = 99;
        for (const words of document.querySelectorAll('#map text.weight'))
          for (let percent = 0; percent <= 100; ++percent) {  // each cell with each weight
            const ahead = Boolean(words.closest('.ahead'));
            const made = document.createElementNS('http://www.w3.org/2000/svg', 'g');
            made.innerHTML = numberIn(percent / 100, ahead, 0, 0);
            words.parentNode.append(made);
            const ink = rgb(getComputedStyle(made.firstChild).fill);
            made.remove();
            const cell = rgb(getComputedStyle(words.parentNode.querySelector('.cell')).fill);
            const [a, b] = [lightness(ink), lightness(paper.map((v, i) => v + percent / 100 * (cell[i] - v)))].sort((x, y) => y - x);
            lowest = Math.min(lowest, (a + 0.05) / (b + 0.05));
          }
        return lowest;
      })()`);
      check(lowest >= 4.5, `${dark ? 'dark' : 'light'}, ${causal ? 'causal' : 'not causal'}: numbers in cells have a contrast of ${lowest}`);
      await close(page, 'contrast');
    }
}

async function focusStays(browser) {
  const page = await open(browser, 'tape', '#expression=twice');
  await page.evaluate(`document.getElementById('next').focus()`);
  for (let i = 0; i < 12; ++i) await page.key('Enter', {text: '\r', number: 13});
  await page.until(`document.getElementById('count').textContent === '10 of 10'`);
  same(await page.evaluate(`document.activeElement.id`), 'next', 'the focus stays at the end');
  same(await page.evaluate(`document.getElementById('next').ariaDisabled + document.getElementById('back').ariaDisabled`), 'truefalse',
       'what has nothing to do says so');
  await close(page, 'focus');
}

// A finger on the token moves it; elsewhere it scrolls the page.
async function touch(browser) {
  const page = await open(browser, 'layer_norm', '', {width: 390, phone: true});
  const press = (dx) => page.evaluate(`(() => {
    const {left, top, width, height} = document.getElementById('token').getBoundingClientRect(), plane = document.getElementById('plane');
    const x = left + width / 2 + ${dx}, y = top + height / 2;
    const finger = new Touch({identifier: 1, target: plane, clientX: x, clientY: y});
    const event = new TouchEvent('touchstart', {touches: [finger], cancelable: true, bubbles: true});
    plane.dispatchEvent(event);
    plane.setPointerCapture = () => {};
    for (const type of ['pointerdown', 'pointermove', 'pointerup'])
      plane.dispatchEvent(new PointerEvent(type, {clientX: x + (type === 'pointermove' ? -30 : 0), clientY: y, pointerId: 1, bubbles: true}));
    return event.defaultPrevented;
  })()`);
  const before = await value(page, 'x0');
  same(await press(-80), false, 'far from the token the page scrolls');
  same(await value(page, 'x0'), before, 'and the token stays');
  same(await press(10), true, 'on the token it does not');
  check(await value(page, 'x0') !== before, 'and the token moves');
  same(await page.evaluate(`getComputedStyle(document.querySelector('#plane svg')).touchAction`), 'auto', 'touches of the drawing');
  await close(page, 'touch');
}

async function whatIsSaid(browser) {
  for (const name of FIGURES) {
    const page = await open(browser, name);
    same(await page.evaluate(`[...document.querySelectorAll('output')].filter((e) => e.ariaLive !== 'off').map((e) => e.id).join()`), '',
         `${name}: numbers that follow a slider are not said`);
    await close(page, name);
  }
}

// The page around says which theme it has, also later.
async function themeOfTheFrame(browser) {
  const page = await Page.open(browser, {width: 700});
  await page.go('about:blank');
  await page.evaluate(`(() => { const frame = document.createElement('iframe'); frame.title = 'A figure';
      frame.srcdoc = ${JSON.stringify(readFileSync(join(folder, 'attention.html'), 'utf8'))}; document.body.append(frame); })()`);
  const inside = `document.querySelector('iframe').contentDocument`;
  await page.until(`${inside}.getElementById('words')?.textContent`);
  for (const [theme, paper] of [['dark', 'rgb(23, 25, 29)'], ['auto', 'rgb(255, 255, 255)'], ['light', 'rgb(255, 255, 255)']]) {
    await page.evaluate(`document.querySelector('iframe').contentWindow.postMessage({theme: '${theme}'}, '*')`);
    await page.until(`(${inside}.documentElement.dataset.theme ?? 'auto') === '${theme}'`);
    same(await page.evaluate(`getComputedStyle(${inside}.body).backgroundColor`), paper, `theme ${theme}`);
  }
  await close(page, 'a frame');
}

await runAll([linksInTheSamePage, misspelledLinks, back, maskOfTheWeights, equalWeights, dragPastTheEnd, smallSteps,
               tooLongAText, earlyMoves, contrast, focusStays, touch, whatIsSaid, themeOfTheFrame]);

// Code that the live figures share: formatting numbers, settings in the link, one request at a time,
// embedding in a frame.
'use strict';

const fixed = (v, digits = 2) =>
    v === null || !Number.isFinite(v) ? '–' : v.toFixed(digits).replace(/^-(?=[0.]*$)/, '').replace('-', '−');
const controls = () => [...document.querySelectorAll('form :is(select,input)')].filter((one) => one.id);
const valueOf = (control) => (control.type === 'checkbox' ? String(control.checked) : control.value);

// a, b and c
function listed(words) {
  return words.length < 2 ? words.join('') : words.slice(0, -1).join(', ') + ' and ' + words[words.length - 1];
}

// Announces a text to screen readers, after a pause in the input.
let saying = 0;
function say(words, after = 0) {
  clearTimeout(saying);
  saying = setTimeout(() => { $('words').textContent = words; }, after);
}

let refusal = '';  // the invalid settings of the link, reported once
function complain(words) {
  $('problem').hidden = !words;
  $('problem').textContent = words;
}

function fillMenu(id, entries, chosen) {
  $(id).replaceChildren(...entries.map(({name, title}) => new Option(title, name, name === chosen, name === chosen)));
}

function tableText(head, rows) {
  const title = (cell, scope) => `<th scope="${scope}">${escapeText(cell)}</th>`;
  const line = ([first, ...rest]) => `<tr>${title(first, 'row')}${rest.map((cell) => `<td>${escapeText(cell)}</td>`).join('')}</tr>`;
  return `<thead><tr>${head.map((cell) => title(cell, 'col')).join('')}</tr></thead><tbody>${rows.map(line).join('')}</tbody>`;
}

// Figures below each other in $('charts'): a title, a drawing and the same as a table.
function makeCharts(charts) {
  $('charts').innerHTML = charts.map(({id, title}) =>
      `<figure id="${id}"><figcaption>${title}</figcaption><div class="drawing"></div><details><summary>Table</summary>` +
      `<div class="scroll" tabindex="0" role="region" aria-label="${title} as a table"><table></table></div></details></figure>`).join('');
}

// Draws one of them; spec is drawChart's, without the width.
function fillChart({id, title}, spec, head, rows) {
  const width = Math.max(280, Math.min(620, $(id).clientWidth));
  $(id).querySelector('.drawing').innerHTML = drawChart({width, ...spec});
  $(id).querySelector('table').innerHTML = `<caption class="hidden">${title}</caption>` + tableText(head, rows);
}

// Redraws whenever it is called, but never twice at once: changes in the meantime are drawn afterwards.
// Before drawLinked() there is nothing to draw.
let opened = false;
function oneAtATime(draw) {
  let drawing = false, again = false;
  return async function update() {
    if (!opened) return;
    again = drawing;
    if (drawing) return;
    drawing = true;
    try {
      await draw();
      complain(refusal);
    } catch (error) {
      complain(error.message);
    }
    drawing = false;
    if (again) return update();
    refusal = '';
  };
}

// --- the link contains the settings that differ from their initial values

const beginnings = new Map();
const linked = () => new URLSearchParams(location.hash.slice(1));

function remember() {
  beginnings.clear();
  for (const one of controls()) beginnings.set(one.id, valueOf(one));
}

function give(control, value) {
  if (control.type === 'checkbox') control.checked = value === 'true';
  else control.value = value;
}

// Sets all controls to the link's values, or to their initial ones.
function readLink() {
  const wanted = new Map(linked()), names = controls().map((one) => one.id);
  const refused = [...wanted].filter(([name]) => name !== 'theme' && !names.includes(name)).map(([name, value]) => `${name}=${value}`);
  if (wanted.has('theme')) setTheme(wanted.get('theme'));
  for (const control of controls()) {
    const name = control.id, before = beginnings.get(name), value = wanted.get(name) ?? before;
    give(control, value);
    if (valueOf(control) !== value || value !== before && !control.checkValidity()) {
      give(control, before);
      refused.push(`${name}=${value}`);
    }
  }
  refusal = refused.length ? `The link contains settings that this figure does not have: ${refused.join(', ')}.` : '';
}

function writeLink() {
  const changed = controls().filter((one) => beginnings.get(one.id) !== valueOf(one)).map((one) => [one.id, valueOf(one)]);
  $('link').href = '#' + new URLSearchParams(changed);
}

// Reads the link and draws with `update`, and again for every other link that is opened in this page.
function drawLinked(update, read = readLink) {
  const take = () => {
    read();
    return update();
  };
  opened = true;
  addEventListener('hashchange', take);
  return take();
}

// --- the theme: the system's, the link's, or that of the surrounding page

const darkness = matchMedia('(prefers-color-scheme: dark)');
const themed = () => document.dispatchEvent(new Event('themechange'));
darkness.addEventListener('change', themed);

function setTheme(theme) {
  if (['light', 'dark'].includes(theme)) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  themed();
}

// --- in a frame: its own headings are hidden; it tells the surrounding page its height and accepts {theme:
// 'dark'}

if (window.parent !== window) {
  document.documentElement.classList.add('framed');
  $('link').target = '_blank';
  new ResizeObserver(() => window.parent.postMessage({figureHeight: Math.ceil(document.querySelector('.page').offsetHeight)}, '*'))
      .observe(document.querySelector('.page'));
  addEventListener('message', ({data, source}) => { if (source === window.parent && data?.theme) setTheme(data.theme); });
}
document.querySelector('form').addEventListener('submit', (event) => event.preventDefault());

// What the live figures share: numbers for people, settings in the link, one question at a time, being framed.
'use strict';

const fixed = (v, digits = 2) =>
    v === null || !Number.isFinite(v) ? '–' : v.toFixed(digits).replace(/^-(?=[0.]*$)/, '').replace('-', '−');
const controls = () => [...document.querySelectorAll('form :is(select,input)')].filter((one) => one.id);
const valueOf = (control) => (control.type === 'checkbox' ? String(control.checked) : control.value);

// a, b and c
function listed(words) {
  return words.length < 2 ? words.join('') : words.slice(0, -1).join(', ') + ' and ' + words[words.length - 1];
}

// A text that screen readers say, once things have come to rest.
let saying = 0;
function say(words, after = 0) {
  clearTimeout(saying);
  saying = setTimeout(() => { $('words').textContent = words; }, after);
}

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

// Draws anew whenever it is called, but never two at once: what changes meanwhile is drawn after.
function oneAtATime(draw) {
  let drawing = false, again = false;
  return async function update() {
    again = drawing;
    if (drawing) return;
    drawing = true;
    try {
      await draw();
      complain('');
    } catch (error) {
      complain(error.message);
    }
    drawing = false;
    if (again) update();
  };
}

// --- the link holds what is not as it began

let beginnings = new Map();

function readLink() {
  beginnings = new Map(controls().map((one) => [one.id, valueOf(one)]));
  const refused = [];
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const control = controls().find((one) => one.id === name);
    if (name === 'theme') document.documentElement.dataset.theme = value;
    if (!control) continue;
    if (control.type === 'checkbox') {
      control.checked = value === 'true';
      continue;
    }
    control.value = value;
    if (control.value !== value || !control.checkValidity()) {
      control.value = beginnings.get(name);
      refused.push(`${name}=${value}`);
    }
  }
  return refused.length ? `The link asks for ${refused.join(', ')}, which there is not here.` : '';
}

function writeLink() {
  const changed = controls().filter((one) => beginnings.get(one.id) !== valueOf(one)).map((one) => [one.id, valueOf(one)]);
  $('link').href = '#' + new URLSearchParams(changed);
}

// --- in a frame: its own headings are hidden, and the page around it is told how high it is

if (window.parent !== window) {
  document.documentElement.classList.add('framed');
  $('link').target = '_blank';
  new ResizeObserver(() => window.parent.postMessage({figureHeight: Math.ceil(document.querySelector('.page').offsetHeight)}, '*'))
      .observe(document.querySelector('.page'));
}
document.querySelector('form').addEventListener('submit', (event) => event.preventDefault());

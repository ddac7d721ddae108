// Code, tables and pictures that are wider than their place scroll; where they go on, their edge fades (site.css).
'use strict';
(() => {
  const boxes = [...document.querySelectorAll('pre, .table-wrapper, div.wide, div.formula, body.source .highlight')];
  const look = (box) => {
    const rest = box.scrollWidth - box.clientWidth, done = Math.abs(box.scrollLeft);  // negative from right to left
    const [start, end] = [done > 2, rest - done > 2];
    const [left, right] = getComputedStyle(box).direction === 'rtl' ? [end, start] : [start, end];
    box.classList.toggle('more-left', left);
    box.classList.toggle('more-right', right);
    if (rest > 2) box.tabIndex = 0;  // the arrow keys scroll it
    else box.removeAttribute('tabindex');
  };
  const sizes = new ResizeObserver((entries) => entries.forEach(({target}) => look(target)));
  for (const box of boxes) {
    box.addEventListener('scroll', () => look(box), {passive: true});
    sizes.observe(box);
    look(box);
  }
  document.addEventListener('toggle', () => boxes.forEach(look), true);
})();

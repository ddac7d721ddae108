// The search page: finds the sections that contain every word of a query, best first, with an excerpt. The sections are in
// sections.js (search.py): [page, language, [[anchor, title, text], ...]] for each page.
'use strict';
(() => {
  const AT_ONCE = 40, BEFORE = 70, LENGTH = 240;
  const HAN = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;
  const SAME = {i: '[iıİ]', ı: '[iıİ]', ی: '[یي]', ي: '[یي]', ک: '[کك]', ك: '[کك]'};  // letters with several code points

  // A word's pattern: its beginning is enough, and an English ending may differ. Chinese has no spaces: its words begin anywhere.
  const pattern = (word, anywhere) => {
    const stem = word.replace(/^([a-z]{4,}?)(?:ations?|ings?|ed|es|e|s)$/, '$1');
    const letters = stem.replace(/^([a-z]{3,})(?:y|i)$/, '$1[yi]').replace(/[iıیيکك](?![^[]*\])/g, (letter) => SAME[letter]);
    return HAN.test(word) || anywhere ? letters : `(?<![\\p{L}\\p{N}])${letters}`;
  };

  const find = (query, wanted) => {
    const words = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    if (words.length === 0) return {found: [], marks: null};
    const foreign = /[^\x00-\x7f]/.test(query);
    const plain = query.toLowerCase().trim();
    for (const anywhere of [false, true]) {
      const tests = words.map((word) => new RegExp(pattern(word, anywhere), 'iu'));
      const found = [];
      for (const [page, language, parts] of sections) {
        const heading = parts.find(([, title]) => title)?.[1] ?? page;
        for (const [anchor, title, text] of parts) {
          if (!tests.every((test) => test.test(text) || test.test(title) || test.test(heading))) continue;
          let score = 0;
          for (const test of tests) score += test.test(title) ? 10 : test.test(text) ? 2 : 0;
          if (score === 0) continue;  // only the page's heading has the words
          const name = title.toLowerCase();
          const names = name.split(', ');  // a declaration's
          if (names.includes(plain)) score += 50;
          else if (names.some((one) => one.endsWith('.' + plain))) score += 40;
          else if (name.includes(plain)) score += 12;
          if (text.toLowerCase().includes(plain)) score += 6;
          if (page === 'CHANGELOG') score /= 4;  // it has the words of everything
          if (language !== wanted && !foreign) score /= 4;
          found.push({page, language, anchor, title, text, heading, score});
        }
      }
      if (found.length > 0 || anywhere)
        return {found: found.sort((a, b) => b.score - a.score), marks: new RegExp(words.map((word) => pattern(word, anywhere)).join('|'), 'giu')};
    }
  };

  // Appends a text with its found words marked.
  const mark = (element, text, marks) => {
    let end = 0;
    for (const match of text.matchAll(marks)) {
      element.append(text.slice(end, match.index));
      element.appendChild(document.createElement('mark')).textContent = match[0];
      end = match.index + match[0].length;
    }
    element.append(text.slice(end));
    return element;
  };

  const excerpt = (text, plain, marks) => {
    const phrase = text.toLowerCase().indexOf(plain), first = phrase >= 0 ? phrase : Math.max(text.search(marks), 0);
    let begin = Math.max(first - BEFORE, 0), end = begin + LENGTH;
    if (begin > 0) begin = Math.min(text.indexOf(' ', begin) + 1 || begin, first);
    if (end < text.length) end = Math.max(text.lastIndexOf(' ', end), first + plain.length);
    return (begin > 0 ? '… ' : '') + text.slice(begin, end) + (end < text.length ? ' …' : '');
  };

  const given = new URLSearchParams(location.search), query = (given.get('q') ?? '').trim();
  document.querySelectorAll('input[name=q]').forEach((input) => { input.value = query; });
  document.querySelectorAll('input[name=lang]').forEach((input) => { input.value = given.get('lang') ?? ''; });
  if (query === '') return document.querySelector('form.search input').focus();
  const {found, marks} = find(query, given.get('lang') || 'en');
  const many = found.length === 1 ? '1 section' : `${found.length} sections`;
  document.getElementById('search-summary').textContent = found.length === 0 ? `No section contains all words of “${query}”.` :
      `${many} with “${query}”` + (found.length > AT_ONCE ? ', best first.' : '.');
  const list = document.getElementById('search-results'), more = document.getElementById('search-more');
  const show = ({page, language, anchor, title, text, heading}) => {
    const item = list.appendChild(document.createElement('li'));
    item.lang = language;
    item.dir = 'auto';
    const link = item.appendChild(document.createElement('a'));
    link.href = `${page}.html${anchor ? '#' + anchor : ''}`;
    mark(link, title || heading, marks);
    if (title !== heading) {
      const where = item.appendChild(document.createElement('span'));
      where.className = 'where';
      where.textContent = heading;
    }
    if (text) mark(item.appendChild(document.createElement('p')), excerpt(text, query.toLowerCase(), marks), marks);
  };
  const showMore = () => {
    found.splice(0, AT_ONCE).forEach(show);
    more.hidden = found.length === 0;
  };
  more.addEventListener('click', showMore);
  showMore();
})();

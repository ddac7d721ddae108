// Typesets formulas with KaTeX: reads one JSON object per line, {tex, display, output}, and answers each with a line,
// {html} or {error}. The first line says where KaTeX's style sheet and fonts are.
'use strict';
const path = require('path');
const readline = require('readline');

module.paths.push('/usr/share/nodejs');  // Debian's packages
const katex = require('katex');

const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
say({ folder: path.dirname(require.resolve('katex/dist/katex.min.css')) });
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { tex, display, output } = JSON.parse(line);
  try {
    say({ html: katex.renderToString(tex, { displayMode: display, output, strict: 'error', throwOnError: true }) });
  } catch (error) {
    say({ error: error.message });
  }
});

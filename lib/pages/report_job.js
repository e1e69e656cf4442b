// A job that is open: its message, findings, comparisons and pictures.
function badge(status) {
  return element('span.badge', {'data-status': status}, `${SIGNS[status] || '•'} ${status}`);
}

function repeat_part(command) {
  const code = element('code', {}, command);
  const button = element('button.copy', {type: 'button'}, 'Copy');
  button.addEventListener('click', () => copy(code, button));
  return element('div.repeat', {}, element('h3', {}, 'Run it again'),
    element('div.command', {}, code, button));
}

function findings_part(name, text) {
  const pre = element('pre.' + name, {tabindex: 0});
  text.replace(/\n+$/, '').split('\n').forEach((line, number) => {
    const kind = /^\s*(rule|help):/.exec(line);
    if (number) pre.append('\n');
    pre.append(kind ? element('span.' + kind[1], {}, line) : shown(line));
  });
  return pre;
}

function fact(name, title, value, ...notes) {
  return element('div', {'data-fact': name}, element('dt', {}, title), element('dd', {}, value),
    ...notes.filter(Boolean).map(note => element('dd.muted', {}, note)));
}

function facts_part(comparison) {
  const {elements, mismatches, nanMismatches, smallest, summary, region, relation} = comparison;
  // A comparison may fail although no elements differ: the sizes do, or nothing was compared.
  const told = !mismatches && comparison.verdict !== 'PASSED' && summary;
  const facts = element('dl.facts', {},
    fact('mismatches', told ? 'Result' : 'Elements that differ', told ||
      `${whole(mismatches)} of ${whole(elements)}${percentage(mismatches, elements)}`,
      nanMismatches ? `${whole(nanMismatches)} of them NaN on one side only` : ''),
    fact('tolerance', 'Tolerance', comparison.tolerance || 'none', comparison.toleranceOrigin));
  if (mismatches && typeof region?.slices === 'string') {
    facts.append(fact('where', region.isFull ? 'All that differ' : 'All that differ are in',
      element('span.mono', {}, region.slices)));
  }
  if (typeof relation === 'string') facts.append(fact('relation', 'Relation', relation));
  if (smallest && !told) {
    // In full: a rounded tolerance might not pass.
    const parts = ['rtol', 'atol', 'ulp'].filter(name => name in smallest).map(name => {
      if (smallest[name] === null) return `no ${name === 'ulp' ? 'number of ULP' : name}`;
      return name === 'ulp' ? `${whole(smallest.ulp)} ULP` : `${name} ${smallest[name]}`;
    });
    const none = parts.length && parts.every(part => part.startsWith('no '));
    facts.append(fact('smallest', 'Smallest that would pass',
      none ? 'none would' : parts.join(', '), none ? '' : 'each of them alone'));
  }
  return facts;
}

// What the sides of a comparison are called: of an update the golden file is as it was before.
function words_of(comparison) {
  return comparison.update === 'replaced' ? {actual: 'New', expected: 'Old'}
    : {actual: 'Actual', expected: 'Expected'};
}

const UPDATES = {__proto__: null, created: 'The golden file was missing and is written.',
  replaced: 'The golden file is replaced: old is what it held, new is what it holds.',
  refused: 'The golden file is left alone: what was computed proves nothing.'};

function files_part(comparison) {
  const files = [['actual', 'Actual file'],
    ['expected', comparison.update ? 'Golden file' : 'Expected file']]
    .filter(([name]) => comparison[name])
    .map(([name, title]) => fact(name + '-file', title,
      element('span.mono', {}, comparison[name])));
  return files.length ? element('dl.files', {}, ...files) : null;
}

function pictures_part(pictures, sizes, words) {
  const figure = (name, title, low, high) => {
    if (!/^data:image\//.test(pictures[name] || '')) return null;
    const img = element('img', {alt: `${title}, ${low} to ${high}, plane ${pictures.plane}`});
    const note = element('div');
    img.addEventListener('load', () => {
      const ratio = img.naturalWidth / img.naturalHeight;
      const stretched = ratio > 12 || ratio < 1 / 6;
      img.classList.toggle('stretched', stretched);
      note.textContent = stretched ? 'not to scale' : '';
    });
    img.src = pictures[name];
    return element('figure', {'data-picture': name}, img,
      element('figcaption', {}, element('b', {}, title),
        element('div.range', {}, element('span', {}, low), element('span.ramp'),
          element('span', {}, high)),
        note));
  };
  const {low, high, maxDifference} = pictures;
  const plane = sizes.slice(-2).join(' × ');
  return element('div.pictures', {},
    element('h4', {}, 'Plane ', element('span.mono', {}, pictures.plane),
      plane && element('span.muted', {}, ` ${plane} elements`)),
    element('div.row', {}, figure('actual', words.actual, low, high),
      figure('expected', words.expected, low, high),
      figure('difference', 'Difference', '0', maxDifference)),
    element('p.legend', {}, 'Differences are on a logarithmic scale. NaN is magenta.'));
}

// The classes from one to another as one. Powers of two are written as such where they are long:
// 1048577..2097152 becomes >2^20..2^21.
function class_text(first, last = first) {
  const ends = `${first}..${last}`.split('..');
  const pair = [ends[0], ends[ends.length - 1]];
  if (pair[0] === pair[1]) return first;
  if (!pair.every(end => /^\d+$/.test(end))) return first === last ? first : `${first} … ${last}`;
  const power = value => {
    const digits = value.toString(2);
    return value >= 2n ** 20n && /^10*$/.test(digits) ? `2^${digits.length - 1}` : '';
  };
  const [from, to] = pair.map(BigInt);
  const before = power(from - 1n);
  const after = power(to + 1n);  // the last class ends at 2^64-1
  return `${before ? '>' + before : from}..${power(to) || (after ? after + '-1' : to)}`;
}

// The bars are as long as 1 + log10 of their counts: each power of ten adds the same length. Three
// empty classes or more in a row are shown as one.
function histogram_part(classes, tolerance) {
  const most = classes.reduce((high, entry) => Math.max(high, Number(entry.count)), 1);
  const length = count => count > 0 ? 100 * (1 + Math.log10(count)) / (1 + Math.log10(most)) : 0;
  // Where nothing but a number of ULP is allowed, the bars beyond it have their own color.
  const exact = /^bit for bit/.test(tolerance || '') && ['', '0'];
  const allowed = exact || /^(\d+) ULP($|, NaN)/.exec(tolerance || '');
  const ticks = [];
  const step = Math.ceil((1 + Math.log10(most)) / 6);
  for (let power = 0; 10 ** power <= most; power += step) ticks.push(10 ** power);
  const lines = () => ticks.map(tick => {
    const line = element('i');
    line.style.left = length(tick) + '%';
    return line;
  });
  const axis = element('div.track', {}, ...ticks.map(tick => {
    const label = element('span', {}, tick < 1e4 ? whole(tick) : `1e${Math.log10(tick)}`);
    label.style.left = length(tick) + '%';
    return label;
  }));
  const rows = element('tbody');
  const kinds = new Set();
  for (let i = 0; i < classes.length; ++i) {
    let last = i;
    while (last < classes.length && Number(classes[last].count) === 0) ++last;
    if (last - i >= 3) {
      rows.append(element('tr.gap', {},
        element('th', {scope: 'row'}, class_text(classes[i].ulp, classes[last - 1].ulp)),
        element('td', {}, element('div.track', {}, ...lines())),
        element('td.number', {}, 'none')));
      i = last - 1;
      continue;
    }
    const {ulp, count} = classes[i];
    const from = /^\d+/.exec(ulp);
    const kind = from && Number(from[0]) === 0 ? 'exact'
      : allowed && (!from || Number(from[0]) > Number(allowed[1])) ? 'beyond' : 'within';
    if (Number(count) > 0) kinds.add(kind);
    const bar = element('b');
    bar.style.width = length(Number(count)) + '%';
    rows.append(element('tr.' + kind, {'data-ulp': ulp, 'data-count': count},
      element('th', {scope: 'row', title: ulp}, class_text(ulp)),
      element('td', {}, element('div.track', {}, ...lines(), bar)),
      element('td.number', {}, whole(count))));
  }
  const names = {exact: 'equal', within: allowed ? 'within the tolerance' : 'different',
    beyond: 'beyond the tolerance'};
  const legend = element('p.legend');
  for (const kind of Object.keys(names)) {
    if (kinds.has(kind)) legend.append(element('i.' + kind), names[kind]);
  }
  return element('div.spread', {},
    element('table.histogram', {}, element('caption', {}, 'Distances in ULP'),
      element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'ULP'),
        element('th', {scope: 'col', 'aria-label': 'Elements, logarithmic scale'}, axis),
        element('th.number', {scope: 'col'}, 'elements'))),
      rows),
    legend, element('p.legend', {}, 'The bars are on a logarithmic scale.'));
}

// The digits of the bits that differ from the other side are marked.
function bits(own, other) {
  const cell = element('td');
  if (!own) cell.append('–');
  for (let i = 0; i < (own || '').length; ++i) {
    const same = !other || own[i] === other[i];
    cell.append(same ? shown(String(own[i])) : element('mark', {}, own[i]));
  }
  cell.normalize();
  return cell;
}

function elements_part(kind, title, elements, words) {
  const number = value => {
    const text = short(value);
    const exact = typeof value === 'number' && String(value) !== text;
    return element('td', exact ? {title: String(value)} : {}, text);
  };
  const {actual, expected} = words;
  const columns = ['Index', 'Byte offset', actual, expected, `${actual} bits`, `${expected} bits`,
    'Absolute', 'Relative', 'ULP'];
  const table = element('table.elements', {'data-kind': kind}, element('caption', {}, title),
    element('thead', {}, element('tr', {},
      ...columns.map(name => element('th', {scope: 'col'}, name)))),
    element('tbody', {}, ...elements.map(one => element('tr', {},
      element('th', {scope: 'row'}, `[${one.index.join(', ')}]`),
      element('td', {}, String(one.byteOffset)),
      element('td', {}, one.actual), element('td', {}, one.expected),
      bits(one.actualBits, one.expectedBits), bits(one.expectedBits, one.actualBits),
      number(one.absolute), number(one.relative),
      element('td', {}, one.ulp === null || one.ulp === undefined ? '–' : whole(one.ulp))))));
  return element('div.scroll', {tabindex: 0, role: 'region', 'aria-label': title}, table);
}

function comparison_part(comparison) {
  const words = words_of(comparison);
  const told = UPDATES[comparison.update];
  const status = !told ? comparison.verdict
    : comparison.update === 'refused' ? 'MISTRUSTED' : 'UPDATED';
  const type = `${comparison.dataType || ''} [${(comparison.sizes || []).join(', ')}]`;
  const part = element('section.comparison',
    {'data-tensor': comparison.tensor, 'data-verdict': comparison.verdict},
    element('h3', {}, badge(status), element('span', {}, comparison.tensor),
      element('span.type.mono', {}, type)));
  if (told) part.append(element('p.about.update', {}, told));
  if (comparison.update !== 'created') part.append(facts_part(comparison));
  const files = files_part(comparison);
  if (files) part.append(files);
  const look = element('div.look');
  if (comparison.pictures) look.append(pictures_part(comparison.pictures, comparison.sizes || [], words));
  if (comparison.histogram && comparison.histogram.length) {
    look.append(histogram_part(comparison.histogram, comparison.tolerance));
  }
  if (look.firstChild) part.append(look);
  if (comparison.picturesMissing) {
    part.append(element('p.about.missing', {}, `No pictures: ${comparison.picturesMissing}`));
  }
  for (const [kind, title] of [['first', 'First elements that differ'],
    ['worst', 'Worst elements']]) {
    const elements = comparison[kind] || [];
    if (elements.length) part.append(elements_part(kind, title, elements, words));
  }
  return part;
}

function any_comparison_part(comparison) {
  try {
    return comparison_part(comparison);
  } catch {
    return element('section.comparison', {},
      element('p.about', {}, 'This record of a comparison is not one of the program:'),
      element('pre', {tabindex: 0}, pretty(JSON.stringify(comparison))));
  }
}

function body_part(job) {
  const body = element('div.body');
  if (job.message) body.append(element('p.message', {}, job.message));
  const about = [job.operator, job.device && `on ${job.device}`,
    job.seconds !== undefined && duration(job.seconds), job.resumed && 'taken from an earlier run',
    job.tags.length && `tags ${job.tags.join(', ')}`].filter(Boolean);
  if (about.length) body.append(element('p.about', {}, about.join(' · ')));
  if (job.details) body.append(findings_part('details', job.details));
  if (job.warnings.length) {
    body.append(element('h3', {}, counted(job.warnings.length, 'warning')),
      findings_part('warnings', job.warnings.join('\n')));
  }
  if (job.repeat) body.append(repeat_part(job.repeat));
  body.append(...job.comparisons.map(any_comparison_part));
  if (job.description) {
    body.append(element('details.description', {}, element('summary', {}, 'Operator description'),
      element('pre', {tabindex: 0}, pretty(job.description))));
  }
  if (!body.firstChild) body.append(element('p.about', {}, 'Nothing more was recorded.'));
  return body;
}

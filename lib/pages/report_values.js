// The values of a record: each is taken as its type, and becomes text.
// The statuses, the most serious first, each with the sign that stands beside its name.
const SIGNS = {__proto__: null, FAILED: '✗', ERROR: '⚠', INVALID: '!', XPASS: '‼', MISTRUSTED: '?',
  UNCOMPARED: '∅', UNSUPPORTED: '⊘', UPDATED: '↻', NOT_RUN: '○', SKIPPED: '»', XFAIL: '~', PASSED: '✓'};
const PAGE = 200;  // rows that are added at a time

// Whoever wrote a record may have written anything: each field is taken as the type that it has in
// records of the program.
const is_object = value => typeof value === 'object' && value !== null && !Array.isArray(value);
const list_of = value => Array.isArray(value) ? value : [];
const number_of = value => Number.isFinite(value) ? value : undefined;
const text_of = value => typeof value === 'string' ? value
  : value === undefined || value === null ? '' : JSON.stringify(value);

function texts_of(object, ...names) {
  return Object.fromEntries(names.map(name => [name, text_of(object[name])]));
}

function job_of(record) {
  const job = is_object(record) ? record : {message: record};
  return {
    ...texts_of(job, 'id', 'status', 'operator', 'device', 'message', 'details', 'repeat',
      'description'),
    seconds: number_of(job.seconds),
    resumed: job.resumed === true,
    tags: list_of(job.tags).map(text_of),
    warnings: list_of(job.warnings).map(text_of),
    comparisons: list_of(job.comparisons),
  };
}

// Whole numbers may come as text where they have more digits than a double holds.
function whole(value) {
  return String(value).replace(/^-?\d+$/, digits => digits.replace(/\B(?=(\d{3})+$)/g, ','));
}

function short(value) {
  if (value === null || value === undefined) return '–';
  return typeof value === 'number' ? String(Number(value.toPrecision(6))) : String(value);
}

function duration(seconds) {
  const three = value => String(Number(value.toPrecision(3)));
  if (seconds === 0) return '0 s';
  if (seconds < 1e-3) return three(seconds * 1e6) + ' µs';
  if (seconds < 1) return three(seconds * 1e3) + ' ms';
  if (seconds < 60) return three(seconds) + ' s';
  const all = Math.round(seconds);
  const pair = (large, small, unit, rest) => `${large} ${unit} ${small} ${rest}`;
  return all < 3600 ? pair(Math.floor(all / 60), all % 60, 'min', 's')
    : pair(Math.floor(all / 3600), Math.floor(all / 60) % 60, 'h', 'min');
}

function percentage(part, all) {
  if (!all) return '';
  const value = part / all * 100;
  return ` (${value > 0 && value < 0.01 ? '< 0.01' : Number(value.toFixed(2))}%)`;
}

function counted(count, noun) { return `${whole(count)} ${noun}${count === 1 ? '' : 's'}`; }

function jobs_text(count) { return counted(count, 'job'); }

// JSON text over several lines; what fits on a line stays there. The literals are kept as written,
// since a double does not hold every 64-bit integer. Text that is not JSON is returned as it is.
function pretty(text) {
  try {
    JSON.parse(text);
    const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g);
    let next = 0;
    const read = () => {
      const open = tokens[next++];
      if (open !== '{' && open !== '[') return {flat: open};
      const close = open === '{' ? '}' : ']';
      const items = [];
      while (tokens[next] !== close) {
        let key = '';
        if (open === '{') {
          key = tokens[next] + ': ';
          next += 2;
        }
        items.push({key, value: read()});
        if (tokens[next] === ',') ++next;
      }
      ++next;
      const flat = open + items.map(item => item.key + item.value.flat).join(', ') + close;
      return {flat, open, close, items};
    };
    const write = (node, indent, key) => {
      const fits = indent !== '' && indent.length + key.length + node.flat.length <= 88;
      if (!node.items || !node.items.length || fits) return key + node.flat;
      const lines = node.items.map(item =>
        indent + '  ' + write(item.value, indent + '  ', item.key));
      return `${key}${node.open}\n${lines.join(',\n')}\n${indent}${node.close}`;
    };
    return write(read(), '', '');
  } catch {
    return text;
  }
}

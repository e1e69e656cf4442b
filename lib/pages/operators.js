// The page about operators: search, titles, copying and keys.
const search = find('search'), results = find('results'), index = find('index');
const home_title = document.title;

// ---- Search ----

// What can be found of an operator: its texts, the most telling first. It is read when somebody
// searches for the first time.
let operators = null;
function read_operators() {
  const texts = (scope, selector) => [...new Set([...scope.querySelectorAll(selector)]
    .map(node => node.textContent.trim()))];
  return [...index.querySelectorAll('.list li')].map((row, place) => {
    const name = row.querySelector('a').textContent;
    const article = find(name);
    const parts = [
      ['alias', texts(article, '.alias, .struct')],
      ['', [row.querySelector('p').textContent]],
      ['family', [article.querySelector('.crumb a:last-child').textContent]],
      ['field', texts(article, '.field > dt > code')],
      ['value', texts(article, '.values code')],
      ['type', texts(article, '.types code')],
      ['', texts(article, '.field > dd')],
    ];
    return {name, place, row, parts: parts.flatMap(([kind, list]) =>
      list.map(text => ({kind, text, lower: text.toLowerCase()})))};
  });
}

// How well a word fits an operator, and where: smaller is better, null is not at all.
function fit(operator, word) {
  const name = operator.name.toLowerCase();
  const bare = word.replace(/^dml_operator_/, '').replace(/[ -]/g, '_');
  const at = name.indexOf(bare);
  if (at === 0) return {rank: 1};
  if (at > 0) return {rank: name[at - 1] === '_' ? 2 : 3};
  const is_type = /^(float|u?int)\d+$/.test(word);
  const place = operator.parts.findIndex(({kind, lower}) =>
    kind === 'type' || is_type ? kind === 'type' && lower === word : lower.includes(word));
  if (place < 0) return null;
  const {kind, text} = operator.parts[place];
  return {rank: 4 + place / 1000 + (kind === '' ? 0 : 1), match: kind && `${kind} ${text}`};
}

function find_operators(text) {
  operators ??= read_operators();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const operator of operators) {
    const fits = words.map(word => fit(operator, word));
    if (fits.includes(null)) continue;
    found.push({...operator, rank: fits.reduce((sum, one) => sum + one.rank, 0),
      matches: fits.map(one => one.match).filter(Boolean)});
  }
  return found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || a.place - b.place);
}

function show_results(text) {
  const is_searching = text.trim() !== '';
  find('found').hidden = !is_searching;
  index.hidden = is_searching;
  if (!is_searching) return;
  const found = find_operators(text);
  results.replaceChildren(...found.map(({row, matches}) => {
    const shown = row.cloneNode(true);
    if (matches.length) shown.append(element('p.match', {}, matches.join(', ')));
    return shown;
  }));
  find('shown').textContent = found.length === 0
    ? `No operator has “${text.trim()}”. Try fewer or shorter words.`
    : `${found.length} of ${operators.length} operators`;
}

// ---- The address ----

const search_mark = '#search=';

function searched_text() {
  if (!location.hash.startsWith(search_mark)) return '';
  try { return decodeURIComponent(location.hash.slice(search_mark.length)); } catch { return ''; }
}

function show_address() {
  const view = document.querySelector('.view:target, .view:has(:target)');
  document.title = view === null ? home_title
    : `${(view.querySelector('.own') ?? view.querySelector('h2')).textContent} – ${home_title}`;
  if (view !== null) {
    find('found').hidden = true;
    return;
  }
  const text = searched_text();
  if (search.value.trim() !== text.trim()) search.value = text;
  show_results(text);
}

function search_for(text) {
  const address = text.trim() === '' ? '#' : search_mark + encodeURIComponent(text.trim());
  // From an operator, "back" leads to it again; while typing there is one step only.
  const is_list = location.hash === '' || location.hash === '#' ||
    location.hash.startsWith(search_mark);
  if (!is_list) {
    location.hash = address;
  } else {
    history.replaceState(null, '', address);
    show_results(text);
  }
  scrollTo(0, 0);
}

// ---- Keys ----

function links() {
  return [...results.querySelectorAll('a')];
}

function move_focus(step) {
  if (find('found').hidden) return false;
  const all = links();
  const at = all.indexOf(document.activeElement);
  const next = at + step;
  if (at < 0 && document.activeElement !== search) return false;
  if (next < 0) search.focus();
  else all[Math.min(next, all.length - 1)]?.focus();
  return true;
}

addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/' && document.activeElement !== search) {
    search.focus();
    search.select();
  } else if (event.key === 'Escape') {
    search.value = '';
    search_for('');
    search.focus();
  } else if (event.key === 'Enter' && document.activeElement === search) {
    const first = links()[0];
    if (first === undefined || find('found').hidden) return;
    first.click();
    search.blur();
  } else if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp' ||
      !move_focus(event.key === 'ArrowDown' ? 1 : -1)) {
    return;
  }
  event.preventDefault();
});

// ---- Copying ----

function add_copy_buttons() {
  for (const box of document.querySelectorAll('.copied')) {
    const button = element('button', {type: 'button'}, 'Copy');
    button.addEventListener('click', () => copy(box.querySelector('code'), button));
    box.append(button);
  }
}

for (const one of [search, find('theme'), document.querySelector('.keys')]) one.hidden = false;
choose_theme('dmlop-operators-theme');
add_copy_buttons();
search.addEventListener('input', () => search_for(search.value));
addEventListener('hashchange', show_address);
show_address();

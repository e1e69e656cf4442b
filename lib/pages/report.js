// The page: its header, the list of jobs, filters, the address and keys.

// What the report says, with its statuses in their order.
function content_of(report) {
  const data = {...texts_of(report, 'title', 'device', 'shard', 'created', 'version',
    'interrupted'), seconds: number_of(report.seconds), warnings: number_of(report.warnings)};
  const jobs = list_of(report.jobs).map(job_of);
  const counts = new Map(Object.entries(report.counts || {})
    .filter(([, count]) => number_of(count) > 0));
  for (const job of jobs) if (!counts.has(job.status)) counts.set(job.status, 0);
  const statuses = [...counts.keys()].sort((a, b) => rank(a) - rank(b));
  // The statuses with which this run went well.
  const good = new Set(Array.isArray(report.good) ? report.good : ['PASSED']);
  const not_passed = statuses.filter(status => !good.has(status));
  const bad = not_passed.reduce((sum, status) => sum + counts.get(status), 0);
  const operators = new Map();
  for (const job of jobs) {
    operators.set(job.operator || '-', (operators.get(job.operator || '-') || 0) + 1);
  }
  return {data, jobs, counts, statuses, not_passed, bad, operators,
    total: [...counts.values()].reduce((sum, count) => sum + count, 0),
    warned: jobs.filter(job => job.warnings.length).length,
    // The statuses whose jobs are shown first.
    initial: bad && not_passed.length ? not_passed : statuses};
}

function rank(status) {
  const places = Object.keys(SIGNS);
  const place = places.indexOf(status);
  return place < 0 ? places.indexOf('NOT_RUN') - 0.5 : place;
}

// -- The header --

function show_header(content) {
  show_verdict(content);
  const {data, counts} = content;
  const created = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z$/.exec(data.created || '');
  const meta = [
    ['device', data.device], ['shard', data.shard],
    ['created', data.created && element('time', {datetime: data.created},
      created ? `${created[1]} ${created[2]} UTC` : data.created)],
    ['duration', data.seconds !== undefined && duration(data.seconds)],
    ['warnings', data.warnings && whole(data.warnings)],
    ['dmlop', data.version]];
  for (const [name, value] of meta) {
    if (!value) continue;
    find('meta').append(element('div', {'data-meta': name}, element('dt', {}, name),
      element('dd', {}, value)));
  }
  if (data.interrupted) {
    find('interrupted').textContent = shown(`The run is not complete: ${data.interrupted}`);
    find('interrupted').hidden = false;
  }
  for (const status of content.statuses) {
    const part = element('span', {'data-status': status});
    part.style.flexGrow = counts.get(status);
    find('bar').append(part);
  }
  find('bar').hidden = find('chips').hidden = !content.statuses.length;
}

function show_verdict({data, counts, total, bad}) {
  find('title').textContent = shown(String(data.title || 'dmlop batch'));
  const verdict = find('verdict');
  verdict.dataset.status = bad ? 'FAILED' : total ? 'PASSED' : '';
  verdict.textContent = !total ? 'No jobs'
    : bad ? `${whole(bad)} of ${jobs_text(total)} did not pass`
    : counts.get('PASSED') !== total ? `None of ${jobs_text(total)} went wrong`
    : total === 1 ? 'The job passed' : `All ${jobs_text(total)} passed`;
  document.title = `${find('title').textContent}: ${verdict.textContent}`;
  const color = data.interrupted ? '9a6700' : bad ? 'c62828' : total ? '2e7d32' : '6b7280';
  find('icon').href = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" ' +
    `viewBox="0 0 9 9"%3E%3Ccircle cx="4.5" cy="4.5" r="4" fill="%23${color}"/%3E%3C/svg%3E`;
}

// -- The list --

class JobList {
  constructor(content) {
    this.content = content;
    this.jobs = content.jobs;
    this.texts = this.jobs.map(job =>
      [job.id, job.message, ...job.tags, ...job.warnings].filter(Boolean).join('\n').toLowerCase());
    this.view = {statuses: new Set(content.initial), warned: false, operator: '', text: '',
      sort: 'status', job: ''};
    this.orders = {};    // each is made once; filters keep it
    this.rows = [];      // the row of each job that was shown
    this.linked = -1;    // the job of the address: shown even where a filter would hide it
    this.matching = [];  // the jobs that pass the filters, in order
    this.rendered = 0;   // how many of them have a row
    this.chips = new Map();
    this.add_chips();
    this.add_operators();
  }

  add_chips() {
    const {counts, statuses, warned, not_passed, bad, total} = this.content;
    for (const status of statuses) {
      const chip = element('button.chip', {type: 'button', 'data-status': status},
        `${SIGNS[status] || '•'} ${status}`,
        element('span.count', {}, whole(counts.get(status))));
      chip.addEventListener('click', () => {
        if (!this.view.statuses.delete(status)) this.view.statuses.add(status);
        this.changed();
      });
      this.chips.set(status, chip);
      find('chips').append(chip);
    }
    // With it, jobs of every status are shown, but only those that have warnings.
    this.warned_chip = element('button.chip.warned', {type: 'button'}, 'with warnings',
      element('span.count', {}, whole(warned)));
    this.warned_chip.addEventListener('click', () => {
      this.view.warned = !this.view.warned;
      if (this.view.warned) this.view.statuses = new Set(statuses);
      this.changed();
    });
    if (warned) find('chips').append(this.warned_chip);
    if (!bad || bad === total) return;
    for (const [name, chosen] of [['Not passed', not_passed], ['All', statuses]]) {
      const button = element('button.plain', {type: 'button'}, name);
      button.addEventListener('click', () => {
        Object.assign(this.view, {statuses: new Set(chosen), warned: false});
        this.changed();
      });
      find('chips').append(button);
    }
  }

  add_operators() {
    const {operators} = this.content;
    const options = [...operators.keys()].sort().map(name => element('option', {value: name},
      `${name === '-' ? 'none' : name} (${whole(operators.get(name))})`));
    find('operator').append(element('option', {value: ''}, 'all'), ...options);
  }

  order(sort) {
    if (this.orders[sort]) return this.orders[sort];
    const {jobs} = this;
    const all = jobs.map((job, index) => index);
    const collator = new Intl.Collator('en', {numeric: true});
    if (sort === 'id') all.sort((a, b) => collator.compare(jobs[a].id, jobs[b].id) || a - b);
    else if (sort === 'time') {
      const seconds = index => jobs[index].seconds ?? -1;
      all.sort((a, b) => seconds(b) - seconds(a) || a - b);
    } else all.sort((a, b) => rank(jobs[a].status) - rank(jobs[b].status) || a - b);
    return this.orders[sort] = all;
  }

  row(index) {
    if (this.rows[index]) return this.rows[index];
    const job = this.jobs[index];
    const tags = [...job.tags, ...(job.resumed ? ['earlier run'] : [])];
    const head = element('button.head',
      {type: 'button', id: `job-${index}`, 'aria-expanded': 'false'},
      badge(job.status),
      element('span.name', {}, element('span.id', {}, job.id),
        ...tags.map(tag => element('span.tag', {}, tag)),
        job.warnings.length ? element('span.tag.warned', {}, counted(job.warnings.length, 'warning'))
          : null),
      element('span.operator', {}, job.operator || ''),
      element('span.time', {}, job.seconds === undefined ? '' : duration(job.seconds)),
      job.message ? element('span.line', {}, job.message) : null);
    head.addEventListener('click', () => {
      this.set_open(index, head.getAttribute('aria-expanded') !== 'true');
      write_address(this);
    });
    return this.rows[index] = element('li.job', {'data-status': job.status, 'data-id': job.id,
      'data-index': index}, element('h2', {}, head));
  }

  set_open(index, open) {
    const item = this.row(index);
    const head = item.querySelector('.head');
    if (open === (head.getAttribute('aria-expanded') === 'true')) return;
    head.setAttribute('aria-expanded', String(open));
    if (open) {
      const body = body_part(this.jobs[index]);
      body.id = `job-${index}-body`;
      head.setAttribute('aria-controls', body.id);
      item.append(body);
      this.view.job = this.jobs[index].id;
    } else {
      head.removeAttribute('aria-controls');
      item.querySelector('.body').remove();
      if (this.view.job === this.jobs[index].id) this.view.job = '';
    }
  }

  render_more(least = this.rendered + PAGE) {
    const {jobs, matching} = this;
    const end = Math.min(matching.length, least);
    if (end > this.rendered) {
      find('jobs').append(...matching.slice(this.rendered, end).map(index => this.row(index)));
    }
    this.rendered = Math.max(this.rendered, end);
    find('more').hidden = this.rendered === matching.length;
    find('more').textContent = `Show ${Math.min(PAGE, matching.length - this.rendered)} more`;
    const text = matching.length === jobs.length ? jobs_text(jobs.length)
      : `${whole(matching.length)} of ${jobs_text(jobs.length)}`;
    const note = this.rendered < matching.length ? `, the first ${whole(this.rendered)} listed` : '';
    find('shown').textContent = jobs.length ? text + note : '';
    find('shown').dataset.matching = matching.length;
  }

  filter() {
    const {view} = this;
    const words = view.text.toLowerCase().split(/\s+/).filter(Boolean);
    this.matching = this.order(view.sort).filter(index => {
      const job = this.jobs[index];
      return index === this.linked || (view.statuses.has(job.status) &&
        (!view.warned || job.warnings.length) &&
        (!view.operator || (job.operator || '-') === view.operator) &&
        words.every(word => this.texts[index].includes(word)));
    });
    const focused = document.activeElement;
    find('jobs').replaceChildren();
    this.rendered = 0;
    this.render_more();
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus();
    this.show_filters();
  }

  show_filters() {
    const {view} = this;
    for (const [status, chip] of this.chips) {
      chip.setAttribute('aria-pressed', String(view.statuses.has(status)));
    }
    this.warned_chip.setAttribute('aria-pressed', String(view.warned));
    if (find('search').value !== view.text) find('search').value = view.text;
    find('operator').value = view.operator;
    find('sort').value = view.sort;
    const empty = find('empty');
    empty.hidden = this.matching.length > 0;
    if (!this.jobs.length) empty.textContent = 'This run has no jobs.';
    else if (!this.matching.length) {
      const button = element('button', {type: 'button', id: 'reset'}, 'Show all jobs');
      button.addEventListener('click', () => {
        Object.assign(view,
          {statuses: new Set(this.content.statuses), warned: false, operator: '', text: ''});
        this.changed();
        find('search').focus();
      });
      empty.replaceChildren(element('p', {}, 'No job matches the filters.'), button);
    }
  }

  changed() {
    this.linked = -1;
    this.filter();
    write_address(this);
  }

  // Shows the job of the address, open.
  show_linked() {
    this.render_more(this.matching.indexOf(this.linked) + 1);
    this.set_open(this.linked, true);
    this.rows[this.linked].scrollIntoView({block: 'start'});
    this.rows[this.linked].querySelector('.head').focus({preventScroll: true});
  }

  // Moves the focus by one row; from elsewhere to the first or the last row in sight.
  move(step) {
    const {matching} = this;
    if (!matching.length) return;
    const item = document.activeElement && document.activeElement.closest('.job');
    let place = item ? matching.indexOf(Number(item.dataset.index)) + step : 0;
    place = Math.max(0, Math.min(matching.length - 1, place));
    if (place >= this.rendered) this.render_more();
    const head = this.rows[matching[place]].querySelector('.head');
    head.focus({preventScroll: true});
    head.scrollIntoView({block: 'nearest'});
  }
}

// -- The address --

function write_address({view, content}) {
  const parts = [];
  const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
  const {statuses, initial} = content;
  const is_initial = view.statuses.size === initial.length &&
    initial.every(one => view.statuses.has(one));
  if (!is_initial) {
    const chosen = statuses.filter(status => view.statuses.has(status));
    parts.push('status=' + chosen.map(encodeURIComponent).join(','));
  }
  if (view.warned) add('warnings', 'only');
  if (view.operator) add('operator', view.operator);
  if (view.text) add('text', view.text);
  if (view.sort !== 'status') add('sort', view.sort);
  if (view.job) add('job', view.job);
  // Some places that show artifacts forbid this; the page works without it.
  try {
    const address = location.href.replace(/#.*$/s, '');
    history.replaceState(null, '', parts.length || location.hash ? `${address}#${parts.join('&')}`
      : address);
  } catch { /* The view cannot be linked there. */ }
}

function read_address(list) {
  const {view, content} = list;
  const values = new Map();
  for (const part of location.hash.slice(1).split('&')) {
    const [, name, value] = /^([^=]*)=?(.*)$/s.exec(part);
    try { values.set(name, decodeURIComponent(value)); } catch { values.set(name, value); }
  }
  view.statuses = new Set(values.has('status') ? values.get('status').split(',')
    : content.initial);
  view.warned = content.warned > 0 && values.get('warnings') === 'only';
  const operator = values.get('operator') || '';
  view.operator = content.operators.has(operator) ? operator : '';
  view.text = values.get('text') || '';
  view.sort = ['id', 'time'].includes(values.get('sort')) ? values.get('sort') : 'status';
  list.linked = values.has('job') ? list.jobs.findIndex(job => job.id === values.get('job')) : -1;
  view.job = list.linked < 0 ? '' : list.jobs[list.linked].id;
  list.filter();
  if (list.linked >= 0) list.show_linked();
}

// -- What a person does --

function listen(list) {
  find('search').addEventListener('input', event => {
    list.view.text = event.target.value;
    list.changed();
  });
  for (const name of ['operator', 'sort']) {
    find(name).addEventListener('change', event => {
      list.view[name] = event.target.value;
      list.changed();
    });
  }
  find('more').addEventListener('click', () => {
    const first = list.matching[list.rendered];
    list.render_more();
    list.rows[first].querySelector('.head').focus({preventScroll: true});
  });
  if ('IntersectionObserver' in window) {
    new IntersectionObserver(entries => {
      if (entries.some(entry => entry.isIntersecting)) list.render_more();
    }, {rootMargin: '600px'}).observe(find('more'));
  }
  addEventListener('hashchange', () => read_address(list));
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (press(list, event.key)) event.preventDefault();
  });
}

// Returns whether the key means something here.
function press(list, key) {
  const at = document.activeElement || document.body;
  const typing = at.matches('input, select, textarea');
  const arrows = at.matches('.head') || at.id === 'search';
  if (key === 'Escape') {
    if (list.view.text) list.view.text = '';
    else {
      Object.assign(list.view,
        {statuses: new Set(list.content.initial), warned: false, operator: ''});
    }
    list.changed();
  } else if (key === '/' && !typing) {
    find('search').focus();
    find('search').select();
  } else if ((key === 'j' && !typing) || (key === 'ArrowDown' && arrows)) list.move(1);
  else if ((key === 'k' && !typing) || (key === 'ArrowUp' && at.matches('.head'))) list.move(-1);
  else return false;
  return true;
}

function show(report) {
  const content = content_of(report);
  show_header(content);
  const list = new JobList(content);
  listen(list);
  for (const part of [find('top'), find('filters'), document.querySelector('footer')]) {
    part.hidden = false;
  }
  find('filters').hidden = !list.jobs.length;
  document.querySelector('footer').hidden = !list.jobs.length;
  read_address(list);
}

choose_theme('dmlop-report-theme');
let data = null;
try {
  // Distances that a double does not hold become text.
  data = JSON.parse(find('data').textContent.replace(/"ulp":\s*(\d{16,})/g, '"ulp":"$1"'));
} catch {
  find('empty').textContent = 'This page holds no results that can be read.';
  find('empty').hidden = false;
}
if (is_object(data)) show(data);

// The page: its header, the list of jobs, filters, the address and keys.
function show(report) {
  const data = {...texts_of(report, 'title', 'device', 'shard', 'created', 'version',
    'interrupted'), seconds: number_of(report.seconds), warnings: number_of(report.warnings)};
  const jobs = list_of(report.jobs).map(job_of);
  const counts = new Map(Object.entries(report.counts || {})
    .filter(([, count]) => number_of(count) > 0));
  for (const job of jobs) if (!counts.has(job.status)) counts.set(job.status, 0);
  const rank = status => {
    const places = Object.keys(SIGNS);
    const place = places.indexOf(status);
    return place < 0 ? places.indexOf('NOT_RUN') - 0.5 : place;
  };
  const statuses = [...counts.keys()].sort((a, b) => rank(a) - rank(b));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  // The statuses with which this run went well.
  const good = new Set(Array.isArray(report.good) ? report.good : ['PASSED']);
  const not_passed = statuses.filter(status => !good.has(status));
  const bad = not_passed.reduce((sum, status) => sum + counts.get(status), 0);
  const initial = bad && not_passed.length ? not_passed : statuses;

  const texts = jobs.map(job =>
    [job.id, job.message, ...job.tags, ...job.warnings].filter(Boolean).join('\n').toLowerCase());
  const rows = [];         // the row of each job that was shown
  const view = {statuses: new Set(initial), warned: false, operator: '', text: '', sort: 'status',
    job: ''};
  let linked = -1;         // the job of the address: shown even where a filter would hide it
  let matching = [];       // the jobs that pass the filters, in order
  let rendered = 0;        // how many of them have a row

  // -- The header --

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
  const chips = new Map();
  for (const status of statuses) {
    const part = element('span', {'data-status': status});
    part.style.flexGrow = counts.get(status);
    find('bar').append(part);
    const chip = element('button.chip', {type: 'button', 'data-status': status},
      `${SIGNS[status] || '•'} ${status}`,
      element('span.count', {}, whole(counts.get(status))));
    chip.addEventListener('click', () => {
      if (!view.statuses.delete(status)) view.statuses.add(status);
      changed();
    });
    chips.set(status, chip);
    find('chips').append(chip);
  }
  // With it, jobs of every status are shown, but only those that have warnings.
  const warned = jobs.filter(job => job.warnings.length).length;
  const warned_chip = element('button.chip.warned', {type: 'button'}, 'with warnings',
    element('span.count', {}, whole(warned)));
  warned_chip.addEventListener('click', () => {
    view.warned = !view.warned;
    if (view.warned) view.statuses = new Set(statuses);
    changed();
  });
  if (warned) find('chips').append(warned_chip);
  if (bad && bad < total) {
    for (const [name, chosen] of [['Not passed', not_passed], ['All', statuses]]) {
      const button = element('button.plain', {type: 'button'}, name);
      button.addEventListener('click', () => {
        Object.assign(view, {statuses: new Set(chosen), warned: false});
        changed();
      });
      find('chips').append(button);
    }
  }
  find('bar').hidden = find('chips').hidden = !statuses.length;

  const operators = new Map();
  for (const job of jobs) {
    operators.set(job.operator || '-', (operators.get(job.operator || '-') || 0) + 1);
  }
  const options = [...operators.keys()].sort().map(name => element('option', {value: name},
    `${name === '-' ? 'none' : name} (${whole(operators.get(name))})`));
  find('operator').append(element('option', {value: ''}, 'all'), ...options);

  // -- The list --

  // Each order is made once; filters keep it.
  const orders = {};
  function order(sort) {
    if (orders[sort]) return orders[sort];
    const all = jobs.map((job, index) => index);
    const collator = new Intl.Collator('en', {numeric: true});
    if (sort === 'id') all.sort((a, b) => collator.compare(jobs[a].id, jobs[b].id) || a - b);
    else if (sort === 'time') {
      const seconds = index => jobs[index].seconds ?? -1;
      all.sort((a, b) => seconds(b) - seconds(a) || a - b);
    } else all.sort((a, b) => rank(jobs[a].status) - rank(jobs[b].status) || a - b);
    return orders[sort] = all;
  }

  function row(index) {
    if (rows[index]) return rows[index];
    const job = jobs[index];
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
      set_open(index, head.getAttribute('aria-expanded') !== 'true');
      write_address();
    });
    return rows[index] = element('li.job', {'data-status': job.status, 'data-id': job.id,
      'data-index': index}, element('h2', {}, head));
  }

  function set_open(index, open) {
    const item = row(index);
    const head = item.querySelector('.head');
    if (open === (head.getAttribute('aria-expanded') === 'true')) return;
    head.setAttribute('aria-expanded', String(open));
    if (open) {
      const body = body_part(jobs[index]);
      body.id = `job-${index}-body`;
      head.setAttribute('aria-controls', body.id);
      item.append(body);
      view.job = jobs[index].id;
    } else {
      head.removeAttribute('aria-controls');
      item.querySelector('.body').remove();
      if (view.job === jobs[index].id) view.job = '';
    }
  }

  function render_more(least = rendered + PAGE) {
    const end = Math.min(matching.length, least);
    if (end > rendered) find('jobs').append(...matching.slice(rendered, end).map(row));
    rendered = Math.max(rendered, end);
    find('more').hidden = rendered === matching.length;
    find('more').textContent = `Show ${Math.min(PAGE, matching.length - rendered)} more`;
    const text = matching.length === jobs.length ? jobs_text(jobs.length)
      : `${whole(matching.length)} of ${jobs_text(jobs.length)}`;
    const note = rendered < matching.length ? `, the first ${whole(rendered)} listed` : '';
    find('shown').textContent = jobs.length ? text + note : '';
    find('shown').dataset.matching = matching.length;
  }

  function filter() {
    const words = view.text.toLowerCase().split(/\s+/).filter(Boolean);
    matching = order(view.sort).filter(index => {
      const job = jobs[index];
      return index === linked || (view.statuses.has(job.status) &&
        (!view.warned || job.warnings.length) &&
        (!view.operator || (job.operator || '-') === view.operator) &&
        words.every(word => texts[index].includes(word)));
    });
    const focused = document.activeElement;
    find('jobs').replaceChildren();
    rendered = 0;
    render_more();
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus();

    for (const [status, chip] of chips) {
      chip.setAttribute('aria-pressed', String(view.statuses.has(status)));
    }
    warned_chip.setAttribute('aria-pressed', String(view.warned));
    if (find('search').value !== view.text) find('search').value = view.text;
    find('operator').value = view.operator;
    find('sort').value = view.sort;
    const empty = find('empty');
    empty.hidden = matching.length > 0;
    if (!jobs.length) empty.textContent = 'This run has no jobs.';
    else if (!matching.length) {
      const button = element('button', {type: 'button', id: 'reset'}, 'Show all jobs');
      button.addEventListener('click', () => {
        Object.assign(view, {statuses: new Set(statuses), warned: false, operator: '', text: ''});
        changed();
        find('search').focus();
      });
      empty.replaceChildren(element('p', {}, 'No job matches the filters.'), button);
    }
  }

  function changed() {
    linked = -1;
    filter();
    write_address();
  }

  // -- The address --

  function is_initial() {
    return view.statuses.size === initial.length && initial.every(one => view.statuses.has(one));
  }

  function write_address() {
    const parts = [];
    const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
    if (!is_initial()) {
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

  function read_address() {
    const values = new Map();
    for (const part of location.hash.slice(1).split('&')) {
      const [, name, value] = /^([^=]*)=?(.*)$/s.exec(part);
      try { values.set(name, decodeURIComponent(value)); } catch { values.set(name, value); }
    }
    view.statuses = new Set(values.has('status') ? values.get('status').split(',') : initial);
    view.warned = warned > 0 && values.get('warnings') === 'only';
    const operator = values.get('operator') || '';
    view.operator = operators.has(operator) ? operator : '';
    view.text = values.get('text') || '';
    view.sort = ['id', 'time'].includes(values.get('sort')) ? values.get('sort') : 'status';
    linked = values.has('job') ? jobs.findIndex(job => job.id === values.get('job')) : -1;
    view.job = linked < 0 ? '' : jobs[linked].id;
    filter();
    if (linked >= 0) {
      render_more(matching.indexOf(linked) + 1);
      set_open(linked, true);
      rows[linked].scrollIntoView({block: 'start'});
      rows[linked].querySelector('.head').focus({preventScroll: true});
    }
  }

  // -- What a person does --

  find('search').addEventListener('input', event => {
    view.text = event.target.value;
    changed();
  });
  for (const name of ['operator', 'sort']) {
    find(name).addEventListener('change', event => {
      view[name] = event.target.value;
      changed();
    });
  }
  find('more').addEventListener('click', () => {
    const first = matching[rendered];
    render_more();
    rows[first].querySelector('.head').focus({preventScroll: true});
  });
  if ('IntersectionObserver' in window) {
    new IntersectionObserver(entries => {
      if (entries.some(entry => entry.isIntersecting)) render_more();
    }, {rootMargin: '600px'}).observe(find('more'));
  }
  addEventListener('hashchange', read_address);

  // Moves the focus by one row; from elsewhere to the first or the last row in sight.
  function move(step) {
    if (!matching.length) return;
    const item = document.activeElement && document.activeElement.closest('.job');
    let place = item ? matching.indexOf(Number(item.dataset.index)) + step : 0;
    place = Math.max(0, Math.min(matching.length - 1, place));
    if (place >= rendered) render_more();
    const head = rows[matching[place]].querySelector('.head');
    head.focus({preventScroll: true});
    head.scrollIntoView({block: 'nearest'});
  }

  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = document.activeElement || document.body;
    const typing = at.matches('input, select, textarea');
    const arrows = at.matches('.head') || at.id === 'search';
    if (event.key === 'Escape') {
      if (view.text) view.text = '';
      else Object.assign(view, {statuses: new Set(initial), warned: false, operator: ''});
      changed();
    } else if (event.key === '/' && !typing) {
      find('search').focus();
      find('search').select();
    } else if ((event.key === 'j' && !typing) || (event.key === 'ArrowDown' && arrows)) move(1);
    else if ((event.key === 'k' && !typing) || (event.key === 'ArrowUp' && at.matches('.head'))) {
      move(-1);
    } else return;
    event.preventDefault();
  });

  for (const part of [find('top'), find('filters'), document.querySelector('footer')]) {
    part.hidden = false;
  }
  find('filters').hidden = !jobs.length;
  document.querySelector('footer').hidden = !jobs.length;
  read_address();
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

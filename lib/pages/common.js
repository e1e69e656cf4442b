// What the pages have in common: elements, which show every character, copying, and colors.
const find = id => document.getElementById(id);

// Characters that do not show, or that turn the direction of text, as text that shows.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;
function shown(text) {
  return text.replace(HIDDEN, c => '\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
}

// element('p.note', {title: 'x'}, 'text', child ...): strings are inserted as text.
function element(name, attributes, ...children) {
  const [tag, ...classes] = name.split('.');
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(' ');
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter(child => child !== null && child !== undefined)
    .map(child => typeof child === 'string' ? shown(child) : child));
  return made;
}

// Copies the text of an element. Where the clipboard is not allowed, the text is left selected.
async function copy(source, button) {
  let copied = false;
  try {
    await navigator.clipboard.writeText(source.textContent);
    copied = true;
  } catch {
    getSelection().selectAllChildren(source);
    try { copied = document.execCommand('copy'); } catch { /* The selection stays. */ }
  }
  button.textContent = copied ? 'Copied' : 'Press Ctrl+C';
  setTimeout(() => { button.textContent = 'Copy'; }, 2500);
}

// The colors follow the system until another choice is made. It is kept as `key` where it can be.
function choose_theme(key) {
  const themes = ['auto', 'light', 'dark'];
  const apply = theme => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    find('theme').textContent = `Colors: ${theme}`;
  };
  let theme = null;
  try { theme = localStorage.getItem(key); } catch { /* Not kept. */ }
  if (!themes.includes(theme)) theme = 'auto';
  apply(theme);
  find('theme').addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    apply(theme);
    try { localStorage.setItem(key, theme); } catch { /* Not kept. */ }
  });
}

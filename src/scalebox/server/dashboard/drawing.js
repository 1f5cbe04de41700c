// Drawing: a new tree is made, and the old one is changed to be like it, so that focus and scrolling stay.
// Whatever comes from the server is put in as text, never as markup: programs and ids are somebody else's.

const SVG = new Set(["svg", "g", "path", "rect", "line", "text"]);

export function h(tag, attributes, ...kids) {
  const element = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const kid of kids.flat(Infinity)) {
    if (kid !== null && kid !== undefined && kid !== false) element.append(kid);
  }
  return element;
}

const keyOf = (node) => node.dataset?.key;

function morph(old, next) {
  if (old.nodeName !== next.nodeName || keyOf(old) !== keyOf(next)) return old.replaceWith(next);
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return undefined;
  }
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  return morphKids(old, [...next.childNodes]);
}

export function morphKids(old, kids) {
  const keyed = new Map([...old.childNodes].filter(keyOf).map((node) => [keyOf(node), node]));
  let at = old.firstChild;
  for (const kid of kids) {
    const key = keyOf(kid);
    const match = key ? keyed.get(key) : at && !keyOf(at) && at.nodeName === kid.nodeName ? at : null;
    if (!match) old.insertBefore(kid, at);
    else {
      if (match === at) at = at.nextSibling;
      else old.insertBefore(match, at);
      morph(match, kid);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

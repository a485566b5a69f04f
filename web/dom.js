/* Building the document. Text from the record only ever becomes textContent, never markup. */

export const byId = (id) => document.getElementById(id);

/* el("td", {class: "n", title: "…"}, "text", node, …). Functions become listeners. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

/* A table with a head row; `numeric` says which columns are figures. Keeps the caption. */
export function fillTable(table, heads, rows, numeric = []) {
  const caption = table.querySelector("caption");
  const head = el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: numeric.includes(i) ? "n" : null }, text)));
  const body = rows.map((cells) =>
    cells instanceof Node ? cells : el("tr", {}, ...cells.map((cell, i) => el("td", { class: numeric.includes(i) ? "n" : null }, cell))));
  fill(table, caption, el("thead", {}, head), el("tbody", {}, ...body));
  return table;
}

/* What a <details> holds is built when it is opened, and again when the page moves on. */
export function lazyTable(details, build) {
  const box = details.querySelector(".scroll");
  const refresh = () => {
    if (details.open) fill(box, build());
  };
  details.addEventListener("toggle", refresh);
  return refresh;
}

export function pressed(button, on) {
  button.setAttribute("aria-pressed", on ? "true" : "false");
}

const known = new Map();

/* The colour of a custom property, for canvases. Asking the browser is slow, so it is remembered until the theme changes. */
export function color(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
}

export function forgetColors() {
  known.clear();
}

/* Puts a tip beside a point of its box without leaving the box. */
export function placeTip(tip, box, x, y) {
  tip.hidden = false;
  const left = x + 16 + tip.offsetWidth > box.clientWidth ? x - 16 - tip.offsetWidth : x + 16;
  const top = Math.min(Math.max(0, y - tip.offsetHeight / 2), Math.max(0, box.clientHeight - tip.offsetHeight));
  tip.style.transform = `translate(${Math.round(Math.max(0, left))}px, ${Math.round(top)}px)`;
}

/* A sentence of the program: what stands between backticks is something to type. */
export function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

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
  const head = el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: numeric.includes(i) ? "n" : null }, text ? sortButton(table, text, i) : "")));
  const body = rows.map((cells) =>
    cells instanceof Node ? cells : el("tr", {}, ...cells.map((cell, i) => el("td", { class: numeric.includes(i) ? "n" : null }, ...(typeof cell === "string" ? prose(cell) : [cell])))));
  fill(table, caption, el("thead", {}, head), el("tbody", {}, ...body));
  return table;
}

/* ---- tables are sorted by the head that is pressed ---- */

const FACTORS = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, ns: 1e-9, µs: 1e-6, us: 1e-6, ms: 1e-3 };

/* A figure with its unit as a number: "8.20 GiB" is less than "1 TiB"; undefined for words. */
export function figureOf(text) {
  const found = text.replaceAll(",", "").replace("−", "-").match(/^[+<]?\s*(-?\d+(?:\.\d+)?)\s*([A-Za-zµ]+)?/);
  return found ? Number(found[1]) * (FACTORS[found[2]] ?? 1) : undefined;
}

function order(one, other) {
  const [a, b] = [figureOf(one), figureOf(other)];
  if (a !== undefined && b !== undefined) return a - b;
  if (!one || !other) return !one - !other;
  return one.localeCompare(other, "en", { numeric: true });
}

function sortRows(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head, i) => (i === column ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
  const whole = [...table.tBodies[0].rows].filter((row) => row.cells.length === heads.length);
  const text = new Map(whole.map((row) => [row, row.cells[column].textContent.trim()]));
  whole.sort((a, b) => (down ? -1 : 1) * order(text.get(a), text.get(b)));
  table.tBodies[0].prepend(...whole);
}

const sortButton = (table, text, column) => el("button", { type: "button", class: "sort", click: () => sortRows(table, column) }, text);

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

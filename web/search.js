/* One search for the whole page: what has the words is marked, what has not is dimmed. Who draws asks for each of its names. */

import { byId, fill } from "./dom.js";
import { plural } from "./format.js";

let needle = "";

export const searching = () => needle !== "";
export const isHit = (text) => needle !== "" && text.toLowerCase().includes(needle);
/* For elements; canvases ask isMiss(). */
export const hitClass = (text) => (needle === "" ? "" : isHit(text) ? " hit" : " miss");
export const isMiss = (text) => needle !== "" && !isHit(text);

/* Rows of every table, also of those that are opened later. */
export function markRows(root = document) {
  for (const row of root.querySelectorAll("tbody tr")) {
    const hit = isHit(row.textContent);
    row.classList.toggle("hit", hit);
  }
}

function found(page) {
  const among = (names) => names.filter((name) => name && isHit(name)).length;
  const kinds = [[among(page.modules), "module"], [among(page.ops), "operator"], [among(page.lines), "line"], [among(page.time.names ?? []), "name in the step", "names in the step"],
    [page.gpus.filter((gpu) => isHit(`${gpu.id} ${gpu.name}`)).length, "card"]];
  const some = kinds.filter(([n]) => n).map(([n, one, many]) => plural(n, one, many));
  return some.length ? some.join(", ") : "nothing found";
}

/* `redraw` shows what changed; `/` begins a search from anywhere on the page. */
export function startSearch(page, redraw) {
  const box = byId("search");
  box.addEventListener("input", () => {
    needle = box.value.trim().toLowerCase();
    fill(byId("search-found"), needle ? found(page) : "");
    redraw();
    markRows();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    box.focus();
  });
}

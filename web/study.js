/* The page of `plimsoll evaluate classes --html`: one document (docs/schema/study-1.json) as tables. */

import { startCues } from "./cues.js";
import { byId, el, fill, fillTable } from "./dom.js";
import { plural } from "./format.js";
import { startTheme } from "./theme.js";

const SHARES = [["accuracy", "Accuracy"], ["f1", "Macro F1"], ["under", "Class too low"], ["below", "Below"], ["exact", "Exact to the MiB"]];
const DISTANCES = ["mean_error", "r2"]; /* classes have none */
const WHEN = ["once", "each card or stack", "each job"];

const page = JSON.parse(byId("data").textContent);
const state = { target: 0, test: 0, family: -1 };
const families = [...new Set(page.results.flatMap((result) => (result.scores ?? []).map((score) => score.family)).filter((name) => name !== undefined))];

const resultOf = (method, target, test) => page.results.find((item) => item.method === method && item.target === target && item.test === test);
const scoreOf = (result, family) => result?.scores?.find((score) => score.family === family);
const percent = (value) => `${(100 * value).toFixed(1)} %`;
const isMemory = (target) => target.unit === "MiB";

function withRange(item, say) {
  if (!item) return "";
  const range = item.low === undefined ? "" : ` [${say(item.low)}, ${say(item.high)}]`;
  return el("span", {}, say(item.value), el("span", { class: "dim" }, range));
}

/* ---- scores of one target and test ---- */

function drawScores() {
  const target = page.targets[state.target];
  const shares = SHARES.filter(([key]) => key !== "exact" || isMemory(target));
  const heads = ["Method", "Rows", ...shares.map(([, head]) => head), `Mean error, ${target.unit}`, "R²", "Trainings", "Seconds of these"];
  const rows = page.methods.map((method) => {
    const result = resultOf(method.name, target.column, page.tests[state.test]);
    const score = scoreOf(result, families[state.family]);
    if (!score?.answered) return undefined;
    const distances = DISTANCES.map((key) => (result.classes ? "" : withRange(score[key], (value) => value.toFixed(key === "r2" ? 3 : 2))));
    return [method.name, String(score.answered), ...shares.map(([key]) => (key === "exact" && result.classes ? "" : withRange(score[key], percent))), ...distances,
      String(result.trainings), result.train_seconds.toFixed(1)];
  }).filter(Boolean);
  fillTable(byId("scores"), heads, rows, heads.map((_, i) => i).slice(1));
  fill(byId("scores-note"), `Classes of ${target.class} ${target.unit}; in brackets 95 % intervals from 2,000 resamples. Each fold is answered by a model trained on the others.`);
}

/* ---- the table of the study ---- */

function cellOf(method, target, test) {
  const result = target && resultOf(method.name, target.column, test);
  const score = scoreOf(result, undefined);
  if (!score?.answered) return "";
  const key = isMemory(target) || result.classes ? "accuracy" : "r2";
  return withRange(score[key], (value) => (key === "r2" ? value.toFixed(3) : percent(value)));
}

function latencyOf(method, target) {
  const result = target && resultOf(method.name, target.column, page.tests[0]);
  const runs = method.paradigm === "virtual" || method.name === "plimsoll-learned";
  if (runs) return page.run_seconds === undefined ? "a run" : `${(1e3 * page.run_seconds).toFixed(0)} / ${(1e3 * page.run_cpu_seconds).toFixed(0)}`;
  return result?.asked ? `${(1e3 * result.seconds).toPrecision(2)} / ${(1e3 * result.cpu_seconds).toPrecision(2)}` : "";
}

function drawStudy() {
  const memory = page.targets.find(isMemory);
  const busy = page.targets.find((target) => target.unit === "%");
  const asked = [memory && ["Memory", memory], busy && ["Busy", busy]].filter(Boolean);
  const heads = ["Paradigm", "Method", ...asked.flatMap(([name]) => page.tests.map((test) => `${name}, ${test}`)), ...WHEN.map((when) => `Needs ${when}`), "ms / CPU ms per answer"];
  fillTable(byId("study"), heads, page.methods.map((method) => [method.paradigm, method.name,
    ...asked.flatMap(([, target]) => page.tests.map((test) => cellOf(method, target, test))),
    ...WHEN.map((when) => String(method.demands.filter((demand) => demand.when === when).length)), latencyOf(method, memory ?? busy)]), heads.map((_, i) => i).slice(2));
  fill(byId("study-note"), "Memory: accuracy of classes. Busy: R² of the first metric; accuracy for methods that answer with classes.");
}

function drawDemands() {
  fillTable(byId("demands"), ["Method", "When", "What"], page.methods.flatMap((method) => method.demands.map((demand, i) => [i ? "" : method.name, demand.when, demand.what])), []);
}

function drawReasons() {
  const said = new Set();
  const rows = page.results.filter((result) => result.why).map((result) => [result.method, result.target, result.why])
    .filter((row) => !said.has(row.join()) && said.add(row.join()));
  byId("reasons-box").hidden = !rows.length;
  fillTable(byId("reasons"), ["Method", "Asked", "Why"], rows, []);
}

/* ---- all of it ---- */

function options(id, names, key, first) {
  fill(byId(id), ...names.map((name, i) => el("option", { value: i + first }, name)));
  byId(id).value = state[key];
  byId(id).addEventListener("change", () => {
    state[key] = Number(byId(id).value);
    drawScores();
  });
}

function start() {
  fill(byId("command"), `plimsoll evaluate classes ${page.table.split("/").at(-1)}`);
  fill(byId("facts"), [plural(page.rows, "row"), plural(page.folds, "fold"), `seed ${page.seed}`].join(" · "));
  options("target", page.targets.map((target) => target.column), "target", 0);
  options("test", page.tests, "test", 0);
  options("family", ["all", ...families], "family", -1);
  byId("family-box").hidden = !families.length;
  startCues();
  startTheme(() => {});
  fill(byId("foot"), `plimsoll ${page.version}`);
  drawStudy();
  drawScores();
  drawDemands();
  drawReasons();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();

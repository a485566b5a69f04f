/* Starts the page: one state, and who redraws when it changes. */

import { startCues } from "./cues.js";
import { byId, fill } from "./dom.js";
import { plural } from "./format.js";
import { startSearch } from "./search.js";
import { startTheme } from "./theme.js";
import { loadDocument } from "./data.js";
import { capacitiesChanged, drawTimeline, forgetZoom, moveTimeline, showMoment, startTimeline } from "./timeline.js";
import { drawTime, markMoment, repaintTime, startTime } from "./steptime.js";
import { drawModules, moveModules, startModules } from "./modules.js";
import { drawHeap, moveHeap, startHeap } from "./heap.js";
import { drawRanks, startLanes } from "./ranks.js";
import { drawAnswer, drawCards, drawSteps, scrollToEnough } from "./tables.js";

const page = loadDocument();
const state = { lane: 0, point: 0, axis: "events", tree: "treemap", focus: [], folded: true };
const chosen = firstCards();

/* The card of the run, the smallest that is enough and the largest that is not: the lines worth seeing first. */
function firstCards() {
  const whole = page.gpus.filter((gpu) => !gpu.mig);
  const enough = whole.find((gpu) => (gpu.verdict === "fits" || gpu.verdict === "tight") && !gpu.shared);
  const short = whole.filter((gpu) => gpu.verdict === "no").at(-1);
  return new Set([page.gpu, enough?.id, short?.id].filter((id) => page.gpus.some((gpu) => gpu.id === id)));
}

function moveTo(point) {
  const { length } = page.lanes[state.lane].points;
  state.point = Math.max(0, Math.min(length - 1, point));
  moveTimeline();
  moveModules();
  moveHeap();
  hovered(undefined);
}

/* A moment that the pointer is at, or else that of the cursor. */
function hovered(us) {
  markMoment(us ?? page.lanes[state.lane].points.us[state.point]);
}

function toggleCard(id) {
  if (!chosen.delete(id)) chosen.add(id);
  capacitiesChanged();
}

const drawFits = () => drawCards(page, chosen, toggleCard);

function showLane(index) {
  const lane = page.lanes[index];
  state.lane = index;
  byId("lane").value = index;
  drawRanks(page, index, showLane);
  state.focus = [];
  forgetZoom();
  state.point = lane.at_peak.point ?? 0;
  drawAnswer(page, lane);
  drawSteps(lane, moveTo);
  drawTime();
  for (const id of ["timeline", "modules", "heap"]) byId(id).hidden = !lane.points.length;
  byId("tree").hidden = !page.attributed;
  byId("fits").classList.toggle("lineless", !lane.points.length);
  if (!lane.points.length) return;
  drawTimeline();
  moveTo(state.point);
}

function repaint() {
  drawSteps(page.lanes[state.lane], moveTo);
  repaintTime();
  if (!page.lanes[state.lane].points.length) return;
  drawTimeline();
  moveTimeline();
  drawModules();
  drawHeap();
}

function start() {
  startTheme(repaint);
  startCues();
  startLanes(page, showLane);
  startSearch(page, () => {
    repaintTime();
    if (page.lanes[state.lane].points.length) drawModules();
    drawHeap();
  });
  startTimeline(page, state, chosen, moveTo, hovered);
  startTime(page, state, moveTo, showMoment);
  startModules(page, state);
  startHeap(page, state);
  byId("fits-filter").addEventListener("input", drawFits);
  byId("fits-mig").addEventListener("change", drawFits);
  drawFits();
  scrollToEnough();
  showLane(page.largest);
  fill(byId("foot"), `plimsoll ${page.version} · ${page.record}`, page.left_out ? ` · ${plural(page.left_out, "more device")} not shown` : "");
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();

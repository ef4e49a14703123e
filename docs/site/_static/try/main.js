// "Try the metrics": three rankings to play with, their metrics, a link that keeps them.
import { Bars } from "./bars.js";
import { el, fill } from "./element.js";
import { listen } from "./hands.js";
import { Rankings } from "./rankings.js";
import { Scores, controls } from "./scores.js";
import { MOST, example, fromQuery, toQuery } from "./state.js";

/** Add a document that nobody judged relevant at the end of the ranking whose document is chosen. */
const addDocument = (rankings) => {
  const { ranking } = rankings.chosen, { retrieved, missed } = rankings.state.rankings[ranking];
  if (retrieved.length >= MOST) return rankings.say(fill(rankings.words.full, { most: MOST }));
  const taken = new Set([...retrieved, ...missed].map(({ id }) => id));
  let id = 0;
  while (taken.has(String(id))) id += 1;
  retrieved.push({ id: String(id), grade: 0 });
  rankings.chosen = { ranking, list: "retrieved", at: retrieved.length - 1 };
  rankings.after(retrieved.at(-1));
};

/** The state in the address, rewritten at most a few times a second: browsers allow no more. */
const keeper = (state) => {
  let waiting = 0;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => history.replaceState(history.state, "", `?${toQuery(state)}${location.hash}`), 400);
  };
};

const foot = (rankings, state, words, redraw) => {
  const copied = el("output", {});
  const act = (label, run) => el("button", { type: "button", onclick: run }, label);
  const copy = async () => {
    const address = `${location.href.split(/[?#]/)[0]}?${toQuery(state)}#try`;
    try { await navigator.clipboard.writeText(address); copied.textContent = words.copied; } catch { copied.textContent = address; }
  };
  const reset = () => {
    Object.assign(state, example());
    rankings.chosen = { ranking: 0, list: "retrieved", at: 0 };
    redraw();
  };
  return el("p", { class: "try-foot" }, act(words.add, () => addDocument(rankings)), act(words.reset, reset), act(words.copy, copy), copied);
};

const start = (root) => {
  const words = JSON.parse(root.querySelector("script").textContent), state = example();
  let fault = "";
  try { Object.assign(state, fromQuery(location.search)); } catch (error) { fault = fill(words.badLink, { part: error.message.slice(0, 40) }); }
  const keep = keeper(state), bars = new Bars(words), scores = new Scores(state, words, bars);
  const redraw = () => { settings.draw(); rankings.draw(); scores.draw(); keep(); };
  const rankings = new Rankings(state, words, () => { settings.draw(); scores.show(rankings.chosen.ranking); keep(); });
  const settings = controls(state, words, redraw);
  listen(rankings);
  settings.draw();
  rankings.draw();
  scores.draw();
  const parts = [el("p", { class: "try-help" }, words.help), settings.element,
    el("div", { class: "try-main" }, rankings.element, bars.element), foot(rankings, state, words, redraw), bars.list, scores.element];
  root.replaceChildren(...(fault ? [el("p", { class: "try-fault", role: "alert" }, fault)] : []), ...parts);
  root.classList.add("ready");
};

document.querySelectorAll(".try").forEach(start);

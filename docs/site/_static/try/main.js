// "Try the metrics": three rankings to play with, their metrics, a link that keeps them.
import { Bars } from "./bars.js";
import { el, fill } from "./element.js";
import { EXPERIMENTS, looksAt } from "./experiments.js";
import { listen } from "./hands.js";
import { NONE, Rankings } from "./rankings.js";
import { Scores, controls } from "./scores.js";
import { example, fromQuery, toQuery } from "./state.js";

const foot = (state, words, reset) => {
  const copied = el("output", {});
  const act = (label, run) => el("button", { type: "button", onclick: run }, label);
  const copy = async () => {
    const address = `${location.href.split(/[?#]/)[0]}?${toQuery(state)}#try`;
    try { await navigator.clipboard.writeText(address); copied.textContent = words.copied; } catch { copied.textContent = address; }
  };
  return el("p", { class: "try-foot" }, act(words.reset, () => reset(state.set)), act(words.copy, copy), copied);
};

const start = (root) => {
  const words = JSON.parse(root.querySelector("script").textContent);
  const begin = (set) => example(set === "passages" ? words.passages : null);
  const state = begin(new URLSearchParams(location.search).get("set") ?? words.begin);
  let fault = "";
  try { Object.assign(state, fromQuery(location.search)); } catch (error) { fault = fill(words.badLink, { part: error.message.slice(0, 40) }); }
  const bars = new Bars(words), scores = new Scores(state, words, bars);
  const redraw = () => { settings.draw(); rankings.draw(); scores.draw(); };
  const rankings = new Rankings(state, words, () => { begun(); settings.draw(); scores.show(rankings.chosen.ranking); });
  const settings = controls(state, words, redraw, (set) => reset(set));
  const reset = (set, more = {}, first = () => NONE) => {
    Object.assign(state, begin(set), more);
    rankings.chosen = first();
    scores.of = rankings.chosen.ranking;
    redraw();
    bars.settle(); // the way back to the start is no move
  };
  const act = (label, run, main = false) => el("button", { type: "button", class: main && "main", onclick: run }, label);
  const names = Object.keys(EXPERIMENTS), done = new Set();
  const first = el("span", {}, words.experiment.first), begun = () => { first.remove(); moves[0].classList.remove("main"); };
  const ask = (name) => {
    begun();
    const experiment = EXPERIMENTS[name], at = names.indexOf(name);
    reset(state.set, experiment.set, () => looksAt(experiment, state));
    const doc = rankings.docs(rankings.chosen)[rankings.chosen.at];
    const move = () => {
      experiment.move(state);
      rankings.follow(doc);
      redraw();
    };
    bars.ask(words.experiments[name], moves[at], move, () => {
      done.add(name);
      moves[at].classList.add("done");
      moves[at].textContent = `✓ ${words.experiments[name].name}`;
      const next = [...names.slice(at), ...names].find((one) => !done.has(one));
      const on = next ? [act(fill(words.next, words.experiments[next]), () => ask(next), true)] : [];
      return [...on, act(words.start, () => { reset(state.set); panel.scrollIntoView(); moves[0].focus({ preventScroll: true }); }, !next)];
    });
  };
  const moves = names.map((name) => act(words.experiments[name].name, () => ask(name)));
  for (const button of moves) button.setAttribute("aria-pressed", "false");
  moves[0].prepend(first);
  moves[0].classList.add("main");
  const experiments = el("div", { class: "try-experiments" }, el("p", { class: "try-pills" }, ...moves), bars.question);
  const panel = el("div", { class: "tool-panel try-panel" }, el("p", { class: "try-modes" }, el("b", {}, words.experiment.name), settings.opener), experiments, settings.element);
  rankings.tools.append(foot(state, words, reset));
  listen(rankings);
  settings.draw();
  rankings.draw();
  scores.draw();
  const every = el("details", {}, el("summary", {}, words.every), scores.element, el("div", { class: "try-controls" }, ...settings.patience));
  root.replaceChildren(...(fault ? [el("p", { class: "tool-note tool-fault", role: "alert" }, fault)] : []), el("div", { class: "try-main" }, panel, bars.element, rankings.element), every);
  root.classList.add("ready");
};

document.querySelectorAll(".try").forEach(start);

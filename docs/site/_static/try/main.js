// "Try the metrics": three rankings to play with, and their metrics.
import { Bars } from "./bars.js";
import { el, fill } from "./element.js";
import { EXPERIMENTS, looksAt } from "./experiments.js";
import { listen } from "./hands.js";
import { NONE, Rankings } from "./rankings.js";
import { Scores, controls } from "./scores.js";
import { example } from "./state.js";

const start = (root) => {
  const words = JSON.parse(root.querySelector("script").textContent);
  const begin = (set) => example(set === "passages" ? words.passages : null);
  const state = begin(new URLSearchParams(location.search).get("set") ?? "passages");
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
  rankings.tools.append(el("p", { class: "try-foot" }, act(words.reset, () => reset(state.set))));
  listen(rankings);
  settings.draw();
  rankings.draw();
  scores.draw();
  const every = el("details", {}, el("summary", {}, words.every), scores.element, el("div", { class: "try-controls" }, ...settings.patience));
  root.replaceChildren(el("div", { class: "try-main" }, panel, bars.element, rankings.element), every);
  root.classList.add("ready");
};

start(document.querySelector(".try"));

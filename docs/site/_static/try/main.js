// "Try the metrics": three rankings to play with, their metrics, a link that keeps them.
import { Bars } from "./bars.js";
import { Curves } from "./curves.js";
import { el, fill } from "./element.js";
import { EXPERIMENTS, looksAt } from "./experiments.js";
import { listen } from "./hands.js";
import { NONE, Rankings } from "./rankings.js";
import { Scores, controls } from "./scores.js";
import { MOST, example, fromQuery, toQuery } from "./state.js";

/** Add a document that nobody judged relevant, a real one if there are any, at the end of the chosen document's ranking. */
const addDocument = (rankings) => {
  const { ranking } = rankings.chosen, { retrieved, missed } = rankings.state.rankings[ranking];
  if (retrieved.length >= MOST) return rankings.say(fill(rankings.words.full, { most: MOST }));
  const taken = new Set([...retrieved, ...missed].map(({ id }) => id));
  let number = 0;
  while (taken.has(String(number))) number += 1;
  const spare = rankings.titled ? rankings.words.passages[ranking].spare : [];
  retrieved.push({ id: spare.find((id) => !taken.has(id)) ?? String(number), grade: 0 });
  rankings.chosen = { ranking, list: "retrieved", at: retrieved.length - 1 };
  rankings.after(retrieved.at(-1));
};

/** The state in the address, written when a hand lets go: while it drags or holds a key, browsers would not allow so many. */
const keeper = (state, root) => {
  let waiting = 0;
  const write = () => {
    if (waiting) history.replaceState(history.state, "", `?${toQuery(state)}${location.hash}`);
    clearTimeout(waiting);
    waiting = 0;
  };
  for (const end of ["pointerup", "keyup", "change", "click"]) root.addEventListener(end, write);
  return () => { clearTimeout(waiting); waiting = setTimeout(write, 400); };
};

const foot = (rankings, state, words, reset) => {
  const copied = el("output", {});
  const act = (label, run) => el("button", { type: "button", onclick: run }, label);
  const copy = async () => {
    const address = `${location.href.split(/[?#]/)[0]}?${toQuery(state)}#try`;
    try { await navigator.clipboard.writeText(address); copied.textContent = words.copied; } catch { copied.textContent = address; }
  };
  return el("p", { class: "try-foot" }, act(words.add, () => addDocument(rankings)), act(words.reset, () => reset(state.set)), act(words.copy, copy), copied);
};

const start = (root) => {
  const words = JSON.parse(root.querySelector("script").textContent);
  const begin = (set) => example(set === "passages" ? words.passages : null);
  const state = begin(new URLSearchParams(location.search).get("set") ?? words.begin);
  let fault = "";
  try { Object.assign(state, fromQuery(location.search)); } catch (error) { fault = fill(words.badLink, { part: error.message.slice(0, 40) }); }
  const keep = keeper(state, root), bars = new Bars(words), curves = new Curves(words), scores = new Scores(state, words, bars, curves);
  const redraw = () => { settings.draw(); rankings.draw(); scores.draw(); keep(); };
  const rankings = new Rankings(state, words, () => { begun(); settings.draw(); scores.show(rankings.chosen.ranking); keep(); });
  const settings = controls(state, words, redraw, (set) => reset(set));
  const reset = (set, more = {}, first = () => NONE) => {
    Object.assign(state, begin(set), more);
    rankings.chosen = first();
    scores.of = rankings.chosen.ranking;
    redraw();
    bars.settle(); // the way back to the start is no move
    bars.puzzles.begin();
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
  const modes = { experiment: act(words.experiment.name, () => turn("experiment")), puzzle: act(words.puzzle.name, () => turn("puzzle")) };
  /** Show the experiments or the puzzles: what is done for the one does not count for the other. */
  const turn = (mode, at) => {
    main.classList.toggle("puzzling", mode === "puzzle");
    for (const [name, button] of Object.entries(modes)) button.setAttribute("aria-pressed", String(name === mode));
    bars.puzzles.begin(mode === "puzzle", at);
    if (mode === "puzzle") reset(state.set); else bars.settle();
  };
  bars.puzzles.choose = (at) => turn("puzzle", at);
  const experiments = el("div", { class: "try-experiments" }, el("p", { class: "try-pills" }, ...moves), bars.question);
  const panel = el("div", { class: "tool-panel try-panel" }, el("p", { class: "try-modes" }, ...Object.values(modes), settings.opener), experiments, bars.puzzles.element, settings.element);
  rankings.tools.append(foot(rankings, state, words, reset));
  listen(rankings);
  settings.draw();
  rankings.draw();
  scores.draw();
  const main = el("div", { class: "try-main" }, panel, bars.element, rankings.element);
  const every = el("details", {}, el("summary", {}, words.every), scores.element, el("div", { class: "try-controls" }, ...settings.patience), curves.element);
  curves.title.append(settings.cutoff);
  root.replaceChildren(...(fault ? [el("p", { class: "tool-note tool-fault", role: "alert" }, fault)] : []), main, every);
  turn("experiment");
  root.classList.add("ready");
};

document.querySelectorAll(".try").forEach(start);

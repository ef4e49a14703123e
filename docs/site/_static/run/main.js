// Run a lesson in its page: Python in a worker, cell by cell or all, edited and run again. Recorded outputs come back with "reset".
import { el, fill } from "../try/element.js";
import { shown } from "./outputs.js";

const box = document.querySelector(".run"), { words, ...settings } = JSON.parse(box.querySelector("script").textContent);
const base = new URL(box.dataset.files, document.baseURI).href;

const start = box.querySelector("button"), status = box.querySelector("[role=status]"), bar = el("progress", { max: 1, value: 0, hidden: true });
const say = (key, values = {}) => { status.textContent = key ? fill(words[key], values) : ""; };
let worker = null, answer = null, receive = null, ready = null, loaded = 0, begun = 0;

/** Send something to the worker and wait until it is done. */
const ask = (message) => new Promise((resolve, reject) => {
  answer = { resolve, reject };
  worker.postMessage(message);
});

const begin = async () => {
  if (typeof WebAssembly !== "object") throw { kind: "nowasm" };
  if (!isSecureContext) throw { kind: "insecure" };
  loaded = 0;
  begun = performance.now();
  try { worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" }); } catch { throw { kind: "noworker" }; }
  worker.onerror = (event) => { event.preventDefault(); answer?.reject({ kind: ready ? "failed" : "noworker", detail: event.message ?? "" }); };
  worker.onmessage = ({ data }) => {
    if (data.type === "loaded") {
      loaded += data.bytes;
      progress();
    } else if (data.type === "output") receive?.(data.output);
    else if (data.type === "done") answer.resolve(data.value);
    else answer.reject(data);
  };
  bar.hidden = false;
  const clock = setInterval(progress, 500);
  try { await ask({ action: "load", base, language: document.documentElement.lang, ...settings }); } finally {
    clearInterval(clock);
    bar.hidden = true;
  }
};
const progress = () => {
  bar.value = Math.min(1, loaded / settings.total);
  if (!bar.hidden) say("loading", { loaded: (loaded / 1e6).toFixed(1), total: (settings.total / 1e6).toFixed(1), seconds: Math.round((performance.now() - begun) / 1000) });
};

/** Load Python unless it is there; on a failure say what it was, and let the reader try again. */
const python = () => (ready ??= begin().catch((error) => {
  stop();
  say(words[error.kind] ? error.kind : "failed", { detail: error.detail ?? error.message ?? "" });
  throw error;
}));
const stop = () => {
  worker?.terminate();
  answer?.reject({ kind: "stopped" });
  worker = answer = ready = null;
  cells.forEach((cell) => { cell.ran = false; });
};

/** The white space that the line after a code begins with: that of its last line, more after a colon. */
const indent = (code) => {
  const line = code.split("\n").at(-1);
  return line.match(/^ */)[0] + (/:\s*$/.test(line) ? "    " : "");
};

const element = (id) => {
  const place = document.getElementById(`cell-${id}`).nextElementSibling;
  return place.matches(".cell") ? place : place.querySelector(".cell");
};

class Cell {
  constructor({ id, source, alt }) {
    Object.assign(this, { id, source, alt, recorded: source, ran: false, outputs: [], element: element(id) });
    this.code = this.element.querySelector(".cell_input > div");
    this.old = this.element.querySelector(".cell_output");
    this.live = el("div", { class: "cell_output docutils container run-output", hidden: true, "aria-live": "polite" });
    const typed = (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (event.shiftKey || event.ctrlKey) perform([this]);
      else document.execCommand("insertText", false, `\n${indent(this.text.value.slice(0, this.text.selectionStart))}`); // which undo takes back
    };
    this.text = el("textarea", { class: "run-source", spellcheck: "false", autocapitalize: "off", "aria-label": words.source, hidden: true, onkeydown: typed, oninput: () => this.grow() });
    this.run = el("button", { type: "button", "aria-label": fill(words["run cell"], { cell: id }), onclick: () => (this.running ? stop() : perform([this])) }, words.run);
    this.change = el("button", { type: "button", "aria-label": fill(words["edit cell"], { cell: id }), onclick: () => this.edit() }, words.edit);
    const input = this.element.querySelector(".cell_input");
    input.append(this.text);
    input.after(el("p", { class: "run-bar" }, this.run, " ", this.change));
    if (this.old) this.old.after(this.live); else this.element.append(this.live);
  }

  edit() {
    this.text.value = this.text.hidden ? this.source : this.text.value;
    this.grow();
    this.text.hidden = false;
    this.code.hidden = true;
    this.change.hidden = true;
    this.text.focus();
  }

  grow() { this.text.rows = this.text.value.split("\n").length + 1; }

  /** While a cell runs, its own button stops it. */
  mark(running) {
    this.running = running;
    this.element.classList.toggle("run-now", running);
    this.run.textContent = words[running ? "stop" : "run"];
    buttons();
  }

  async execute() {
    if (!this.text.hidden) this.source = this.text.value;
    this.outputs = [];
    this.live.replaceChildren();
    this.live.hidden = false;
    if (this.old) this.old.hidden = true;
    const folded = this.element.querySelector("details:has(> .run-output)"); // what the reader was to predict
    if (folded) folded.open = true;
    this.mark(true);
    receive = (output) => {
      this.outputs.push(output);
      this.live.append(...shown(output, this, settings, words));
    };
    try { this.ran = await ask({ action: "run", cell: this.id, source: this.source }); } finally { this.mark(false); }
    document.dispatchEvent(new CustomEvent("lesson-cell", { detail: { id: this.id, outputs: this.outputs } }));
    return this.ran;
  }

  reset() {
    Object.assign(this, { source: this.recorded, ran: false });
    this.code.hidden = this.change.hidden = false;
    this.text.hidden = this.live.hidden = true;
    if (this.old) this.old.hidden = false;
  }
}

let cells = [], busy = false;

/** Run cells, and before each those above it that have not been run yet. */
const perform = async (wanted) => {
  if (busy) return;
  busy = true;
  buttons();
  try {
    await python();
    const start = performance.now();
    const last = Math.max(...wanted.map((cell) => cells.indexOf(cell)));
    for (const cell of cells.slice(0, last + 1)) {
      if (cell.ran && !wanted.includes(cell)) continue;
      const number = cells.indexOf(cell) + 1;
      say("running", { number, all: cells.length });
      if (!(await cell.execute())) {
        say("error", { number });
        cell.live.scrollIntoView({ block: "nearest" });
        return;
      }
    }
    say("finished", { seconds: ((performance.now() - start) / 1000).toFixed(1) });
  } catch (error) {
    if (worker) say(words[error.kind] ? error.kind : "failed", { detail: error.detail ?? "" });
    else if (error.kind === "stopped") say("stopped");
  } finally {
    busy = false;
    buttons();
    dispatchEvent(new Event("outputs")); // are new: site.js lets the keyboard reach those that scroll
  }
};
const buttons = () => {
  halt.hidden = !busy;
  all.disabled = again.disabled = busy;
  for (const cell of cells) cell.run.disabled = busy && !cell.running;
};

start.onclick = async () => {
  start.disabled = true;
  try {
    Object.assign(settings, await (await fetch(new URL(`${settings.lesson}.json`, import.meta.url))).json());
  } catch {
    say("lost", { detail: `${settings.lesson}.json` });
    return;
  } finally { start.disabled = false; }
  cells = settings.cells.map((cell) => new Cell(cell));
  start.hidden = true;
  all.hidden = again.hidden = false;
  await perform(cells);
};
const all = el("button", { type: "button", hidden: true, onclick: () => perform(cells) }, words.all);
const halt = el("button", { type: "button", hidden: true, onclick: stop }, words.stop);
const again = el("button", { type: "button", hidden: true, onclick: () => {
  stop();
  for (const cell of cells) cell.reset();
  dispatchEvent(new Event("outputs"));
  say("reset done");
} }, words.reset);

start.after(" ", all, " ", halt, " ", again);
box.append(bar);

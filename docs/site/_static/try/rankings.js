// The three rankings: documents that are dragged, moved with the keyboard or by buttons, and given a grade.
import { el, fill } from "./element.js";
import { NAMES } from "./state.js";

/** Nothing is chosen; the first ranking is in front. */
export const NONE = { ranking: 0, list: "retrieved", at: -1 };
export const narrow = matchMedia("(max-width: 768px)"); // one ranking at a time

/** Change the page, and keep an element of it where it is under the reader's finger. */
export const holding = (element, change) => {
  const { top } = element.getBoundingClientRect();
  change();
  scrollBy({ top: element.getBoundingClientRect().top - top, behavior: "instant" });
};

/** Draws the rankings of `state` and calls `changed` after each change; `move` and `grade` are what keys and mouse do. */
export class Rankings {
  constructor(state, words, changed) {
    Object.assign(this, { state, words, changed, chosen: NONE });
    this.rule = el("span", { class: "try-rule" });
    this.said = el("p", { class: "try-said", "aria-live": "polite" });
    this.bar = el("div", { class: "try-bar", role: "group" });
    this.boxes = NAMES.map((name, i) => this.box(name, i));
    this.tools = el("div", { class: "try-tools" }, this.bar);
    const legend = ["relevant", "beyond"].map((kind) => el("span", {}, el("i", { class: kind }), words.legend[kind]));
    this.element = el("div", { class: "try-rankings" }, el("p", { class: "try-legend" }, this.rule, ...legend), ...this.boxes.map(({ box }) => box), this.tools, this.said);
  }

  box(name, ranking) {
    const lists = {};
    for (const list of ["retrieved", "missed"]) {
      const label = fill(this.words[list], { name });
      lists[list] = el("ol", { class: `try-${list}`, "aria-label": label, "data-ranking": ranking, "data-list": list });
    }
    const note = el("span", { class: "try-note" });
    const choose = () => { this.choose({ ...NONE, ranking }); this.changed(); };
    const query = el("button", { type: "button", class: "try-query", onclick: choose }, el("b", {}, name), " ", `“${this.words.passages[ranking].query}”`);
    const missed = el("div", { class: "try-tray" }, el("span", {}, this.words.tray), el("small", {}, this.words.drop), lists.missed);
    const box = el("section", { class: "try-ranking" }, el("p", { class: "try-name" }, el("span", {}, name), query, " ", note), lists.retrieved, missed);
    return { box, query, note, lists };
  }

  /** Whether the documents have titles, which are listed from top to bottom. */
  get titled() { return this.state.set === "passages"; }
  title(id) { return (this.titled && this.words.titles[id]) || id; }
  named(id) { return this.titled ? `“${this.title(id)}”` : id; }

  docs({ ranking, list }) { return this.state.rankings[ranking][list]; }

  /** Whether the buttons for the chosen document stand in its row. */
  get inRow() { return this.titled && narrow.matches; }

  /** Say how documents are moved: with the mouse, with a finger, or with the keys once one of them is pressed. */
  drawRule() { this.rule.textContent = this.words.rule[this.inRow ? "touch" : this.keyed ? "keys" : "mouse"]; }

  /** Draw all rankings anew, or those given, then what depends on them; the chosen document or its button keeps the focus. */
  draw(drawn = [0, 1, 2], then = () => {}) {
    const pressed = this.pressed();
    if (this.inRow && pressed >= 0) holding(this.bar, () => this.drawAnew(drawn, then, pressed));
    else this.drawAnew(drawn, then, pressed);
  }

  drawAnew(drawn, then, pressed) {
    this.element.classList.toggle("titled", this.titled);
    this.element.style.setProperty("--deep", Math.max(1, ...this.state.rankings.map(({ retrieved }) => retrieved.length))); // rows that the three share
    this.drawRule();
    const focused = this.element.contains(document.activeElement) && document.activeElement.matches(".try-doc, .try-mark");
    for (const ranking of drawn) {
      const { query, note, lists } = this.boxes[ranking];
      query.dataset.count = this.docs({ ranking, list: "retrieved" }).length;
      for (const list of ["retrieved", "missed"]) {
        lists[list].replaceChildren(...this.docs({ ranking, list }).map((doc, at) => this.item(doc, { ranking, list, at })));
      }
      const all = ["retrieved", "missed"].flatMap((list) => this.docs({ ranking, list }));
      note.textContent = fill(this.words.judged, { n: all.filter(({ grade }) => grade >= this.state.level).length });
    }
    this.drawBar(pressed);
    then();  // before the focus, for which the browser lays the page out
    if (focused) this.button(this.chosen)?.focus();
  }

  item({ id, grade }, spot) {
    const chosen = this.isChosen(spot), kept = spot.list === "retrieved";
    const beyond = kept && spot.at >= this.state.k;
    const name = fill(this.words[!kept ? "unranked" : beyond ? "uncounted" : "ranked"], { rank: spot.at + 1, id: this.named(id), grade: this.gradeName(grade) });
    const button = el("button", {
      type: "button", class: grade >= this.state.level ? "try-doc relevant" : "try-doc", "aria-label": name,
      "aria-pressed": String(grade >= this.state.level), tabindex: chosen || (this.chosen.at < 0 && this.isFirst(spot)) ? 0 : -1, "data-grade": grade,
    }, this.title(id), ...(this.state.graded && grade ? [el("sup", {}, String(grade))] : []));
    const cut = beyond && spot.at === this.state.k && fill(this.words.cut, { k: this.state.k });
    return el("li", { "data-cut": cut, class: [beyond && "beyond", chosen && "chosen"].filter(Boolean).join(" ") }, button, ...(this.titled ? [this.mark(grade, spot), el("span", { class: "try-grip" })] : []));
  }

  /** The button at the end of a row that changes relevance; keys and the buttons for the chosen document do the same. */
  mark(grade, spot) {
    const turn = () => { this.choose(spot); this.turn(); };
    return el("button", { type: "button", class: "try-mark", tabindex: -1, title: this.words.relevant, "aria-label": this.words.relevant, "aria-pressed": String(grade >= this.state.level), onclick: turn }, this.state.graded ? String(grade) : "✓");
  }

  isFirst({ ranking, list, at }) { return ranking === this.chosen.ranking && list === "retrieved" && at === 0; }
  isChosen(spot) { return ["ranking", "list", "at"].every((key) => spot[key] === this.chosen[key]); }
  button({ ranking, list, at }) { return this.boxes[ranking].lists[list].children[at]?.firstChild; }
  gradeName(grade) {
    if (this.state.graded) return fill(this.words.grade, { grade });
    return this.words[grade >= this.state.level ? "relevant" : "irrelevant"];
  }

  /** Which of the buttons for the chosen document has the focus; -1 if none has. */
  pressed() { return [...this.bar.querySelectorAll("button")].indexOf(document.activeElement); }

  /** The buttons for the chosen document: all that dragging and the keyboard can do. */
  drawBar(pressed = this.pressed()) {
    const { words, chosen } = this, doc = this.docs(chosen)[chosen.at];
    if (doc && this.inRow) this.button(chosen).parentElement.append(this.bar);
    else if (this.bar.parentElement !== this.tools) this.tools.prepend(this.bar);
    this.boxes.forEach(({ box }, i) => box.classList.toggle("current", i === chosen.ranking));
    if (!doc) return this.bar.replaceChildren();
    const kept = chosen.list === "retrieved";
    const act = (label, run, off = false) => el("button", { type: "button", disabled: off, onclick: run }, label);
    const about = fill(words.chosen, { id: this.named(doc.id), name: NAMES[chosen.ranking] });
    this.bar.setAttribute("aria-label", about);
    const group = (...buttons) => el("span", { class: "try-group" }, ...buttons);
    const places = group(
      act(words.up, () => this.move(-1), !kept || chosen.at === 0),
      act(words.down, () => this.move(1), !kept || chosen.at === this.docs(chosen).length - 1),
      act(kept ? words.out : words.back, () => this.swap()),
    );
    const toggle = (label, given, on, name = null) => el("button", { type: "button", "aria-pressed": String(on), "aria-label": name, onclick: () => this.grade(given) }, label);
    const grades = this.state.graded ? [0, 1, 2, 3].map((grade) => toggle(String(grade), grade, grade === doc.grade, fill(words.grade, { grade })))
      : [toggle(words.relevant, doc.grade ? 0 : 1, doc.grade > 0)];
    this.bar.replaceChildren(el("p", {}, about), places, group(...grades));
    const next = this.bar.querySelectorAll("button")[pressed];
    if (next) (next.disabled ? this.button(chosen) : next).focus();
  }

  choose(spot) {
    this.chosen = spot;
    for (const li of this.element.querySelectorAll("li")) li.classList.remove("chosen");
    for (const button of this.element.querySelectorAll(".try-doc")) button.tabIndex = -1;
    const button = this.button(spot.at < 0 ? { ...spot, at: 0 } : spot); // where the keyboard comes in
    if (button) { button.tabIndex = 0; button.parentElement.classList.toggle("chosen", spot.at >= 0); }
    this.drawBar();
  }

  /** Put the chosen document where `spot` says, in the same ranking. */
  put({ list, at }) {
    const { ranking } = this.chosen, from = this.docs(this.chosen), to = this.docs({ ranking, list });
    const [doc] = from.splice(this.chosen.at, 1);
    to.splice(at, 0, doc);
    this.chosen = { ranking, list, at: Math.min(at, to.length - 1) };
    this.after(doc);
  }

  /** Choose a document wherever it is now. */
  follow(doc) {
    for (const list of ["retrieved", "missed"]) {
      const at = this.docs({ ...this.chosen, list }).indexOf(doc);
      if (at >= 0) this.chosen = { ...this.chosen, list, at };
    }
  }

  move(step) {
    const { list, at } = this.chosen;
    if (list === "retrieved" && this.docs(this.chosen)[at + step]) this.put({ list, at: at + step });
  }

  /** Take the chosen document out of the ranking, or back to its end. */
  swap() {
    const { ranking, list } = this.chosen, other = list === "retrieved" ? "missed" : "retrieved";
    this.put({ list: other, at: this.docs({ ranking, list: other }).length });
  }

  grade(grade) {
    const doc = this.docs(this.chosen)[this.chosen.at];
    doc.grade = grade;
    this.after(doc);
  }

  /** The next grade of the chosen document, after the last none. */
  turn() { this.grade((this.docs(this.chosen)[this.chosen.at].grade + 1) % (this.state.graded ? 4 : 2)); }

  after(doc) {
    const kept = this.chosen.list === "retrieved";
    this.say(fill(this.words[kept ? "ranked" : "unranked"], { rank: this.chosen.at + 1, id: this.named(doc.id), grade: this.gradeName(doc.grade) }));
    this.draw([this.chosen.ranking], this.changed);
  }

  say(text) { this.said.textContent = text; }
}

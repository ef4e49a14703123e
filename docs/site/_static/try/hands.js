// Hands on the rankings: pointer (mouse, pen, finger) and keyboard.
import { holding } from "./rankings.js";

const spotOf = (li) => ({
  ranking: Number(li.parentElement.dataset.ranking), list: li.parentElement.dataset.list,
  at: [...li.parentElement.children].indexOf(li),
});

/** Where in the ranking's two lists a pointer is: the list it is in or nearest to, and before which document. */
const spotUnder = (rankings, ranking, x, y) => {
  const away = (box) => Math.max(box.left - x, x - box.right, 0) + 2 * Math.max(box.top - y, y - box.bottom, 0);
  const { lists } = rankings.boxes[ranking];
  const [list] = Object.keys(lists).sort((a, b) =>
    away(lists[a].getBoundingClientRect()) - away(lists[b].getBoundingClientRect()));
  const items = [...lists[list].children];
  const near = items.map((li) => away(li.getBoundingClientRect()));
  return { list, at: items.length ? near.indexOf(Math.min(...near)) : 0 };
};

/** Let the pointer choose a document by a press and move it by a drag; a finger drags a row by its dots. */
const listenToPointer = (rankings) => {
  let drag = null;
  const choose = () => {
    rankings.choose(spotOf(drag.li));
    drag.li.firstChild.focus({ preventScroll: true });
    drag.chosen = true;
  };
  rankings.element.addEventListener("pointerdown", (event) => {
    const li = event.target.closest("li");
    if (!li || event.button || event.target.closest(".try-bar, .try-mark")) return;
    const touch = event.pointerType === "touch";
    drag = { x: event.clientX, y: event.clientY, moved: false, li };
    drag.stays = touch && rankings.titled && !event.target.closest(".try-grip"); // the finger may be about to scroll
    if (!touch || rankings.isChosen(spotOf(li))) choose();
    rankings.element.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  rankings.element.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.moved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 6;
    if (!drag.moved || drag.stays) return;
    if (!drag.chosen) choose();
    rankings.element.classList.add("dragging");
    const spot = spotUnder(rankings, rankings.chosen.ranking, event.clientX, event.clientY);
    if (spot.list !== rankings.chosen.list || spot.at !== rankings.chosen.at) rankings.put(spot);
  });
  const drop = (event) => {
    if (drag && !drag.moved && !drag.chosen && event.type === "pointerup") holding(drag.li, choose);
    drag = null;
    rankings.element.classList.remove("dragging");
  };
  rankings.element.addEventListener("pointerup", drop);
  rankings.element.addEventListener("pointercancel", drop);
};

/** Whatever gives a document the focus, a screen reader for example, chooses it. */
const listenToFocus = (rankings) => {
  rankings.element.addEventListener("focusin", (event) => {
    const li = event.target.closest("li");
    if (li && !rankings.isChosen(spotOf(li))) rankings.choose(spotOf(li));
  });
};

const TURNED = { ArrowUp: "ArrowLeft", ArrowDown: "ArrowRight", ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown" }; // for lists that run down
/** Arrows go from document to document, with Shift they move it; space toggles, digits grade. */
const listenToKeys = (rankings) => {
  rankings.element.addEventListener("keydown", (event) => {
    if (!event.target.matches(".try-doc") || event.ctrlKey || event.metaKey || event.altKey) return;
    const { ranking, list, at } = rankings.chosen;
    const go = (spot) => { if (rankings.button(spot)) { rankings.choose(spot); rankings.button(spot).focus(); } };
    const lines = rankings.boxes.flatMap((_, i) => ["retrieved", "missed"].map((name) => ({ ranking: i, list: name })))
      .filter((line) => rankings.docs(line).length);
    const here = lines.findIndex((line) => line.ranking === ranking && line.list === list);
    const beside = (line) => line && go({ ...line, at: Math.min(at, rankings.docs(line).length - 1) });
    const key = (rankings.titled && TURNED[event.key]) || event.key;
    const act = {
      ArrowLeft: () => (event.shiftKey ? rankings.move(-1) : go({ ranking, list, at: at - 1 })),
      ArrowRight: () => (event.shiftKey ? rankings.move(1) : go({ ranking, list, at: at + 1 })),
      ArrowDown: () => (event.shiftKey ? list === "retrieved" && rankings.swap() : beside(lines[here + 1])),
      ArrowUp: () => (event.shiftKey ? list === "missed" && rankings.swap() : beside(lines[here - 1])),
      Home: () => go({ ranking, list, at: 0 }),
      End: () => go({ ranking, list, at: rankings.docs({ ranking, list }).length - 1 }),
      " ": () => rankings.turn(), Enter: () => rankings.turn(),
    }[key] ?? (/^[0-3]$/.test(event.key) && (rankings.state.graded || event.key < "2") ? () => rankings.grade(Number(event.key)) : null);
    if (!act) return;
    event.preventDefault();
    act();
  });
  rankings.element.addEventListener("keyup", ({ target }) => { // of the Tab too that leads here
    rankings.keyed ||= target.matches(".try-doc");
    rankings.drawRule();
  });
};

export const listen = (rankings) => { listenToPointer(rankings); listenToFocus(rankings); listenToKeys(rankings); };

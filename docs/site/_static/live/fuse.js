// Fusion of two rankings by 1 / (k + rank): the ten passages it puts first, and what each list adds to them.
import { el, fill } from "../try/element.js";
import { METRICS, fuse } from "../try/metrics.js";
import { choice, read, slider, svg } from "./controls.js";

const SHOWN = 10, FIRST = 42, LISTS = ["dense", "words"];

/** Passages in the order of their fusion, of two lists of `depth`; rows of the corpus are in the order of its ids. */
export const ordered = (passages, constant, depth) => fuse(
  passages.map(([id, ...rest]) => ({ id, ranks: rest.slice(0, 2).map((rank) => (rank <= depth ? rank : 0)), grade: rest[2] })),
  constant, (id) => String(id).padStart(9, "0"));

/** nDCG@10 of passages in an order. */
export const ndcg = (order, ideal) => METRICS.ndcg({ grades: order.map(({ grade }) => grade), ideal }, SHOWN).value;

/** The first ten passages of one of the two lists. */
export const listed = (passages, list) => passages.filter((one) => one[1 + list] > 0 && one[1 + list] <= SHOWN)
  .sort((a, b) => a[1 + list] - b[1 + list]).map(([id, , , grade]) => ({ id, grade }));

export const start = async (box, words, { depth: begins, constant }) => {
  const { constants, level, queries, titles } = await read("ranks.json"), still = matchMedia("(prefers-reduced-motion: reduce)");
  const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;
  const curves = Object.fromEntries([SHOWN, 100].map((depth) => [depth, constants.map((k) =>
    mean(queries.map(({ passages, ideal }) => ndcg(ordered(passages, k, depth), ideal))))]));
  const alone = ({ passages, ideal }) => ndcg(listed(passages, 0), ideal), aloneMean = mean(queries.map(alone));
  const asked = queries.flatMap(({ text }, i) => (text ? [i] : [])); // queries at which k matters
  let at = Math.max(0, asked.indexOf(FIRST));
  const rows = new Map();

  const ask = el("p", {}), question = el("p", { class: "live-query" }), list = el("ol", { class: "live-fused" });
  const told = el("p", { class: "live-said", "aria-live": "polite" });
  const k = slider(words.constant, { most: constants.length - 1, value: constants.indexOf(Number(constant)), say: (i) => `k = ${constants[i]}` }, () => draw());
  const depth = choice(words.depth, [["10", "10"], ["100", "100"]], begins, () => draw());
  depth.element.prepend(words.depth);
  const next = el("button", { type: "button", onclick: () => { at = (at + 1) % asked.length; rows.clear(); draw(); } }, words.next);

  const x = (i) => 100 * i / (constants.length - 1), y = (value) => 100 * (0.82 - value) / 0.3; // of a hundred
  const path = (values) => values.map((value, i) => `${i ? "L" : "M"}${x(i)} ${y(value)}`).join("");
  const place = (element, i, value) => { element.style.setProperty("--x", x(i)); element.style.setProperty("--y", y(value)); return element; };
  const label = (kind, text, value) => place(el("span", { class: kind }, text), constants.length - 1, value);
  const dot = el("i", {}), value = el("b", {}), picture = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  picture.append(svg("path", { d: `M0 ${y(aloneMean)}H100`, class: "alone" }), svg("path", { d: path(curves[10]) }), svg("path", { d: path(curves[100]), class: "deep" }));
  const curve = el("div", { class: "live-curve", role: "img" }, picture, dot, value,
    label("", fill(words.alone, { value: aloneMean.toFixed(3) }), aloneMean), label("below", words.lines[10], curves[10].at(-1)), label("", words.lines[100], curves[100].at(-1)),
    el("p", { class: "live-axis" }, el("b", {}, "k"), ...constants.map((k, i) => place(el("span", {}, k), i, 0))));

  const row = ({ id, ranks, grade, parts }, place, longest) => {
    const element = rows.get(id) ?? el("li", {}, el("b", {}), el("span", { class: "live-name" }, titles[id]), el("span", { class: "live-parts" }, el("i", {}), el("i", {})), el("small", {}));
    rows.set(id, element);
    element.className = `${grade >= level ? "relevant" : ""} ${place > SHOWN ? "lost" : ""}`;
    element.children[0].textContent = place > SHOWN ? "–" : place;
    parts.forEach((part, i) => element.children[2].children[i].style.setProperty("--part", part / longest));
    element.children[3].textContent = ranks.map((rank) => rank || "–").join(" · ");
    element.setAttribute("aria-label", fill(words.row, { place: place > SHOWN ? words.lost : place, title: titles[id], dense: ranks[0] || "–", words: ranks[1] || "–" }) + (grade >= level ? words.relevant : ""));
    return element;
  };

  const draw = () => {
    const query = queries[asked[at]], order = ordered(query.passages, constants[k.value], Number(depth.value));
    const lost = order.slice(SHOWN).find(({ grade }) => grade >= level);
    const before = new Map([...rows].map(([id, element]) => [id, element.offsetTop]));
    ask.textContent = fill(words.ask[lost ? "lost" : "kept"], { k: constants[k.value] });
    question.textContent = query.text;
    list.replaceChildren(...order.slice(0, SHOWN).map((one, i) => row(one, i + 1, order[0].sum)), ...(lost ? [row(lost, SHOWN + 1, order[0].sum)] : []));
    if (!still.matches) for (const [id, element] of rows) {
      const moved = (before.get(id) ?? element.offsetTop) - element.offsetTop;
      if (moved && element.isConnected) element.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: 350, easing: "ease-out" });
    }
    const over = curves[depth.value][k.value], values = { value: ndcg(order, query.ideal).toFixed(3), alone: alone(query).toFixed(3), mean: over.toFixed(3), all: aloneMean.toFixed(3), n: queries.length };
    for (const one of [dot, value]) place(one, k.value, over);
    value.textContent = values.mean;
    value.className = depth.value === "100" ? "below" : "";
    curve.setAttribute("aria-label", fill(words.curve, values));
    told.textContent = fill(words.told, values);
  };

  draw();
  box.append(
    el("p", { class: "live-title" }, words.title), ask, el("div", { class: "live-asked" }, question, next),
    el("p", { class: "live-ranks live-legend", "aria-hidden": "true" }, words.ranks, ...LISTS.map((name) => el("span", { class: name }, words[name]))), list, k.element, depth.element, told,
    el("p", { class: "live-caption" }, words.curves), curve,
  );
};

// One question of lesson 01 on its way from words to scores. In the text each section has a still of its step; beside
// it, where there is room, one picture stays in view, and goes from step to step with the reader.
import { el, fill } from "../try/element.js";
import { data, hitsOf, meters } from "./hits.js";

const LINES = 4, SHADE = [125, 85, 200], BESIDE = matchMedia("(min-width: 1350px)"), STILL = matchMedia("(prefers-reduced-motion: reduce)");
const MOVE = { duration: 700, easing: "ease-in-out" };

/** Numbers from base64, as shades: the higher, the darker. */
const shades = (coded) => {
  const numbers = Int8Array.from(atob(coded), (letter) => letter.charCodeAt(0)), width = numbers.length / LINES;
  const spread = Math.sqrt(numbers.reduce((sum, one) => sum + one * one, 0) / numbers.length);
  const canvas = el("canvas", { width, height: LINES, "aria-hidden": "true" }), pen = canvas.getContext("2d"), image = pen.createImageData(width, LINES);
  numbers.forEach((one, at) => image.data.set([...SHADE, 255 * (0.5 + one / spread / 4)], 4 * at)); // clamped by itself
  pen.putImageData(image, 0, 0);
  return { canvas, count: numbers.length };
};

/** Follow the reader: the picture reaches from its own place to that of the next one, and is told each step begun. */
const follow = (figure, go) => {
  const sections = [...document.querySelectorAll("figure.journey")].map((each) => each.parentElement);
  const section = sections.at(-1), next = section.querySelector(":scope > figure.hits"), place = document.getElementById("cell-source");
  new ResizeObserver(() => {
    const end = place.getBoundingClientRect().top;
    figure.style.setProperty("--height", `${end - figure.getBoundingClientRect().top - 24}px`);
    next.style.setProperty("--from", `${end - section.getBoundingClientRect().top}px`);
  }).observe(document.querySelector("article"));
  const line = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting && BESIDE.matches) go(sections.indexOf(target) + 1);
  }, { rootMargin: "-45% 0px -55% 0px" });
  for (const each of sections) line.observe(each);
  BESIDE.addEventListener("change", () => { if (!BESIDE.matches) go(1); });
};

export const start = (box, words, { stage }) => {
  const shared = data(words), [{ text, passages, ideal }] = shared.queries, { answers } = shared;
  const { order, products, vectors } = words;
  const [asked, ...found] = vectors.map(shades), ranks = [...passages.keys()];
  const rows = passages.map(([title, , grade], rank) => {
    const bar = el("i", {}), parts = {
      box: el("b", {}), title: el("span", {}, title), grade: el("small", {}, words.grades[grade]), product: el("small", {}, products[rank]?.toFixed(2) ?? ""),
      shades: found[rank]?.canvas ?? el("i", {}), bar: el("div", { class: "board-bar", "aria-hidden": "true" }, bar),
    };
    bar.style.width = `${100 * products[rank]}%`;
    return { ...parts, element: el("li", { class: grade >= answers ? "relevant" : null }, ...Object.values(parts)) };
  });
  const which = el("b", {}), said = el("span", {}), list = el("ol", {}, ...rows.map(({ element }) => element));
  const scores = meters(shared), question = el("p", { class: "journey-asked" }, text, asked.canvas);
  const buttons = words.steps.map((name, at) => el("button", { type: "button", onclick: () => go(at + 1) }, name));
  const steps = el("div", { class: "journey-steps", role: "group", "aria-label": words.label }, ...buttons);
  box.append(steps, el("p", { class: "live-help" }, which, " ", said), question, list, scores.element);
  scores.show([hitsOf({ passages, ideal }, answers)], passages.length);

  const show = (step) => {
    box.dataset.step = step;
    const rank = 1 + passages.findIndex(([, , grade]) => grade >= answers);
    which.textContent = fill(words.title, { step, steps: words.steps.length });
    said.textContent = fill(words.said[step - 1], { n: asked.count, rank });
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", at === step - 1));
    asked.canvas.hidden = step < 2 || step > 3;
    scores.element.hidden = step < 5;
    rows.forEach((row, at) => {
      row.element.hidden = step < 5 && at >= products.length;
      row.box.textContent = step < 4 ? "" : at + 1;
      row.title.hidden = step > 4;
      row.grade.hidden = step > 1;
      row.shades.hidden = step < 2 || step > 4;
      row.product.hidden = row.bar.hidden = step < 3 || step > 4;
    });
    list.append(...(step < 4 ? [...order, ...ranks.slice(products.length)] : ranks).map((at) => rows[at].element));
  };
  const sliding = rows.map(({ element }) => element), fading = [asked.canvas, scores.element, ...rows.flatMap((row) => [row.shades, row.bar, row.product])];
  const go = (step) => {
    if (Number(box.dataset.step) === step) return;
    const before = sliding.map((element) => element.getBoundingClientRect()), { height } = box.getBoundingClientRect(), seen = fading.map((element) => element.offsetParent !== null);
    show(step);
    if (STILL.matches) return;
    box.animate({ height: [`${height}px`, `${box.offsetHeight}px`], overflow: ["clip", "clip"] }, MOVE);
    sliding.forEach((element, at) => {
      const now = element.getBoundingClientRect(), old = before[at];
      if (now.width) element.animate(old.width ? { translate: [`${old.left - now.left}px ${old.top - now.top}px`, "0 0"] } : { opacity: [0, 1] }, MOVE);
    });
    fading.forEach((element, at) => { if (!seen[at] && element.offsetParent) element.animate({ opacity: [0, 1] }, MOVE); });
  };
  show(Number(stage));
  if (stage === "1") follow(box.parentElement, go);
  dispatchEvent(new CustomEvent("terms", { detail: box })); // site.js shows what they mean
};

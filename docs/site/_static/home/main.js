// The home page: recorded rankings of two systems for another query, fetched when the reader asks for one.
import { el, fill } from "../try/element.js";

const box = document.querySelector(".home-demo"), button = box.querySelector("button");
const words = JSON.parse(box.querySelector("script").textContent);

const list = (system, [rank, ...passages], titles) => {
  const outcome = el("span", { class: rank ? "hit" : "miss" }, rank ? fill(words.answered, { rank }) : words.missed);
  const item = ([id, grade]) => el("li", { class: `grade-${grade}` }, el("span", {}, titles[id]), ...(grade ? [el("em", {}, grade > 1 ? words.answers : words.related)] : []));
  return el("div", {}, el("p", {}, el("b", {}, words.systems[system]), outcome), el("ol", { class: `to-${rank}` }, ...passages.map(item)));
};

let data = null;
button.hidden = false;
button.addEventListener("click", async () => {
  data ??= await (await fetch(box.dataset.rankings)).json();
  const shown = box.querySelector(".home-query"), others = data.queries.filter(([, text]) => text !== shown.textContent);
  const [, text, lists] = others[Math.floor(Math.random() * others.length)];
  shown.textContent = text;
  box.querySelector(".home-lists").replaceChildren(...Object.entries(lists).map(([name, of]) => list(name, of, data.titles)));
});

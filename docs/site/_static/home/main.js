// The home page: recorded rankings of two systems for another query, fetched when the reader asks for one.
import { el, fill } from "../try/element.js";

const box = document.querySelector(".home-demo"), button = box.querySelector("button");
const words = JSON.parse(box.querySelector("script").textContent);

const { comma, text: inText } = words;
const marked = (pieces) => pieces.map((piece, i) => (i % 2 ? el("u", {}, piece) : piece)).filter((piece) => piece !== "");
const item = ([pieces, rest, grade]) => {
  const shared = rest.flatMap((word, i) => [i ? comma : inText, el("u", {}, word)]);
  const title = el("span", {}, ...marked(pieces), ...(rest.length ? [el("small", {}, ...shared)] : []));
  return el("li", { class: `grade-${grade}` }, title, ...(grade ? [el("em", {}, grade > 1 ? words.answers : words.related)] : []));
};
const unseen = ([rank, title]) => {
  if (rank === undefined) return [];
  return rank ? [el("b", {}, String(rank)), el("span", {}, title), el("em", {}, words.answers)] : [words.beyond];
};
/** Draw the ranking of a system in its column, whose head stays. */
const draw = (column, [rank, later, ...passages]) => {
  const [head, list, below] = column.children;
  head.lastChild.replaceWith(el("span", { class: rank ? "hit" : "miss" }, rank ? fill(words.answered, { rank }) : words.missed));
  list.replaceWith(el("ol", { class: `to-${rank}` }, ...passages.map(item)));
  below.replaceChildren(...unseen(later));
};

let data = null;
button.hidden = false;
button.addEventListener("click", async () => {
  data ??= await (await fetch(box.dataset.rankings)).json();
  const shown = box.querySelector(".home-query"), others = data.queries.filter(([, text]) => text !== shown.textContent);
  const [, text, lists] = others[Math.floor(Math.random() * others.length)];
  shown.textContent = text;
  for (const column of box.querySelectorAll("[data-system]")) draw(column, lists[column.dataset.system]);
});

// The home page: recorded rankings of two systems for another query, fetched when the reader asks for one.
import { el, fill } from "../try/element.js";

const box = document.querySelector(".home-demo"), button = box.querySelector("button");
const words = JSON.parse(box.querySelector("script").textContent);

const row = ([rank, title, grade, sentence, shared]) => el("li", { class: grade > 1 && "answer" },
  ...(grade > 1 ? [el("em", {}, words.answers)] : []),
  el("b", {}, String(rank)), " ", el("span", {}, title),
  ...(sentence ? [el("q", {}, sentence)] : []),
  ...(shared ? [el("small", {}, words.shared, ...(shared.length ? shared.flatMap((word, i) => [i ? words.comma : "", el("u", {}, word)]) : [words.none]))] : []));
/** Draw the ranking of a system in its column, whose head stays. */
const draw = (column, [first, outcome, ...rows]) => {
  const [, said, list] = column.children;
  said.className = outcome;
  said.textContent = fill(words[outcome], { rank: first });
  list.replaceChildren(...rows.map(row));
};

// A question of the reader's own is answered by the page that asks the corpus, behind a #, which no server sees.
box.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const { value, placeholder } = box.querySelector("input");
  location.assign(`ask.html#q=${encodeURIComponent(value.trim() || placeholder)}`);
});

let data = null, { second } = box.dataset; // the question that comes second; those after it are drawn
button.hidden = false;
button.addEventListener("click", async () => {
  data ??= await (await fetch(box.dataset.rankings)).json();
  const shown = box.querySelector(".home-query"), others = data.queries.filter(([, text]) => text !== shown.textContent);
  const [, text, lists] = others.find(([, other]) => other === second) ?? others[Math.floor(Math.random() * others.length)];
  second = null;
  box.style.minHeight = `${box.getBoundingClientRect().height}px`; // where letters are wide, the room of the style sheet is not enough
  shown.textContent = text;
  for (const column of box.querySelectorAll("[data-system]")) draw(column, lists[column.dataset.system]);
});

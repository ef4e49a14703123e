// The home page: recorded rankings of two systems for another query, fetched when the reader asks for one.
const box = document.querySelector(".home-demo"), button = box.querySelector("button");
const words = JSON.parse(box.querySelector("script").textContent);
const el = (tag, text, kind = "") => Object.assign(document.createElement(tag), { textContent: text, className: kind });

const list = (system, [reciprocal, ...passages], titles) => {
  const part = el("div", ""), head = el("p", ""), items = el("ol", "");
  head.append(el("b", words.systems[system]), " ", el("b", `RR ${reciprocal.toFixed(2)}`));
  for (const [id, grade] of passages) {
    const item = el("li", "", `grade-${grade}`);
    item.append(el("span", titles[id]), ...(grade ? [el("em", grade > 1 ? words.answers : words.related)] : []));
    items.append(item);
  }
  part.append(head, items, ...(passages.some(([, grade]) => grade > 1) ? [] : [el("p", words.missed)]));
  return part;
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

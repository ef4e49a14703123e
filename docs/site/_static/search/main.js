// The search page: sections of the site for what the reader types, with an excerpt of each.
import { card, count, fill, item, load } from "./results.js";

const box = document.getElementById("search-results"), said = document.getElementById("search-summary");
const input = document.querySelector(".bd-search-container input[name=q]"), term = document.getElementById("search-term");
const more = Object.assign(document.createElement("button"), { className: "search-more", type: "button", hidden: true });
const MOST = 30; // sections shown at most
const index = await load(box.dataset.index);
let query, found;
const told = () => {
  said.replaceChildren(...count(index, query, found, box.children.length));
  more.hidden = found.length <= box.children.length;
};
const show = () => {
  query = input.value.trim().slice(0, 200);
  found = query ? index.search(query).slice(0, MOST) : [];
  fill(box, found);
  term.replaceChildren(...card(index.define(query)));
  more.textContent = index.words.more.replace("{}", found.length);
  told();
  said.dataset.query = query;
};
more.addEventListener("click", () => {
  const added = found.slice(box.children.length).map(item);
  box.append(...added);
  added[0].querySelector("a").focus();
  told();
});
const ask = () => { input.value = new URLSearchParams(location.search).get("q") ?? ""; show(); };
let waiting = 0;
input.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { show(); history.replaceState(null, "", `?q=${encodeURIComponent(query)}`); }, 120);
});
addEventListener("popstate", ask);
box.after(more);
input.focus();
if (input.value) show(); else ask(); // what was typed while the index loaded stays

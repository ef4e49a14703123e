// The search page: sections of the site for what the reader types, with an excerpt of each.
import { cards, fill, item, load, strong } from "./results.js";

const start = async () => {
  const box = document.getElementById("search-results"), said = document.getElementById("search-summary");
  const input = document.querySelector(".bd-search-container input[name=q]"), term = document.getElementById("search-term");
  const more = Object.assign(document.createElement("button"), { className: "search-more", type: "button", hidden: true });
  const index = await load(box.dataset.index);
  box.after(more);
  let query, found;
  const count = () => {
    const all = strong(found);
    said.replaceChildren(...index.count(query, found, box.children.length));
    more.hidden = all <= box.children.length;
    more.textContent = index.words.more.replace("{}", all);
  };
  more.addEventListener("click", () => {
    const added = found.filter(({ weak }) => !weak).slice(box.children.length).map((section) => item(section));
    box.append(...added);
    added[0].querySelector("a").focus();
    count();
  });
  const show = () => {
    query = input.value.trim().slice(0, 200);
    found = query ? index.search(query) : [];
    fill(box, found);
    term.replaceChildren(...cards(index.define(query)));
    count();
    said.dataset.query = query;
    return query;
  };
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => history.replaceState(null, "", `?q=${encodeURIComponent(show())}`), 120);
  });
  input.value ||= new URLSearchParams(location.search).get("q") ?? ""; // not what was typed while the index loaded
  input.focus();
  show();
};

start();

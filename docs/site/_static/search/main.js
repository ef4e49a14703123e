// The search page: sections of the site for what the reader types, with an excerpt of each.
import { cards, fill, item, load } from "./results.js";

const start = async () => {
  const box = document.getElementById("search-results"), said = document.getElementById("search-summary");
  const input = document.querySelector(".bd-search-container input[name=q]"), term = document.getElementById("search-term");
  const more = Object.assign(document.createElement("button"), { className: "search-more", type: "button", hidden: true });
  const near = Object.assign(document.createElement("div"), { className: "search-near" });
  const index = await load(box.dataset.index);
  box.after(more, near);
  let query, found;
  const count = () => {
    const all = found.filter(({ weak }) => !weak).length;
    said.replaceChildren(...index.count(query, found, box.children.length, near));
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
    fill(box, near, found, index.words.near);
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

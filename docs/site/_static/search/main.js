// The search page: sections of the site for what the reader types, with an excerpt of each.
import { explain, item, load } from "./results.js";

const MOST = 20, FIRST = 5; // sections in all, and before the reader asks for more

const start = async () => {
  const box = document.getElementById("search-results"), said = document.getElementById("search-summary");
  const input = document.querySelector(".bd-search-container input[name=q]"), term = document.getElementById("search-term");
  const more = Object.assign(document.createElement("button"), { className: "search-more", type: "button", hidden: true });
  const index = await load(box.dataset.index);
  box.after(more);
  more.addEventListener("click", () => {
    const rest = [...box.children].slice(FIRST);
    for (const one of rest) one.hidden = false;
    more.hidden = true;
    rest[0].querySelector("a").focus();
  });
  const show = () => {
    const query = input.value.trim().slice(0, 200), found = query ? index.search(query, MOST) : [];
    box.replaceChildren(...found.map((section) => item(section)));
    for (const one of [...box.children].slice(FIRST)) one.hidden = true;
    more.hidden = found.length <= FIRST;
    more.textContent = index.words.more.replace("{}", found.length - FIRST);
    explain(term, index.define(query), box);
    said.replaceChildren(...index.count(query, found, MOST));
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

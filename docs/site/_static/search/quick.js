// The search field of every page: the first sections while the reader types; Enter leads to the search page.
import { el } from "../try/element.js";
import { card, count, fill, load } from "./results.js";

/** Answer below a search field. */
export const answer = async (input) => {
  const list = el("ol", { class: "search-quick" }), term = el("div", { class: "search-term" }), said = el("div", { role: "status" });
  const all = el("a", { class: "search-all", hidden: true }), close = el("button", { class: "search-close", type: "button", onclick: () => input.closest("dialog").close() }, "×");
  input.form.after(term, list, said, all);
  const index = await load(new URL("index.json", import.meta.url));
  all.textContent = index.words.all;
  close.ariaLabel = index.words.close;
  input.form.append(close);
  const show = () => {
    const query = input.value.trim().slice(0, 200), found = query ? index.search(query) : [];
    fill(list, found);
    term.replaceChildren(...card(index.define(query)));
    said.replaceChildren(...count(index, query, found, list.children.length));
    all.hidden = !found.length;
    all.href = `${input.form.action}?q=${encodeURIComponent(query)}`;
    said.className = found.length ? "visually-hidden" : "search-none";
  };
  input.addEventListener("input", show);
  input.form.parentElement.addEventListener("keydown", (event) => {
    const stops = [input, ...list.querySelectorAll("a"), ...(all.hidden ? [] : [all])], at = stops.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || at < 0) return;
    event.preventDefault();
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
  });
  show();
};

// The search field of every page: the first sections while the reader types; Enter leads to the search page.
import { FIRST, cards, fill, load } from "./results.js";

/** Answer below a search field. */
export const answer = async (input) => {
  const list = Object.assign(document.createElement("ol"), { className: "search-quick" });
  const term = Object.assign(document.createElement("div"), { className: "search-term" });
  const said = Object.assign(document.createElement("div"), { className: "visually-hidden" });
  const all = Object.assign(document.createElement("a"), { className: "search-all", hidden: true });
  const close = Object.assign(document.createElement("button"), { className: "search-close", type: "button", textContent: "×" });
  said.setAttribute("role", "status");
  input.form.after(term, list, said, all);
  const index = await load(new URL("index.json", import.meta.url));
  all.textContent = index.words.all;
  close.ariaLabel = index.words.close;
  close.addEventListener("click", () => input.closest("dialog").close());
  input.form.append(close);
  const show = () => {
    const query = input.value.trim().slice(0, 200), found = query ? index.search(query) : [];
    fill(list, found, true);
    term.replaceChildren(...cards(index.define(query)));
    said.replaceChildren(...index.count(query, found, list.children.length));
    all.hidden = !found.length;
    all.href = `${input.form.action}?q=${encodeURIComponent(query)}`;
    said.className = found.length ? "visually-hidden" : "search-none";
  };
  input.addEventListener("input", show);
  input.form.parentElement.addEventListener("keydown", (event) => {
    const stops = [input, ...list.querySelectorAll("a"), ...said.querySelectorAll("a"), ...(all.hidden ? [] : [all])], at = stops.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || at < 0) return;
    event.preventDefault();
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
  });
  show();
};

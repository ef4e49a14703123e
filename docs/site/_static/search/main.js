// The search page: sections of the site for what the reader types, with an excerpt of each.
import { Index, excerpt, marks } from "./match.js";

const MOST = 20; // sections shown, and of one page
const OF_ONE_PAGE = 4;

const marked = (text, reading) => {
  const pattern = marks(reading);
  return !pattern ? [text] : text.split(pattern).map((part, i) => {
    if (i % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
};

const item = ({ section, reading }) => {
  const li = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
  link.href = section.url;
  link.append(...marked(section.title, reading));
  const where = document.createElement("span");
  where.className = "search-where";
  where.textContent = section.of;
  text.append(...marked(excerpt(section.text || section.code || "", reading), reading));
  li.append(link, ...(section.of && section.of !== section.title ? [" ", where] : []), text);
  return li;
};

const start = async () => {
  const box = document.getElementById("search-results"), said = document.getElementById("search-summary");
  const input = document.querySelector(".bd-search-container input[name=q]");
  const data = await (await fetch(box.dataset.index)).json();
  const sections = data.sections.map(([page, anchor, title, text, code, counts]) => ({
    url: data.pages[page].url + (anchor ? `#${anchor}` : ""), of: data.pages[page].title, prior: data.pages[page].prior * counts,
    page: anchor ? "" : data.pages[page].title, title, text, code,
  }));
  const index = new Index(sections, data.synonyms);
  const show = () => {
    const query = input.value.trim().slice(0, 200), seen = new Map();
    const found = query ? index.search(query) : [];
    const shown = found.filter(({ section }) => {
      seen.set(section.of, (seen.get(section.of) ?? 0) + 1);
      return seen.get(section.of) <= OF_ONE_PAGE;
    }).slice(0, MOST);
    box.replaceChildren(...shown.map(item));
    said.textContent = !query ? "" : shown.length ? box.dataset.found.replace("{}", shown.length) : box.dataset.nothing;
    said.dataset.query = query;
    return query;
  };
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => history.replaceState(null, "", `?q=${encodeURIComponent(show())}`), 120);
  });
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.focus();
  show();
};

start();

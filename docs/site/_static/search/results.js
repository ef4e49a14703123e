// What the search finds, as the search page and the search field of every page show it: MiniSearch over sections of the site.
import MiniSearch from "./minisearch.js";
import { el } from "../try/element.js";

export const FIRST = 5; // sections shown before the reader asks for more
const ELSEWHERE = ["glossary.html", "differences.html", "cheatsheet.html"]; // where to look when nothing is found
const HAN = /[\u3400-\u9fff]+/g;
const SMALL = new Set(`a about all also an and any are as at be between by can could did difference do does for from get had has have how i if in into
is it its just me my no not of on or should so than that the their them then there these they this to too use used using vs want was what when where
which who why will with would you your 的 了 吗 呢 是 什么 怎么 为什 如何 怎样 请问 怎么算`.split(/\s+/));

/** The words of a text: Latin ones whole, Chinese as pairs of characters. */
export const tokenize = (text) => {
  const pairs = (text.match(HAN) ?? []).flatMap((run) => (run.length < 2 ? [run] : Array.from({ length: run.length - 1 }, (_, i) => run.slice(i, i + 2))));
  return [...pairs, ...(text.toLowerCase().match(/[a-z0-9_]+(?:\.[a-z0-9_]+)*/g) ?? []).flatMap((word) => (word.includes(".") ? [word, ...word.split(".")] : [word]))];
};

/** A word as it is compared: in one number and spelling; none where it says nothing of what is looked for. */
export const processTerm = (word) => {
  if (SMALL.has(word)) return null;
  if (word.length < 4 || /[\d_.]/.test(word)) return word;
  const single = word.replace(/is(e[drs]?|ing|ations?)$/, "iz$1").replace(/^judgm/, "judgem").replace(/ies$/, "y").replace(/(?<=[^su])s$/, "");
  return (single.length > 6 ? single.replace(/(?:ing|ed|er|ation)$/, "") : single).replace(/(?<=[^aeiou])e$/, "");
};

const OPTIONS = {
  fields: ["title", "also", "page", "text", "code"], storeFields: ["prior"], tokenize, processTerm,
  searchOptions: {
    boost: { title: 4, also: 4, page: 3, code: 0.4 }, prefix: (word) => word.length > 3, fuzzy: (word) => (/^[a-z]{5,}$/.test(word) ? 0.2 : false),
    boostDocument: (_id, _term, { prior }) => prior,
  },
};
const HEADED = 3; // how much more a section counts whose title, or another name, is the query

/** An index of sections of the site: search, and the term of the glossary that a query names. */
export const indexed = async (data) => {
  const sections = data.sections.map(([page, anchor, title, text, code, counts, also], id) => ({
    id, url: data.pages[page].url + (anchor ? `#${anchor}` : ""), of: data.pages[page], page: anchor ? "" : data.pages[page].title,
    prior: data.pages[page].prior * counts, title, text, code, also,
  }));
  const index = new MiniSearch(OPTIONS);
  await index.addAllAsync(sections, { chunkSize: 60 }); // so that a phone answers meanwhile
  const simple = new Map(data.simplified.match(/../gs).map(([old, now]) => [old, now]));
  const key = (text) => tokenize(text).map(processTerm).filter(Boolean).sort().join(" ");
  const terms = new Map(data.terms.flatMap(([names, others, means, anchor]) => [...names, ...others].map((name) => [key(name), { names, means, url: `glossary.html#${anchor}` }])));
  const simplified = (query) => [...query].map((letter) => simple.get(letter) ?? letter).join("");
  const search = (query) => {
    const asked = key(simplified(query));
    const named = ({ title, also }) => [title, title.split(/[:：]/)[0], title.split(".").at(-1), ...also.split(", ")].some((name) => key(name) === asked);
    const found = index.search(simplified(query)).map(({ id, score, queryTerms, match }) => ({ section: sections[id], score: score * (named(sections[id]) ? HEADED : 1), words: [...queryTerms, ...Object.keys(match)] }));
    return found.sort((a, b) => b.score - a.score);
  };
  return { search, define: (query) => terms.get(key(simplified(query))), words: data.words, pages: data.pages };
};
export const load = async (url) => indexed(await (await fetch(url)).json());

const link = (url, ...children) => el("a", { href: url }, ...children);

/** The parts of a text, those that a query has as marks. */
const marked = (text, words) => text.split(/([\u3400-\u9fff]{2}|[A-Za-z0-9_]+)/).map((part) => (tokenize(part).some((word) => words.includes(processTerm(word))) ? el("mark", {}, part) : part));

/** The part of a text to quote: a sentence that has most words of the query, and what follows it. */
export const excerpt = (text, words) => {
  const sentences = text.split(/(?<=[.!?])\s+(?=\p{Lu})|(?<=[。！？])|\n/u), has = sentences.map((one) => new Set(tokenize(one).map(processTerm).filter((word) => words.includes(word))).size);
  const at = has.indexOf(Math.max(...has)), letters = /[\u3400-\u9fff]/.test(text) ? 90 : 180;
  const quoted = sentences.slice(at).join(" ");
  return quoted.length > letters ? `${quoted.slice(0, letters).replace(/\s\S*$/, "")}…` : quoted;
};

/** A found section: its title as a link, its page, and what to quote of it. */
export const item = ({ section, words }) => {
  const { title, url, text, code, of } = section;
  return el("li", {}, link(url, ...marked(title, words)), " ", el("span", { class: "search-where" }, of.short), el("p", {}, ...marked(excerpt(text || code, words), words)));
};
/** Show the first of what is found in a list. */
export const fill = (list, found) => list.replaceChildren(...found.slice(0, FIRST).map(item));

/** What the glossary says of a term. */
export const card = (term) => (term ? [el("span", {}, el("b", {}, link(term.url, term.names.join(", "))), " ", term.means)] : []);

/** How many sections are shown of those found; where none is, links to pages that explain the most; before one asks, questions. */
export const count = ({ words, pages }, query, found, shown) => {
  if (!query) return [words.samples, el("ul", {}, ...words.asked.map((one) => el("li", {}, link(`search.html?q=${encodeURIComponent(one)}`, one))))];
  if (!found.length) return [words.nothing, ...pages.filter(({ url }) => ELSEWHERE.includes(url)).flatMap(({ url, title }) => [" ", link(url, title)])];
  const said = found.length > shown ? words.first : found.length === 1 ? words.one : words.found;
  return [said.replace("{}", Math.min(shown, found.length)).replace("{}", found.length)];
};

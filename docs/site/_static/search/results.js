// What the search finds, as the search page and the search field of every page show it.
import { Index, bare, containing, isQuestion, parts, quote, uncut, words } from "./match.js";

export const FIRST = 5; // sections shown before the reader asks for more
const TERMS = 2; // definitions shown
const OF_ONE_PAGE = 4; // sections shown of one page
const ELSEWHERE = ["glossary.html", "pitfalls.html", "cheatsheet.html"]; // where to look when nothing is found

/** How many sections of those found are more than near to the query. */
export const strong = (found) => found.filter(({ weak }) => !weak).length;

const make = (tag, kind, ...children) => {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...children);
  return element;
};
const link = (url, ...children) => Object.assign(make("a", "", ...children), { href: url });

/** Load the index of the site: sections for a query, and the term that a query names. All pages lie in one folder. */
export const load = async (url) => {
  const data = await (await fetch(url)).json();
  const sections = data.sections.map(([page, anchor, title, text, code, counts, also, point]) => ({
    url: data.pages[page].url + (anchor ? `#${anchor}` : ""), of: data.pages[page].title, prior: data.pages[page].prior * counts,
    page: anchor ? "" : data.pages[page].title, short: data.pages[page].short, title, text, code, also, point,
  }));
  const index = new Index(sections, data.synonyms), terms = new Map(), names = [], key = (text) => words(text).join(" ");
  for (const whole of [true, false]) {
    for (const [known, also, means, anchor, special] of data.terms) {
      for (const name of whole ? known : also) {
        const short = !whole && /\p{Lu}{2}/u.test(name) && name; // an abbreviation
        if (!terms.has(key(name))) terms.set(key(name), { names: known, short, means, url: `glossary.html#${anchor}` });
        if (special) names.push(name.toLowerCase());
      }
    }
  }
  names.sort((a, b) => b.length - a.length);
  for (const group of data.synonyms) { // another word for a term is explained as the term is
    const known = group.map(key).find((name) => terms.has(name));
    for (const name of known ? group.map(key) : []) if (!terms.has(name)) terms.set(name, terms.get(known));
  }
  const simple = new Map(data.simplified.match(/../gs).map(([old, now]) => [old, now]));
  const simplified = (text) => [...text].map((letter) => simple.get(letter) ?? letter).join("");
  const asked = (query) => bare(simplified(query));
  /** What is found, and, where that is little, what is only near to the query. */
  const search = (query) => {
    const question = isQuestion(simplified(query)) && !terms.has(key(asked(query))); // "what is recall" asks for a term
    const seen = new Map(), heads = new Map(); // sections of the same name are one result
    for (const found of index.search(asked(query), question)) {
      const { title, of } = found.section, head = heads.get(title);
      seen.set(of, (seen.get(of) ?? 0) + 1);
      if (head && !found.weak) head.others.push(found.section);
      else if (head) continue;
      else if (seen.get(of) <= OF_ONE_PAGE) heads.set(title, { ...found, typed: asked(query), question, others: [], said: data.words.by, spots: (...given) => index.spots(...given) });
    }
    const every = [...heads.values()], few = every.length < FIRST || every[FIRST - 1].weak;
    return every.filter(({ weak }, at) => !weak || (few && at < 2 * FIRST));
  };
  /** The terms that a query names, two at most, in its order: the query itself, what it asks about, the longest names within it. */
  const define = (query) => {
    const whole = asked(query).toLowerCase(), found = new Map(), free = (text) => containing(text)(rest);
    let rest = whole;
    const take = (text) => {
      found.set(terms.get(key(text)), whole.indexOf(text));
      rest = rest.replaceAll(text, " ".repeat(text.length));
    };
    for (const name of [whole, uncut(whole)]) if (terms.has(key(name))) return [terms.get(key(name))];
    for (const part of parts(whole)) if (terms.has(key(part))) take(part);
    for (const name of names) if (free(name)) take(name);
    return [...found].slice(0, TERMS).sort(([, a], [, b]) => a - b).map(([term]) => term);
  };
  const elsewhere = data.pages.filter(({ url }) => ELSEWHERE.includes(url)).flatMap(({ url, title }) => [" ", link(url, title)]);
  /** How many sections are shown of those found, and the words that none has; where none is found, links to pages that explain the
   most; before one asks, questions to begin with. */
  const count = (query, found, shown) => {
    const { words: said } = data;
    if (!query) return [said.samples, make("ul", "", ...said.asked.map((one) => make("li", "", link(`search.html?q=${encodeURIComponent(one)}`, one))))];
    if (!found.length) return [said.nothing, ...elsewhere];
    const lacking = index.lacking(query).map((word) => said.lacking.replace("{}", word));
    const total = Math.max(strong(found), shown), most = total > shown ? said.first : total === 1 ? said.one : said.found;
    return [most.replace("{}", Math.min(total, shown)).replace("{}", total), ...lacking];
  };
  return { search, count, words: data.words, define };
};

const marked = (text, spots) => {
  let from = 0;
  return [...spots.flatMap(([at, to]) => [text.slice(from, at), make("mark", "", text.slice(at, (from = to)))]), text.slice(from)];
};

/** A found section: its title as a link, its page, links to others of the
 same name, and what to quote of it, in a short form of two lines. If none of it has a word of the query, the line says by which other words it was found. */
export const item = ({ section, reading, typed, question, others, said, spots }, short = false) => {
  const [kind] = section.short.split(" · "), where = [" ", make("span", "search-where", section.of === section.title ? kind : section.short)];
  const same = others.toSorted((a, b) => (a.url < b.url ? -1 : 1)).map(({ url, short }) => make("span", "search-where", " · ", link(url, short)));
  const query = spots(section.text || section.code, typed).length ? typed : reading;
  const long = /\p{Script=Han}/u.test(section.text) ? 100 : 180; // a Chinese character is as wide as two letters
  const quoted = quote(section, query, spots, question, ...(short ? [long, 30] : [long]));
  const has = (words) => spots(words, typed).length, other = section.also.split(", ").find(has) ?? (reading.split(/\s+/).filter((word) => !typed.toLowerCase().includes(word.toLowerCase())).join(" ") || typed);
  const by = has(section.title) || quoted.some(has) || other === typed ? [] : [make("span", "search-where", ` · ${said.replace("{}", other)}`)];
  const title = link(section.url, ...marked(section.title, spots(section.title, typed)));
  return make("li", "", title, ...where, ...same, ...by, ...quoted.map((part) => make("p", "", ...marked(part, spots(part, query)))));
};

/** Show the first of what is found in a list; of what is only near to the query, what has its words. */
export const fill = (list, found, short = false) => {
  const items = found.slice(0, 2 * FIRST).map((one) => item(one, short));
  list.replaceChildren(...items.filter((one, at) => !found[at].weak || one.querySelector("mark")).slice(0, FIRST));
};

/** What the glossary says of the terms that Index.define returns, each on a Chinese page with its English name if that differs. */
export const cards = (terms) => terms.map(({ names: [name, other = name], short, means, url }) =>
  make("span", "", make("b", "", link(url, short ? `${short}, ${name}` : name)), other === name ? " " : ` (${other}) `, means));

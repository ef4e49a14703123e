// Find sections for a query: BM25 over words (Latin) and pairs of characters (Chinese), with near words for typing
// errors, beginnings of words, and the terms of the glossary in the other language.

const HAN = /[\u3400-\u4dbf\u4e00-\u9fff]+/g;
const WEIGHT = { title: 4, also: 4, page: 3, text: 1, code: 0.4 };
const K1 = 1.2, B = 0.7;
const TAIL = 0.48, THREE = 0.25, TERM = 0.05; // of the best score: what has less is weak; the first three may have less than others, and all may for a term
const TITLE = 0.5; // how much more a section counts whose title has all the words of the query
const MANY = 0.4; // how much "many" counts beside a word as rare
const NOISE = 0.005; // what has less is not even near
const QUESTION = /(?:\S+\s+){2}\S|[\u3400-\u9fff]{6}/; // three words, or six characters: more than a term

/** English as Americans write it; the text keeps its length. */
const spelt = (text) => text.replace(/(?<=[a-z]{3}i)s(?=(?:e[drs]?|ers|ing|ations?)(?![a-z]))/g, "z");

const stem = (written) => {
  if (written.length < 4 || /\d/.test(written)) return written;
  const word = spelt(written).replace(/^judgm/, "judgem");
  const single = word.replace(/(?<=..)ies$/, "y").replace(/(?<=[^su])s$/, "");
  const cut = single.length > 6 ? single.replace(/(?:ing|ed|er|(?<=iz)ation)$/, "") : single;
  return cut.replace(/(?<=[^aeiou]{1})e$/, "");
};

// Words that tell nothing of what a reader looks for.
const SMALL = new Set(`a about affect all also always an and any are as at be been better between but by can could deal did difference do
does enough ever explain for from get good had handle happen has have help how i if in into is it its just know look me more most much my need no not of on one or other
relation should so some than that the their them then there these they this to too use used using versus very vs want was we what when where which
who why will with would you your`.split(/\s+/).map(stem));
const telling = (word) => !SMALL.has(word) && !/^[\d.]+$/.test(word);

// What makes a question of words, at its beginning or its end; the last is taken away first.
const ASKING = [/^(?:differences?|relation|relationship) between\s+/i, /^(?:explain|handle|deal with|understand|(?:know|tell) (?:if|whether|when))\s+(?=\S)/i,
  /^(?:what(?:'s| is| are| do| does)(?: meant by)?(?: an?| the)?|why (?:is|are|does|do)|how (?:do|does|is|are|can|should)(?: i| we| you)?|how to|(?:can|should|do) (?:i|we)|which is better,?)\s+(?=\S)/i,
  /^(?:处理|理解|判断|知道)(?=.)/, /^(?:请问|要不要|能不能|什么是|什么叫|何谓|什么时候用?|为什么|为何|怎么样|怎样|怎么|如何)(?=.)/, /(?<=^what do(?:es)? .*) mean$/i,
  /(?<=.)(?:之间)?(?:的|有什么|有何)(?:区别|差别|不同|关系)$/, /(?<=.)(?:是什么意思|是什么|什么意思|怎么办|怎么算|怎么看|才够|哪个更好|(?:方式)?有哪些|吗|呢)$/, /[?？\s]+$/, /\(\)$/];
const AND = /\s+(?:and|or|vs\.?|versus)\s+|(?<!\bmy .*)\s+differ(?:s|ent)? from\s+|\s*[,，、和与跟]\s*|还是|对比/i; // between two things that are asked about
/** The things that a query asks about, each by itself. */
export const parts = (query) => query.split(AND);

/** A query without the words that only ask. */
export const bare = (query) => ASKING.reduceRight((text, asking) => text.replace(asking, ""), query.trim()) || query;
/** A query without the cutoff of a metric, such as "@10", "at k" or 前10位. */
export const uncut = (query) => query.replace(/(?<=[a-z\u3400-\u9fff])\s*(?:@\s*|\bat\s+|\btop[- ])(?:k|\d+)$|^前\s*(?:k|\d+)\s*[位个条]?的?(?=.)/i, "");
/** What a query asks about, its things and the words of each in one order, without numbers. */
const things = (query) => parts(bare(query)).map((part) => part.replace(/(?<![\w@.-])(?:is|are|an?|the|\d+(?:\.\d+)?)(?![\w.])的?\s*/gi, "").split(/\s+/).sort().join(" ").trim() || part).sort().join(" | ");
/** Whether a query is more than a term. */
export const isQuestion = (query) => (QUESTION.test(query) || bare(query) !== query.trim()) && words(bare(query)).length > 1;

const latin = (text) => text.toLowerCase().match(/[a-z0-9]+(?:\.[0-9]+)?/g) ?? [];

const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter("zh", { granularity: "word" });
/** A test whether a word of a text begins or ends at a place; true of every place where the browser knows no Chinese words. */
const edges = (text) => {
  const parts = segmenter?.segment(text);
  return (at) => (parts?.containing(at)?.index ?? at) === at;
};

/** The words of a text: Latin ones as stems, Chinese as pairs of characters, a single one as it is. */
export const words = (text) => {
  const found = [];
  for (const run of text.match(HAN) ?? []) {
    if (run.length === 1) found.push(run);
    for (let i = 0; i + 1 < run.length; i += 1) found.push(run.slice(i, i + 2));
  }
  found.push(...latin(text).map(stem));
  return found;
};

/** Edits between two words, a swap of neighbours counting one; 3 where there are more than two. */
export const edits = (a, b) => {
  if (Math.abs(a.length - b.length) > 2) return 3;
  const rows = [[...Array(b.length + 1).keys()]];
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j += 1) {
      const change = rows[i - 1][j - 1] + (a[i - 1] !== b[j - 1]);
      let best = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, rows[i - 2][j - 2] + 1);
      rows[i].push(best);
    }
  }
  return Math.min(3, rows[a.length][b.length]);
};

/** A test whether a section documents what code calls so: a function or class by its name, in small letters, others with a dot. */
const called = (name, code) => ({ section: { title, page } }) => !page &&
  title.toLowerCase().endsWith(`.${name}`) && (code || /[_.]/.test(name) || /^(?:[a-z]\w*\.)+\w+$/.test(title));

/** An index of sections: {title, also, page title, text, code, prior}, and groups of terms that mean the same. */
export class Index {
  constructor(sections, synonyms) {
    const plain = (text) => (text ?? "").toLowerCase().replace(/\s+/g, " ").trim();
    this.sections = sections;
    this.plain = sections.map(({ title, page, text, also }) => {
      const name = plain(title).replace(/[?？]$/, ""), [head] = name.split(/[:：]/);
      return { name, head, words: new Set(words(title)), named: containing(head), whole: plain(page), text: plain(text), also: plain(also).split(", ").map((asked) => (words(bare(asked)).length > 1 ? things(asked) : asked)) };
    });
    this.synonyms = synonyms.map((group) => group.map((term) => ({ written: term, term: term.toLowerCase(), within: containing(term.toLowerCase()) })));
    this.nearby = new Map();
    this.postings = new Map();
    this.written = new Map(); // Latin words as they are written, and how often
    this.lengths = sections.map((section, at) => this.enter(section, at));
    this.mean = this.lengths.reduce((a, b) => a + b, 0) / this.lengths.length;
  }

  /** Enter the words of a section and return its length. */
  enter(section, at) {
    let length = 0;
    for (const [part, weight] of Object.entries(WEIGHT)) {
      for (const word of latin(section[part] ?? "")) this.written.set(word, (this.written.get(word) ?? 0) + 1);
      for (const word of words(section[part] ?? "")) {
        if (!this.postings.has(word)) this.postings.set(word, new Map());
        const posting = this.postings.get(word);
        posting.set(at, (posting.get(at) ?? 0) + weight);
        length += part === "text";
      }
    }
    return length;
  }

  rarity(word) {
    const holding = this.postings.get(word)?.size ?? 0;
    return Math.log(1 + (this.sections.length - holding + 0.5) / (holding + 0.5));
  }

  /** Words of the index for one of the query, each with a weight: itself, and those that begin with it. */
  near(word) {
    if (!this.nearby.has(word)) this.nearby.set(word, this.begun(word));
    return this.nearby.get(word);
  }

  begun(word) {
    const itself = this.postings.has(word) ? [[word, 1]] : [];
    if (word.length < (itself.length ? 5 : 3)) return itself;
    const longer = [...this.postings.keys()].filter((other) => other.length > word.length && other.startsWith(word));
    return [...itself, ...longer.map((other) => [other, 0.7])];
  }

  /** The written word most like one that the index lacks; "" if none is. */
  meant(word) {
    if (!/^[a-z]{4,}$/.test(word) || this.near(stem(word)).length) return "";
    const form = ["e", "ed"].map((end) => word.replace(/ing$/, end)).find((other) => this.written.has(other));
    if (form) return form;
    const allowed = word.length > 7 ? 2 : 1;
    const like = [...this.written].map(([other, count]) => [edits(word, other), -count, other])
      .filter(([changes, , other]) => changes <= allowed && /^[a-z]+$/.test(other));
    like.sort(([a, b], [c, d]) => a - c || b - d);
    return like[0]?.[2] ?? "";
  }

  /** The Latin words of a query that no section has, and none that is written nearly so. */
  lacking(query) {
    const [asked, like] = [latin(bare(query)), (word) => this.near(stem(word)).length || this.meant(word)];
    return asked.filter((word) => word.length > 2 && telling(stem(word)) && !like(word));
  }

  /** The query, and what it may also mean: the same without a cutoff, terms replaced by those of the same group, words and terms written nearly so. */
  readings(query) {
    const typed = query.toLowerCase();
    const lower = typed.replace(/[a-z]+/g, (word) => this.meant(word) || word);
    const found = lower === typed ? [[query, 1]] : [[lower, 0.9]], each = parts(lower);
    if (uncut(lower) !== lower) found.push(...this.readings(uncut(lower)).map(([part, weight]) => [part, 0.95 * weight]));
    if (each.length > 1) found.push(...each.filter((part) => part.length > 1).map((part, i) => [part, 0.5 - 0.05 * i]));
    const known = this.synonyms.map((group) => group.filter(({ within }) => within(lower)).map(({ term }) => term).sort((a, b) => b.length - a.length)[0]);
    for (const [place, group] of this.synonyms.entries()) {
      const said = known[place], says = ({ term }) => !said.includes(term); // one that is part of the other says less
      if (said) found.push(...group.filter(says).map(({ written }) => [lower.replace(said, ` ${written} `), 0.9]));
      for (const { term } of group) {
        const slip = nearly(lower, term);
        if (slip && !known.some((other) => other?.includes(slip))) found.push(...group.map(({ written }) => [lower.replace(slip, ` ${written} `).trim(), 0.6]));
      }
    }
    return found;
  }

  /** The score of each section for one reading of the query. */
  score(reading) {
    const every = [...new Set(words(parts(reading).join(" ")))];
    const asked = every.some(telling) ? every.filter(telling) : every;
    const scores = new Map(), covered = new Map(), titled = new Map();
    let whole = 0;
    for (const word of asked) {
      const best = new Map(), heads = new Set();
      const near = this.near(word);
      const rare = (word === "many" ? MANY : 1) * (near.length ? Math.min(...near.map(([other]) => this.rarity(other))) : this.rarity(word));
      whole += rare;
      for (const [other, weight] of near) {
        for (const [at, count] of this.postings.get(other)) {
          const long = 1 - B + (B * this.lengths[at]) / this.mean;
          const value = (weight * rare * count * (K1 + 1)) / (count + K1 * long);
          best.set(at, Math.max(best.get(at) ?? 0, value));
          if (this.plain[at].words.has(other)) heads.add(at);
        }
      }
      for (const [at, value] of best) {
        scores.set(at, (scores.get(at) ?? 0) + value);
        covered.set(at, (covered.get(at) ?? 0) + rare);
        if (heads.has(at)) titled.set(at, (titled.get(at) ?? 0) + rare);
      }
    }
    const phrase = reading.toLowerCase().replace(/\s+/g, " ").trim(), within = containing(phrase), about = things(phrase);
    for (const [at, value] of scores) scores.set(at, (value / whole) * (this.mostOf(phrase, at) ? 1 : covered.get(at) / whole) ** 2 * (1 + (TITLE * (titled.get(at) ?? 0)) / whole) * this.agreement(phrase, within, about, at));
    return scores;
  }

  /** Whether a title that is a question makes up most of a query. */
  mostOf(phrase, at) {
    const { name, head, named } = this.plain[at];
    return name === head && /[?？]$/.test(this.sections[at].title) && 2 * name.length > phrase.length && named(phrase);
  }

  /** More for a section whose title, or whose text, has the query as it is typed. */
  agreement(phrase, within, about, at) {
    const { prior } = this.sections[at], { name, whole, text, also, head, named } = this.plain[at];
    if (whole === phrase || name === phrase) return 3 * Math.max(prior, 1.5);
    if (head === phrase || also.includes(about)) return 2.6 * prior;
    if (name.startsWith(phrase)) return 2.2 * prior;
    if (named(phrase)) return (this.mostOf(phrase, at) ? 3 : 1.8) * prior;
    return prior * (within(name) ? 1.7 : within(text) ? 1.2 : 1);
  }

  /** Where a text has what is asked for, as [from, to, word, rarity]: Latin words that the index takes for the same, or that begin with one
   it lacks; in Chinese the longest parts of the query that are words in both. A term, and a whole query, is also found at the beginning of a
   word, and where the browser divides it. */
  spots(text, query) {
    const asked = words(query).filter(marked), begun = asked.filter((word) => word.length > 2 && !this.postings.has(word));
    const runs = query.match(HAN) ?? [], known = (part) => runs.includes(part) || this.synonyms.some((group) => group.some(({ term }) => term === part));
    const whole = (edge, from, part) => edge(from) && edge(from + part.length);
    const fits = (edge, from, part) => whole(edge, from, part) || (known(part) && [...part].some((_, i) => edge(from + i)));
    const han = runs.flatMap((run) => {
      const edge = edges(run), parts = [...run].flatMap((_, i) => [...run].slice(i + 1).map((__, j) => [i, run.slice(i, i + j + 2)]));
      return parts.filter(([from, part]) => !/^的|的$/.test(part) && (whole(edge, from, part) || known(part))).map(([, part]) => part);
    });
    han.sort((a, b) => b.length - a.length);
    const meets = (word) => asked.includes(word) || begun.some((part) => word.startsWith(part));
    const edge = edges(text), spots = [];
    for (const { 0: found, index } of text.matchAll(/[a-z0-9_]+(?:\.[0-9]+)?|[\u3400-\u9fff]/gi)) {
      const latins = found.match(HAN) ? [] : latin(found);
      const part = latins.length ? latins.map(stem).every(meets) && found : han.find((one) => text.startsWith(one, index) && fits(edge, index, one));
      if (part && index >= (spots.at(-1)?.[1] ?? 0)) spots.push([index, index + part.length, words(part).join(" "), Math.max(...words(part).map((word) => this.rarity(word)))]);
    }
    return spots;
  }

  /** Sections for a query, best first: {section, score, reading, weak}; weak are those that do not come near the best.
   A name of the package goes before all but sections with the query as their heading. */
  search(query, question = false) {
    const best = new Map();
    for (const [reading, weight] of this.readings(query)) {
      for (const [at, value] of this.score(reading)) {
        if (value * weight > (best.get(at)?.score ?? 0)) best.set(at, { section: this.sections[at], score: value * weight, reading });
      }
    }
    const asked = query.toLowerCase().trim(), name = called(asked.replace(/\(\)$/, ""), asked.endsWith("()"));
    const least = (at) => (!question ? TERM : at < 3 ? THREE : TAIL);
    const found = [...best.values()].sort((a, b) => b.score - a.score).filter((one, _, [top]) => one.score > top.score * NOISE || name(one))
      .map((one, at, [top]) => ({ ...one, weak: one.score <= top.score * least(at) && !name(one) }));
    if (!found.some(name)) return found;
    const headed = ({ section, reading }) => section.title.toLowerCase().split(/[:：]/)[0] === reading.toLowerCase().trim();
    return [...found.filter(headed), ...found.filter(name), ...found.filter((one) => !headed(one) && !name(one))];
  }
}

/** A test whether a text contains a term: Latin ones as whole words. */
export const containing = (term) => {
  if (!/^[\x00-\x7f]+$/.test(term)) return (text) => text.includes(term);
  const whole = new RegExp(`(?<![a-z0-9])${term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?:e?s)?(?![a-z0-9])`);
  return (text) => text.includes(term) && whole.test(text);
};

/** The part of a text that differs from a Chinese term of three characters or more in one of them; "" if none does. */
const nearly = (text, term) => {
  if (term.length < 3 || !/^[\u3400-\u9fff]+$/.test(term)) return "";
  for (let i = 0; i + term.length <= text.length; i += 1) {
    const part = text.slice(i, i + term.length);
    if (/^[\u3400-\u9fff]+$/.test(part) && [...part].filter((letter, at) => letter !== term[at]).length === 1) return part;
  }
  return "";
};

/** Whether a word is worth a mark: it is telling, and more than a single letter. */
const marked = (word) => telling(word) && !/^[a-z]$/.test(word);

/** How much rare of what is asked for stands in a part of a text, each word counted once. */
const worth = (spots, from, to) => [...new Map(spots.filter(([at]) => at >= from && at < to).map(([, , word, rare]) => [word, rare])).values()].reduce((a, b) => a + b, 0);

/** The part of a text to show, of about so many letters: from the sentence that has, with what follows, most of the spots that
 Index.spots finds, or from shortly before them if that sentence begins far before. */
export const excerpt = (text, spots, letters, before = 40) => {
  const sentences = [0, ...[...text.matchAll(/[.!?]\s+(?=\p{Lu})|[。！？]\s*(?=.)/gu)].map(({ 0: end, index }) => index + end.length)];
  const best = (places, value) => places.reduce((most, at) => (value(at) > value(most) ? at : most), places[0] ?? 0);
  const window = (from) => worth(spots, from, from + letters);
  const sentence = best(sentences, (at) => window(at) + worth(spots, at, sentences.find((next) => next > at) ?? text.length));
  const center = best(spots.map(([at]) => at), window), place = window(center) > window(sentence) ? center : sentence;
  const own = sentences.findLast((at) => at <= place), far = place - own >= letters / 2;
  const within = (at) => at > 0 && /\w@?$/.test(text.slice(Math.max(0, at - 2), at)) && /[\w@]/.test(text[at]);
  let start = far ? Math.max(0, place - before) : own;
  while (far && start < place && within(start)) start += 1;
  let end = start + letters >= text.length ? text.length : Math.max(text.lastIndexOf(" ", start + letters), start + letters - 15);
  while (end > start + letters / 2 && within(end)) end -= 1;
  const part = text.slice(start, end).trim();
  return (far ? `…${part.replace(/^[^\p{L}\p{N}]+/u, "")}` : part) + (end < text.length && !/(?<!\d)\.$|[!?。！？]$/.test(part) ? "…" : "");
};

/** What to quote of a section for a query, given Index.spots: to a question what is to be learnt from it, unless its prose has much
 more of what is asked for and the title lacks, or that has none of it; else a part of its prose, or, if they have more, one or two rows
 of its tables. A page is quoted from its beginning, if that has some of it. */
export const quote = ({ title, text, code, point, page }, query, spots, question, letters, before) => {
  const [prose, , ...rows] = text.split("\n"), within = (part) => spots(part, query), value = (part) => worth(within(part), 0, Infinity);
  const most = (begin) => rows.reduce((best, row) => (value(begin + row) > value(begin + best) ? row : best), rows[0] ?? "");
  const begins = page ? excerpt(prose, [], letters, before) : "", said = value(begins) ? begins : excerpt(prose, within(prose), letters, before), row = most(""), both = `${row}\n${most(`${row}\n`)}`;
  const titled = new Set(within(title).map(([, , word]) => word));
  const added = (part) => worth(within(part).filter(([, , word]) => !titled.has(word)), 0, Infinity);
  if (question && point && (value(point) || !value(said)) && added(said) <= Math.max(2 * added(point), added(query) / 2)) return [excerpt(point, within(point), letters)];
  if (prose && (value(begins) || value(both) <= value(said))) return [said];
  const told = value(both) > value(row) ? rows.filter((one) => both.split("\n").includes(one)) : [row || code];
  return told.map((part) => excerpt(part, [], letters));
};

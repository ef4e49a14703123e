// A page cut every so many tokens: where the cuts fall, whether the answer is in one piece, and what that costs.
import { el, fill } from "../try/element.js";
import { bar, read, slider } from "./controls.js";

/** The chunks of a text of `count` tokens: the first token of each and the one after its last. */
export const chunks = (count, size, overlap) => Array.from(
  { length: Math.ceil(Math.max(count - overlap, 1) / (size - overlap)) },
  (_, i) => [i * (size - overlap), Math.min(i * (size - overlap) + size, count)],
);

/** The number of chunks of all pages, and the share of their answers that one chunk holds whole. */
export const measure = ({ tokens, answers }, size, overlap) => {
  const all = tokens.map((count) => chunks(count, size, overlap));
  const whole = answers.filter(([page, first, end]) => all[page].some((chunk) => chunk[0] <= first && end <= chunk[1]));
  return { vectors: all.reduce((total, of) => total + of.length, 0), whole: whole.length / answers.length };
};

/** Words of a page as they are shown: without the asterisks around what is bold, and whether they are. */
const styled = (words) => {
  let stars = 0;
  return words.map((word, i) => {
    const shown = word.replaceAll("*", "");
    stars += word.length - shown.length;
    return [shown === "- " && words[i - 1]?.endsWith("\n") ? "• " : shown, stars % 4 >= 2];
  });
};

export const start = async (box, words) => {
  const data = await read("page.json"), { answer } = data, ends = (word) => /[.!?。！？]\s*$/.test(word);
  const skipped = data.words.findIndex(ends) + 1, shown = styled(data.words).slice(skipped, data.words.findLastIndex(ends) + 1); // whole sentences
  const first = data.first + skipped, last = first + shown.length;
  const size = slider(words.size, { least: 20, most: 300, step: 10, value: 100, say: (n) => fill(words.tokens, { n }) }, () => draw());
  const shared = slider(words.overlap, { most: 50, step: 10, value: 0, say: (n) => `${n} %` }, () => draw());
  const text = el("p", { class: "live-text", tabindex: 0, role: "group", "aria-label": words.text }), told = el("p", { class: "live-said", "aria-live": "polite" });
  const whole = bar(words.whole, "dense"), least = measure(data, 100, 0);

  const draw = () => {
    const overlap = Math.floor(size.value * shared.value / 100), cuts = chunks(data.tokens[data.document], size.value, overlap);
    text.replaceChildren(...cuts.flatMap(([begin, end], n) => {
      const bounds = [begin, end, ...answer, ...(cuts[n - 1] ?? []), ...(cuts[n + 1] ?? [])].filter((at) => at >= begin && at <= end);
      const shownBounds = [...new Set(bounds.map((at) => Math.min(Math.max(at, first), last)))].sort((a, b) => a - b);
      const parts = shownBounds.slice(0, -1).map((from, i) => {
        const run = shown.slice(from - first, shownBounds[i + 1] - first).map(([word, bold]) => (bold ? el("strong", {}, word) : word));
        const twice = from < (cuts[n - 1]?.[1] ?? 0) || from >= (cuts[n + 1]?.[0] ?? Infinity);
        return el(from >= answer[0] && from < answer[1] ? "mark" : "span", { class: twice ? "twice" : "once" }, ...run);
      });
      return parts.length ? [el("span", { class: "live-chunk", role: "group", "aria-label": fill(words.number, { number: n + 1 }) }, el("b", { "aria-hidden": "true" }, n + 1), el("span", {}, ...parts))] : [];
    }));
    const answered = text.querySelector("mark");
    text.scrollTop = answered.offsetTop - text.clientHeight / 4;
    const holds = cuts.findIndex(([begin, end]) => begin <= answer[0] && answer[1] <= end), found = measure(data, size.value, overlap);
    told.className = `live-said ${holds < 0 ? "words" : "dense"}`;
    told.textContent = fill(holds < 0 ? words.split : words.held, { number: holds + 1 }) + fill(words.all, { pages: data.tokens.length, vectors: found.vectors.toLocaleString("en"), share: Math.round(100 * found.whole) });
    whole.set(found.whole, least.whole);
  };

  box.append(
    el("p", { class: "live-title" }, words.title), el("p", {}, words.ask), el("p", { class: "live-query" }, data.query),
    text, size.element, shared.element, told, whole.element,
  );
  draw();
};

// The example of graded judgements of lesson 02: two systems rank the same documents, and nDCG prefers the one or the
// other by its gain. A press gives a document its next grade, in both rankings.
import { el, fill } from "../try/element.js";
import { METRICS, find } from "../try/metrics.js";

const GRADES = [3, 2, 1, 1, 0], RANKINGS = [[1, 0, 2, 3, 4], [0, 4, 3, 2, 1]], GAINS = ["linear", "exponential"];
const HIGHEST = 3;

export const start = (box, words) => {
  let grades = [...GRADES];
  const press = (doc) => { grades[doc] = (grades[doc] + 1) % (HIGHEST + 1); draw(); };
  const rows = RANKINGS.map((ranking, row) => {
    const docs = ranking.map((doc) => el("button", { type: "button", onclick: () => press(doc) }, el("span", {}), el("span", {})));
    const values = GAINS.map((gain) => ({ gain, value: el("b", {}), bar: el("i", {}) }));
    const bars = values.map(({ gain, value, bar }) => el("div", {}, words[gain], " ", value, el("div", { class: "board-bar", "aria-hidden": "true" }, bar)));
    const group = el("div", { class: "gains-docs", role: "group", "aria-label": words.systems[row] }, ...docs);
    return { docs, values, element: el("div", { class: "gains-row" }, el("b", {}, words.systems[row]), group, el("div", { class: "ivf-bars" }, ...bars)) };
  });
  const said = el("output", {}), again = el("button", { type: "button", onclick: () => { grades = [...GRADES]; draw(); } }, words.again);
  box.append(
    el("p", { class: "live-title" }, words.title), el("p", { class: "live-help" }, words.help), ...rows.map(({ element }) => element), el("p", { class: "board-foot" }, said, again),
  );

  const draw = () => {
    const judged = new Map(grades.entries());
    const scores = RANKINGS.map((ranking) => GAINS.map((gain) => METRICS.ndcg(find(ranking, judged), ranking.length, { gain }).value));
    rows.forEach(({ docs, values }, row) => {
      docs.forEach((button, at) => {
        const doc = RANKINGS[row][at], grade = grades[doc];
        button.style.setProperty("--grade", grade / HIGHEST);
        button.firstChild.textContent = `${doc} `;
        button.lastChild.textContent = fill(words.grade, { grade });
      });
      values.forEach(({ value, bar }, i) => {
        value.textContent = scores[row][i].toFixed(3);
        bar.style.width = `${100 * scores[row][i]}%`;
        bar.parentElement.classList.toggle("behind", scores[row][i] < scores[1 - row][i]);
      });
    });
    const ahead = GAINS.map((_, i) => (scores[0][i].toFixed(6) === scores[1][i].toFixed(6) ? 2 : Number(scores[1][i] > scores[0][i])));
    said.textContent = ahead.map((which, i) => fill(words.ahead[which === 2 ? 1 : 0], { gain: words[GAINS[i]], system: words.systems[which] })).join(" ");
    again.disabled = String(grades) === String(GRADES);
  };
  draw();
};

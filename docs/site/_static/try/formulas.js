// The formula of each metric, filled in with the numbers of one ranking.

export const shown = (value) => String(Number(value.toFixed(4)));
const sum = (parts) => (parts.length ? parts.join(" + ") : "0");
const inside = (parts) => (parts.length > 1 ? `(${sum(parts)})` : sum(parts));
const dcg = (terms) => terms.map(({ rank, gain }) => `${gain}/log₂ ${rank + 1}`);

/** Text of a formula from the parts that metrics.js returns; a^b is a power. */
export const FORMULAS = {
  recall: ({ found, whole }) => `${found} / ${whole}`,
  capped_recall: ({ found, whole }, k) => `${found} / min(${k}, ${whole})`,
  precision: ({ found, whole }) => `${found} / ${whole}`,
  success: (parts) => `max(${parts.shown.join(", ") || 0})`,
  mrr: ({ first }) => (first ? `1 / ${first}` : "0"),
  map: ({ terms, whole }) => `${inside(terms.map(({ found, rank }) => `${found}/${rank}`))} / ${whole}`,
  ndcg: (parts) => `${shown(parts.dcg)} / ${inside(dcg(parts.terms))}`,
  rbp: ({ at, persistence }) => `(1 − ${persistence}) · ${inside(at.map((rank) => `${persistence}^${rank - 1}`))}`,
};

/** Put a formula into an element, powers raised; nothing where it stands there already. */
export const put = (element, text) => {
  if (element.dataset.formula === text) return;
  element.dataset.formula = text;
  const parts = text.split(/(\^\d+)/).map((part) => {
    if (!part.startsWith("^")) return part;
    const power = document.createElement("sup");
    power.textContent = part.slice(1);
    return power;
  });
  element.replaceChildren(...parts);
};

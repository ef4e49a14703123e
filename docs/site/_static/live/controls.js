// What pictures share: data fetched once, a slider that shows its value, a choice of one.
import { el } from "../try/element.js";

const fetched = {};
/** A file of data beside the modules. */
export const read = (name) => (fetched[name] ??= fetch(new URL(name, import.meta.url)).then((answer) => answer.json()));

/** A slider in its label; `say` gives the text of a value, `act` is called when a reader moves it. */
export const slider = (label, { least = 0, most, step = 1, value, say = String }, act) => {
  const shown = el("b", {}), input = el("input", { type: "range", min: least, max: most, step, value });
  const show = () => {
    shown.textContent = say(Number(input.value));
    input.setAttribute("aria-valuetext", shown.textContent);
    input.style.setProperty("--part", (input.value - least) / (most - least));
  };
  input.addEventListener("input", () => { show(); act(); });
  show();
  return { element: el("label", { class: "live-slider" }, el("span", {}, label), input, shown), get value() { return Number(input.value); }, set value(to) { input.value = to; show(); } };
};

/** Buttons of which one is pressed. */
export const choice = (label, options, value, act) => {
  const group = el("p", { class: "live-choice", role: "group", "aria-label": label });
  const made = { element: group, get value() { return value; }, set value(to) { value = to; show(); } };
  const buttons = options.map(([key, name]) => el("button", { type: "button", value: key, onclick: () => { made.value = key; act(); } }, name));
  const show = () => { for (const button of buttons) button.setAttribute("aria-pressed", button.value === value); };
  group.append(...buttons);
  show();
  return made;
};

/** What the colours of a picture mean, each by its class. */
export const key = (words) => el("p", { class: "live-legend" }, ...Object.entries(words).map(([kind, meaning]) => el("span", { class: kind }, meaning)));

/** A slider of the cutoff k below rows of ten boxes: its handle stands where the line through the boxes does. */
export const cutoff = (label, value, act) => {
  const input = el("input", { type: "range", min: 1, max: 10, value, "aria-label": label, oninput: () => act(Number(input.value)) });
  return { input, element: el("div", { class: "live-cutoff" }, input) };
};

import { el } from "../try/element.js";

export const start = (box, words, { metric }) => {
  box.append(el("p", { class: "live-title" }, words.title, " ", metric));
};

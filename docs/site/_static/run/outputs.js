// What a cell gave, as elements of the page: text, tables without styles of their own, figures in the page's colours, errors.
import { el, fill } from "../try/element.js";

const TABLE = new Set(["TABLE", "THEAD", "TBODY", "TR", "TH", "TD", "P", "BR", "B", "CODE", "DIV"]);
const SVG = "http://www.w3.org/2000/svg";
let drawn = 0;

/** Copy an element of a parsed document, of its tags those of a table and of its attributes those that join cells. */
const copied = (node, words) => {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (!TABLE.has(node.tagName)) return document.createDocumentFragment();
  const copy = document.createElement(node.tagName === "TH" && !node.textContent.trim() ? "TD" : node.tagName);
  for (const name of ["colspan", "rowspan"]) if (node.hasAttribute(name)) copy.setAttribute(name, node.getAttribute(name));
  const label = node.matches("td, th") && words[node.textContent.trim()];
  if (label) Object.assign(copy, { textContent: label, title: node.textContent.trim() });
  else copy.append(...[...node.childNodes].map((child) => copied(child, words)));
  return copy;
};

const table = (html, { labels, number }) => {
  const plainNumber = new RegExp(`^(?:${number})$`);
  // A style attribute would be refused by the page's policy, with an error, even in a document that nobody sees.
  const plain = html.replace(/<style[^]*?<\/style>/g, "").replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/\s(?:style|border|class)="[^"]*"/g, ""));
  const made = copied(new DOMParser().parseFromString(`<div>${plain}</div>`, "text/html").body.firstChild, labels);
  for (const each of made.querySelectorAll("table")) {
    const rows = [...each.rows];
    each.className = "dataframe";
    for (let column = 0; column < rows[0]?.cells.length; column++) {
      const column_cells = rows.map((row) => row.cells[column]).filter(Boolean);
      if (!column_cells.slice(1).every((cell) => plainNumber.test(cell.textContent.trim()))) for (const cell of column_cells) cell.className = "words";
    }
  }
  made.className = "output text_html";
  return made;
};

/** Return a figure as the site shows recorded ones: colours as variables, ids of its own, labels in the page's language. */
const figure = (text, alt, { colours, strokes, scale, labels }) => {
  const mark = `run-${drawn++}-`;
  const source = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const copy = (node) => {
    const made = document.createElementNS(SVG, node.localName);
    for (const { name, value } of node.attributes) {
      if (name === "id") made.id = mark + value;
      else if (name === "href" || name === "clip-path") made.setAttribute(name, value.replace("#", `#${mark}`));
      else if (name === "fill" || name === "stroke") made.setAttribute(name, value === "none" ? value : `var(--figure-${(name === "fill" ? colours : strokes)[value] ?? "ink"})`);
      else if (!name.startsWith("xmlns") && !name.startsWith("data-") && !name.startsWith("on")) made.setAttribute(name, value);
    }
    for (const child of node.childNodes) made.append(child.nodeType === Node.TEXT_NODE ? labels[child.data.trim()] ?? child.data : copy(child));
    return made;
  };
  const made = copy(source), [, , width, height] = source.getAttribute("viewBox").split(" ");
  for (const [name, value] of Object.entries({ class: "drawn", role: "img", "aria-label": alt, width: Math.round(width * scale), height: Math.round(height * scale) })) made.setAttribute(name, value);
  return el("div", { class: "drawing" }, made);
};

const block = (kind, text) => el("div", { class: `output ${kind} notranslate` }, el("div", { class: "highlight" }, el("pre", {}, text)));

/** Return the elements that show one output of a cell. */
export const shown = (output, cell, settings, words) => {
  if (output.output_type === "cut") return [el("p", { class: "run-cut" }, fill(words.cut, { limit: output.limit.toLocaleString("en") }))];
  if (output.output_type === "error") return [block("run-error", output.traceback)];
  if (output.output_type === "stream") {
    const last = cell.live.lastElementChild;
    if (last?.matches(".stream")) {
      last.querySelector("pre").append(output.text);
      return [];
    }
    return [block("stream", output.text)];
  }
  const data = output.data;
  if (data["image/svg+xml"]) return [figure(data["image/svg+xml"], cell.alt ?? "", settings)];
  if (data["text/html"]) return [table(data["text/html"], settings)];
  return [block("text_plain", data["text/plain"])];
};

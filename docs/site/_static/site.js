// What scrolls inside itself can be reached with the keyboard. All boxes are measured before the first is changed: each
// change between two measurements would cost a layout.
const reach = (boxes) => {
  const wide = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
  boxes.forEach((box, i) => { if (wide[i]) box.tabIndex = 0; else box.removeAttribute("tabindex"); });
};
const sizes = new ResizeObserver((changes) => reach(changes.map((change) => change.target)));
const watch = () => {
  const boxes = document.querySelectorAll("article :is(table, pre, div.math, .cell_output div)");
  boxes.forEach((box) => sizes.observe(box)); // which measures each for the first time
};
addEventListener("load", watch);
addEventListener("outputs", watch); // of a lesson that ran in its page

// The language switch leads to the same heading or cell of the other edition: anchors are equal in both.
document.addEventListener("DOMContentLoaded", () => {
  const link = document.querySelector("a.language-switch");
  if (!link) return;
  const places = [...document.querySelectorAll("article :is(section[id], [id^='cell-'])")];
  link.addEventListener("click", () => {
    const passed = places.filter((place) => place.getBoundingClientRect().top < 110);
    const here = window.scrollY < 60 ? "" : passed.length ? passed[passed.length - 1].id : "";
    link.href = link.href.split(/[?#]/)[0] + location.search + (here ? "#" + here : "");
    try { localStorage.setItem("language", link.hreflang.slice(0, 2)); } catch { /* private window */ }
  });
});

// A lesson keeps the part that one reads, and offers it at its head when one comes back; not the first part, nor the last.
document.addEventListener("DOMContentLoaded", () => {
  const line = document.querySelector(".lesson-bar .continue");
  if (!line) return;
  const key = `part ${location.pathname}`, parts = [...document.querySelectorAll("article section:has(> p.part)")];
  try {
    const found = parts.find(({ id }) => id === localStorage.getItem(key)), link = line.querySelector("a");
    if (found) {
      link.textContent = found.querySelector("h2").textContent.replace(/#$/, ""); // the sign of its own link
      link.href = `#${found.id}`;
      line.hidden = false;
    }
    addEventListener("scrollend", () => {
      const at = parts.findLastIndex((part) => part.getBoundingClientRect().top < innerHeight / 2);
      if (at === parts.length - 1) localStorage.removeItem(key);
      else if (at > 0) localStorage.setItem(key, parts[at].id);
    });
  } catch { /* private window */ }
});

// The menu of colours opens at its button. The theme has it from Bootstrap, which no page needs for anything else.
document.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector(".theme-switch-button"), menu = button?.parentElement.querySelector(".dropdown-menu");
  if (!menu) return;
  const open = (on) => {
    menu.classList.toggle("show", on);
    button.setAttribute("aria-expanded", on);
  };
  open(false);
  document.addEventListener("click", ({ target }) => open(button.contains(target) && !menu.classList.contains("show")));
  button.parentElement.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    open(false);
    button.focus();
  });
});

// The search field answers while one types; what that takes is loaded when it is first used.
const { src } = document.currentScript;
addEventListener("focusin", ({ target }) => {
  if (!target.matches?.("#pst-search-dialog input[name=q]") || target.dataset.answers) return;
  target.dataset.answers = "yes";
  import(new URL("search/quick.js", src)).then(({ answer }) => answer(target));
});

// Paper is white: print in the light theme; afterwards all is as before. Firefox and Chromium say it in different ways.
let theme = null;
const print = (on) => {
  if (on === (theme !== null)) return;
  const { dataset } = document.documentElement;
  [theme, dataset.theme] = on ? [dataset.theme, "light"] : [null, theme];
};
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", ({ matches }) => print(matches));

// What a term means, under it for a pointer or the keyboard, with a link to the glossary. A finger cannot hover: its first
// tap shows the meaning at the foot of the screen, where it covers no sentence, the second follows the link.
document.addEventListener("DOMContentLoaded", () => {
  const box = Object.assign(document.createElement("div"), { className: "means", id: "means", hidden: true });
  const name = Object.assign(document.createElement("a"), { tabIndex: -1 }), meaning = document.createElement("span");
  box.setAttribute("role", "tooltip");
  box.append(name, " ", meaning);
  document.querySelector("article")?.append(box);
  let shown;
  const hide = (event) => {
    if (box.contains(event?.relatedTarget)) return; // on the way to its link
    box.hidden = true;
    shown?.removeAttribute("aria-describedby");
    shown = undefined;
  };
  const show = ({ currentTarget: term }) => {
    hide();
    shown = term;
    [name.textContent, name.href, meaning.textContent] = [term.textContent, term.href, term.dataset.means];
    box.hidden = false;
    const { left, bottom } = term.getBoundingClientRect(), home = box.offsetParent?.getBoundingClientRect();
    if (home) { // else it stands at the foot of the screen
      const right = Math.min(innerWidth, document.documentElement.clientWidth) - box.offsetWidth - 8;
      box.style.left = `${Math.max(8, Math.min(left, right)) - home.left}px`;
      box.style.top = `${bottom - home.top}px`;
    }
    term.setAttribute("aria-describedby", "means");
  };
  const watch = (term) => {
    term.dataset.means = term.title;
    term.removeAttribute("title");
    for (const event of ["mouseenter", "focus"]) term.addEventListener(event, show);
    for (const event of ["mouseleave", "blur"]) term.addEventListener(event, hide);
    let before = false;
    term.addEventListener("pointerdown", () => { before = shown === term; });
    term.addEventListener("click", (event) => {
      if (event.pointerType !== "touch" || before) return;
      event.preventDefault();
      show(event);
    });
  };
  document.querySelectorAll("a.term").forEach(watch);
  addEventListener("terms", ({ detail }) => detail.querySelectorAll("a.term").forEach(watch)); // of a picture
  box.addEventListener("mouseleave", hide);
  addEventListener("pointerdown", ({ target }) => { if (!box.contains(target) && !target.closest?.("a.term")) hide(); });
  addEventListener("keydown", ({ key }) => { if (key === "Escape") hide(); });
});

// Who closes the menu or the contents of a phone is where the dialog was opened.
document.addEventListener("close", ({ target }) => {
  const side = target.id?.match(/^pst-(primary|secondary)-sidebar-modal$/)?.[1];
  if (side) setTimeout(() => document.querySelector(`.${side}-toggle`)?.focus());
}, true);

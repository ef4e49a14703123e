// What scrolls inside itself can be reached with the keyboard.
const reach = (box) => {
  if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
};
const sizes = new ResizeObserver((changes) => changes.forEach((change) => reach(change.target)));
const watch = () => {
  for (const box of document.querySelectorAll("article table, article pre, article mjx-container, article .cell_output div")) {
    reach(box);
    sizes.observe(box);
  }
};
addEventListener("load", watch);
addEventListener("resize", watch);

// The language switch leads to the same heading of the other edition: anchors are equal in both.
document.addEventListener("DOMContentLoaded", () => {
  const link = document.querySelector("a.language-switch");
  if (!link) return;
  const headings = [...document.querySelectorAll("article section[id]")];
  link.addEventListener("click", () => {
    const passed = headings.filter((section) => section.getBoundingClientRect().top < 140);
    const here = window.scrollY < 60 ? "" : passed.length ? passed[passed.length - 1].id : "";
    const query = location.pathname.endsWith("/search.html") ? location.search : "";
    link.href = link.href.split(/[?#]/)[0] + query + (here ? "#" + here : "");
    try { localStorage.setItem("language", link.hreflang.slice(0, 2)); } catch { /* private window */ }
  });
});

// Pictures that answer to a reader's hand: each loads when one comes near it, in a box that stays in view beside its
// section where there is room. The list of contents, which has the same place, gives way while one is in view.
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const script = target.querySelector("script");
    if (!isIntersecting || script.nextSibling) continue; // a picture can come near twice at once
    near.unobserve(target);
    const words = JSON.parse(script.textContent);
    const box = document.createElement("div");
    target.append(box);
    import(`./${target.dataset.kind}.js`).then(({ start }) => start(box, words, target.dataset));
  }
}, { rootMargin: "800px" });

const inView = new Set();
const beside = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
  document.documentElement.classList.toggle("live-in-view", inView.size > 0);
});

for (const figure of document.querySelectorAll("figure.live")) {
  near.observe(figure);
  if (!figure.matches(":has(+ .opening)")) beside.observe(figure); // that one is never beside
}

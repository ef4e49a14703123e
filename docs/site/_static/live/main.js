// Pictures that answer to a reader's hand: each loads when one comes near it, in a box that stays in view beside its
// section where there is room. The list of contents, which has the same place, gives way while one is in view. Those far
// away load when there is nothing else to do, so that all are on paper.
const draw = (figure) => {
  if (figure.querySelector("div")) return;
  near.unobserve(figure);
  const words = JSON.parse(document.querySelector(`figure.${figure.dataset.kind} script`).textContent); // of the first of its kind
  const box = document.createElement("div");
  figure.append(box);
  import(`./${figure.dataset.kind}.js`).then(({ start }) => start(box, words, figure.dataset));
};
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) draw(target);
}, { rootMargin: "800px" });
const idle = window.requestIdleCallback ?? setTimeout;
const drawAll = () => document.querySelectorAll("figure.live").forEach((figure) => idle(() => draw(figure)));
addEventListener("load", drawAll);

const inView = new Set();
const beside = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
  document.documentElement.classList.toggle("live-in-view", inView.size > 0);
});

for (const figure of document.querySelectorAll("figure.live")) {
  near.observe(figure);
  if (!figure.matches(":has(+ .opening)")) beside.observe(figure); // these are never beside
}

// Pictures that answer to a reader's hand: each loads when one comes near it; those far away load when there is nothing
// else to do, so that all are on paper.
const draw = (figure) => {
  if (figure.querySelector("div")) return;
  near.unobserve(figure);
  const words = JSON.parse(figure.querySelector("script").textContent), box = document.createElement("div");
  figure.append(box);
  import(`./${figure.dataset.kind}.js`).then(({ start }) => start(box, words, figure.dataset));
};
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) draw(target);
}, { rootMargin: "800px" });
const figures = document.querySelectorAll("figure.live"), idle = window.requestIdleCallback ?? setTimeout;
figures.forEach((figure) => near.observe(figure));
addEventListener("load", () => figures.forEach((figure) => idle(() => draw(figure))));

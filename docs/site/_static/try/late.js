// The tool loads when a reader comes near: a lesson that is read from its top does not wait for it.
new IntersectionObserver((entries, watch) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  watch.disconnect();
  import("./main.js");
}, { rootMargin: "800px" }).observe(document.querySelector(".try"));

// Pages mark their formulas; a downloaded lesson (download.html) has them between dollar signs.
const alone = !document.documentElement.dataset.content_root;
// MathJax from this site alone, its style sheet adopted rather than written into the page, which the policy forbids.
window.MathJax = {
  loader: { load: ["core", "input/tex-base", "[tex]/ams", "output/chtml", "a11y/assistive-mml"] },
  tex: { packages: { "[+]": ["ams"] }, inlineMath: [["\\(", "\\)"], ...(alone ? [["$", "$"]] : [])], displayMath: [["\\[", "\\]"], ...(alone ? [["$$", "$$"]] : [])] },
  chtml: { adaptiveCSS: false },
  options: { ignoreHtmlClass: alone ? "highlight|input_area|output_area" : ".*", processHtmlClass: alone ? "alone" : "math" },
  startup: {
    ready() {
      MathJax.startup.defaultReady();
      const math = MathJax.startup.document;
      let adopted = null;
      math.addStyleSheet = () => {
        if (adopted) return;
        adopted = new CSSStyleSheet();
        adopted.replaceSync(math.documentStyleSheet().textContent);
        document.adoptedStyleSheets.push(adopted);
      };
      MathJax.startup.promise.then(() => window.dispatchEvent(new Event("resize")));
    },
  },
};

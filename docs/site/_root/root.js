// Go to the language chosen earlier, else to the first one the browser asks for; without scripts the links do.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("language"); } catch { /* private window */ }
  const wanted = chosen || (navigator.languages || [navigator.language]).find((code) => /^(en|zh)/i.test(code)) || "en";
  location.replace(`${/^zh/i.test(wanted) ? "zh" : "en"}/index.html`);
})();

// The glossary can be narrowed down to the terms that have what is typed, and has letters that lead to the first term of each.
const field = document.querySelector("#term-filter");
const rows = [...document.querySelectorAll("#glossary tbody tr")];
field.hidden = false;
// Letters lead to the first term of each; Chinese ones by their sound, which the browser's own order of words knows.
const letters = document.createElement("nav"), begun = new Set();
const { compare } = new Intl.Collator("zh-CN-u-co-pinyin"), first = [..."ABCDEFGHJKLMNOPQRSTWXYZ"], begin = [..."阿芭擦搭蛾发噶哈击喀垃妈拿哦啪期然撒塌挖昔压匝"];
for (const row of rows) {
  const [sign] = row.textContent.trim(), latin = !/\p{Script=Han}/u.test(sign), chinese = document.documentElement.lang.startsWith("zh");
  const letter = !latin ? first[begin.findLastIndex((word) => compare(word, sign) <= 0)] : chinese ? "abc" : sign.toUpperCase();
  const target = row.querySelector("[id^='term-']");
  if (!letter || !target || begun.has(letter)) continue;
  begun.add(letter);
  letters.append(Object.assign(document.createElement("a"), { href: `#${target.id}`, textContent: letter }));
}
letters.className = "term-letters";
letters.setAttribute("aria-label", "A–Z");
field.after(letters);
field.addEventListener("input", () => {
  const typed = field.value.trim().toLowerCase();
  letters.hidden = Boolean(typed);
  rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(typed); });
});

// The glossary can be narrowed down to the terms that have what is typed.
const field = document.querySelector("#term-filter"), rows = document.querySelectorAll("#glossary tbody tr");
field.hidden = false;
field.addEventListener("input", () => {
  const typed = field.value.trim().toLowerCase();
  rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(typed); });
});

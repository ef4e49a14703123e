// Better search over Sphinx's own index: Chinese queries are cut into words, pages ordered by how telling their words are.
(() => {
  const HAN = /[\u3400-\u4dbf\u4e00-\u9fff]+/g;
  const PRIOR = { api: 0.4, changelog: 0.5, glossary: 0.5 }; // pages that hold every word, and explain few

  const known = (word) => {
    const index = Search._index;
    return Object.hasOwn(index.terms, word) || Object.hasOwn(index.titleterms, word);
  };
  // The longest run of characters that is a word of the index, again and again; characters in no word are left out.
  const cut = (run) => {
    const words = [];
    for (let at = 0; at < run.length; ) {
      let end = Math.min(run.length, at + 12);
      while (end > at + 1 && !known(run.slice(at, end))) end -= 1;
      if (end > at + 1) words.push(run.slice(at, end));
      at = end > at + 1 ? end : at + 1;
    }
    return words;
  };
  const plain = splitQuery;
  splitQuery = (query) => {
    const parts = Search._index ? (query.match(HAN) || []).flatMap(cut) : query.match(HAN) || [];
    return [...parts, ...plain(query.replace(HAN, " "))];
  };

  Object.assign(Scorer, { objNameMatch: 3, objPartialMatch: 1, objPrio: { 0: 3, 1: 2, 2: 0 } });

  let phrase = "";
  const parse = Search._parseQuery;
  Search._parseQuery = (query) => {
    phrase = query.toLowerCase().trim();
    return parse(query);
  };

  const filesOf = (table, word) => {
    if (Object.hasOwn(table, word)) return [].concat(table[word]);
    if (word.length < 3) return [];
    return Object.keys(table).filter((term) => term.startsWith(word)).flatMap((term) => table[term]);
  };
  Search.performTermsSearch = (terms, excluded) => {
    const { docnames, filenames, titles, terms: body, titleterms } = Search._index;
    const scores = new Map();
    const counts = new Map();
    for (const word of terms) {
      const inTitle = new Set(filesOf(titleterms, word));
      const files = new Set([...filesOf(body, word), ...inTitle]);
      const weight = Math.log(1 + docnames.length / Math.max(files.size, 1));
      for (const file of files) {
        const named = titles[file].toLowerCase().includes(word) ? 3 : inTitle.has(file) ? 1 : 0;
        scores.set(file, (scores.get(file) || 0) + weight * (1 + named));
        counts.set(file, (counts.get(file) || 0) + 1);
      }
    }
    for (const [file, score] of scores) {
      if (titles[file].toLowerCase().includes(phrase)) scores.set(file, score + 10); // the whole query stands in the title
    }
    const barred = new Set([...excluded].flatMap((word) => [...filesOf(body, word), ...filesOf(titleterms, word)]));
    const most = Math.max(0, ...counts.values());
    return [...scores]
      .filter(([file]) => counts.get(file) === most && !barred.has(file))
      .map(([file, score]) => [
        docnames[file], titles[file], "", null, score * (PRIOR[docnames[file]] || 1), filenames[file], SearchResultKind.text,
      ]);
  };
})();

// The dense model in a worker: downloads it, tells the page how it arrives, and ranks the passages for a text.
import { DenseIndex } from "./encoder.js";

let index = null;

const get = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${answer.status} ${name}`);
  return answer;
};

/** The weights, as kept on an earlier visit or fetched, and then kept; the page hears how many of their bytes have arrived. */
const weights = async (size, digest) => {
  const store = await globalThis.caches?.open("model").catch(() => null), url = new URL(`model.bin?${digest}`, import.meta.url);
  const stored = await store?.match(url), file = new Uint8Array(size), reader = (stored ?? await get("model.bin")).body.getReader();
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    file.set(part.value, at);
    at += part.value.length;
    postMessage({ loaded: at });
  }
  if (at !== size) throw new Error(`model.bin: ${at} of ${size} bytes`);
  if (!stored) store?.put(url, new Response(file)).catch(() => {}); // there is no room
  return file.buffer;
};

onmessage = async ({ data: { size, digest, text, k } }) => {
  try {
    if (!index) {
      const [layout, vocabulary, passages] = await Promise.all([
        get("model.json").then((file) => file.json()), get("vocabulary.txt").then((file) => file.text()), get("passages.bin").then((file) => file.arrayBuffer())]);
      index = new DenseIndex(layout, await weights(size, digest), vocabulary, passages);
    }
    const found = text === undefined ? [] : index.search(text, k);
    postMessage({ nearest: found.map(([passage]) => passage) });
  } catch (error) { postMessage({ error: error.message }); }
};

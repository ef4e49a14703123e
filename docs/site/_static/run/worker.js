// Python in a worker: loads Pyodide, each file of which must have the SHA-256 that the page names, and runs cells.
let base = "", files = {}, imports = {}, python = null, kernel = null, broken = null;

const TYPES = { js: "text/javascript", json: "application/json", mjs: "text/javascript", wasm: "application/wasm" };
const fetched = self.fetch.bind(self);
const failure = (kind, detail) => Object.assign(new Error(detail), { kind });

/** Fetch a file, tell the page how it arrives, and compare its digest. */
const load = async (name) => {
  const parts = [];
  try {
    const answer = await fetched(base + name);
    if (!answer.ok) throw new Error(`${answer.status} ${name}`);
    for (const reader = answer.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      postMessage({ type: "loaded", bytes: value.length });
    }
  } catch (error) { throw failure("lost", error.message); }
  const file = new Blob(parts, { type: TYPES[name.split(".").pop()] ?? "" });
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  if ([...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") !== files[name].sha256) throw failure("changed", name);
  return file;
};

// Pyodide itself fetches through here. It reports some failures in words of its own, so the first one is noted.
self.fetch = async (address, options) => {
  const name = String(address.url ?? address).split("/").pop();
  if (!files[name]) return fetched(address, options);
  const file = await load(name).catch((error) => { broken ??= error; throw error; });
  return new Response(file, { headers: { "Content-Type": file.type } });
};

const module = async (name) => import(URL.createObjectURL(await load(name)));

const add = async (packages) => {
  const quiet = () => {};
  await python.loadPackage(packages, { messageCallback: quiet, errorCallback: quiet });
  if (broken) throw broken;
};

const actions = {
  async load(settings) {
    ({ base, files, imports } = settings);
    const { loadPyodide } = await module("pyodide.mjs");
    await module("pyodide.asm.js");
    python = await loadPyodide({ indexURL: base });
    await add(settings.packages);
    python.unpackArchive(await (await load(settings.archive)).arrayBuffer(), "zip", { extractDir: "/lesson" });
    python.runPython(`import os, sys; sys.path.insert(0, '/lesson'); os.environ['EVAL_LANGUAGE'] = '${settings.language}'`);
    kernel = python.pyimport("docs.site.runner").Kernel((output) => postMessage({ type: "output", output: JSON.parse(output) }));
  },
  async run({ cell, source }) {
    const missing = Object.keys(imports).filter((name) => !(imports[name] in python.loadedPackages) && new RegExp(`^\\s*(?:from|import) ${name}\\b`, "m").test(source));
    if (missing.length) await add(missing.map((name) => imports[name]));
    return kernel.run(cell, source);
  },
};

self.onmessage = async ({ data }) => {
  broken = null;
  try {
    postMessage({ type: "done", value: await actions[data.action](data) });
  } catch (error) {
    const { kind, message } = broken ?? error;
    postMessage({ type: "failed", kind: kind ?? "failed", detail: message });
  }
};

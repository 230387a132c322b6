// Images per second of an exported WebAssembly file, one thread, encoding, gates, class sums and argmax included:
//
//     node benchmarks/circuit_wasm.mjs digits.mjs
//
// Random raw values, the best of nine rounds by the clock on the wall.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const path = resolve(process.argv[2]);
const { load } = await import(pathToFileURL(path));
const model = await load();
const count = 128 * 64;
const images = Uint8Array.from({ length: count * model.info.values }, () => Math.floor(Math.random() * 256));
let best = Infinity;
for (let round = 0; round < 9; ++round) {
  const start = performance.now();
  model.predict(images);
  best = Math.min(best, performance.now() - start);
}
console.log(`${statSync(path.replace(/mjs$/, "wasm")).size} bytes, ${(count / best / 1000).toFixed(2)} million images/s`);

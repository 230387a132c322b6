// The page: every change of the paper runs through the circuit, and its answer is shown.
const COPIES = 128; // images that the circuit takes at once
const BLOCKS = 8; // of that many images, to measure its speed
const find = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
document.documentElement.style.setProperty("--shape", `${data.width} / ${data.height}`);

const wasm = decode(data.wasm, Uint8Array);
const circuit = await load(wasm);
const samples = decode(data.samples, Uint8Array);
const picture = new Picture(find("picture"), find("gate"));
const state = { label: null, scores: null, raw: null, seed: 1 };

const bars = data.classes.map((name) => {
  const bar = find("bars").appendChild(document.createElement("div"));
  bar.className = "bar";
  bar.setAttribute("role", "listitem");
  for (const part of ["name", "track", "score"]) bar.appendChild(document.createElement("span")).className = part;
  bar.firstChild.textContent = name;
  bar.children[1].appendChild(document.createElement("div")).className = "fill";
  return bar;
});

function update() {
  const ink = paper.drawn && find("fit").checked ? fitted(paper.ink) : paper.ink;
  const grey = find("grey").value / 100, flips = find("flips").value / 100;
  const copies = grey || flips ? COPIES : 1;
  const inks = copies > 1 ? noisy(ink, copies, grey, flips, state.seed++) : ink;
  const raw = rawOf(inks);
  const size = ink.length, classes = data.classes.length;
  const scores = circuit.scores(raw), labels = circuit.predict(raw);
  Object.assign(state, { label: labels[0], scores: Array.from(scores.subarray(0, classes)), raw: raw.slice(0, size) });
  paint(find("seen"), inks.subarray(0, size));
  showScores(scores, labels, copies);
  showGates();
}

function showScores(scores, labels, copies) {
  const classes = data.classes.length;
  const votes = new Array(classes).fill(0);
  labels.forEach((label) => votes[label]++);
  const best = copies > 1 ? votes.indexOf(Math.max(...votes)) : labels[0];
  bars.forEach((bar, label) => {
    let sum = 0;
    for (let copy = 0; copy < copies; copy++) sum += scores[copy * classes + label];
    bar.classList.toggle("best", label === best);
    bar.children[1].firstChild.style.width = `${(100 * sum) / copies / group}%`;
    bar.lastChild.textContent = copies > 1 ? (sum / copies).toFixed(1) : sum;
  });
  const empty = paper.ink.every((value) => value === 0);
  find("class").textContent = empty ? "–" : data.classes[best];
  if (empty) find("verdict").textContent = "draw something";
  else find("verdict").textContent = copies > 1 ? `say ${votes[best]} of ${copies} noisy copies` : `${state.scores[best]} of ${group} votes`;
}

/** The picture, computed gate by gate; it must agree with WebAssembly. */
function showGates() {
  const values = evaluate(bitsOf(state.raw));
  const sums = sumsOf(values);
  if (String(sums) !== String(state.scores)) console.error(`the picture counts ${sums}, the circuit ${state.scores}`);
  picture.show(state.label, values, sums[state.label]);
  const cone = coneOf(state.label);
  const gates = [...cone.nodes.keys()].filter((node) => node >= data.inputs);
  const lit = gates.filter((node) => values[node]).length;
  find("cone").textContent = `${data.classes[state.label]} depends on ${number.format(gates.length)} gates; ${number.format(lit)} of them fire`;
}

/** Nanoseconds for one image, encoder and class sums included, over at least 60 ms. */
function nanoseconds() {
  const images = BLOCKS * COPIES, size = state.raw.length;
  const given = new (data.whole ? Uint8Array : Float32Array)(images * size);
  for (let image = 0; image < images; image++) given.set(state.raw, image * size);
  circuit.predict(given);
  const start = performance.now();
  let runs = 0;
  while (performance.now() - start < 60) {
    circuit.predict(given);
    runs++;
  }
  return ((performance.now() - start) * 1e6) / (runs * images);
}

function showSpeed() {
  find("speed").textContent = `${number.format(Math.round(nanoseconds()))} ns for one image in this browser, on one core, ${COPIES} images at once`;
}

const paper = new Paper(find("paper"), () => requestAnimationFrame(() => state.ready && update()));

for (const id of ["grey", "flips"]) {
  find(id).addEventListener("input", () => {
    find(`${id}-value`).textContent = `${find(id).value}%`;
    update();
  });
}
find("fit").addEventListener("change", update);
find("clear").addEventListener("click", () => paper.set(new Float32Array(data.width * data.height), true));
find("save").addEventListener("click", () => save(state, paper.ink));
find("closer").addEventListener("click", () => picture.zoom(1.6));
find("farther").addEventListener("click", () => picture.zoom(1 / 1.6));
find("whole").addEventListener("click", () => picture.reset());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => picture.draw());

/** An image of 0 to 255 on the paper, as it is. */
function show(image) {
  paper.set(Float32Array.from(image, (value) => value / 255), false);
  update();
}

const size = data.width * data.height;
let next = 0;
find("sample").hidden = samples.length === 0;
find("sample").addEventListener("click", () => {
  show(samples.subarray(next * size, (next + 1) * size));
  next = (next + 1) % (samples.length / size);
});

state.ready = true;
if (samples.length) find("sample").click();
else update();
showSpeed();
window.playground = { show, update, state, paper }; // for tests, and for the curious

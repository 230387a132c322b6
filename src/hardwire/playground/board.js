// A board of cells: WebAssembly runs them, this draws them and changes those that are clicked on.
// A bit of a cell (channel, row, column) is bit column % 8 of a byte in the module's memory; nothing is copied to run.

const facts = JSON.parse(document.getElementById("data").textContent);
const bytes = Uint8Array.from(atob(facts.wasm), (letter) => letter.charCodeAt(0));
const { exports } = (await WebAssembly.instantiate(bytes)).instance;
const { height, width, channels, board, plane, stride } = Object.fromEntries(
  Object.entries(exports).filter(([, value]) => value instanceof WebAssembly.Global).map(([name, value]) => [name, value.value]),
);
const memory = new Uint8Array(exports.memory.buffer);
const SPEEDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200]; // generations a second
const FADE = 0.86; // what is left of a dead cell's glow after a frame
const $ = (id) => document.getElementById(id);
const canvas = $("board"), context = canvas.getContext("2d");
canvas.width = width;
canvas.height = height;

// a cell is a whole number of pixels wide, unless that would make the board much smaller
function fit() {
  canvas.style.width = "100%";
  const scale = Math.min(canvas.clientWidth / width, Math.max(240, innerHeight - 130) / height), whole = Math.floor(scale);
  canvas.style.width = `${(whole > 0.85 * scale ? whole : scale) * width + 2}px`;
}
addEventListener("resize", fit);
fit();

const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
const glow = new Float32Array(width * height);
let playing = false, generation = 0, owed = 0, before = 0, changed = true, cost = 0;

const place = (channel, row, column) => board + channel * plane + row * stride + (column >> 3);
const cell = (channel, row, column) => (memory[place(channel, row, column)] >> (column & 7)) & 1;

function put(channel, row, column, bit) {
  const at = place(channel, row, column), mask = 1 << (column & 7);
  memory[at] = bit ? memory[at] | mask : memory[at] & ~mask;
}

function fill(byte) {
  for (let channel = 0; channel < channels; channel++)
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column += 8) memory[place(channel, row, column)] = byte();
  restarted();
}

function restarted() {
  generation = 0;
  glow.fill(0);
  changed = true;
}

function seed() {
  fill(() => 0);
  facts.seed.forEach((bit, channel) => put(channel, height >> 1, width >> 1, bit));
}

const random = () => fill(() => Math.random() * 256);

function step(count) {
  const start = performance.now();
  exports.step(count);
  const now = (performance.now() - start) / count;
  cost = cost ? cost + (now - cost) / 8 : now;
  generation += count;
  changed = true;
}

// ---- colours: the first bit of a cell is what one sees; its other bits are a faint shade

function colour(name) {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  probe.fillRect(0, 0, 1, 1);
  return probe.getImageData(0, 0, 1, 1).data;
}

const mixed = (from, to, share) => {
  const [red, green, blue] = [0, 1, 2].map((part) => Math.round(from[part] + (to[part] - from[part]) * share));
  return (255 << 24) | (blue << 16) | (green << 8) | red; // little-endian
};
let shades, hidden;
function palette() {
  const ground = colour("--card"), lit = colour("--lit"), bar = colour("--bar");
  shades = Uint32Array.from({ length: 256 }, (_, level) => (level === 255 ? mixed(lit, lit, 0) : mixed(ground, bar, 0.45 * (level / 255))));
  hidden = Uint32Array.from({ length: channels + 1 }, (_, bits) => mixed(ground, bar, 0.12 + (0.3 * bits) / channels));
  changed = true;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", palette);

function draw() {
  let living = 0;
  for (let row = 0, at = 0; row < height; row++) {
    for (let column = 0; column < width; column++, at++) {
      let others = 0;
      for (let channel = 1; channel < channels; channel++) others += cell(channel, row, column);
      const alive = cell(0, row, column);
      living += alive;
      glow[at] = alive ? 1 : glow[at] * FADE;
      pixels[at] = alive ? shades[255] : others ? hidden[others] : shades[(glow[at] * 254) | 0];
    }
  }
  context.putImageData(image, 0, 0);
  $("generation").textContent = generation.toLocaleString("en");
  $("living").textContent = living.toLocaleString("en");
  $("cost").textContent = cost ? `${(1000 * cost).toPrecision(3)} µs` : "–";
  changed = playing || glow.some((value, at) => value > 0.02 && value < 1);
}

// ---- time

function frame(now) {
  if (playing) {
    owed = Math.min(owed + ((now - before) / 1000) * SPEEDS[$("speed").value], 64); // a hidden tab owes nothing
    const due = Math.floor(owed);
    owed -= due;
    if (due) step(due);
  }
  before = now;
  if (changed) draw();
  requestAnimationFrame(frame);
}

function play(on = !playing) {
  playing = on;
  $("play").textContent = on ? "Pause" : "Play";
  $("play").setAttribute("aria-pressed", String(on));
}

// ---- the hand

let last = null;
function touch(event) {
  const box = canvas.getBoundingClientRect();
  const at = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
  const from = last ?? at, length = Math.ceil(Math.hypot(at[0] - from[0], at[1] - from[1]));
  for (let part = 0; part <= length; part++) {
    const share = length ? part / length : 1;
    stamp(Math.floor(from[0] + (at[0] - from[0]) * share), Math.floor(from[1] + (at[1] - from[1]) * share));
  }
  last = at;
  changed = true;
}

function stamp(x, y) {
  const radius = $("size").value / 2, reach = Math.floor(radius), kind = $("brush").value;
  for (let row = Math.max(0, y - reach); row <= Math.min(height - 1, y + reach); row++) {
    for (let column = Math.max(0, x - reach); column <= Math.min(width - 1, x + reach); column++) {
      if (Math.hypot(row - y, column - x) > radius) continue;
      for (let channel = 0; channel < channels; channel++) {
        if (kind === "noise") put(channel, row, column, Math.random() < 0.5);
        else if (kind === "erase") put(channel, row, column, 0);
        else if (channel === 0) put(channel, row, column, 1);
      }
    }
  }
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  last = null;
  touch(event);
});
canvas.addEventListener("pointermove", (event) => event.buttons && touch(event));
$("play").onclick = () => play();
$("step").onclick = () => step(1);
$("random").onclick = random;
$("clear").onclick = () => fill(() => 0);
if ($("start")) $("start").onclick = seed;
$("speed").oninput = () => ($("speed-value").textContent = `${SPEEDS[$("speed").value].toLocaleString("en")} generations/s`);
$("size").oninput = () => ($("size-value").textContent = `${$("size").value} cells`);
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || ["BUTTON", "SELECT", "INPUT"].includes(document.activeElement.tagName)) return;
  event.preventDefault();
  play();
});

$("brush").value = facts.seed.length ? "erase" : "draw";
$("speed").value = facts.speed;
$("size").value = facts.brush;
$("speed").oninput();
$("size").oninput();
palette();
(facts.seed.length ? seed : random)();
window.playground = {
  step,
  play,
  facts,
  get generation() { return generation; },
  get cells() { // [channels * height * width], zeros and ones
    return Array.from({ length: channels * height * width }, (_, n) =>
      cell(Math.floor(n / (height * width)), Math.floor(n / width) % height, n % width));
  },
  set cells(bits) {
    bits.forEach((bit, n) => put(Math.floor(n / (height * width)), Math.floor(n / width) % height, n % width, bit));
    restarted();
  },
};
requestAnimationFrame(frame);

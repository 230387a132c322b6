// What happens to an image between paper and circuit: it is centred, and noisy copies of it are made.

/** Random numbers that start from a seed (mulberry32), so that a picture can be made again. */
function randomNumbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let word = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 4294967296;
  };
}

/** The ink moved by whole pixels, so that its centre of mass lies in the middle. */
function centred(ink) {
  const { width, height } = data;
  let mass = 0, x = 0, y = 0;
  ink.forEach((value, place) => {
    mass += value;
    x += value * (place % width);
    y += value * Math.floor(place / width);
  });
  if (mass === 0) return ink;
  const dx = Math.round((width - 1) / 2 - x / mass), dy = Math.round((height - 1) / 2 - y / mass);
  return ink.map((_, place) => {
    const column = (place % width) - dx, row = Math.floor(place / width) - dy;
    return column >= 0 && column < width && row >= 0 && row < height ? ink[row * width + column] : 0;
  });
}

/** `copies` of the ink, one after the other, each with grey noise of this deviation and a share of pixels inverted. */
function noisy(ink, copies, grey, flips, seed) {
  const random = randomNumbers(seed);
  const all = new Float32Array(copies * ink.length);
  for (let place = 0; place < all.length; place++) {
    let value = ink[place % ink.length];
    if (grey > 0) value += grey * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    if (flips > 0 && random() < flips) value = 1 - value;
    all[place] = Math.min(1, Math.max(0, value));
  }
  return all;
}

/** Ink of 0 to 1 as the values that the circuit reads. */
function rawOf(ink) {
  if (data.thresholds === null) return Float32Array.from(ink, (value) => (value > 0.5 ? 1 : 0));
  return Float32Array.from(ink, (value) => (data.whole ? Math.round(value * data.maximum) : value * data.maximum));
}

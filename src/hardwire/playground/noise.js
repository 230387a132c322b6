// What happens to an image between paper and circuit: it is moved and scaled, and noisy copies are made.

/** Random numbers that start from a seed (mulberry32), so that a picture can be made again. */
function randomNumbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let word = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 4294967296;
  };
}

/** The centre of mass of the ink, and the longer side of the box around it as a part of the image's. */
function extentOf(ink) {
  const { width, height } = data;
  let mass = 0, x = 0, y = 0, left = width, right = -1, top = height, bottom = -1;
  ink.forEach((value, place) => {
    const column = place % width, row = Math.floor(place / width);
    mass += value;
    x += value * column;
    y += value * row;
    if (value < 0.25) return;
    [left, right, top, bottom] = [Math.min(left, column), Math.max(right, column), Math.min(top, row), Math.max(bottom, row)];
  });
  return { x: x / mass, y: y / mass, extent: Math.max((right - left + 1) / width, (bottom - top + 1) / height) };
}

/** The ink moved and scaled as the images to start from are on average; in the middle where there are none. */
function fitted(ink) {
  const { width, height } = data;
  const drawn = extentOf(ink);
  if (!(drawn.extent > 0)) return ink;
  const wanted = data.fit ?? { x: (width - 1) / 2, y: (height - 1) / 2, extent: drawn.extent };
  const scale = Math.min(2, wanted.extent / drawn.extent); // a dot stays small
  return ink.map((_, place) => {
    const column = drawn.x + ((place % width) - wanted.x) / scale, row = drawn.y + (Math.floor(place / width) - wanted.y) / scale;
    return between(ink, column, row);
  });
}

/** The ink at a place between pixels. */
function between(ink, column, row) {
  const { width, height } = data;
  let sum = 0;
  for (const x of [Math.floor(column), Math.floor(column) + 1]) {
    for (const y of [Math.floor(row), Math.floor(row) + 1]) {
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      sum += ink[y * width + x] * (1 - Math.abs(column - x)) * (1 - Math.abs(row - y));
    }
  }
  return sum;
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

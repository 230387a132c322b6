// "Save picture": the drawing, the answer and the votes as a PNG file of 1200 x 630 pixels.
const COLOURS = { ground: "#fbfaf7", ink: "#1d2733", soft: "#6a7480", line: "#d9dee4", lit: "#c2622d", bar: "#24507a" };

/** The picture as a canvas. */
function pictureOf({ label, scores }, ink) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [1200, 630];
  const context = canvas.getContext("2d");
  const fill = (colour, ...box) => {
    context.fillStyle = colour;
    context.fillRect(...box);
  };
  const write = (text, x, y, size, colour, align = "left", weight = 400) => {
    context.font = `${weight} ${size}px system-ui, sans-serif`;
    [context.fillStyle, context.textAlign] = [colour, align];
    context.fillText(text, x, y);
  };
  fill(COLOURS.ground, 0, 0, 1200, 630);
  drawInk(context, ink, 50, 50, 450);
  const empty = ink.every((value) => value === 0);
  write(empty ? "–" : data.classes[label], 550, 150, 130, COLOURS.lit, "left", 700);
  if (!empty) write(`${scores[label]} of ${group} votes`, 550, 205, 30, COLOURS.soft);
  const step = Math.min(34, 280 / scores.length);
  scores.forEach((score, place) => {
    const y = 235 + place * step, colour = place === label ? COLOURS.lit : COLOURS.bar;
    if (step > 14) write(data.classes[place].slice(0, 6), 600, y + step * 0.72, step * 0.7, COLOURS.ink, "right");
    fill(COLOURS.line, 615, y, 485, step * 0.8);
    fill(colour, 615, y, (485 * score) / group, step * 0.8);
    if (step > 14) write(score, 1150, y + step * 0.72, step * 0.7, COLOURS.ink, "right");
  });
  write(data.title, 50, 570, 34, COLOURS.ink, "left", 700);
  write(`A circuit of ${data.facts}`, 50, 606, 22, COLOURS.soft);
  return canvas;
}

/** The drawing in a square, enlarged without smoothing. */
function drawInk(context, ink, left, top, size) {
  const small = document.createElement("canvas");
  paint(small, ink);
  const scale = size / Math.max(data.width, data.height);
  const width = data.width * scale, height = data.height * scale;
  context.imageSmoothingEnabled = false;
  context.fillStyle = "#000";
  context.fillRect(left, top, size, size);
  context.drawImage(small, left + (size - width) / 2, top + (size - height) / 2, width, height);
}

function save(state, ink) {
  pictureOf(state, ink).toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `drawing-${data.classes[state.label].replace(/[^\p{L}\p{N}]+/gu, "-")}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }, "image/png");
}

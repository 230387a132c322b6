// The paper: ink of 0 to 1 for each pixel, put there by mouse, finger or pen.
class Paper {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.last = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.last = this.where(event);
      this.stroke(this.last);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.last) return;
      for (const part of event.getCoalescedEvents?.() ?? [event]) this.stroke(this.where(part));
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (this.last = null));
    this.set(new Float32Array(data.width * data.height), true);
  }

  where(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * data.width, ((event.clientY - box.top) / box.height) * data.height];
  }

  /** A soft brush from the last place to this one. */
  stroke([x, y]) {
    const [fromX, fromY] = this.last ?? [x, y];
    const radius = Math.max(0.55, Math.min(data.width, data.height) / 24);
    const length = Math.hypot(x - fromX, y - fromY) ** 2 || 1;
    this.ink.forEach((value, place) => {
      const column = (place % data.width) + 0.5, row = Math.floor(place / data.width) + 0.5;
      const along = Math.min(1, Math.max(0, ((column - fromX) * (x - fromX) + (row - fromY) * (y - fromY)) / length));
      const distance = Math.hypot(column - fromX - along * (x - fromX), row - fromY - along * (y - fromY));
      this.ink[place] = Math.max(value, Math.min(1, Math.max(0, 1 + (radius - distance) / 0.9)));
    });
    this.last = [x, y];
    this.set(this.ink, true);
  }

  /** drawn: by hand, and not an image from elsewhere, which is taken as it is. */
  set(ink, drawn) {
    this.ink = Float32Array.from(ink);
    this.drawn = drawn;
    paint(this.canvas, this.ink);
    this.changed();
  }
}

function paint(canvas, ink) {
  canvas.width = data.width;
  canvas.height = data.height;
  const image = new ImageData(data.width, data.height);
  ink.forEach((value, place) => image.data.set([value * 255, value * 255, value * 255, 255], 4 * place));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

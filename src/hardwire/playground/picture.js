// The gates of the winning class as a picture that one can zoom: pixels on the left, class sum on the right, lit where 1.
class Picture {
  constructor(canvas, hint) {
    this.canvas = canvas;
    this.hint = hint;
    this.invitation = hint.textContent;
    this.pointers = new Map();
    this.reset();
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      this.name(event.offsetX, event.offsetY); // a finger does not hover
    });
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("dblclick", () => this.reset());
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  reset() {
    this.scale = 1;
    this.left = this.top = 0;
    this.zoom(1);
  }

  /** Zooms around a point of the canvas, its middle if none is given. */
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(60, Math.max(1, this.scale * factor));
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.canvas.style.touchAction = scale > 1 ? "none" : "pan-y"; // the page can be scrolled where there is nothing to move
    this.move(0, 0);
  }

  move(dx, dy) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.left = Math.min(0, Math.max(width * (1 - this.scale), this.left + dx));
    this.top = Math.min(0, Math.max(height * (1 - this.scale), this.top + dy));
    this.draw();
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.name(event.offsetX, event.offsetY);
    const now = [event.offsetX, event.offsetY];
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, now);
    if (!other) return this.move(now[0] - before[0], now[1] - before[1]);
    const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
    this.zoom(apart(now) / Math.max(1, apart(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  show(label, values, sum) {
    Object.assign(this, { cone: coneOf(label), label, values, sum });
    this.draw();
  }

  /** The side of the square that shows the image, before zooming. */
  side() {
    return Math.min(0.27 * this.canvas.clientWidth, 0.94 * this.canvas.clientHeight);
  }

  at(place) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (place.pixel) {
      const [x, y] = [0.015 * width + place.x * this.side(), 0.5 * height + (place.y - 0.5) * this.side()];
      return [this.left + x * this.scale, this.top + y * this.scale];
    }
    return [this.left + (0.02 + 0.96 * place.x) * width * this.scale, this.top + (0.03 + 0.94 * place.y) * height * this.scale];
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    if (!this.cone) return;
    const context = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    context.scale(ratio, ratio);
    const end = this.at({ x: 0.98, y: 0.5 });
    const lines = [...this.cone.wires.map(([from, to]) => [from, this.at(this.cone.nodes.get(to))]), ...this.cone.outputs.map((node) => [node, end])];
    for (const lit of [0, 1]) { // lit wires lie on top of dark ones
      context.strokeStyle = colour(lit ? "--lit" : "--dim");
      context.globalAlpha = lit ? 0.45 : 0.25;
      context.lineWidth = Math.min(2, 0.5 * Math.sqrt(this.scale));
      context.beginPath();
      for (const [from, to] of lines) {
        if (this.values[from] !== lit) continue;
        context.moveTo(...this.at(this.cone.nodes.get(from)));
        context.lineTo(...to);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
    this.drawNodes(context, colour);
    context.fillStyle = colour("--lit");
    context.font = `600 ${Math.min(40, 15 * Math.sqrt(this.scale))}px system-ui`;
    context.textAlign = "right";
    context.lineWidth = 4;
    context.strokeStyle = colour("--ground"); // a rim, so that it can be read over wires
    for (const way of ["strokeText", "fillText"]) context[way](`${data.classes[this.label]}: ${this.sum}`, end[0] + 6, end[1] - 12);
  }

  drawNodes(context, colour) {
    const radius = Math.min(14, 1.6 * Math.sqrt(this.scale) * (this.cone.nodes.size < 800 ? 1.6 : 1));
    const side = (0.9 * this.scale * this.side()) / Math.max(data.width, data.height);
    context.font = `${Math.round(radius * 0.62)}px system-ui`;
    context.textAlign = "center";
    for (const [node, place] of this.cone.nodes) {
      const [x, y] = this.at(place);
      if (x < -20 || y < -20 || x > this.canvas.clientWidth + 20 || y > this.canvas.clientHeight + 20) continue;
      context.fillStyle = colour(this.values[node] ? "--lit" : "--dim");
      if (node < data.inputs) {
        const half = (side / 2) * (1 - (0.7 * (node % data.levels)) / data.levels); // a higher threshold lies inside
        context.fillRect(x - half, y - half, 2 * half, 2 * half);
        continue;
      }
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fill();
      if (radius < 10) continue;
      context.fillStyle = colour("--card");
      context.fillText(data.gates[netlist.gate[node - data.inputs]].name, x, y + radius * 0.22);
    }
  }

  /** Says in words what the gate under the pointer is. */
  name(x, y) {
    let best = null, nearest = 12;
    for (const [node, place] of this.cone?.nodes ?? []) {
      const [left, top] = this.at(place);
      const distance = Math.hypot(left - x, top - y);
      if (distance < nearest) [best, nearest] = [node, distance];
    }
    this.hint.textContent = best === null ? this.invitation : this.words(best);
  }

  words(node) {
    if (node < data.inputs) {
      const pixel = Math.floor(node / data.levels);
      const above = data.levels > 1 ? ` above ${netlist.thresholds[node]}` : "";
      return `pixel in row ${Math.floor(pixel / data.width) + 1}, column ${(pixel % data.width) + 1}${above}: ${this.values[node]}`;
    }
    const i = node - data.inputs;
    const [a, b] = [this.values[netlist.first[i]], this.values[netlist.second[i]]];
    return `gate ${i + 1}, ${data.gates[netlist.gate[i]].name} of ${a} and ${b}: ${this.values[node]}`;
  }
}

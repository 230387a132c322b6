// The circuit gate by gate, for the picture: `bitsOf` an image, `evaluate` all nodes, `coneOf` a class with its places.
const data = JSON.parse(document.getElementById("data").textContent);

function decode(text, Type) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Type(bytes.buffer);
}

const netlist = {
  gate: decode(data.gate, Uint8Array),
  first: decode(data.first, Int32Array),
  second: decode(data.second, Int32Array),
  outputs: decode(data.outputs, Int32Array),
  thresholds: data.thresholds === null ? null : decode(data.thresholds, Float32Array),
};
const group = netlist.outputs.length / data.classes.length;

/** Input bits, Uint8Array, of one raw image. */
function bitsOf(raw) {
  if (netlist.thresholds === null) return Uint8Array.from(raw);
  return Uint8Array.from(netlist.thresholds, (threshold, bit) => raw[Math.floor(bit / data.levels)] > threshold);
}

/** The value of every node, inputs first, Uint8Array. */
function evaluate(bits) {
  const { gate, first, second } = netlist;
  const values = new Uint8Array(data.inputs + gate.length);
  values.set(bits);
  for (let i = 0; i < gate.length; i++) values[data.inputs + i] = data.gates[gate[i]].true[2 * values[first[i]] + values[second[i]]];
  return values;
}

/** Class sums of the values of all nodes. */
function sumsOf(values) {
  return data.classes.map((_, label) => netlist.outputs.subarray(label * group, (label + 1) * group).reduce((sum, node) => sum + values[node], 0));
}

const depth = new Int32Array(data.inputs + netlist.gate.length);
netlist.gate.forEach((_, i) => {
  depth[data.inputs + i] = 1 + Math.max(depth[netlist.first[i]], depth[netlist.second[i]]);
});

const cones = new Map(); // made when a class first wins

/** All that the outputs of a class depend on: `nodes` with a place each in the unit square (an input: in the square of
    its image), and the `wires` between. */
function coneOf(label) {
  if (!cones.has(label)) cones.set(label, makeCone(label));
  return cones.get(label);
}

function makeCone(label) {
  const outputs = [...new Set(netlist.outputs.subarray(label * group, (label + 1) * group))];
  const place = new Map(outputs.map((node, rank) => [node, { sum: (rank + 0.5) / outputs.length, count: 1 }]));
  const wires = [];
  const order = new Set(outputs);
  for (let node = data.inputs + netlist.gate.length - 1; node >= data.inputs; node--) {
    if (!order.has(node)) continue; // nodes are in order, so all readers of a node come before it here
    const own = place.get(node);
    for (const source of new Set([netlist.first[node - data.inputs], netlist.second[node - data.inputs]])) {
      const known = place.get(source) ?? { sum: 0, count: 0 };
      place.set(source, { sum: known.sum + own.sum / own.count, count: known.count + 1 });
      order.add(source);
      wires.push([source, node]);
    }
  }
  return { outputs, wires, nodes: spread(place) };
}

const BAND = 7; // gates of one depth stand in a band of so many columns, which shows more of them than a line would

/** Gates in bands by depth, in the order of those that read them; inputs where their pixel is. */
function spread(place) {
  const most = [...place.keys()].reduce((most, node) => Math.max(most, depth[node]), 1);
  const columns = Array.from({ length: most + 1 }, () => []);
  const nodes = new Map();
  for (const [node, { sum, count }] of place) {
    if (node >= data.inputs) columns[depth[node]].push([sum / count, node]);
    else nodes.set(node, pixelPlace(Math.floor(node / data.levels)));
  }
  columns.forEach((column, level) => {
    column.sort((a, b) => a[0] - b[0]);
    column.forEach(([, node], rank) => {
      const aside = (((rank * 3) % BAND) / (BAND - 1) - 0.5) * (0.25 / most);
      nodes.set(node, { x: 0.2 + (0.65 * level) / most + aside, y: (rank + 0.5) / column.length });
    });
  });
  return new Map([...nodes].sort((a, b) => a[0] - b[0]));
}

function pixelPlace(pixel) {
  const size = Math.max(data.width, data.height);
  const row = Math.floor(pixel / data.width), column = pixel % data.width;
  return { pixel: true, x: (column + 0.5) / size, y: 0.5 + (row + 0.5 - data.height / 2) / size };
}

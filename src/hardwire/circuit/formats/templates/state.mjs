<% for line in comment %>
// «line»
<% endfor %>

export const info = «info»;

/** Loads the module: from the file beside this one, or from an address, bytes or a WebAssembly.Module. */
export async function load(source = new URL(«wasm», import.meta.url)) {
  return new Machine(await instantiate(source));
}

<% include "instantiate.mjs" %>

/** A circuit with state. The module runs 128 of them side by side; this one drives number 0 alone, a bit at a time. */
export class Machine {
  #exports;
  #memory;

  constructor(instance) {
    this.#exports = instance.exports;
    this.#memory = new Uint8Array(instance.exports.memory.buffer);
    this.info = info;
    this.reset();
  }

  /** Loads the state after reset. */
  reset() {
    this.#exports.reset();
  }

  /** One step: info.inputs zeros and ones in, an array of info.outputs out (of several classes: the class, lowest bit first). */
  step(bits = []) {
    if (bits.length !== info.inputs) throw new RangeError(`a step reads ${info.inputs} bits, not ${bits.length}`);
    const { x, y } = this.#exports;
    for (let i = 0; i < info.inputs; i++) this.#memory[x.value + 16 * i] = bits[i] ? 1 : 0;
    this.#exports.step();
    return Array.from({ length: info.outputs }, (_, i) => this.#memory[y.value + 16 * i] & 1);
  }

  /** The state, info.bits zeros and ones. */
  get state() {
    return Array.from({ length: info.bits }, (_, i) => this.#memory[this.#exports.state.value + 16 * i] & 1);
  }
}

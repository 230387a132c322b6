<% for line in comment %>
// «line»
<% endfor %>

export const info = «info»;

/** Loads the classifier: from the file beside this module, or from an address, bytes or a WebAssembly.Module. */
export async function load(source = new URL(«wasm», import.meta.url)) {
  return new Classifier(await instantiate(source));
}

<% include "instantiate.mjs" %>

export class Classifier {
  #exports;
  #block;

  constructor(instance) {
    this.#exports = instance.exports;
    this.#block = instance.exports.block.value;
    this.info = info;
  }

<% if number %>
  /** Whole numbers for any number of rows, Int32Array [rows], which stand for answer * 2 ** info.exponent; images: rows of
   * info.values numbers, one after the other. */
<% else %>
  /** Classes of any number of images, Int32Array [images]; images: rows of info.values numbers, one after the other. */
<% endif %>
  predict(images) {
    return this.#run("predict", "labels", 1, images);
  }

<% if number %>
  /** The numbers themselves, Float64Array [rows]. */
  numbers(images) {
    return Float64Array.from(this.predict(images), (whole) => whole * 2 ** info.exponent);
  }

<% endif %>
  /** Scores, Int32Array [images * info.classes], row by row: how many outputs of each class are true. */
  scores(images) {
    return this.#run("scores", "sums", info.classes, images);
  }
<% if limits %>

  /** Real numbers, rows of info.values, as the whole numbers that predict and scores read. */
  quantize(real) {
    const of = (number, column) => (Array.isArray(number) ? number[column] : number ?? 0);
    return «array».from(real, (value, place) => {
      const column = place % info.values;
      const nearest = Math.ceil((value - of(info.offset, column)) / of(info.scale ?? 1, column) - 0.5);
      return Number.isNaN(nearest) ? «limits[0]» : Math.min(«limits[1]», Math.max(«limits[0]», nearest));
    });
  }
<% endif %>

  #run(name, place, columns, images) {
    const count = images.length / info.values;
    if (!Number.isInteger(count)) throw new RangeError(`images are rows of ${info.values} values, not ${images.length} in all`);
    const given = images instanceof «array» ? images : «array».from(images);
    const { memory, raw } = this.#exports;
    const answers = new Int32Array(count * columns);
    for (let start = 0; start < count; start += this.#block) {
      const images = Math.min(this.#block, count - start);
      const part = given.subarray(start * info.values, (start + images) * info.values);
      new «array»(memory.buffer, raw.value, part.length).set(part);
      this.#exports[name](images);
      answers.set(new Int32Array(memory.buffer, this.#exports[place].value, images * columns), start * columns);
    }
    return answers;
  }
}

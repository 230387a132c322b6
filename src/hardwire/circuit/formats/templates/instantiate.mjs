async function instantiate(source) {
  if (source instanceof WebAssembly.Module) return WebAssembly.instantiate(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return (await WebAssembly.instantiate(source)).instance;
  const address = new URL(source, import.meta.url);
  if (address.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return (await WebAssembly.instantiate(await readFile(address))).instance;
  }
  const response = await fetch(address);
  if (!response.ok) throw new Error(`cannot load ${address}: ${response.status}`);
  return (await WebAssembly.instantiate(await response.arrayBuffer())).instance;
}

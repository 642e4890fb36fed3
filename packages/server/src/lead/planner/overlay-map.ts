// A read-only map over another one, with some entries added or replaced and some removed. Published maps are never changed:
// each change is a small layer over the ones before, and layers are merged when there are many.

/** Layers beyond this number are merged into one, so that a lookup stays cheap. */
const LAYER_LIMIT = 8;

const REMOVED = Symbol("removed");

type Layer<K, V> = ReadonlyMap<K, V | typeof REMOVED>;

export class OverlayMap<K, V> implements ReadonlyMap<K, V> {
  readonly #base: ReadonlyMap<K, V>;
  /** Newest first. */
  readonly #layers: readonly Layer<K, V>[];

  private constructor(base: ReadonlyMap<K, V>, layers: readonly Layer<K, V>[]) {
    this.#base = base;
    this.#layers = layers;
  }

  /** Returns `below` without the removed keys and with the added entries; a key in both is added. */
  static over<K, V>(below: ReadonlyMap<K, V>, added: ReadonlyMap<K, V>, removed: readonly K[]): ReadonlyMap<K, V> {
    if (added.size === 0 && removed.length === 0) return below;
    const layer = new Map<K, V | typeof REMOVED>();
    for (const key of removed) layer.set(key, REMOVED);
    for (const [key, value] of added) layer.set(key, value);
    if (!(below instanceof OverlayMap)) return new OverlayMap(below, [layer]);
    const lower: OverlayMap<K, V> = below;
    const layers = [layer, ...lower.#layers];
    return new OverlayMap(lower.#base, layers.length > LAYER_LIMIT ? [merge(layers)] : layers);
  }

  get(key: K): V | undefined {
    for (const layer of this.#layers) {
      const value = layer.get(key);
      if (value !== undefined) return value === REMOVED ? undefined : value;
    }
    return this.#base.get(key);
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  get size(): number {
    let size = 0;
    for (const _ of this.keys()) size += 1;
    return size;
  }

  *entries(): MapIterator<[K, V]> {
    const top = this.#layers.length === 1 ? (this.#layers[0] as Layer<K, V>) : merge(this.#layers);
    for (const [key, value] of top) if (value !== REMOVED) yield [key, value];
    for (const entry of this.#base) if (!top.has(entry[0])) yield entry;
  }

  *keys(): MapIterator<K> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  forEach(visit: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}

function merge<K, V>(newestFirst: readonly Layer<K, V>[]): Layer<K, V> {
  const merged = new Map<K, V | typeof REMOVED>();
  for (const layer of [...newestFirst].reverse()) for (const [key, value] of layer) merged.set(key, value);
  return merged;
}

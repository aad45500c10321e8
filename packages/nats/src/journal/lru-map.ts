/** A map with a maximum size. It deletes the least recently used entry. */
export class LruMap<V> {
  readonly #max: number;
  readonly #map = new Map<string, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): V | undefined {
    const value = this.#map.get(key);
    if (value === undefined) return undefined;
    this.#map.delete(key);
    this.#map.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size <= this.#max) return;
    const [oldest] = this.#map.keys();
    if (oldest !== undefined) this.#map.delete(oldest);
  }

  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, value] of this.#map) if (matches(value)) this.#map.delete(key);
  }
}

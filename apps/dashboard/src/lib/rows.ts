/**
 * Rows by id, each with the journal position of its batch.
 *
 * The same row reaches a page several times and in any order: by the first load, the stream or another tab. Only a row
 * with a later position replaces a row, so a late arrival cannot restore an old state.
 *
 * @example
 * const rows = new Rows<{ id: string; status: string }>((row) => row.id);
 * rows.put(7, { id: "a", status: "completed" });
 * rows.put(5, { id: "a", status: "running" }); // false: the stored row is newer
 */
export class Rows<T> {
  readonly #idOf: (row: T) => string;
  readonly #entries = new Map<string, { position: number; row: T }>();

  constructor(idOf: (row: T) => string) {
    this.#idOf = idOf;
  }

  /** False if the stored row is as new or newer. */
  put(position: number, row: T): boolean {
    const id = this.#idOf(row);
    const stored = this.#entries.get(id);
    if (stored && stored.position >= position) return false;
    this.#entries.set(id, { position, row });
    return true;
  }

  get(id: string): T | undefined {
    return this.#entries.get(id)?.row;
  }

  /** Returns a copy, which later changes do not affect. */
  toMap(): Map<string, T> {
    return new Map(Array.from(this.#entries, ([id, { row }]) => [id, row]));
  }

  values(): T[] {
    return Array.from(this.#entries.values(), ({ row }) => row);
  }

  delete(id: string): void {
    this.#entries.delete(id);
  }

  get size(): number {
    return this.#entries.size;
  }
}

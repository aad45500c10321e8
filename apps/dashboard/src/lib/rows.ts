/**
 * Rows by id, each with the journal position of the batch that brought it.
 *
 * The same row reaches a page by several ways (first load, stream, another tab) in any order and more than once. A row
 * is replaced only by one of a later position, so nothing that arrives late can turn a page back.
 *
 * @example
 * const rows = new Rows<{ id: string; status: string }>((row) => row.id);
 * rows.put(7, { id: "a", status: "completed" });
 * rows.put(5, { id: "a", status: "running" }); // false: older than what is there
 */
export class Rows<T> {
  readonly #idOf: (row: T) => string;
  readonly #seen = new Map<string, { position: number; row: T }>();

  constructor(idOf: (row: T) => string) {
    this.#idOf = idOf;
  }

  /** Whether the row was taken. */
  put(position: number, row: T): boolean {
    const id = this.#idOf(row);
    const known = this.#seen.get(id);
    if (known && known.position >= position) return false;
    this.#seen.set(id, { position, row });
    return true;
  }

  get(id: string): T | undefined {
    return this.#seen.get(id)?.row;
  }

  /** A copy that later changes leave alone. */
  toMap(): Map<string, T> {
    return new Map(Array.from(this.#seen, ([id, { row }]) => [id, row]));
  }

  values(): T[] {
    return Array.from(this.#seen.values(), ({ row }) => row);
  }

  delete(id: string): void {
    this.#seen.delete(id);
  }

  get size(): number {
    return this.#seen.size;
  }
}

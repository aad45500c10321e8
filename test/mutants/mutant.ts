/**
 * One edit that breaks what a row of docs/requirements.md promises. `pnpm test:mutants` applies it to a copy of the
 * checkout and expects that a proof of the row turns red.
 */
export interface Mutant {
  name: string;
  /** Ids of the rows that the edit attacks. Empty only with `part`. */
  rows: string[];
  /** The part of the product that the edit attacks, like `setup`, if no row of the page speaks of it. `pnpm test:mutants PART` runs its mutants. */
  part?: string;
  /** The file to edit, relative to the checkout. */
  file: string;
  /** Occurs exactly once in `file`. */
  find: string;
  replace: string;
  /** `path > title` of tests, all of them proofs of `rows` or inside of one, if it has rows. At least one must turn red. */
  tests: string[];
  /** The tests belong to the long run (test/harness/long.ts): they start servers that not every machine has. */
  long?: boolean;
}

/**
 * One edit that breaks what a row of docs/requirements.md promises. `pnpm test:mutants` applies it to a copy of the
 * checkout and expects that a proof of the row turns red.
 */
export interface Mutant {
  name: string;
  /** Ids of the rows that the edit attacks. */
  rows: string[];
  /** The file to edit, relative to the checkout. */
  file: string;
  /** Occurs exactly once in `file`. */
  find: string;
  replace: string;
  /** `path > title` of tests, all of them proofs of `rows` or inside of one. At least one must turn red. */
  tests: string[];
}

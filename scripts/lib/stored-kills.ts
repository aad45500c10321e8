import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Mutant } from "../../test/mutants/mutant.ts";
import { artifactsFolder } from "./project.ts";

/** A killed mutant, and the hash of all that decided it. */
interface Kill {
  inputs: string;
  why: string;
}

/**
 * The mutants that were killed, kept in a file from run to run: a run that is stopped goes on where it ended, and one after a change
 * repeats only the mutants whose edit, tests or sources are not the same.
 */
export class StoredKills {
  readonly #file: string;
  readonly #kills: Map<string, Kill>;

  constructor(file: string = join(artifactsFolder, "mutants.json")) {
    this.#file = file;
    this.#kills = new Map(Object.entries(readKills(file)));
  }

  /** The test that killed the mutant, if nothing has changed since. */
  killOf({ name }: Mutant, inputs: string): string | undefined {
    const kill = this.#kills.get(name);
    return kill?.inputs === inputs ? kill.why : undefined;
  }

  /** Keeps the kills that another run has added to the file meanwhile. */
  add({ name }: Mutant, kill: Kill): void {
    this.#kills.set(name, kill);
    mkdirSync(dirname(this.#file), { recursive: true });
    const next = `${this.#file}.${process.pid}`;
    writeFileSync(next, `${JSON.stringify({ ...readKills(this.#file), [name]: kill }, null, 1)}\n`);
    renameSync(next, this.#file);
  }
}

/** All mutants run if the file is missing or is not JSON. */
function readKills(file: string): Record<string, Kill> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

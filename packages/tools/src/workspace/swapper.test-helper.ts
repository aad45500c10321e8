/**
 * Swaps a folder and a file of a workspace for links that lead out of it, and back, as fast as it can:
 * `swapper.test-helper.ts WORKSPACE SWAPS`. Prints the number of swaps, and ends early if `WORKSPACE/../stop` exists.
 */
import { existsSync, lstatSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const [workspace = "", swaps = "0"] = process.argv.slice(2);
const at = (name: string): string => join(workspace, name);

/** A tool may have made an entry here meanwhile: it is removed. */
function move(from: string, to: string): void {
  for (;;) {
    try {
      renameSync(at(from), at(to));
      return;
    } catch {
      removeEntry(to);
    }
  }
}

/** If the tool adds more entries meanwhile, the next try removes them. */
function removeEntry(name: string): void {
  try {
    rmSync(at(name), { recursive: true, force: true });
  } catch {
    return;
  }
}

let made = 0;
for (; made < Number(swaps); made += 1) {
  for (const name of ["sub", "file.txt"]) {
    move(name, `${name}.real`);
    move(`${name}.link`, name);
    move(name, `${name}.link`);
    move(`${name}.real`, name);
    // A tool that replaced the file while it was a link has replaced the link, which is correct.
    if (!lstatSync(at(`${name}.link`)).isSymbolicLink()) {
      rmSync(at(`${name}.link`), { recursive: true });
      symlinkSync(name === "sub" ? "../outside" : `../outside/${name}`, at(`${name}.link`));
    }
  }
  if (made % 1_000 === 0 && existsSync(join(workspace, "..", "stop"))) break;
}
process.stdout.write(String(made));

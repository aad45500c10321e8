/**
 * Swaps a folder and a file of a workspace for links that lead out of it, and back, as fast as a process can:
 * `swapper.test-helper.ts WORKSPACE SWAPS`. Says how many swaps it has made, and ends early where `WORKSPACE/../stop` is.
 */
import { existsSync, lstatSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const [workspace = "", swaps = "0"] = process.argv.slice(2);
const at = (name: string): string => join(workspace, name);

/** What a tool has made meanwhile, finding nothing there, gives way. */
function move(from: string, to: string): void {
  for (;;) {
    try {
      renameSync(at(from), at(to));
      return;
    } catch {
      giveWay(to);
    }
  }
}

/** Where the tool is putting more in meanwhile, the next try does it. */
function giveWay(name: string): void {
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
    // A tool that has replaced the file while it was a link has replaced the link, which is as it should be.
    if (!lstatSync(at(`${name}.link`)).isSymbolicLink()) {
      rmSync(at(`${name}.link`), { recursive: true });
      symlinkSync(name === "sub" ? "../outside" : `../outside/${name}`, at(`${name}.link`));
    }
  }
  if (made % 1_000 === 0 && existsSync(join(workspace, "..", "stop"))) break;
}
process.stdout.write(String(made));

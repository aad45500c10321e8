import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe } from "vitest";

const source = path.join(import.meta.dirname, "shim.c");
const compiler = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"].find(existsSync);

/** Tests with a library that is preloaded into a process. Without a C compiler they are skipped under a name that says so. */
export function describeWithShim(name: string, define: () => void): void {
  if (process.platform === "linux" && compiler) describe.concurrent(name, define);
  else describe.skip(`${name} (no C compiler on Linux: the library that fails syncs cannot be made)`, define);
}

let library: string | undefined;

/** Compiles the library that records writes and fails syncs (see shim.c), once for each process of tests. */
export function buildShim(): string {
  if (library === undefined) {
    const folder = mkdtempSync(path.join(tmpdir(), "troupe-shim-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    library = path.join(folder, "shim.so");
    execFileSync(compiler ?? "cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]);
  }
  return library;
}

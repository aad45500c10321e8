import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const exec = promisify(execFile);

/** The line that is wrong, and the one that it should be. */
export const wrongLine = "  return items.reduce((sum, { price }) => sum - price, 0);";
export const rightLine = "  return items.reduce((sum, { price }) => sum + price, 0);";

const files: Readonly<Record<string, string>> = {
  "package.json": `${JSON.stringify({ name: "cart", private: true, type: "module", scripts: { test: "node --test" } }, null, 2)}\n`,
  "README.md": "# cart\n\nSums up the items of a cart.\n",
  "src/cart.js": `/** The price of all items. */\nexport function total(items) {\n${wrongLine}\n}\n\nexport function count(items) {\n  return items.length;\n}\n`,
  "src/format.js": "export function euros(cents) {\n  return (cents / 100).toFixed(2);\n}\n",
  "test/cart.test.js": [
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    'import { count, total } from "../src/cart.js";',
    "",
    'test("a cart costs the sum of its items", () => {',
    "  assert.equal(total([{ price: 2 }, { price: 3 }]), 5);",
    "});",
    "",
    'test("a cart knows how many items it has", () => {',
    "  assert.equal(count([{ price: 2 }, { price: 3 }]), 2);",
    "});",
    "",
  ].join("\n"),
};

/** A small JavaScript project in a folder, under git, one of whose two tests fails. */
export async function writeSampleRepository(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  await git(folder, "init", "--quiet", "--initial-branch=main");
  await git(folder, "add", "--all");
  await git(folder, "commit", "--quiet", "--message=as it was");
}

/** Output of git, without the developer's settings. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false"];
  const env = { PATH: process.env.PATH ?? "", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", LANG: "C.UTF-8" };
  return (await exec("git", ["-C", folder, ...who, ...args], { env })).stdout;
}

/** Runs the project's tests by hand, and says how many passed and failed. */
export async function testsByHand(folder: string): Promise<{ passed: number; failed: number }> {
  const env = { PATH: process.env.PATH ?? "" };
  const run = exec(process.execPath, ["--test", "--test-reporter=tap"], { cwd: folder, env });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const count = (word: string) => Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(stdout)?.[1] ?? -1);
  return { passed: count("pass"), failed: count("fail") };
}

/** Every file below a folder with the hash of its content, except files that `skip` names. */
export async function contentsOf(folder: string, skip: (name: string) => boolean = () => false) {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const name = path.relative(folder, path.join(entry.parentPath, entry.name));
    if (!entry.isFile() || skip(name)) continue;
    found[name] = createHash("sha256")
      .update(await readFile(path.join(folder, name)))
      .digest("hex");
  }
  return found;
}

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { bundlePackage } from "./bundle.ts";

test("a program is joined from the packages of its own checkout, also if another checkout joins it", async ({
  onTestFinished,
}) => {
  const checkout = mkdtempSync(join(tmpdir(), "troupe-bundle-"));
  onTestFinished(() => rmSync(checkout, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  };
  const exports = { ".": { default: "./dist/index.js" } };
  // A package of this repository, with other contents.
  write("packages/core/package.json", JSON.stringify({ name: "@troupe/core", type: "module", exports }));
  write("packages/core/src/index.ts", 'export const word: string = "of this checkout";');
  const program = { name: "greeter", type: "module", bin: "./dist/main.js" };
  write("packages/greeter/package.json", JSON.stringify({ ...program, exports: { ".": "./dist/main.js" } }));
  write("packages/greeter/src/main.ts", 'import { word } from "@troupe/core";\nconsole.log(word);');

  await bundlePackage(join(checkout, "packages", "greeter"));

  const main = join(checkout, "packages", "greeter", "dist", "main.js");
  expect(execFileSync(process.execPath, [main], { encoding: "utf8" })).toBe("of this checkout\n");
});

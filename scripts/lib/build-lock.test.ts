import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takeLock } from "./build-lock.ts";

// Two builds over each other leave neither's output. The other process here is a real one, and really killed.

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const never = (): void => {
  throw new Error("had to wait");
};

it("is free again when it is released", () => {
  const file = join(folder, "lock");
  takeLock(file, never)();
  expect(() => takeLock(file, never)()).not.toThrow();
});

it("reports that it waits while another process holds it, and is free when that process is killed", async () => {
  const file = join(folder, "lock");
  const holder = spawn(process.execPath, ["--input-type=module-typescript", "-e", holderText(file)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  let waited = false;
  const release = takeLock(file, () => {
    waited = true;
    holder.kill("SIGKILL");
  });
  release();
  await once(holder, "close");
  expect(waited).toBe(true);
});

function holderText(file: string): string {
  const module = join(import.meta.dirname, "build-lock.ts");
  return `
import { takeLock } from ${JSON.stringify(module)};
takeLock(${JSON.stringify(file)}, () => {});
console.log("held");
setInterval(() => {}, 1000);
`;
}

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { installLauncher, LauncherError, launcherFile, launcherText, removeLauncher } from "./launcher.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "troupe-launcher-"));
  folders.push(folder);
  return folder;
}

const placeIn = (folder: string) => ({ folder, platform: "linux" as const });
const install = (folder: string, checkout: string, force = false) =>
  installLauncher(placeIn(folder), { checkout, force });

describe("installing", () => {
  test("creates the folder, changes nothing the second time, and moves to another checkout", () => {
    const folder = join(temporaryFolder(), "a", "bin");
    expect(install(folder, "/one")).toEqual({ change: "created", previousCheckout: null });
    expect(install(folder, "/one")).toEqual({ change: "unchanged", previousCheckout: "/one" });
    expect(install(folder, "/two")).toEqual({ change: "replaced", previousCheckout: "/one" });
    expect(readFileSync(join(folder, "troupe"), "utf8")).toBe(launcherText("/two", "linux"));
  });

  test("leaves another program's file alone, unless forced", () => {
    const folder = temporaryFolder();
    const file = join(folder, "troupe");
    writeFileSync(file, "#!/bin/sh\necho another\n");
    expect(() => install(folder, "/one")).toThrow(LauncherError);
    expect(() => install(folder, "/one")).toThrow(`${file} belongs to another program`);
    expect(() => removeLauncher(placeIn(folder))).toThrow("it was not removed");
    expect(readFileSync(file, "utf8")).toContain("echo another");
    expect(install(folder, "/one", true).change).toBe("replaced");
    expect(readFileSync(file, "utf8")).toBe(launcherText("/one", "linux"));
  });

  test("replaces a forced link, not the file that it points at", () => {
    const folder = temporaryFolder();
    const target = join(folder, "target");
    writeFileSync(target, launcherText("/one", "linux"));
    symlinkSync(target, join(folder, "troupe"));
    expect(() => install(folder, "/two")).toThrow("belongs to another program");
    install(folder, "/two", true);
    expect(readFileSync(target, "utf8")).toBe(launcherText("/one", "linux"));
  });

  test("never replaces a folder", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "troupe"));
    expect(() => install(folder, "/one", true)).toThrow("is a folder");
    expect(() => removeLauncher(placeIn(folder))).toThrow("it was not removed");
  });
});

test("removing takes a launcher away, and says when there is none", () => {
  const folder = temporaryFolder();
  install(folder, "/one");
  expect(removeLauncher(placeIn(folder))).toBe(true);
  expect(removeLauncher(placeIn(folder))).toBe(false);
});

test("the Windows launcher quotes its checkout and uses line breaks of Windows", () => {
  const folder = temporaryFolder();
  const place = { folder, platform: "win32" as const };
  installLauncher(place, { checkout: "C:\\100% mine\\troupe", force: false });
  expect(launcherFile(place)).toBe(join(folder, "troupe.cmd"));
  const text = readFileSync(launcherFile(place), "utf8");
  expect(text).toContain('set "checkout=C:\\100%% mine\\troupe"\r\n');
  expect(text.replaceAll("\r\n", "")).not.toContain("\n");
  const again = installLauncher(place, { checkout: "C:\\100% mine\\troupe", force: false });
  expect(again).toEqual({ change: "unchanged", previousCheckout: "C:\\100% mine\\troupe" });
});

describe.skipIf(process.platform === "win32")("the shell's launcher", () => {
  /** A checkout whose command line prints its arguments and surroundings, in a folder with an awkward name. */
  function checkoutIn(folder: string): string {
    const checkout = join(folder, `it's "$HOME" \`x\``);
    mkdirSync(join(checkout, "scripts"), { recursive: true });
    mkdirSync(join(checkout, "node_modules", ".bin"), { recursive: true });
    writeFileSync(join(checkout, "scripts", "require-node.cjs"), "");
    const print = "console.log(JSON.stringify([process.argv.slice(2), process.cwd(), process.env.INIT_CWD ?? null]))";
    writeFileSync(join(checkout, "scripts", "troupe.ts"), print);
    symlinkSync(process.execPath, join(checkout, "node_modules", ".bin", "node"));
    return checkout;
  }

  test("runs the checkout's command line with its arguments, in the caller's folder", () => {
    const folder = temporaryFolder();
    const caller = temporaryFolder();
    install(folder, checkoutIn(folder));
    const args = ["run", "a 'b' \"c\" $d *", ""];
    const { status, stdout } = spawnSync(join(folder, "troupe"), args, {
      cwd: caller,
      encoding: "utf8",
      env: { ...process.env, INIT_CWD: "/" },
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual([args, caller, null]);
  });

  test("says that the checkout has moved, and what to do", () => {
    const folder = temporaryFolder();
    const checkout = checkoutIn(folder);
    install(folder, checkout);
    renameSync(checkout, join(folder, "moved"));
    const { status, stdout, stderr } = spawnSync(join(folder, "troupe"), [], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
    expect(stderr).toBe(
      `error: the checkout of troupe is no longer at ${checkout}\n` +
        "fix:   run this in its new folder: npx -y pnpm@12 setup-cli\n",
    );
  });

  test("says that the checkout has no Node of its own", () => {
    const folder = temporaryFolder();
    const checkout = checkoutIn(folder);
    install(folder, checkout);
    rmSync(join(checkout, "node_modules"), { recursive: true });
    const { status, stderr } = spawnSync(join(folder, "troupe"), [], { encoding: "utf8" });
    expect(status).toBe(3);
    expect(stderr).toContain("npx -y pnpm@12 install");
  });

  test("is executable again after a second installation", () => {
    const folder = temporaryFolder();
    const file = join(folder, "troupe");
    const checkout = checkoutIn(folder);
    install(folder, checkout);
    chmodSync(file, 0o644);
    expect(install(folder, checkout).change).toBe("unchanged");
    expect(spawnSync(file).status).toBe(0);
  });
});

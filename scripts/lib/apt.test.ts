import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { findMirror, newerSuites } from "./apt.ts";

// Package sources are read from files in two formats with many variants, so each variant has a test.

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function etcWith(files: Record<string, string>): string {
  const etc = mkdtempSync(join(tmpdir(), "troupe-etc-"));
  folders.push(etc);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(etc, path)), { recursive: true });
    writeFileSync(join(etc, path), text);
  }
  return etc;
}

const debian = { "os-release": 'NAME="Debian"\nVERSION_CODENAME=bookworm\nID=debian\n' };
const ubuntu = { "os-release": "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble\n" };
const key = "/usr/share/keyrings/a.gpg";

it.each<[string, Record<string, string>, ReturnType<typeof findMirror>]>([
  [
    "a stanza, after a stanza of another distribution",
    {
      "apt/sources.list.d/a.sources": "Types: deb\nURIs: http://other.test/x\nSuites: stable\nComponents: main\n",
      "apt/sources.list.d/b.sources": `# a note\n\nTypes: deb deb-src\n# why\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: ${key}\n`,
    },
    { uri: "http://mirror.test/debian", signedBy: key },
  ],
  [
    "a line",
    { "apt/sources.list": "deb http://m.test/debian bookworm main\n" },
    { uri: "http://m.test/debian", signedBy: null },
  ],
  [
    "a line with options",
    {
      "apt/sources.list": `deb-src http://no.test/ bookworm main\ndeb [arch=amd64 signed-by=${key}] http://m.test/d bookworm main\n`,
    },
    { uri: "http://m.test/d", signedBy: key },
  ],
  [
    "no disabled stanza",
    { "apt/sources.list.d/a.sources": "Enabled: no\nTypes: deb\nURIs: http://a.test\nSuites: bookworm\n" },
    null,
  ],
  ["no line in a comment", { "apt/sources.list": "# deb http://m.test/debian bookworm main\n" }, null],
  ["no other release", { "apt/sources.list": "deb http://m.test/debian bookworm-backports main\n" }, null],
  ["nothing without apt", {}, null],
])("the mirror is %s", (_what, files, mirror) => {
  expect(findMirror(etcWith({ ...debian, ...files }))).toEqual(mirror);
});

it("the newer suites come from the distribution itself", () => {
  expect(newerSuites(etcWith(debian))).toEqual({ suites: ["testing", "unstable"], component: "main" });
  expect(newerSuites(etcWith(ubuntu))).toEqual({ suites: ["devel"], component: "universe" });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cycleDifferences, findFolderCycles, findViolations } from "./arrows.ts";
import { root } from "./lib/project.ts";

// Each test of a rule makes a checkout that breaks this rule and no other.

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const dependsOnCore = { dependencies: { "@troupe/core": "workspace:*" } };
const sound: Record<string, string | object> = {
  "packages/core/package.json": {
    exports: { ".": "./dist/index.js", "./memory": "./dist/memory/index.js" },
    dependencies: { zod: "*" },
  },
  "packages/core/src/index.ts": 'import { z } from "zod";\nexport { a } from "./memory/index.ts";\nexport { z };\n',
  "packages/core/src/memory/index.ts": 'export { b } from "../index.ts";\n',
  "packages/runtime/package.json": { ...dependsOnCore, exports: { ".": "./dist/index.js" } },
  "packages/runtime/src/index.ts": 'import "node:fs";\nimport "@troupe/core";\nimport "@troupe/core/memory";\n',
  "packages/recorder/package.json": { ...dependsOnCore, exports: { ".": "./dist/index.js" } },
  "packages/roles/package.json": { ...dependsOnCore, exports: { ".": "./dist/index.js" } },
  "packages/cli/package.json": { exports: { ".": "./dist/index.js" } },
  "packages/cli/src/index.ts":
    'import "@troupe/core";\nimport "@troupe/recorder";\nimport "@troupe/roles";\nawait import("@troupe/runtime");\n',
  "apps/dashboard/package.json": { devDependencies: { "@troupe/core": "workspace:*", react: "*" } },
  "apps/dashboard/src/main.tsx": 'import type { A } from "@troupe/core";\nimport "react";\nexport const a = <A/>;\n',
};

function violationsWith(changes: Record<string, string | object>): string[] {
  return findViolations(checkoutWith(changes));
}

function checkoutWith(changes: Record<string, string | object>): string {
  const folder = mkdtempSync(join(tmpdir(), "troupe-arrows-"));
  folders.push(folder);
  for (const [path, content] of Object.entries({ ...sound, ...changes })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

describe("the arrows", () => {
  it("hold in this checkout", () => {
    expect(findViolations(root)).toEqual([]);
  });

  it("accept a checkout without a forbidden import", () => {
    expect(violationsWith({})).toEqual([]);
  });

  it("need a row for every package", () => {
    expect(violationsWith({ "packages/extra/package.json": {} })).toEqual([
      "extra has no row in the table of scripts/arrows.ts",
    ]);
  });

  it("do not apply to test/ and scripts/", () => {
    expect(violationsWith({ "test/a.test.ts": 'import "../packages/cli/src/index.ts";', "scripts/b.ts": "" })).toEqual(
      [],
    );
  });
});

describe("a package may not import", () => {
  it.each([
    ["core", "runtime"],
    ["core", "recorder"],
    ["core", "roles"],
    ["core", "cli"],
    ["runtime", "recorder"],
    ["runtime", "roles"],
    ["runtime", "cli"],
    ["recorder", "runtime"],
    ["recorder", "roles"],
    ["recorder", "cli"],
    ["roles", "runtime"],
    ["roles", "recorder"],
    ["roles", "cli"],
    ["models", "tools"],
    ["tools", "runtime"],
    ["nats", "runtime"],
    ["runtime", "models"],
    ["runtime", "tools"],
    ["runtime", "nats"],
    ["troupe", "cli"],
  ])("%s → %s", (from, to) => {
    const file = `packages/${from}/src/wrong.ts`;
    const manifest = `packages/${from}/package.json`;
    const changes = { [manifest]: sound[manifest] ?? dependsOnCore, [file]: `\nimport "@troupe/${to}";\n` };
    expect(violationsWith(changes)).toEqual([expect.stringContaining(`${file}:2: ${from} may not import ${to}`)]);
  });

  it.each(["runtime", "recorder", "roles", "cli"])("dashboard → %s, not even its types", (to) => {
    expect(violationsWith({ "apps/dashboard/src/wrong.ts": `import type { A } from "@troupe/${to}";` })).toEqual([
      expect.stringContaining(`dashboard may not import ${to}`),
    ]);
  });

  it("itself by its name", () => {
    expect(violationsWith({ "packages/core/src/wrong.ts": 'import "@troupe/core";' })).toEqual([
      expect.stringContaining("core imports itself by name"),
    ]);
  });
});

describe("the front door", () => {
  const troupe = {
    "packages/troupe/package.json": { exports: { ".": "./dist/index.js" } },
    "packages/troupe/src/index.ts": 'import "@troupe/runtime";\nimport "@troupe/recorder";\n',
  };

  it("has no scope in its name, and is used by the command line", () => {
    expect(violationsWith({ ...troupe, "packages/cli/src/a.ts": 'import "troupe";' })).toEqual([]);
  });

  it("may import every other package", () => {
    expect(violationsWith({ ...troupe, "packages/runtime/src/wrong.ts": 'import "troupe";' })).toEqual([
      expect.stringContaining("runtime may not import troupe"),
    ]);
    expect(violationsWith({ ...troupe, "packages/troupe/src/wrong.ts": 'import "troupe";' })).toEqual([
      expect.stringContaining("troupe imports itself by name"),
    ]);
    expect(violationsWith({ ...troupe, "packages/cli/src/wrong.ts": 'import "troupe/src/a.ts";' })).toEqual([
      expect.stringContaining("is not among the `exports` of troupe"),
    ]);
  });
});

describe("top folders of one package", () => {
  function cyclesWith(files: Record<string, string>): { values: string[]; types: string[] } {
    const paths = Object.entries(files).map(([path, text]) => [`packages/runtime/src/${path}`, text]);
    const { values, types } = findFolderCycles(checkoutWith(Object.fromEntries(paths)));
    const described = (cycles: typeof values): string[] =>
      cycles.map(({ name, sites }) => `${name} ${sites.join(" ")}`);
    return { values: described(values).sort(), types: described(types).sort() };
  }
  const file = (name: string): string => `packages/runtime/src/${name}`;

  it("may import each other in one direction", () => {
    const imports = { "http/a.ts": 'import "../host/b.ts";', "host/b.ts": 'import "../util/c.ts";' };
    expect(cyclesWith(imports)).toEqual({ values: [], types: [] });
  });

  it("make a cycle by importing each other", () => {
    const imports = { "http/a.ts": '\nimport "../host/b.ts";', "host/run/b.ts": 'export * from "../../http/a.ts";' };
    expect(cyclesWith(imports)).toEqual({
      values: [`runtime: host -> http ${file("host/run/b.ts:1")}`, `runtime: http -> host ${file("http/a.ts:2")}`],
      types: [],
    });
  });

  it("make a cycle over a third one, and an import that only leads to it does not", () => {
    const imports = {
      "a/a.ts": 'import "../b/b.ts";',
      "b/b.ts": 'await import("../c/c.ts");',
      "c/c.ts": 'import "../a/a.ts";',
      "d/d.ts": 'import "../a/a.ts";',
    };
    expect(cyclesWith(imports).values.map((line) => line.replace(/ packages.*/, ""))).toEqual([
      "runtime: a -> b",
      "runtime: b -> c",
      "runtime: c -> a",
    ]);
  });

  it("make a cycle of types, which is reported apart", () => {
    const imports = { "a/a.ts": 'import "../b/b.ts";', "b/b.ts": 'import type { A } from "../a/a.ts";' };
    expect(cyclesWith(imports)).toEqual({
      values: [],
      types: [`runtime: a -> b ${file("a/a.ts:1")}`, `runtime: b -> a ${file("b/b.ts:1")}`],
    });
  });

  it("make none by tests, nor by files beside the folders", () => {
    const imports = {
      "a/a.ts": 'import "../b/b.ts";\nimport "../index.ts";',
      "index.ts": 'import "./a/a.ts";',
      "b/b.test.ts": 'import "../a/a.ts";',
      "b/b.test-helper.ts": 'import "../a/a.ts";',
    };
    expect(cyclesWith(imports)).toEqual({ values: [], types: [] });
  });

  const cycle = (name: string) => ({ name, sites: ["a.ts:1"] });

  it("may keep the cycles that the ratchet knows, and no others", () => {
    const allowed = { values: ["x: a -> b"], types: ["x: b -> c"] };
    expect(cycleDifferences(allowed, { values: [cycle("x: a -> b")], types: [cycle("x: b -> c")] })).toEqual([]);
    expect(
      cycleDifferences(allowed, { values: [cycle("x: a -> b"), cycle("x: b -> c")], types: [cycle("x: b -> c")] }),
    ).toEqual(["x: b -> c closes a cycle of values: a.ts:1"]);
    expect(cycleDifferences(allowed, { values: [cycle("x: a -> b")], types: [] })).toEqual([
      expect.stringContaining("x: b -> c no longer closes a cycle of types"),
    ]);
  });
});

describe("an import is seen", () => {
  it.each([
    ["static", 'import { a } from "@troupe/cli";'],
    ["for its effect", 'import "@troupe/cli";'],
    ["of types", 'import type { A } from "@troupe/cli";'],
    ["dynamic", 'export const a = () => import("@troupe/cli");'],
    ["dynamic, with a template", "export const a = () => import(`@troupe/cli`);"],
    ["re-exported", 'export { a } from "@troupe/cli";'],
    ["re-exported whole", 'export * from "@troupe/cli";'],
    ["re-exported as types", 'export type { A } from "@troupe/cli";'],
    ["inside a type", 'export type A = import("@troupe/cli").A;'],
    ["by require", 'export const a = require("@troupe/cli");'],
    ["by looking it up", 'export const a = import.meta.resolve("@troupe/cli");'],
  ])("%s", (_how, text) => {
    expect(violationsWith({ "packages/runtime/src/wrong.ts": text })).toEqual([
      expect.stringContaining("packages/runtime/src/wrong.ts:1: runtime may not import cli"),
    ]);
  });

  it("in a test, too", () => {
    expect(violationsWith({ "packages/roles/src/wrong.test.ts": 'import "@troupe/runtime";' })).toHaveLength(1);
  });

  it("in a TSX file, too", () => {
    expect(
      violationsWith({ "apps/dashboard/src/wrong.tsx": 'import "@troupe/cli";\nexport const a = <b/>;' }),
    ).toHaveLength(1);
  });

  it("but not in a comment or a text", () => {
    expect(
      violationsWith({
        "packages/roles/src/a.ts": '// import "@troupe/cli"\nexport const a = \'import "@troupe/cli"\';',
      }),
    ).toEqual([]);
  });
});

describe("core imports", () => {
  it.each(["node:fs", "fs", "fs/promises", "better-sqlite3", "@nats-io/transport-node", "nats", "hono"])(
    "no %s",
    (name) => {
      expect(violationsWith({ "packages/core/src/wrong.ts": `import "${name}";` })).toEqual([
        expect.stringContaining(`core may not import ${name}`),
      ]);
    },
  );

  it("Node in a test, if it must", () => {
    expect(violationsWith({ "packages/core/src/a.test.ts": 'import "node:fs";' })).toEqual([]);
  });

  it("none of them by its package.json", () => {
    const manifest = { exports: { ".": "", "./memory": "" }, dependencies: { zod: "*", "better-sqlite3": "*" } };
    expect(violationsWith({ "packages/core/package.json": manifest })).toEqual([
      expect.stringContaining("packages/core/package.json: core may not import better-sqlite3"),
    ]);
  });
});

describe("the dashboard imports of core", () => {
  it.each([
    ["no value", 'import { decode } from "@troupe/core";'],
    ["no value beside a type", 'import { type A, decode } from "@troupe/core";'],
    ["no type by an import that stays", 'import { type A } from "@troupe/core";'],
    ["nothing dynamic", 'await import("@troupe/core");'],
  ])("%s", (_what, text) => {
    expect(violationsWith({ "apps/dashboard/src/wrong.ts": text })).toEqual([
      expect.stringContaining("dashboard imports only types from @troupe/core"),
    ]);
  });

  it("any value in a test file", () => {
    const text = 'import { decode } from "@troupe/core";';
    expect(violationsWith({ "apps/dashboard/src/right.test-helper.ts": text })).toEqual([]);
  });
});

describe("a package is imported by its index", () => {
  it.each(["@troupe/core/src/index.ts", "@troupe/core/dist/index.js", "@troupe/core/protocol"])(
    "not by %s",
    (specifier) => {
      expect(violationsWith({ "packages/runtime/src/wrong.ts": `import "${specifier}";` })).toEqual([
        expect.stringContaining(`"${specifier}" is not among the \`exports\` of @troupe/core`),
      ]);
    },
  );

  it.each([
    "../../core/src/index.ts",
    "../../core/dist/index.js",
    "../../../test/a.ts",
    "../../runtime-too/a.ts",
    "/a.ts",
  ])("not by the path %s", (specifier) => {
    expect(violationsWith({ "packages/runtime/src/wrong.ts": `import "${specifier}";` })).toEqual([
      expect.stringContaining(`"${specifier}" leaves the package`),
    ]);
  });
});

describe("a package.json names", () => {
  it.each(["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"])(
    "no forbidden package in %s",
    (field) => {
      const manifest = {
        ...dependsOnCore,
        exports: { ".": "./dist/index.js" },
        [field]: { "@troupe/cli": "workspace:*" },
      };
      expect(violationsWith({ "packages/roles/package.json": manifest })).toEqual([
        expect.stringContaining("packages/roles/package.json: roles may not import cli"),
      ]);
    },
  );

  it("every package that its sources import", () => {
    expect(violationsWith({ "packages/roles/src/wrong.ts": 'import "yaml";' })).toEqual([
      expect.stringContaining("yaml is not among the dependencies of roles"),
    ]);
  });
});

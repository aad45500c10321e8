import { expect, test } from "vitest";
import { bundledManifest, withoutDependencies } from "./bundled-manifest.ts";

const cli = {
  name: "cli",
  version: "1.0.0",
  bin: { cli: "./main.js" },
  dependencies: { core: "1.0.0", zod: "^4" },
  devDependencies: { vitest: "^5" },
  scripts: { build: "tsc" },
};

test("a bundle depends on what its packages need, also on their peers, and carries the packages", () => {
  const core = {
    name: "core",
    version: "1.0.0",
    dependencies: { zod: "^4", tools: "1.0.0" },
    devDependencies: { "fast-check": "^4" },
    peerDependencies: { openai: "^7" },
  };
  const tools = { name: "tools", version: "1.0.0", dependencies: { diff: "^9" } };
  expect(bundledManifest(cli, [core, tools])).toEqual({
    name: "cli",
    version: "1.0.0",
    bin: { cli: "./main.js" },
    dependencies: { core: "1.0.0", diff: "^9", openai: "^7", tools: "1.0.0", zod: "^4" },
    bundleDependencies: ["core", "tools"],
  });
});

test("two packages that want different versions of a library are refused", () => {
  const core = { name: "core", version: "1.0.0", dependencies: { zod: "^3" } };
  expect(() => bundledManifest(cli, [core])).toThrow("core wants zod ^3, another package ^4");
});

test("a package inside a bundle has no dependencies", () => {
  const optional = { peerDependencies: { openai: "^7" }, peerDependenciesMeta: { openai: { optional: true } } };
  expect(withoutDependencies({ ...cli, ...optional })).toEqual({
    name: "cli",
    version: "1.0.0",
    bin: { cli: "./main.js" },
  });
});

import { globSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const fromRoot = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const manifest = (folder: string) => JSON.parse(readFileSync(fromRoot(`${folder}/package.json`), "utf8"));

describe("the repository", () => {
  test.each(["package.json", "pnpm-workspace.yaml", "turbo.json", "README.md"])("has %s at its top", (file) => {
    expect(statSync(fromRoot(file)).isFile()).toBe(true);
  });

  test.each([
    ["packages/core", "@troupe/core"],
    ["packages/runtime", "@troupe/runtime"],
    ["packages/models", "@troupe/models"],
    ["packages/tools", "@troupe/tools"],
    ["packages/nats", "@troupe/nats"],
    ["packages/roles", "@troupe/roles"],
    ["packages/recorder", "@troupe/recorder"],
    ["packages/connectors", "@troupe/connectors"],
    ["packages/troupe", "troupe"],
    ["packages/cli", "@troupe/cli"],
    ["apps/dashboard", "@troupe/dashboard"],
    ["test", "@troupe/test"],
  ])("has %s", (folder, name) => {
    expect(manifest(folder).name).toBe(name);
  });

  test.each([
    ["packages/core", "xstate"],
    ["packages/core", "zod"],
    ["packages/nats", "@nats-io/transport-node"],
    ["packages/models", "@anthropic-ai/sdk"],
    ["packages/models", "openai"],
    ["packages/runtime", "hono"],
    ["packages/cli", "pino"],
    [".", "turbo"],
    [".", "vitest"],
  ])("%s stands on %s", (folder, library) => {
    const { dependencies = {}, devDependencies = {} } = manifest(folder);
    expect({ ...dependencies, ...devDependencies }).toHaveProperty([library]);
  });
});

describe("optional parts", () => {
  const peersOf = (folder: string): Record<string, string> => manifest(folder).peerDependencies ?? {};
  const { "@troupe/nats": _, ...outside } = peersOf("packages/troupe");

  test("troupe passes on the optional parts of the other packages, and the command line has all of them", () => {
    expect(outside).toEqual({
      ...peersOf("packages/connectors"),
      ...peersOf("packages/models"),
      ...peersOf("packages/tools"),
    });
    expect(manifest("packages/cli").dependencies).toMatchObject({ ...outside, "@troupe/nats": "workspace:*" });
  });

  test.each(["connectors", "models", "tools", "troupe"])("every one of %s is optional", (name) => {
    const { peerDependencies, peerDependenciesMeta } = manifest(`packages/${name}`);
    const optional = Object.keys(peerDependencies).map((part) => [part, { optional: true }]);
    expect(peerDependenciesMeta).toEqual(Object.fromEntries(optional));
  });

  test("the commands that install them, in code and READMEs, name the declared versions", () => {
    const files = ["packages/*/src/**/*.ts", "packages/{troupe,connectors,models,tools}/README.md"].flatMap((pattern) =>
      globSync(pattern, { cwd: fileURLToPath(fromRoot(".")) }).filter((file) => !file.endsWith(".test.ts")),
    );
    const commands = files.flatMap((file) => {
      const text = readFileSync(fromRoot(file), "utf8");
      return [...text.matchAll(/(?:loadOptional\("|npm install )([@\w./ -]+)/g)].map(([, specs = ""]) => specs);
    });
    const specs = commands.flatMap((command) => command.split(" ")).filter((spec) => /^(?!@troupe\/).+@/.test(spec));
    expect(specs.length).toBeGreaterThan(8);
    const wrong = specs.filter((spec) => {
      const at = spec.lastIndexOf("@");
      return !outside[spec.slice(0, at)]?.replace("^", "").startsWith(spec.slice(at + 1));
    });
    expect(wrong).toEqual([]);
  });
});

import { readFileSync, statSync } from "node:fs";
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

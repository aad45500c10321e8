import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { cleanEnvironment } from "./environment.ts";
import { root } from "./project.ts";

// A key or a setting in the developer's shell must not change a test result.

describe("the environment of builds and tests", () => {
  it.each([
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "NATS_URL",
    "TROUPE_HOME",
    "TROUPE_TEST_NATS_SERVER",
    "NODE_OPTIONS",
    "NODE_ENV",
    "NPM_TOKEN",
    "npm_config__authToken",
    "VITEST",
    "INIT_CWD",
    "HOMEBREW_TOKEN",
  ])("lacks %s", (name) => {
    expect(cleanEnvironment({ [name]: "x" })).not.toHaveProperty([name]);
  });

  it.each([
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "CI",
    "HTTPS_PROXY",
    "https_proxy",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_registry",
    "npm_execpath",
  ])("has %s", (name) => {
    expect(cleanEnvironment({ [name]: "x" })).toMatchObject({ [name]: "x" });
  });

  it("finds the checkout's own tools first, then the pnpm that runs this process", () => {
    const { PATH } = cleanEnvironment({ PATH: "/usr/bin", npm_execpath: "/somewhere/pnpm" });
    expect(PATH?.split(delimiter)).toEqual([join(root, "node_modules", ".bin"), "/somewhere", "/usr/bin"]);
  });

  it("does not treat npm's script as a folder of programs", () => {
    const { PATH } = cleanEnvironment({ PATH: "/usr/bin", npm_execpath: "/somewhere/npm-cli.js" });
    expect(PATH?.split(delimiter)).toEqual([join(root, "node_modules", ".bin"), "/usr/bin"]);
  });

  it("sends no telemetry", () => {
    expect(cleanEnvironment({})).toMatchObject({ TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" });
  });
});

import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { loadOptional } from "./load-optional.ts";

const missing = (message: string, code = "ERR_MODULE_NOT_FOUND") => Object.assign(new Error(message), { code });
const loadAnd = (error: Error) => loadOptional("one@1 @scope/two@0.2", () => Promise.reject(error));

test("an installed package is returned", async () => {
  expect(await loadOptional("one@1", async () => ({ name: "one" }))).toEqual({ name: "one" });
});

test.each([
  ["one", "Cannot find package 'one' imported from /app/index.js"],
  ["@scope/two", "Cannot find package '@scope/two' imported from /app/index.js"],
])("a missing package is named, with the command that installs all: %s", async (name, message) => {
  const cause = missing(message);
  await expect(loadAnd(cause)).rejects.toMatchObject({
    code: "MISSING_PACKAGE",
    message: `the package ${name} is not installed; run: npm install one@1 @scope/two@0.2`,
    fix: "npm install one@1 @scope/two@0.2",
    cause,
  });
});

test("require's error counts too", async () => {
  const require = createRequire(import.meta.url);
  await expect(loadOptional("no-such-package@1", () => require("no-such-package/file"))).rejects.toMatchObject({
    code: "MISSING_PACKAGE",
  });
});

test.each([
  missing("Cannot find package 'ws' imported from /app/node_modules/one/index.js"),
  missing("Cannot find module '/app/node_modules/one/missing.js' imported from /app/node_modules/one/index.js"),
  missing("Cannot find package 'one' imported from /app/index.js", "EACCES"),
  new Error("broken"),
])("any other error is passed on: %s", async (error) => {
  await expect(loadAnd(error)).rejects.toBe(error);
});

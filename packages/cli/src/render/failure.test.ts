/** Printed errors never contain a secret, even if a message quotes one. */
import { TroupeError } from "@troupe/core";
import { afterEach, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { reportFailure } from "./failure.ts";

afterEach(removeTemporaryFolders);

const key = "key-0123456789-abcdef";
const env = { SHOP_KEY: key };

const failures: [string, unknown][] = [
  ["its message", new TroupeError("USAGE", `--key ${key} is not a flag`, { fix: `troupe run --key ${key}` })],
  ["its cause", new TroupeError("INTERNAL", "it failed", { cause: new Error(`401 for ${key}`) })],
  ["an error of a library", new Error(`no connection to https://bot:${key}@host`)],
  ["a thrown string", `just ${key}`],
];

test.each(failures)("in text: %s", (_, thrown) => {
  const cli = createFakeCli();
  reportFailure(thrown, { terminal: cli.terminal, mode: "text", env });
  expect(cli.err()).toMatch(/^error:/);
  expect(cli.err()).toContain("[redacted: SHOP_KEY]");
  expect(cli.err() + cli.out()).not.toContain(key);
});

test.each(failures)("in JSON: %s", (_, thrown) => {
  const cli = createFakeCli();
  reportFailure(thrown, { terminal: cli.terminal, mode: "json", env });
  expect(JSON.parse(cli.out())).toMatchObject({ error: { message: expect.any(String) } });
  expect(cli.err() + cli.out()).not.toContain(key);
});

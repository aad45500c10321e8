import { expect, test } from "vitest";
import { exitCodes, TroupeError } from "./errors.ts";

test("an error carries code, fix and cause", () => {
  const cause = new Error("why");
  const error = new TroupeError("USAGE", "what", { fix: "do this", cause });
  expect(error).toMatchObject({ name: "TroupeError", code: "USAGE", message: "what", fix: "do this", cause });
  expect(new TroupeError("USAGE", "what")).toMatchObject({ fix: null });
  expect("cause" in new TroupeError("USAGE", "what")).toBe(false);
});

test("an error is recognised by its mark, also from another copy of this package", () => {
  const foreign = { [Symbol.for("troupe.error")]: true };
  expect([new TroupeError("USAGE", ""), foreign, new Error(""), null, "USAGE"].map(TroupeError.is)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("every code has an exit code of the CLI's contract", () => {
  for (const code of Object.values(exitCodes)) expect([1, 2, 3, 4, 5, 6, 7, 8]).toContain(code);
});

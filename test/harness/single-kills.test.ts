import { expect, test } from "vitest";

test.each([0, -0, -1, 1, Number.NaN])("a test cannot send a signal to the processes %d", (pid) => {
  expect(() => process.kill(pid, 0)).toThrow("a test would have sent");
});

test("a test can ask for one process", () => {
  expect(process.kill(process.pid, 0)).toBe(true);
});

import { expect, it, vi } from "vitest";
import { loadOnce } from "./load-once.ts";

it("loads with the first use, and once for all uses", async () => {
  const load = vi.fn(async () => ({}));
  const parts = loadOnce(load);
  expect(parts.begun()).toBeNull();
  expect(load).not.toHaveBeenCalled();
  const [first, second] = await Promise.all([parts.load(), parts.load()]);
  expect(second).toBe(first);
  expect(await parts.begun()).toBe(first);
  expect(load).toHaveBeenCalledOnce();
});

it("tries a failed load again with the next use", async () => {
  const load = vi.fn(async () => "loaded").mockRejectedValueOnce(new Error("no disk"));
  const parts = loadOnce(load);
  const both = await Promise.allSettled([parts.load(), parts.load()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(parts.begun()).toBeNull();
  expect(await parts.load()).toBe("loaded");
  expect(load).toHaveBeenCalledTimes(2);
});

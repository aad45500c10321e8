/**
 * A model can write anything as the arguments of a call. In all cases, and in any pieces: one problem for that call, and
 * the rest of the reply is complete.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../any-text.test-helper.ts";
import { ask, block, options, provide, start, stop, streaming, text, use } from "./anthropic-server.test-helper.ts";

const whole = fc.json({ maxDepth: 3 }).map((json) => `{"it":${json}}`);

/** None of them is a JSON object that can be stored. */
const malformed = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(whole, fc.double({ min: 0.01, max: 0.99, noNaN: true }))
      .map(([json, share]) => json.slice(0, Math.max(1, Math.floor(json.length * share)))),
  },
  {
    weight: 2,
    arbitrary: fc
      .oneof(
        fc.array(fc.integer()),
        fc.string(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      )
      .map((value) => JSON.stringify(value)),
  },
  {
    weight: 2,
    arbitrary: fc
      .jsonValue({ maxDepth: 2 })
      .map((value) => `{"a":{"__proto__":{"polluted":true,"it":${JSON.stringify(value)}}}}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.string(), fc.constantFrom("\\ud800", "\\udfff", "\\udc00\\ud800"))
      .map(([before, half]) => `{"text":${JSON.stringify(before).slice(0, -1)}${half}"}`),
  },
  { weight: 1, arbitrary: whole.map((json) => `${json}${json}`) },
  {
    weight: 1,
    arbitrary: anyText.filter((words) => words.trim() !== "").map((words) => `{${words}`),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 101, max: 5_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`),
  },
);

function isMalformed(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return !isObject || /__proto__|\\ud|"a":\{"a":/i.test(json);
  } catch {
    return true;
  }
}

function pieces(json: string, size: number): string[] {
  return Array.from({ length: Math.ceil(json.length / size) }, (_, i) => json.slice(i * size, (i + 1) * size));
}

test("a thousand malformed ones, by a real connection", async () => {
  const samples = fc.sample(fc.tuple(malformed.filter(isMalformed), fc.integer({ min: 1, max: 400 })), {
    numRuns: 1_000,
    seed: 4,
  });
  expect(samples).toHaveLength(1_000);
  const { provider } = await provide(
    samples.map(([json, size]) =>
      streaming(
        start(),
        ...text(0, "Before."),
        ...use(1, "toolu_1", "write", ...pieces(json, size)),
        ...use(2, "toolu_2", "read", '{"path":', '"a"}'),
        ...text(3, " After."),
        ...stop("tool_use"),
      ),
    ),
  );
  for (const [json] of samples) {
    const reply = await provider.call(ask(), options());
    expect(reply, json.slice(0, 200)).toMatchObject({
      text: "Before. After.",
      stopReason: "tool_calls",
      calls: [
        { id: "toolu_1", name: "write", args: null, problem: expect.any(String) },
        { id: "toolu_2", name: "read", args: { path: "a" }, problem: null },
      ],
    });
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
}, 60_000);

test("ten megabytes, in pieces or in one", async () => {
  const long = JSON.stringify({ text: "x".repeat(10 * 1024 * 1024) });
  const { provider } = await provide([
    streaming(start(), ...text(0, "a"), ...use(1, "toolu_1", "write", ...pieces(long, 100_000)), ...stop("tool_use")),
    streaming(start(), ...text(0, "a"), ...use(1, "toolu_1", "write", long), ...stop("tool_use")),
    streaming(
      start(),
      ...text(0, "a"),
      ...block(1, { type: "tool_use", id: "toolu_1", name: "write", input: JSON.parse(long) }),
      ...stop("tool_use"),
    ),
  ]);
  for (let i = 0; i < 3; i += 1) {
    const reply = await provider.call(ask(), options());
    expect(reply.text).toBe("a");
    expect(reply.calls).toEqual([
      { id: "toolu_1", name: "write", args: null, problem: expect.stringContaining("the limit is 262144") },
    ]);
  }
});

import {
  type Blobs,
  createRedactor,
  defaultPolicy,
  type Risk,
  RunFailure,
  ToolCall,
  type ToolContext,
  TroupeError,
} from "@troupe/core";
import { ApprovalRule, derivedId, hashText, type RiskDecision } from "@troupe/core/internal";
import { createMemoryBlobs, createSimulatedClock } from "@troupe/core/memory";
import { defineTool, type Tool, type ToolResult } from "@troupe/core/tool";
import { describe, expect, vi } from "vitest";
import { z } from "zod";
import { parsePolicy } from "./policy/parse-policy.ts";
import { createToolHost } from "./tool-host.ts";
import { workspaceTest as test } from "./workspace.fixture.ts";

const granted = { tools: ["probe"], agents: [], writes: [] };

function probe(run: () => Promise<ToolResult> = async () => ({ output: "done" }), risk: Risk = "low") {
  return defineTool({
    name: "probe",
    description: "Probes.",
    input: z.strictObject({ path: z.string(), depth: z.int().optional() }),
    risk,
    effect: "read",
    run,
  });
}

const call = ToolCall.parse({ id: "1", name: "probe", args: { path: "a" } });

test("the JSON Schema of a tool's arguments is derived from the schema that parses them", () => {
  expect(createToolHost({ tools: [probe()] }).specs()).toEqual([
    {
      name: "probe",
      description: "Probes.",
      risk: "low",
      effect: "read",
      groups: [],
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string" },
          depth: { type: "integer" },
        },
        required: ["path"],
      },
    },
  ]);
});

describe("a call is refused before anything runs", () => {
  test("when the run was not granted the tool", async ({ context }) => {
    const run = vi.fn();
    const outcome = await createToolHost({ tools: [probe(run)] }).run(call, context);

    expect(outcome.error).toMatchObject({
      type: "permission",
      tool: "probe",
      message: 'the tool "probe" is not granted to this run; it has: read, write, shell',
    });
    expect(outcome.output).toContain("not granted");
    expect(run).not.toHaveBeenCalled();
  });

  test("when the run may only read, and the tool of that name can change something here", async ({ context }) => {
    const [run, reader] = [vi.fn(), vi.fn(async () => ({ output: "" }))];
    const changing = defineTool({
      name: "probe",
      description: "Probes.",
      input: z.strictObject({ path: z.string() }),
      risk: "low",
      effect: "idempotent",
      run,
    });
    const grant = { ...granted, readOnly: true as const };
    const outcome = await createToolHost({ tools: [changing] }).run(call, { ...context, grant });
    expect(outcome.error).toMatchObject({
      type: "permission",
      message: expect.stringContaining("permissionMode: plan"),
    });
    expect(run).not.toHaveBeenCalled();
    await createToolHost({ tools: [probe(reader)] }).run(call, { ...context, grant });
    expect(reader).toHaveBeenCalledOnce();
  });

  test("when this machine has no such tool", async ({ context }) => {
    const outcome = await createToolHost({ tools: [] }).run(call, { ...context, grant: granted });
    expect(outcome.error).toMatchObject({ type: "tool_error", message: expect.stringContaining("does not have it") });
  });

  test("when the call is incomplete", async ({ context }) => {
    const run = vi.fn();
    const host = createToolHost({ tools: [probe(run)] });
    const broken = { ...call, problem: "the arguments are not JSON" };
    const outcome = await host.run(broken, { ...context, grant: granted });
    expect(outcome.error).toMatchObject({ type: "params", message: "the arguments are not JSON" });
    expect(run).not.toHaveBeenCalled();
  });

  test.for([{ args: {} }, { args: { path: 1 } }, { args: { path: "a", extra: 1 } }, { args: null }, { args: "path" }])(
    "when its arguments are invalid: $args",
    async ({ args }, { context }) => {
      const run = vi.fn();
      const host = createToolHost({ tools: [probe(run)] });

      const outcome = await host.run({ ...call, args }, { ...context, grant: granted });

      expect(outcome.error).toMatchObject({ type: "params", tool: "probe", recoverable: false });
      expect(outcome.output).toContain("expected fields: path (required string), depth (optional integer)");
      expect(run).not.toHaveBeenCalled();
    },
  );
});

/** Runs a call on a host that assesses first and on one that does not. */
async function both(host: ReturnType<typeof createToolHost>, context: ToolContext, of: ToolCall = call) {
  const at = { ...context, grant: granted };
  const { decision, risk, reason } = host.assess(of, at);
  const { error } = await host.run(of, at);
  return { decision, risk, reason, error };
}

describe("this machine's policy has the last word on a risk:", () => {
  const cases: { risk: Risk; decision: RiskDecision | "default"; approved: boolean; says: RiskDecision }[] = [
    { risk: "low", decision: "default", approved: false, says: "allow" },
    { risk: "medium", decision: "default", approved: false, says: "allow" },
    { risk: "high", decision: "default", approved: false, says: "ask" },
    { risk: "high", decision: "default", approved: true, says: "allow" },
    { risk: "high", decision: "allow", approved: false, says: "allow" },
    { risk: "low", decision: "ask", approved: false, says: "ask" },
    { risk: "low", decision: "ask", approved: true, says: "allow" },
    { risk: "low", decision: "deny", approved: false, says: "deny" },
    { risk: "high", decision: "deny", approved: true, says: "deny" },
  ];
  test.for(cases)(
    "$risk under $decision, approved: $approved",
    async ({ risk, decision, approved, says }, { context }) => {
      const run = vi.fn(async () => ({ output: "done" }));
      const others = { low: "deny", medium: "deny", high: "deny" } as const;
      const policy =
        decision === "default" ? defaultPolicy : { ...defaultPolicy, risk: { ...others, [risk]: decision } };
      const host = createToolHost({ tools: [probe(run, risk)], policy });

      const seen = await both(host, { ...context, approved });

      expect(seen).toMatchObject({ decision: says, risk });
      expect(run).toHaveBeenCalledTimes(says === "allow" ? 1 : 0);
      if (says === "allow") return;
      expect(seen.error).toMatchObject({ type: "permission", tool: "probe", recoverable: false });
      expect(seen.error?.message).toContain(`this machine's policy for ${risk} risk is "${says}"`);
      expect(seen.error?.message.includes("no person has allowed this call")).toBe(says === "ask");
    },
  );
});

describe("this machine's policy has the last word on a tool, whatever was granted and approved:", () => {
  const reader = { ...probe(), spec: { ...probe().spec, groups: ["web"] } };
  const remote = { ...probe(), spec: { ...probe().spec, name: "mcp__github__probe" } };
  test.for<[string, Tool, boolean]>([
    ["deny: [probe]", reader, false],
    ["deny: [web]", reader, false],
    ["deny: ['*']", reader, false],
    ["deny: [other]", reader, true],
    ["allow: []", reader, false],
    ["allow: [other]", reader, false],
    ["allow: [probe]", reader, true],
    ["allow: [web]", reader, true],
    ["{allow: [probe], deny: [web]}", reader, false],
    ["deny: [mcp__github__*]", remote, false],
    ["deny: [mcp__gitlab__*]", remote, true],
    ["allow: [mcp__github__*]", remote, true],
  ])("%s", async ([list, tool, allowed], { context }) => {
    const policy = parsePolicy(`tools: ${list.startsWith("{") ? list : `{${list}}`}`, "policy.yaml");
    const host = createToolHost({ tools: [tool], policy });
    const { name } = tool.spec;
    const at = { ...context, grant: { tools: [name], agents: [], writes: [] }, approved: true };

    expect(host.assess({ ...call, name }, at).decision).toBe(allowed ? "allow" : "deny");
    const { error } = await host.run({ ...call, name }, at);
    if (allowed) expect(error).toBeNull();
    else expect(error).toMatchObject({ type: "permission", message: expect.stringContaining("this machine's policy") });
  });
});

describe("a stored rule", () => {
  const ruleOf = (decision: "allow" | "deny") =>
    ApprovalRule.parse({
      id: derivedId(decision),
      decision,
      tool: "probe",
      argsHash: null,
      args: null,
      workspace: "/w",
      agent: null,
      createdAt: "2026-11-18T12:00:00.000Z",
      by: "Ada",
    });

  test.for<["allow" | "deny", RiskDecision, boolean, RiskDecision]>([
    ["allow", "ask", false, "allow"],
    ["allow", "deny", false, "deny"],
    ["allow", "allow", false, "allow"],
    ["deny", "allow", false, "deny"],
    ["deny", "ask", true, "deny"],
    ["deny", "deny", true, "deny"],
  ])("that says %s, under %s, approved: %s", async ([decision, under, approved, says], { context }) => {
    const match = vi.fn(() => ruleOf(decision));
    const policy = { ...defaultPolicy, risk: { ...defaultPolicy.risk, low: under } };
    const host = createToolHost({ tools: [probe()], policy, rules: { match } });

    const seen = await both(host, { ...context, approved });

    expect(seen.decision).toBe(says);
    expect(seen.error === null).toBe(says === "allow");
    if (decision === "deny") expect(seen.error?.message).toContain(`the stored rule ${derivedId("deny")} of Ada`);
    expect(match).toHaveBeenCalledWith(call, expect.objectContaining({ workspace: context.workspace, agent: "main" }));
  });

  test("allows no tool that the policy denies", async ({ context }) => {
    const policy = parsePolicy("tools: {deny: [probe]}\nrisk: {low: ask}", "policy.yaml");
    const host = createToolHost({ tools: [probe()], policy, rules: { match: () => ruleOf("allow") } });
    expect(await both(host, context)).toMatchObject({ decision: "deny", error: { type: "permission" } });
  });

  test("that cannot be looked up refuses the call", async ({ context }) => {
    const run = vi.fn();
    const rules = {
      match: () => {
        throw new Error("unreadable");
      },
    };
    const host = createToolHost({ tools: [probe(run)], rules });
    expect((await both(host, context)).error).toMatchObject({ type: "tool_error", message: "unreadable" });
    expect(run).not.toHaveBeenCalled();
  });
});

describe("a tool's risk", () => {
  const careful = (riskOf: (path: string) => Risk, risk: Risk = "medium") =>
    defineTool({
      name: "probe",
      description: "Probes.",
      input: z.strictObject({ path: z.string().default("/") }),
      risk,
      riskOf: ({ path }) => riskOf(path),
      effect: "read",
      run: async () => ({ output: "done" }),
    });

  test.for<[string, Risk, Risk, Risk]>([
    ["can be raised by its arguments", "medium", "high", "high"],
    ["can stay", "medium", "medium", "medium"],
    ["cannot be lowered", "medium", "low", "medium"],
    ["cannot be lowered from the top", "high", "low", "high"],
  ])("%s", async ([, own, ofArguments, risk], { context }) => {
    const host = createToolHost({ tools: [careful(() => ofArguments, own)] });
    expect(await both(host, context)).toMatchObject({ risk, decision: risk === "high" ? "ask" : "allow" });
  });

  test("is the risk of the parsed arguments, with defaults", async ({ context }) => {
    const host = createToolHost({ tools: [careful((path) => (path === "/" ? "high" : "low"))] });
    expect((await both(host, context, { ...call, args: {} })).decision).toBe("ask");
    expect((await both(host, context, { ...call, args: { path: "/tmp" } })).decision).toBe("allow");
  });

  test("is the highest if it cannot be determined", async ({ context }) => {
    const fails = careful(() => {
      throw new Error("no idea");
    }, "low");
    const seen = await both(createToolHost({ tools: [fails] }), context);
    expect(seen).toMatchObject({ decision: "ask", risk: "high", error: { type: "permission" } });
  });

  test("is not assessed for a call that cannot run", async ({ context }) => {
    const host = createToolHost({ tools: [probe(undefined, "high")] });
    const cannot = { decision: "allow", reason: "the call is invalid; running it returns the error" };
    expect(host.assess({ ...call, args: { path: 1 } }, { ...context, grant: granted })).toMatchObject(cannot);
    expect(host.assess({ ...call, problem: "cut off" }, { ...context, grant: granted })).toMatchObject(cannot);
    expect(host.assess(call, context)).toMatchObject(cannot);
    expect(host.assess({ ...call, name: "nothing" }, context)).toMatchObject(cannot);
  });
});

describe("an error that a tool throws becomes an outcome:", () => {
  test("an error with a type keeps it", async ({ context }) => {
    const host = createToolHost({
      tools: [
        probe(async () => {
          throw new RunFailure({ type: "rate_limit", message: "slow down", recoverable: true, retryAfterMs: 5 });
        }),
      ],
    });
    expect(await host.run(call, { ...context, grant: granted })).toMatchObject({
      output: "rate_limit: slow down",
      error: { type: "rate_limit", tool: "probe", recoverable: true, retryAfterMs: 5 },
    });
  });

  test("any other error is an error of the tool", async ({ context }) => {
    const host = createToolHost({ tools: [probe(() => Promise.reject("a string"))] });
    expect(await host.run(call, { ...context, grant: granted })).toMatchObject({
      error: { type: "tool_error", message: "a string", tool: "probe", recoverable: false },
    });
  });
});

describe("an output over the cap", () => {
  const long = "🎭".repeat(100);
  const tools = [probe(async () => ({ output: long }))];

  const inRun = (context: ToolContext, ...also: string[]): ToolContext => ({
    ...context,
    idempotencyKey: `${context.run}/3/1`,
    grant: { ...granted, tools: [...granted.tools, ...also] },
  });
  const notice = /\n\[cut: characters (\d+) to (\d+) of 200 are left out; ([^\]]*)\]\n/;

  test.for([247, 248, 249, 250])(
    "of %i bytes keeps its beginning and its end, without a split character, and is stored whole in blobs",
    async (outputBytesMax, { context }) => {
      const blobs = createMemoryBlobs();
      const host = createToolHost({ tools, blobs, outputBytesMax });

      const { output, outputRef } = await host.run(call, inRun(context, "recall"));

      const [, from, to, hint] = notice.exec(output) ?? [];
      expect(output.replace(notice, "|")).toMatch(/^🎭+\|🎭+$/u);
      expect(output.replace(notice, long.slice(Number(from), Number(to)))).toBe(long);
      expect(hint).toBe(`to read them, call recall with {"result":"3/1","from":${from}}`);
      expect(Number(from)).toBeGreaterThan(2 * (200 - Number(to)));
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(outputBytesMax);
      expect(outputRef).toBe(hashText(long));
      expect(Buffer.from((await blobs.get(hashText(long))) ?? []).toString()).toBe(long);
    },
  );

  test("of a run that cannot recall has another notice", async ({ context }) => {
    const host = createToolHost({ tools, blobs: createMemoryBlobs(), outputBytesMax: 250 });
    const without = await host.run(call, inRun(context));
    const forChild = { ...inRun(context, "recall"), idempotencyKey: `${context.run}/3/1/0/0` };
    for (const { output, outputRef } of [without, await host.run(call, forChild)]) {
      expect(notice.exec(output)?.[3]).toBe("they cannot be read from here: ask for less at a time");
      expect(outputRef).toBe(hashText(long));
    }
  });

  test("is truncated at the tool's own cap, if it has one", async ({ context }) => {
    const own = defineTool({
      name: "probe",
      description: "Probes.",
      input: z.looseObject({}),
      risk: "low",
      effect: "read",
      outputBytesMax: 300,
      run: async () => ({ output: "x".repeat(1_000) }),
    });
    const host = createToolHost({ tools: [own], outputBytesMax: 500 });
    const { output } = await host.run(call, { ...context, grant: granted });
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(300);
    expect(Buffer.byteLength(output)).toBeGreaterThan(290);
  });

  test.for([
    [250, 250],
    [9_999, 500],
  ] as const)(
    "is truncated to the limit of its run, %j, but never above the limit of the host",
    async ([runMax, most], { context }) => {
      const host = createToolHost({
        tools: [probe(async () => ({ output: "x".repeat(20_000) }))],
        outputBytesMax: 500,
      });
      const { output } = await host.run(call, { ...context, grant: granted, outputBytesMax: runMax });
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(most);
      expect(Buffer.byteLength(output)).toBeGreaterThan(most - 10);
    },
  );

  test("of a failure is truncated as well", async ({ context }) => {
    const failing = probe(() => Promise.reject(new Error("x".repeat(1_000))));
    const host = createToolHost({ tools: [failing], outputBytesMax: 300 });
    expect(Buffer.byteLength((await host.run(call, inRun(context))).output)).toBeLessThanOrEqual(300);
  });

  test("starts one byte above it", async ({ context }) => {
    const outcome = await createToolHost({ tools, outputBytesMax: 400 }).run(call, { ...context, grant: granted });
    expect(outcome).toMatchObject({ output: long, outputRef: null });
  });

  test("is truncated even if it cannot be stored", async ({ context }) => {
    const full: Blobs = { put: () => Promise.reject(new Error("disk full")), get: async () => null };
    for (const [blobs, fate] of [
      [{}, "they are not kept"],
      [{ blobs: full }, "they could not be kept (disk full)"],
    ] as const) {
      const host = createToolHost({ tools, ...blobs, outputBytesMax: 250 });
      const outcome = await host.run(call, { ...context, grant: granted });
      expect(outcome).toMatchObject({ output: expect.stringContaining(fate), outputRef: null, error: null });
    }
  });
});

test("the duration of a call is measured", async ({ context }) => {
  const clock = createSimulatedClock();
  const slow = probe(async () => {
    clock.advance(1_250);
    return { output: "done" };
  });
  const outcome = await createToolHost({ tools: [slow], clock }).run(call, { ...context, grant: granted });
  expect(outcome.durationMs).toBe(1_250);
});

describe("verify", () => {
  const verifiable = (verify: () => Promise<ToolResult | null>): Tool =>
    defineTool({
      name: "probe",
      description: "Probes.",
      input: z.strictObject({ path: z.string() }),
      risk: "low",
      effect: "verifiable",
      run: async () => ({ output: "done" }),
      verify,
    });

  test("of a tool that cannot verify leaves the call in doubt", async ({ context }) => {
    const host = createToolHost({ tools: [verifiable(() => Promise.reject(new Error("unreadable")))] });
    expect(await host.verify(call, { ...context, grant: granted })).toMatchObject({
      inDoubt: true,
      error: { type: "tool_error", message: "unreadable" },
    });
  });

  test("is not called for a call that is not approved yet", async ({ context }) => {
    const verify = vi.fn(async () => ({ output: "done" }));
    const policy = { ...defaultPolicy, risk: { ...defaultPolicy.risk, low: "ask" as const } };
    const host = createToolHost({ tools: [verifiable(verify)], policy });
    expect(await host.verify(call, { ...context, grant: granted })).toBeNull();
    expect(verify).not.toHaveBeenCalled();
  });

  test("reports a call without a grant as not done", async ({ context }) => {
    const host = createToolHost({ tools: [verifiable(async () => ({ output: "done" }))] });
    expect(await host.verify(call, context)).toBeNull();
  });

  test("of a tool of another class is an error of the caller", async ({ context }) => {
    const host = createToolHost({ tools: [probe()] });
    await expect(host.verify(call, { ...context, grant: granted })).rejects.toThrow(TroupeError);
  });
});

test("idle() waits for running calls", async ({ context }) => {
  const work = Promise.withResolvers<ToolResult>();
  const host = createToolHost({ tools: [probe(() => work.promise)] });
  const happened: string[] = [];
  await host.idle();
  const running = host.run(call, { ...context, grant: granted }).then(() => happened.push("ran"));
  const idle = host.idle().then(() => happened.push("idle"));
  work.resolve({ output: "done" });
  await Promise.all([running, idle]);
  expect(happened).toEqual(["ran", "idle"]);
});

test("two tools with one name are refused", () => {
  expect(() => createToolHost({ tools: [probe(), probe()] })).toThrow("two tools are named probe");
});

test("a secret is redacted before the output is truncated, so that no half of it is left", async ({ context }) => {
  const key = "key-0123456789-abcdef";
  const redact = createRedactor({ values: [{ name: "KEY", value: key }] });
  for (let before = 150; before < 260; before += 1) {
    const blobs = createMemoryBlobs();
    const tools = [probe(async () => ({ output: `${"x".repeat(before)}${key}${"y".repeat(400)}` }))];
    const host = createToolHost({ tools, blobs, redact, outputBytesMax: 400 });
    const outcome = await host.run(call, { ...context, grant: granted });
    expect(outcome.output).not.toContain("key-0");
    const whole = Buffer.from((await blobs.get(outcome.outputRef ?? "")) ?? []).toString();
    expect(whole).toContain("x[redacted: KEY]y");
  }
});

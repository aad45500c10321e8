import { ToolCall, type ToolContext, type ToolHost, ToolOutcome, ToolSpec } from "@troupe/core";
import fc from "fast-check";
import { expect, test } from "vitest";

export interface ToolHostHarness extends AsyncDisposable {
  host: ToolHost;
  context: ToolContext;
  /** Calls of tools that the host has and the context grants. */
  calls: {
    /** Goes well. */
    good: ToolCall;
    /** Has arguments that fit, and goes badly. */
    failing: ToolCall;
    /** Of class `verifiable`; goes well, and has not happened yet. */
    verifiable: ToolCall;
    /** Would take longer than a test can wait. */
    slow: ToolCall;
  };
}

/** The contract of the ToolHost port. */
export function toolHostConformance(create: () => Promise<ToolHostHarness>): void {
  test("its tools have unique names, and schemas of objects", async () => {
    await using harness = await create();
    const specs = harness.host.specs();

    expect(new Set(specs.map(({ name }) => name)).size).toBe(specs.length);
    for (const spec of specs) {
      expect(ToolSpec.parse(spec)).toEqual(spec);
      expect(spec.inputSchema.type).toBe("object");
    }
  });

  test("a successful call has an output and no error", async () => {
    await using harness = await create();
    const outcome = await harness.host.run(harness.calls.good, harness.context);

    expect(ToolOutcome.parse(outcome)).toEqual(outcome);
    expect(outcome).toMatchObject({ error: null, inDoubt: false });
    expect(outcome.output).not.toBe("");
  });

  test("a failed call has an error, also for the model", async () => {
    await using harness = await create();
    const outcome = await harness.host.run(harness.calls.failing, harness.context);

    expect(ToolOutcome.parse(outcome)).toEqual(outcome);
    expect(outcome.error).toMatchObject({ tool: harness.calls.failing.name });
    expect(outcome.output).not.toBe("");
  });

  test("the grant is checked at every call: an unnamed tool does not run", async () => {
    await using harness = await create();
    const grant = { tools: [], agents: [], writes: [] };
    for (const call of Object.values(harness.calls)) {
      const outcome = await harness.host.run(call, { ...harness.context, grant });
      expect(outcome.error).toMatchObject({ type: "permission", tool: call.name });
    }
    expect(await harness.host.verify(harness.calls.verifiable, harness.context)).toBeNull();
  });

  test("every call has an assessment, also an invalid one", async () => {
    await using harness = await create();
    const { host, context, calls } = harness;
    const risks: unknown[] = ["low", "medium", "high"];
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.jsonValue(), fc.boolean(), async (name, args, granted) => {
        const call = ToolCall.parse({ id: "1", name, args });
        const grant = granted ? { tools: [name], agents: [], writes: [] } : context.grant;
        const assessment = host.assess(call, { ...context, grant });
        // A call that cannot run needs no approval; running it returns the reason.
        expect(assessment.decision).toBe("allow");
        expect(risks).toContain(assessment.risk);
        expect(assessment.reason).not.toBe("");
      }),
    );
    for (const call of Object.values(calls)) expect(risks).toContain(host.assess(call, context).risk);
  });

  test("an unknown tool name of a model is an outcome", async () => {
    await using harness = await create();
    for (const name of ["", "nothing", "constructor", "__proto__", "read\n"]) {
      const call = ToolCall.parse({ id: "1", name, args: {} });
      const grant = { tools: [name], agents: [], writes: [] };
      expect((await harness.host.run(call, harness.context)).error).toMatchObject({ type: "permission" });
      expect((await harness.host.run(call, { ...harness.context, grant })).error).not.toBeNull();
      expect(await harness.host.verify(call, { ...harness.context, grant })).toBeNull();
    }
  });

  test("invalid arguments of a model are an outcome", async () => {
    await using harness = await create();
    const { host, context } = harness;
    // A tool without required arguments accepts an empty object, so it is left out.
    const needing = host.specs().filter(({ inputSchema }) => Array.isArray(inputSchema.required));
    const names = needing.map(({ name }) => name);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.jsonValue(), async (name, args) => {
        const call = ToolCall.parse({ id: "1", name, args });
        const outcome = await host.run(call, context);
        expect(ToolOutcome.parse(outcome)).toEqual(outcome);
        expect(outcome.error).toMatchObject({ type: "params", tool: name });
        expect(outcome.output).toContain("expected fields");
      }),
      { numRuns: 200 },
    );
  });

  test("a verifiable call is not done before it ran, and done afterwards", async () => {
    await using harness = await create();
    const { host, context, calls } = harness;
    const announced = { ...context, plan: await host.plan(calls.verifiable, context) };
    expect(await host.verify(calls.verifiable, announced)).toBeNull();

    const ran = await host.run(calls.verifiable, announced);
    const verified = await host.verify(calls.verifiable, announced);

    expect(ran.error).toBeNull();
    expect(verified).toMatchObject({ output: ran.output, error: null, inDoubt: false });
  });

  test("a call ends soon after it is cancelled", async () => {
    await using harness = await create();
    const abort = new AbortController();
    const running = harness.host.run(harness.calls.slow, { ...harness.context, signal: abort.signal });
    abort.abort();
    expect((await running).error).toMatchObject({ type: "cancelled" });
  });

  test("a call that was cancelled before its start does not run", async () => {
    await using harness = await create();
    const context = { ...harness.context, signal: AbortSignal.abort() };
    expect((await harness.host.run(harness.calls.verifiable, context)).error).toMatchObject({ type: "cancelled" });
    expect(await harness.host.verify(harness.calls.verifiable, harness.context)).toBeNull();
  });
}

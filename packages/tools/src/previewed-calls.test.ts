/** Approvals of calls that show a message or event: the preview decides about the risk, and binds the approval. */
import { type CallPreview, RunFailure, ToolCall } from "@troupe/core";
import { staleApproval, type ToolExamination } from "@troupe/core/internal";
import { defineTool } from "@troupe/core/tool";
import { describe, expect } from "vitest";
import { z } from "zod";
import { createToolHost } from "./tool-host.ts";
import { workspaceTest as test } from "./workspace.fixture.ts";

/** A tool that answers the message `inbox.from`: only the message tells the recipient. */
function answering() {
  const inbox = { from: "ana@own.example", failure: null as RunFailure | null };
  const sent: string[] = [];
  const tool = defineTool({
    name: "answer",
    description: "Answers a message.",
    input: z.strictObject({ text: z.string() }),
    risk: "low",
    riskOf: () => "medium",
    effect: "idempotent",
    previewOf: async ({ text }): Promise<CallPreview> => {
      if (inbox.failure) throw inbox.failure;
      const external = [inbox.from].filter((address) => !address.endsWith("@own.example"));
      const fields = { kind: "email" as const, from: "me@own.example", subject: "Re", body: text };
      return { ...fields, to: [inbox.from], cc: [], bcc: [], attachments: [], external };
    },
    riskOfPreview: (preview) =>
      preview.kind === "email" && preview.external.length > 0
        ? { risk: "high", reason: `${preview.external.join()} is outside` }
        : { risk: "low", reason: "nothing" },
    run: async () => {
      sent.push(inbox.from);
      return { output: "sent" };
    },
  });
  const host = createToolHost({ tools: [tool] });
  const examine = async (context: Parameters<typeof host.run>[1]): Promise<ToolExamination> => {
    const found = await host.examine?.(call, context);
    if (!found) throw new Error("the host does not examine calls");
    return found;
  };
  return { host, inbox, sent, examine };
}

const call = ToolCall.parse({ id: "1", name: "answer", args: { text: "Hello" } });
const granting = <Context extends { grant: object }>(context: Context) => ({
  ...context,
  grant: { ...context.grant, tools: ["answer"] },
});

describe("a call whose preview shows a higher risk than its arguments", () => {
  test("asks a person, with the preview and the reason", async ({ context }) => {
    const { inbox, examine } = answering();
    expect(await examine(granting(context))).toMatchObject({ decision: "allow", risk: "medium" });
    inbox.from = "eve@evil.example";
    expect(await examine(granting(context))).toMatchObject({
      decision: "ask",
      risk: "high",
      reason: `this machine's policy for high risk is "ask" (eve@evil.example is outside)`,
      preview: { kind: "email", to: ["eve@evil.example"] },
      covers: [],
    });
  });

  test("does not run without an approval, even if only its arguments were looked at before", async ({ context }) => {
    const { host, inbox, sent } = answering();
    inbox.from = "eve@evil.example";
    const outcome = await host.run(call, granting(context));
    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("eve@evil.example") });
    expect(sent).toEqual([]);
  });
});

describe("an approval is valid for the preview that the person saw", () => {
  test("and the call runs with it", async ({ context }) => {
    const { host, inbox, sent, examine } = answering();
    inbox.from = "eve@evil.example";
    const { bound = [] } = await examine(granting(context));
    const outcome = await host.run(call, { ...granting(context), approved: true, approval: { bound } });
    expect([outcome.error, sent]).toEqual([null, ["eve@evil.example"]]);
  });

  test("and for no other one", async ({ context }) => {
    const { host, inbox, sent, examine } = answering();
    inbox.from = "eve@evil.example";
    const { bound = [] } = await examine(granting(context));
    inbox.from = "mallory@evil.example";
    const now = await examine({ ...granting(context), approved: true });
    expect(staleApproval({ bound }, now)).toBe("the message or event of the call has changed since the approval");
    const outcome = await host.run(call, { ...granting(context), approved: true, approval: { bound } });
    expect(outcome.error).toMatchObject({ type: "permission", message: expect.stringContaining("has changed") });
    expect(sent).toEqual([]);
  });
});

test("a call without a preview fails with the output of its failure, and no person is asked", async ({ context }) => {
  const { host, inbox, sent, examine } = answering();
  inbox.failure = new RunFailure(
    { type: "params", message: "no such message", recoverable: false },
    { output: '{"error":{"type":"params"}}' },
  );
  expect(await examine(granting(context))).toMatchObject({ decision: "allow" });
  const outcome = await host.run(call, { ...granting(context), approved: true });
  expect(outcome).toMatchObject({ output: '{"error":{"type":"params"}}', error: { type: "params", tool: "answer" } });
  expect(sent).toEqual([]);
});

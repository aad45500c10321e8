import type { RunRow } from "@troupe/core";
import type { ConversationPage } from "@troupe/core/internal";

/** The conversation of a mock run: its request, one reply with a call, and its result. */
export function mockConversation(run: RunRow | undefined, from: number): ConversationPage | null {
  if (!run) return null;
  const at = Date.parse(run.startedAt);
  const text = (whole: string) => ({ text: whole, cut: null });
  const call = { call: 0, name: "read", args: { path: "README.md" }, argsCut: null, problem: null };
  const items: ConversationPage["items"] = [
    {
      ...{ kind: "request", index: 0, at, from: run.parentRun === null ? null : "main", agent: run.agent },
      ...{ task: text(run.task), context: null, prompt: text("You work."), earlierMessages: 0 },
    },
    {
      ...{ kind: "reply", index: 1, at, step: 1, text: text("I **read** first."), calls: [call], callsLeftOut: 0 },
      ...{ model: "demo/scripted", durationMs: 900, inputTokens: 120, outputTokens: 20, costUsd: 0, retries: 0 },
    },
    {
      ...{ kind: "result", index: 2, at, step: 1, call: 0, tool: "read", text: text("# troupe\n"), error: null },
      ...{ isInDoubt: false, durationMs: 4, child: null, files: [] },
    },
  ];
  const { session, agent, team, status } = run;
  return { session, run: run.run, agent, team, status, items: items.slice(from), next: items.length, more: false };
}

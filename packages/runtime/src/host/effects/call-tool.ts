import {
  canonicalJson,
  type EffectClass,
  type EffectOf,
  type EntryBody,
  hashText,
  type ToolContext,
  ToolOutcome,
} from "@troupe/core";
import type { EffectScope, Perform } from "./effect.ts";

/**
 * One tool call, as careful as its effect class asks (DESIGN 7.6). An unsafe call is announced in the journal before
 * it starts; found announced and without an outcome it is in doubt, and never run again by itself.
 */
export const callTool: Perform<"callTool"> = async (effect, scope) => {
  const { toolCall, step, call } = effect;
  const { world, signal } = scope;
  const effectClass = scope.pin.tools.find(({ name }) => name === toolCall.name)?.effect ?? "unsafe";
  const startedMs = world.clock.monotonicMs();
  const outcome = await (scope.resumed ? resume(effectClass, effect, scope) : start(effectClass, effect, scope));
  if (!outcome || (signal.aborted && !outcome.inDoubt)) return null;
  const durationMs = Math.max(outcome.durationMs, world.clock.monotonicMs() - startedMs);
  return { kind: "tool.finished", step, call, tool: toolCall.name, outcome: { ...outcome, durationMs } };
};

type CallTool = EffectOf<"callTool">;

async function start(effectClass: EffectClass, effect: CallTool, scope: EffectScope): Promise<ToolOutcome | null> {
  if (effectClass === "unsafe") {
    await scope.readInbox();
    if (scope.signal.aborted) return null;
    scope.world.probe.at("intent:before", probed(effect));
    await scope.record(startedBody(effect));
    scope.world.probe.at("intent:after", probed(effect));
    if (scope.signal.aborted) return null;
  }
  scope.show({ kind: "tool.started", tool: effect.toolCall.name, detail: detailOf(effect.toolCall.args) });
  return ToolOutcome.parse(await scope.world.tools.run(effect.toolCall, contextOf(effect, scope)));
}

async function resume(effectClass: EffectClass, effect: CallTool, scope: EffectScope): Promise<ToolOutcome | null> {
  if (effectClass === "unsafe" && scope.wasStarted(effect.step, effect.call)) return inDoubt(effect.toolCall.name);
  if (effectClass === "verifiable") {
    const done = await scope.world.tools.verify(effect.toolCall, contextOf(effect, scope));
    if (done) return ToolOutcome.parse(done);
  }
  return start(effectClass, effect, scope);
}

function inDoubt(tool: string): ToolOutcome {
  return ToolOutcome.parse({
    output: `IN DOUBT: this ${tool} call was started, then the process was stopped before its outcome was known. It may or may not have happened. It was not run again. Check before you repeat it.`,
    inDoubt: true,
  });
}

function startedBody({ step, call, toolCall }: CallTool): EntryBody {
  return { kind: "tool.started", step, call, tool: toolCall.name, argsHash: hashText(canonicalJson(toolCall.args)) };
}

function contextOf(effect: CallTool, scope: EffectScope): ToolContext {
  const { request, pin, signal } = scope;
  return {
    session: request.session,
    run: request.run,
    agent: request.agent,
    workspace: request.workspace.path,
    grant: pin.grant,
    signal,
    idempotencyKey: `${request.run}/${effect.step}/${effect.call}`,
  };
}

function probed({ run, step, call }: CallTool): { run: string; key: string } {
  return { run, key: `tool/${step}/${call}` };
}

/** The argument that tells most, for people who watch. */
function detailOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const first = Object.values(args).find((value) => typeof value === "string");
  return typeof first === "string" ? first.slice(0, 120) : "";
}

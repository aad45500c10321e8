import { type EntryBody, type ToolContext, ToolOutcome } from "@troupe/core";
import type { FolderChanges } from "@troupe/core/internal";
import {
  bytesPerToken,
  canonicalJson,
  contextLimit,
  type EffectClass,
  type EffectOf,
  type FilePlan,
  hashText,
} from "@troupe/core/internal";
import { untilDone } from "../retry-until-done.ts";
import { toolFolderOf } from "../tool-folder.ts";
import { approvalRequested } from "./ask-approval.ts";
import type { EffectScope, Perform } from "./effect.ts";
import { toolContext } from "./tool-context.ts";

type CallTool = EffectOf<"callTool">;

/**
 * One tool call, as careful as its effect class asks (DESIGN 7.6). An unsafe call is announced in the journal before
 * it starts; found announced and without an outcome it is in doubt, and never run again by itself. One that can be
 * verified is announced with what it will do: found so, it is looked for first, and does that or nothing. A call that this
 * machine's policy wants a person to allow is not run: the question is its outcome.
 */
export const callTool: Perform<"callTool"> = async (effect, scope) => {
  const { toolCall, step, call } = effect;
  const { deps, signal } = scope;
  await deps.tools.prepare?.(toolFolderOf(scope.request));
  const effectClass = scope.pin.tools.find(({ name }) => name === toolCall.name)?.effect ?? null;
  const isInDoubt = scope.resumed && effectClass === "unsafe" && scope.started(step, call) !== null;
  const question = isInDoubt ? null : questionOf(effect, scope);
  if (question) return question;
  const startedMs = deps.clock.monotonicMs();
  const outcome = isInDoubt ? inDoubt(toolCall.name) : await run(effectClass, effect, scope);
  if (!outcome || (signal.aborted && !outcome.inDoubt)) return null;
  const durationMs = Math.max(outcome.durationMs, deps.clock.monotonicMs() - startedMs);
  return { kind: "tool.finished", step, call, tool: toolCall.name, outcome: { ...outcome, durationMs } };
};

/** What a person has to be asked before this call; null where it may run, or where running it says why not. */
function questionOf(effect: CallTool, scope: EffectScope): EntryBody | null {
  const { toolCall, step, call, approved } = effect;
  if (approved) return null;
  const { decision, risk, reason } = scope.deps.tools.assess(toolCall, contextOf(effect, scope));
  if (decision !== "ask") return null;
  return approvalRequested(scope.request, { step, call, tool: toolCall.name, args: toolCall.args, risk, reason });
}

async function run(effectClass: EffectClass | null, effect: CallTool, scope: EffectScope): Promise<ToolOutcome | null> {
  const { tools } = scope.deps;
  const { toolCall, step, call } = effect;
  const context = contextOf(effect, scope);
  // A tool that the run was never given can only be refused: nothing is announced that will not begin.
  if (effectClass === null) return ToolOutcome.parse(await tools.run(toolCall, context));
  const announced = scope.resumed ? (scope.started(step, call)?.plan ?? null) : null;
  if (scope.resumed && effectClass === "verifiable") {
    const done = await tools.verify(toolCall, { ...context, plan: announced });
    if (done) return await kept(ToolOutcome.parse(done), effect, scope);
  }
  // What took time may have taken the run: neither is anything announced then, nor does it begin.
  if (!(await scope.isOurs())) return null;
  // What was announced is what is done: planned anew, it would be about what others have made of the files since.
  const plan = announced ?? (await announce(effectClass, effect, scope));
  if (!(await scope.isOurs()) || scope.signal.aborted) return null;
  scope.show({ kind: "tool.started", tool: toolCall.name, detail: detailOf(toolCall.args) });
  if (effectClass === "read") return ToolOutcome.parse(await tools.run(toolCall, { ...context, plan }));
  scope.folder.callStarted({ key: `${step}/${call}`, planned: (plan ?? []).map(({ path }) => path) });
  return await kept(ToolOutcome.parse(await tools.run(toolCall, { ...context, plan })), effect, scope);
}

/**
 * The outcome, with what the call has left in a folder of the run's own: that is kept before anything is written down. What
 * comes after this is journaled after it, so that the newest entry has the newest folder.
 */
async function kept(outcome: ToolOutcome, { step, call }: CallTool, scope: EffectScope): Promise<ToolOutcome> {
  const { folder, deps, request, signal } = scope;
  let found: FolderChanges | null = null;
  const keep = async (): Promise<void> => {
    found = await folder.callEnded({ key: `${step}/${call}` });
  };
  await untilDone(keep, "what a call has left could not be kept; trying again", { deps, request, signal });
  const left = found as FolderChanges | null;
  if (left === null) return outcome;
  const told = new Set(outcome.changes.map(({ path }) => path));
  const { folderRef, changes, note } = left;
  return {
    ...outcome,
    ...(folderRef === undefined ? {} : { folderRef }),
    changes: [...outcome.changes, ...changes.filter(({ path }) => !told.has(path))],
    output: note === "" ? outcome.output : `${outcome.output}\n${note}`,
  };
}

/** Writes down what begins, where somebody may have to ask later whether it did. Resolves to what it will do to files. */
async function announce(effectClass: EffectClass, effect: CallTool, scope: EffectScope): Promise<FilePlan[] | null> {
  const { failpoint, tools } = scope.deps;
  const plan = effectClass === "verifiable" ? await tools.plan(effect.toolCall, contextOf(effect, scope)) : null;
  if (plan === null && effectClass !== "unsafe") return null;
  failpoint.at("intent:before", probed(effect));
  await scope.record(startedBody(effect, plan));
  failpoint.at("intent:after", probed(effect));
  return plan;
}

function inDoubt(tool: string): ToolOutcome {
  return ToolOutcome.parse({
    output: `IN DOUBT: this ${tool} call was started, then the process was stopped before its outcome was known. It may or may not have happened. It was not run again. Check before you repeat it.`,
    inDoubt: true,
  });
}

function startedBody({ step, call, toolCall }: CallTool, plan: FilePlan[] | null): EntryBody {
  const { name: tool, args } = toolCall;
  return { kind: "tool.started", step, call, tool, argsHash: hashText(canonicalJson(args)), plan };
}

function contextOf({ step, call, approved }: CallTool, scope: EffectScope): ToolContext {
  const context = toolContext(scope, `${step}/${call}`, { approved, plan: null });
  const bytesMax = Math.floor(contextLimit(scope.pin) * bytesPerToken * outputShare);
  return Number.isFinite(bytesMax) ? { ...context, outputBytesMax: Math.max(bytesMax, outputBytesMin) } : context;
}

/** No single output takes more of a conversation than this: it would be the last thing that the run reads. */
const outputShare = 0.25;
const outputBytesMin = 1_024;

function probed({ run, step, call }: CallTool): { run: string; key: string } {
  return { run, key: `tool/${step}/${call}` };
}

/** The argument that tells most, for people who watch. */
function detailOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const first = Object.values(args).find((value) => typeof value === "string");
  return typeof first === "string" ? first.slice(0, 120) : "";
}

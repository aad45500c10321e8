import { type EntryBody, type ToolContext, ToolOutcome } from "@troupe/core";
import {
  bytesPerToken,
  canonicalJson,
  contextLimit,
  type EffectClass,
  type EffectOf,
  type FilePlan,
  type FolderChanges,
  findAgents,
  findAgentToolName,
  hashText,
  isCovered,
  permanentError,
  staleApproval,
  type ToolExamination,
  taintField,
} from "@troupe/core/internal";
import { toolFolderOf } from "../claim/run-spec.ts";
import { retryUntilDone } from "../retry-until-done.ts";
import { approvalRequested } from "./ask-approval.ts";
import { type EffectScope, type Perform, toolContext } from "./effect.ts";

type CallTool = EffectOf<"callTool">;

/** One output uses at most this share of the context: more would leave no room for the next turn. */
const outputShare = 0.25;
const outputBytesMin = 1_024;

/**
 * Runs one tool call, with the care of its effect class. An unsafe call is journaled before it starts. A host that finds
 * it started and without an outcome reports it as in doubt and never runs it again. A verifiable call is journaled with
 * its plan; a later host checks whether the plan was carried out, and carries out that plan or nothing.
 *
 * A call that was stopped has an outcome only if it changed files.
 *
 * If this machine's policy requires a person's approval, the call does not run: its outcome is the question.
 */
export const callTool: Perform<"callTool"> = async (effect, scope) => {
  const { toolCall, step, call } = effect;
  const { deps, signal } = scope;
  if (isAgentSearch(effect, scope)) {
    const outcome = searchAgents(effect, scope);
    return { kind: "tool.finished", step, call, tool: toolCall.name, outcome };
  }
  await deps.tools.prepare?.(toolFolderOf(scope.request));
  const effectClass = scope.pin.tools.find(({ name }) => name === toolCall.name)?.effect ?? null;
  const isInDoubt = scope.resumed && effectClass === "unsafe" && scope.startedCall(step, call) !== null;
  const admission = isInDoubt ? { approved: false } : await admit(effect, scope);
  if ("question" in admission) return admission.question;
  const startedMs = deps.clock.monotonicMs();
  const admitted = { ...effect, ...admission };
  const outcome = isInDoubt ? await inDoubt(effect, scope) : await run(effectClass, admitted, scope);
  if (!outcome || (signal.aborted && !outcome.inDoubt && outcome.changes.length === 0)) return null;
  const durationMs = Math.max(outcome.durationMs, deps.clock.monotonicMs() - startedMs);
  return { kind: "tool.finished", step, call, tool: toolCall.name, outcome: { ...outcome, durationMs } };
};

/** A replay takes the recorded result: a later version may rank the agents differently. */
function isAgentSearch({ toolCall: { name } }: CallTool, { deps, pin }: EffectScope): boolean {
  const isOffered = pin.tools.some((tool) => tool.name === findAgentToolName);
  return name === findAgentToolName && isOffered && !pin.grant.tools.includes(name) && !deps.replay;
}

/** Needs no tool host, no approval and no folder: the answer is in the spec of the run. */
function searchAgents({ toolCall }: CallTool, { pin, publish }: EffectScope): ToolOutcome {
  publish({ kind: "tool.started", tool: toolCall.name, detail: detailOf(toolCall.args) });
  const found = findAgents(pin.targets, toolCall.args);
  if ("output" in found) return ToolOutcome.parse(found);
  const error = { ...permanentError("params", found.error), tool: toolCall.name };
  return ToolOutcome.parse({ output: `${error.type}: ${error.message}`, error });
}

/** Whether a person has allowed the call, with the approval, or the question for one. */
type Admission = Pick<CallTool, "approved" | "approval"> | { question: EntryBody };

/**
 * A call that runs without an approval can still be refused: running it returns the refusal. An approval is compared with
 * the files that the call would now run or lose, and the person is asked again about a difference.
 */
async function admit(effect: CallTool, scope: EffectScope): Promise<Admission> {
  const { toolCall, step, call, approved, approval, allowances = [] } = effect;
  if (approved && approval?.bound === undefined) return { approved };
  const { decision, risk, reason, ...found } = await examine(effect, scope);
  const { covers, losses, bound } = found;
  const state = { ...(losses ? { losses } : {}), ...(bound ? { bound } : {}) };
  const tool = toolCall.name;
  const changed = approved && approval ? staleApproval(approval, state) : null;
  const isAllowed = approved ? changed === null : decision !== "ask";
  if (isAllowed || decision === "deny") return { approved, ...(approval ? { approval } : {}) };
  if (changed === null && covers && isCovered({ tool, risk, covers }, allowances)) {
    return { approved: true, approval: { id: "", ...state } };
  }
  const unkept = isTracked(effect, scope) ? await scope.folder.describeUnkept() : "";
  const why = [changed ?? reason, unkept].filter((text) => text !== "").join("; ");
  const question = { step, call, tool, args: toolCall.args, risk, reason: why, ...found };
  const after = approval ? { after: approval.id } : {};
  return { question: approvalRequested(scope.request, { ...question, ...after }) };
}

/** The decision about a call, with the files that it is about if the tool host looks at them. */
async function examine(effect: CallTool, scope: EffectScope): Promise<ToolExamination> {
  const { tools } = scope.deps;
  const context = contextOf(effect, scope);
  if (tools.examine) return await tools.examine(effect.toolCall, context);
  const assessed = tools.assess(effect.toolCall, context);
  return assessed.decision === "ask" ? { ...assessed, ...(await tools.reachOf?.(effect.toolCall, context)) } : assessed;
}

async function run(effectClass: EffectClass | null, effect: CallTool, scope: EffectScope): Promise<ToolOutcome | null> {
  const { tools } = scope.deps;
  const { toolCall, step, call } = effect;
  const context = contextOf(effect, scope);
  // The run was never given this tool, so the tool host refuses the call. A call that never starts is not journaled.
  if (effectClass === null) return ToolOutcome.parse(await tools.run(toolCall, context));
  const journaledPlan = scope.resumed ? (scope.startedCall(step, call)?.plan ?? null) : null;
  if (scope.resumed && effectClass === "verifiable") {
    const done = await tools.verify(toolCall, { ...context, plan: journaledPlan });
    if (done) return await withFolderChanges(ToolOutcome.parse(done), effect, scope);
  }
  // The verification may have outlasted the lease. Then nothing is journaled and nothing starts.
  if (!(await scope.isHeld())) return null;
  const isUntracked = effectClass === "idempotent" && !isTracked(effect, scope);
  if (effectClass === "read" || isUntracked) return await start(effect, scope, { plan: journaledPlan, unkept: "" });
  return await runChanging({ effectClass, journaledPlan }, effect, scope);
}

interface ChangingCall {
  effectClass: EffectClass;
  journaledPlan: readonly FilePlan[] | null;
}

/** Runs a call that can change files of the folder, and adds the changes to its outcome. */
async function runChanging(call: ChangingCall, effect: CallTool, scope: EffectScope): Promise<ToolOutcome | null> {
  const { effectClass, journaledPlan } = call;
  const key = keyOf(effect);
  const listsChanges = effectClass === "verifiable";
  try {
    // The files are copied before the start is journaled, because the entry tells which of them could not be.
    const unkept = listsChanges ? "" : await scope.folder.callStarted({ key, planned: [], listsChanges });
    // The journaled plan is carried out. A new plan would include changes that other runs have made since.
    const plan = journaledPlan ?? (await recordStart(effectClass, effect, { scope, unkept }));
    if (listsChanges) await scope.folder.callStarted({ key, planned: plan ?? [], listsChanges });
    const outcome = await start(effect, scope, { plan, unkept });
    return outcome && (await withFolderChanges(outcome, effect, scope));
  } finally {
    // Has no effect on a call whose changes were found.
    scope.folder.callDropped({ key });
  }
}

function keyOf({ step, call }: Pick<CallTool, "step" | "call">): string {
  return `${step}/${call}`;
}

/** Runs the tool, unless the run was stopped or lost meanwhile. */
async function start(
  effect: CallTool,
  scope: EffectScope,
  { plan, unkept }: { plan: readonly FilePlan[] | null; unkept: string },
): Promise<ToolOutcome | null> {
  const { toolCall } = effect;
  const held = scope.isHeld();
  if ((held !== true && !(await held)) || scope.signal.aborted) return null;
  const detail = [detailOf(toolCall.args), unkept].filter(Boolean).join("; ");
  scope.publish({ kind: "tool.started", tool: toolCall.name, detail });
  const outcome = ToolOutcome.parse(await scope.deps.tools.run(toolCall, { ...contextOf(effect, scope), plan }));
  const { durationMs } = outcome;
  const end = { detail: detailOf(toolCall.args), durationMs, ok: outcome.error === null, result: resultText(outcome) };
  scope.publish({ kind: "tool.finished", tool: toolCall.name, ...end });
  return outcome;
}

/**
 * Stores the changes that a call has made in the run's own folder and adds them to its outcome. Later outcomes are
 * journaled later, so the newest entry always has the newest folder state.
 */
async function withFolderChanges(outcome: ToolOutcome, effect: CallTool, scope: EffectScope): Promise<ToolOutcome> {
  const { folder, deps, request, signal } = scope;
  let found: FolderChanges | null = null;
  const store = async (): Promise<void> => {
    found = await folder.callEnded({ key: keyOf(effect) });
  };
  // A stopped call is not worth a second try: its run ends in a moment.
  if (signal.aborted) await store().catch(() => {});
  else
    await retryUntilDone(store, "the changes of a call could not be stored; trying again", { deps, request, signal });
  return withChanges(outcome, found);
}

function withChanges(outcome: ToolOutcome, folderChanges: FolderChanges | null): ToolOutcome {
  if (folderChanges === null) return outcome;
  const reported = new Set(outcome.changes.map(({ path }) => path));
  const { folderRef, changes, note } = folderChanges;
  return {
    ...outcome,
    ...(folderRef === undefined ? {} : { folderRef }),
    changes: [...outcome.changes, ...changes.filter(({ path }) => !reported.has(path))],
    output: note === "" ? outcome.output : `${outcome.output}\n${note}`,
  };
}

/** Journals the start of a call, if a later host may have to know of it. Resolves to its plan for the files. */
async function recordStart(
  effectClass: EffectClass,
  effect: CallTool,
  { scope, unkept }: { scope: EffectScope; unkept: string },
): Promise<FilePlan[] | null> {
  const { failpoint, tools } = scope.deps;
  const plan = effectClass === "verifiable" ? await tools.plan(effect.toolCall, contextOf(effect, scope)) : null;
  if (plan === null && effectClass !== "unsafe") return null;
  const detail = { run: effect.run, key: `tool/${effect.step}/${effect.call}` };
  failpoint.at("intent:before", detail);
  await scope.record({ ...startedEntry(effect, plan), ...(unkept === "" ? {} : { unkept }) });
  failpoint.at("intent:after", detail);
  return plan;
}

function startedEntry(
  { step, call, toolCall }: CallTool,
  plan: FilePlan[] | null,
): EntryBody & { kind: "tool.started" } {
  const { name: tool, args } = toolCall;
  return { kind: "tool.started", step, call, tool, argsHash: hashText(canonicalJson(args)), plan };
}

/** The outcome of a call that a killed host started, with the changes of the folder since then, if they are known. */
async function inDoubt(effect: CallTool, { folder }: EffectScope): Promise<ToolOutcome> {
  return withChanges(inDoubtOutcome(effect.toolCall.name), await folder.callInDoubt({ key: keyOf(effect) }));
}

/** Whether only a search of the folder can tell what a call changed. */
function isTracked({ toolCall }: CallTool, { pin }: EffectScope): boolean {
  const spec = pin.tools.find(({ name }) => name === toolCall.name);
  return spec?.effect === "unsafe" || (spec?.effect === "idempotent" && spec.changesFiles !== false);
}

function inDoubtOutcome(tool: string): ToolOutcome {
  return ToolOutcome.parse({
    output: `IN DOUBT: this ${tool} call was started, then the process was stopped before its outcome was known. It may or may not have happened. It was not run again. Check before you repeat it.`,
    inDoubt: true,
  });
}

function contextOf({ step, call, approved, approval, taint }: CallTool, scope: EffectScope): ToolContext {
  const own = toolContext(scope, `${step}/${call}`, { approved, plan: null });
  const { losses, bound } = approval ?? {};
  const state = approved && bound ? { approval: { bound, ...(losses ? { losses } : {}) } } : {};
  const context = { ...own, ...state, ...taintField(taint) };
  const bytesMax = Math.floor(contextLimit(scope.pin) * bytesPerToken * outputShare);
  return Number.isFinite(bytesMax) ? { ...context, outputBytesMax: Math.max(bytesMax, outputBytesMin) } : context;
}

/** The end of a call in a few words, for the live display. */
function resultText({ error, output }: ToolOutcome): string {
  const [, exitCode] = /^exit code (\d+)/.exec(output) ?? [];
  if (exitCode !== undefined) return `exit ${exitCode}`;
  return error?.type.replaceAll("_", " ") ?? "";
}

/** The first text argument, for the live display. */
function detailOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const first = Object.values(args).find((value) => typeof value === "string");
  return typeof first === "string" ? first.slice(0, 120) : "";
}

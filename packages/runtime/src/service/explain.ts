import { defaultPolicy, type Grant, type Policy, replayAgent, type ToolSpec, TroupeError } from "@troupe/core";
import {
  explainGrant,
  type GrantDecision,
  type GrantExplanation,
  openEntry,
  projectOf,
  runContextOf,
  taintField,
  toolRemoval,
} from "@troupe/core/internal";
import { toolFolderOf } from "../host/claim/run-spec.ts";
import type { ControlOptions } from "./control.ts";
import { findRun } from "./lookup.ts";

/**
 * Explains which tools and agents a run may use, and which layer took each of the others away. The layers are evaluated
 * with the tools and agents of now. The grant that was pinned when the run opened decides what the run has, and this
 * machine's policy decides what it may still do. The context of the run comes from a replay of its journal.
 */
export async function explainRun(options: ControlOptions, run: string): Promise<GrantExplanation> {
  const { deps, policy = defaultPolicy } = options;
  const { opened, session } = await findRun(options, run);
  if (!opened) {
    throw new TroupeError("CONFLICT", `run ${run} has not started, and its grant is decided when it starts`, {
      fix: "ask again when it runs",
    });
  }
  const { request, pin } = opened;
  const folder = toolFolderOf(request);
  await deps.tools.prepare?.(folder);
  const specs = deps.tools.specs(folder);
  const { agents } = await deps.agentSource.load(projectOf(request));
  const entries = (await deps.journal.readRun(session, run)).map(openEntry);
  const context = replayAgent(entries);
  const machine = pin.machine ? [pin.machine] : [];
  const layers = [...request.layers, ...machine];
  const decisions = explainGrant(layers, pin.definition, { tools: specs, agents });
  const { mode: workspace } = request.workspace;
  return {
    run,
    session,
    agent: request.agent,
    layers: [...layers.map(({ from }) => from), pin.definition.id],
    verdicts: [...decisions.map((decision) => asGranted(decision, pin.grant)), ...missingNow(decisions, pin.grant)].map(
      (decision) =>
        // The policy of another machine decides about runs on that machine, and this process does not know it.
        machine.length > 0 ? decision : underPolicy(decision, specs, policy),
    ),
    ...(workspace === undefined ? {} : { workspace }),
    context: runContextOf(context),
    ...taintField(context.usage.taint),
  };
}

/** The grant of the run's opening holds, even if definitions or tools changed since. */
function asGranted(decision: GrantDecision, grant: Grant): GrantDecision {
  const granted = namesIn(grant, decision.kind).includes(decision.name);
  if (granted === decision.granted) return decision;
  if (granted)
    return { ...decision, granted, removedBy: null, reason: `granted when the run opened; now ${decision.reason}` };
  return { ...decision, granted, removedBy: "run", reason: "was missing, or not granted, when the run opened" };
}

/** Tools and agents that the run was granted but that no longer exist. */
function missingNow(decisions: readonly GrantDecision[], grant: Grant): GrantDecision[] {
  return (["tool", "agent"] as const).flatMap((kind) =>
    namesIn(grant, kind)
      .filter((name) => !decisions.some((decision) => decision.kind === kind && decision.name === name))
      .map((name) => {
        const reason = `granted when the run opened; this process no longer has such a ${kind}`;
        return { kind, name, granted: true, removedBy: null, reason };
      }),
  );
}

/** A machine's policy is checked at every call, so today's policy decides. */
function underPolicy(decision: GrantDecision, specs: readonly ToolSpec[], { layer }: Policy): GrantDecision {
  const spec =
    decision.kind === "tool" && decision.granted ? specs.find(({ name }) => name === decision.name) : undefined;
  const names = new Set(specs.map(({ name }) => name));
  const removal = spec ? toolRemoval([layer], spec, names) : null;
  if (!removal) return decision;
  const reason = `granted when the run opened, but now ${removal.reason}`;
  return { ...decision, granted: false, removedBy: removal.by, reason };
}

function namesIn({ tools, agents }: Grant, kind: GrantDecision["kind"]): readonly string[] {
  return kind === "tool" ? tools : agents;
}

import { defaultPolicy, type Grant, type Policy, type ToolSpec, TroupeError } from "@troupe/core";
import { explainGrant, type GrantDecision, type GrantExplanation, projectOf, toolRemoval } from "@troupe/core/internal";
import { toolFolderOf } from "../host/tool-folder.ts";
import type { ControlOptions } from "./control.ts";
import { findRun } from "./find-run.ts";

/**
 * What a run may use, and which layer took away what it may not. Layers are asked about the tools and agents that
 * there are now; what was pinned when the run opened is what it really has, and this machine's policy what it is
 * really let do.
 */
export async function explainRun(options: ControlOptions, run: string): Promise<GrantExplanation> {
  const { deps, policy = defaultPolicy } = options;
  const { opened, session } = await findRun(options, run);
  if (!opened) {
    throw new TroupeError("CONFLICT", `run ${run} has not begun, and what it may use is settled when it does`, {
      fix: "ask again when it runs",
    });
  }
  const { request, pin } = opened;
  const folder = toolFolderOf(request);
  await deps.tools.prepare?.(folder);
  const specs = deps.tools.specs(folder);
  const { agents } = await deps.agentSource.load(projectOf(request));
  const machine = pin.machine ? [pin.machine] : [];
  const layers = [...request.layers, ...machine];
  const verdicts = explainGrant(layers, pin.definition, { tools: specs, agents });
  return {
    run,
    session,
    agent: request.agent,
    layers: [...layers.map(({ from }) => from), pin.definition.id],
    verdicts: [...verdicts.map((verdict) => pinned(verdict, pin.grant)), ...gone(verdicts, pin.grant)].map((verdict) =>
      // On another machine it is not this one's owner who is asked.
      machine.length > 0 ? verdict : underPolicy(verdict, specs, policy),
    ),
  };
}

/** What was settled when the run opened holds, whatever has changed since. */
function pinned(verdict: GrantDecision, grant: Grant): GrantDecision {
  const granted = namesIn(grant, verdict.kind).includes(verdict.name);
  if (granted === verdict.granted) return verdict;
  if (granted)
    return { ...verdict, granted, removedBy: null, reason: `granted when the run opened; now ${verdict.reason}` };
  return { ...verdict, granted, removedBy: "run", reason: "was not there, or not granted, when the run opened" };
}

/** Granted once, and nowhere to be found now. */
function gone(verdicts: readonly GrantDecision[], grant: Grant): GrantDecision[] {
  return (["tool", "agent"] as const).flatMap((kind) =>
    namesIn(grant, kind)
      .filter((name) => !verdicts.some((verdict) => verdict.kind === kind && verdict.name === name))
      .map((name) => {
        const reason = `granted when the run opened; no ${kind} here is called that now`;
        return { kind, name, granted: true, removedBy: null, reason };
      }),
  );
}

/** A machine's own policy is asked again at every call: what it says now is what happens. */
function underPolicy(verdict: GrantDecision, specs: readonly ToolSpec[], { layer }: Policy): GrantDecision {
  const spec = verdict.kind === "tool" && verdict.granted ? specs.find(({ name }) => name === verdict.name) : undefined;
  const names = new Set(specs.map(({ name }) => name));
  const removal = spec ? toolRemoval([layer], spec, names) : null;
  if (!removal) return verdict;
  const reason = `granted when the run opened, but now ${removal.reason}`;
  return { ...verdict, granted: false, removedBy: removal.by, reason };
}

function namesIn({ tools, agents }: Grant, kind: GrantDecision["kind"]): readonly string[] {
  return kind === "tool" ? tools : agents;
}

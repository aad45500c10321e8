import type { AgentRegistry, EntryBody, Message, RunError, RunRequest } from "@troupe/core";
import { composeResponse, openContext, permanentError, rejectedOutcome } from "@troupe/core/internal";
import { historyOf } from "../history.ts";
import type { HostDeps } from "../host-deps.ts";
import { resolveRunSpec } from "./run-spec.ts";

/** A new run's first facts: its opening, and at once its end where nobody of that name is there. */
export async function openingOf(deps: HostDeps, request: RunRequest, registry: AgentRegistry): Promise<EntryBody[]> {
  const history = await historyOf(deps.journal, request);
  const pin = {
    ...(deps.replay?.specOf(request) ?? (await resolveRunSpec(deps, request, registry))),
    history: history ?? [],
  };
  const opened: EntryBody = { kind: "run.opened", request, pin };
  const error = refusalOf(request, registry, history);
  if (!error) return [opened];
  const context = openContext({ request, pin, openedAt: deps.clock.now() });
  return [opened, { kind: "run.settled", response: composeResponse(context, rejectedOutcome(error)) }];
}

/** Why a new run cannot begin; null where it can. */
function refusalOf(
  { agent, continues }: RunRequest,
  registry: AgentRegistry,
  history: Message[] | null,
): RunError | null {
  const ids = registry.agents.map(({ id }) => id).join(", ");
  if (!registry.find(agent)) return permanentError("unknown_agent", `no agent is called "${agent}"; there are: ${ids}`);
  return history ? null : permanentError("params", `run ${continues}, which it was to go on from, has not ended here`);
}

import { type ModelReply, RunRequest, type RunResponse } from "@troupe/core";
import { decode, encode, SettledMessage } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";
import type { HostDeps } from "@troupe/runtime";

const ids = systemIds();

/** A call of `delegate` with a task that differs from step to step, or it would be taken for a circle. */
export function delegateTo(agent: string, step: number): ModelReply["calls"] {
  const args = { agent, task: `Look into part ${step} and say in one sentence what you found.` };
  return [{ id: `call-${step}`, name: "delegate", args, problem: null }];
}

/** Begins a session with the agent `main`, as daemons do; resolves with its response. */
export async function askRoot({ bus, subjects, queue, journal }: HostDeps): Promise<RunResponse> {
  const request = RunRequest.parse({
    ...{ v: 1, session: ids.next(), run: ids.next(), parent: null, agent: "main", depth: 0, attempt: 1 },
    ...{ task: "measure", chain: [], layers: [], model: "bench/model", workspace: { id: "w1", path: "/nowhere" } },
  });
  const answer = Promise.withResolvers<RunResponse>();
  const subscription = await bus.subscribe(subjects.settled(request.run), ({ bytes }) => {
    const { response } = decode(SettledMessage, bytes, "settled message");
    if (response) answer.resolve(response);
  });
  const { session } = request;
  await journal.appendInbox({
    ...{ v: 1, kind: "session.requested", at: Date.now(), session, request, origin: "api", demo: false },
  });
  await queue.offer({ run: request.run, agent: "main", locality: "any", bytes: encode(request) });
  const response = await answer.promise;
  subscription.unsubscribe();
  return response;
}

import { ApprovalAnswer, type Redactor, SubmitSession, type TroupeService } from "@troupe/core";
import { redactAs } from "./redact-as.ts";

/**
 * The same service, to which nobody can tell a secret, and which tells none: what people say is redacted before anything
 * is made of it, and what it reads besides the record (agent files, addresses of providers) before it is answered.
 */
export function redactedService<S extends TroupeService>(service: S, redact: Redactor | undefined): S {
  if (!redact) return service;
  const text = (said: string): string => redact.text(said);
  const safe: Omit<TroupeService, "record" | "onLive" | "rules" | "removeRule"> = {
    status: async () => redact.json(await service.status()),
    agents: async (workspace) => redact.json(await service.agents(workspace)),
    hosts: async () => redact.json(await service.hosts()),
    drainHost: (host, by) => service.drainHost(host, text(by)),
    explain: async (run) => redact.json(await service.explain(run)),
    // The folder stays what it is: whether it can be worked in is found out where the session begins.
    submit: ({ workspace, ...said }) =>
      service.submit({ ...redactAs(SubmitSession, said, redact), ...(workspace === undefined ? {} : { workspace }) }),
    cancel: (session, reason) => service.cancel(session, text(reason)),
    cancelRun: (run, reason) => service.cancelRun(run, text(reason)),
    steer: (run, words, by) => service.steer(run, text(words), text(by)),
    pause: (run, by) => service.pause(run, text(by)),
    resume: (run, by) => service.resume(run, text(by)),
    answer: (approval, answer) => service.answer(approval, redactAs(ApprovalAnswer, answer, redact)),
  };
  return { ...service, ...safe };
}

/** The rest of the runtime, shared by troupe's own packages. It may change in any version; import from `@troupe/runtime` instead. */

export type { Served } from "./host/actor-host.ts";
export { definitionHashOf, maxBudgetOf } from "./host/claim/run-spec.ts";
export { retryUntilDone } from "./host/retry-until-done.ts";
export { sendCommand } from "./host/run/send-command.ts";
export { watchSettled } from "./host/run/settled.ts";
export { readOpenRuns } from "./host/run-deps.ts";
export type { ApiRoutes } from "./http/contract/api-routes.ts";
export type { ParamsOf, ReplyOf, RequestInput } from "./http/contract/route.ts";
export { ChangePage, EntryPage, SessionList } from "./http/pages.ts";
export type { HostFacts } from "./membership/announcer.ts";
export type { RunningHostDirectory } from "./membership/directory.ts";
export type { HostLoad } from "./membership/host-table.ts";
export { type HostListing, type ListHostsOptions, listHosts } from "./membership/list-hosts.ts";
export { namesAgent, remoteAgents } from "./membership/served-agents.ts";
export type { ChooseModel, DefaultTeam, SessionModel } from "./service/accept-session.ts";
export { beginSession, checkWorkspace, rootRequest, rootWorkspace } from "./service/begin-session.ts";
export { findTeam } from "./service/choose-agent.ts";
export { findAgent } from "./service/lookup.ts";
export { planAgents } from "./service/plan-fields.ts";
export { sessionLayer } from "./service/session-layer.ts";

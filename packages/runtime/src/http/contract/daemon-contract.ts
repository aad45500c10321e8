import { DaemonStatus } from "@troupe/core";
import {
  AgentList,
  AgentStatsList,
  HostOutcome,
  statsWindowMsDefault,
  statsWindowMsMax,
  TeamList,
} from "@troupe/core/internal";
import { z } from "zod";
import { DrainBody } from "../../service/command-bodies.ts";
import { HostList } from "../pages.ts";
import { duration, Workspace } from "./query.ts";
import { defineRoutes } from "./route.ts";

/** A login is the one request that needs no token, so its body is small. */
const loginBytesMax = 4 * 1024;

/** Routes about the daemon: login, status, and the agents, teams and hosts that it knows. */
export const daemonContract = defineRoutes({
  "POST /login": {
    operation: "logIn",
    summary: "Trades the token for the cookie `troupe_<port>`, for browsers",
    body: z.object({ token: z.string() }),
    bodyBytesMax: loginBytesMax,
    reply: null,
    status: 204,
    errors: ["UNAUTHORIZED", "LIMIT_REACHED"],
    open: true,
    alias: true,
  },
  "GET /openapi.json": {
    operation: "getOpenApi",
    summary: "This document",
    reply: z.record(z.string(), z.unknown()),
  },
  "GET /status": { operation: "getStatus", summary: "The status of the daemon", reply: DaemonStatus, alias: true },
  "GET /agents": {
    operation: "listAgents",
    summary: "The agents in a folder, and the problems in their files",
    query: z.object({ workspace: Workspace }),
    reply: AgentList,
    alias: true,
  },
  "GET /agents/stats": {
    operation: "getAgentStats",
    summary: "Success, time and cost of each agent, and of each agent under each parent",
    query: z.object({
      since: duration({
        min: 1,
        max: statsWindowMsMax,
        otherwise: String(statsWindowMsDefault),
        about: "How far back: a duration such as `30d`, or milliseconds.",
      }),
    }),
    reply: AgentStatsList,
    alias: true,
  },
  "GET /teams": {
    operation: "listTeams",
    summary: "The usable teams in a folder",
    query: z.object({ workspace: Workspace }),
    reply: TeamList,
    alias: true,
  },
  "GET /hosts": {
    operation: "listHosts",
    summary: "The processes that run agents, the daemon's own first",
    reply: HostList,
    alias: true,
  },
  "POST /hosts/{host}/drain": {
    operation: "drainHost",
    summary: "Drains a host: it takes no new runs and leaves its runs to other hosts",
    params: { host: "host" },
    body: DrainBody,
    reply: HostOutcome,
    alias: true,
  },
});

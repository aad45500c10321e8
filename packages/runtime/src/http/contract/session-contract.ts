import { RunResponse, SessionDetail, SubmitSession } from "@troupe/core";
import { CancelOutcome, Submitted, TimelinePage } from "@troupe/core/internal";
import { z } from "zod";
import { CancelBody } from "../../service/command-bodies.ts";
import { ChangePage, SessionList } from "../pages.ts";
import { RowPage, wholeNumber } from "./query.ts";
import { defineRoutes } from "./route.ts";

const params = { id: "session" } as const;

/** Routes that submit, read and cancel sessions. */
export const sessionContract = defineRoutes({
  "GET /sessions": {
    operation: "listSessions",
    summary: "The newest sessions, newest first",
    query: z.object({
      limit: wholeNumber({ min: 1, max: 500, otherwise: 50, about: "The most sessions." }),
    }),
    reply: SessionList,
    alias: true,
  },
  "POST /sessions": {
    operation: "submitSession",
    summary: "Starts a session, or another turn of a settled one",
    description:
      "The session is durable when this answers. Choose the ids `session` or `run` yourself to make a repeat safe. " +
      "A task that begins with `/spawn AGENT` starts that sub-agent.",
    body: SubmitSession,
    reply: Submitted,
    status: 201,
    errors: [
      "UNKNOWN_AGENT",
      "UNKNOWN_TEAM",
      "UNKNOWN_MODEL",
      "UNKNOWN_SCENARIO",
      "UNKNOWN_SESSION",
      "INVALID_AGENT",
      "INVALID_PLAN",
      "CONFLICT",
      "NO_PROVIDER",
      "LIMIT_REACHED",
    ],
    alias: true,
  },
  "GET /sessions/{id}": {
    operation: "getSession",
    summary: "A session with its runs and approvals, at most 1 MB",
    description:
      "A large session comes in pages: runs in their order, then approvals, flaws and undos. `next` is absent on the last page. " +
      "A row that is larger than a quarter of a page has `isCut`.",
    params,
    query: z.object({ after: z.string().optional().meta({ description: "The `next` of the page before." }) }),
    reply: SessionDetail,
    alias: true,
  },
  "GET /sessions/{id}/response": {
    operation: "getResponse",
    summary: "The response of the newest turn",
    description: "`CONFLICT` until the turn has settled.",
    params,
    reply: RunResponse,
    errors: ["CONFLICT"],
    alias: true,
  },
  "GET /sessions/{id}/changes": {
    operation: "listSessionChanges",
    summary: "File changes of all runs, oldest first, at most 1 MB",
    params,
    query: RowPage,
    reply: ChangePage,
    alias: true,
  },
  "GET /sessions/{id}/timeline": {
    operation: "getTimeline",
    summary: "When the runs worked and waited",
    params,
    query: z.object({
      after: wholeNumber({
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        otherwise: 0,
        about: "The `next` of the page before.",
      }),
      limit: wholeNumber({ min: 1, max: 10_000, otherwise: 2_000, about: "The most events of a page." }),
    }),
    reply: TimelinePage,
    alias: true,
  },
  "POST /sessions/{id}/cancel": {
    operation: "cancelSession",
    summary: "Stops all runs of a session",
    params,
    body: CancelBody,
    reply: CancelOutcome,
    alias: true,
  },
});

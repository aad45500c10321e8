import { ConversationPage, RunTimeline, TreePage } from "@troupe/core/internal";
import { z } from "zod";
import { AncestorList } from "../pages.ts";
import { startAfter, wholeNumber } from "./query.ts";
import { defineRoutes } from "./route.ts";

const params = { run: "run" } as const;

/** A node needs less than 2 KB for its ids and sums, and its task is cut, so that 300 of them fit 1 MB. */
const nodesMax = 300;

const NodePage = z.object({
  after: startAfter("The `next` of the page before."),
  limit: wholeNumber({ min: 1, max: nodesMax, otherwise: 100, about: "The most runs of a page." }),
});

/** Routes about the tree of a session, and about the conversation and the time of one run. */
export const conversationContract = defineRoutes({
  "GET /runs/{run}/conversation": {
    operation: "getConversation",
    summary: "Requests, replies, calls and results of a run, oldest first, at most 1 MB",
    description: "Long texts are cut, and name the entry that has all of it.",
    params,
    query: z.object({
      from: wholeNumber({
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        otherwise: 0,
        about: "The `next` of the page before.",
      }),
      limit: wholeNumber({ min: 1, max: 1_000, otherwise: 200, about: "The most entries of a page." }),
    }),
    reply: ConversationPage,
    alias: true,
  },
  "GET /runs/{run}/timeline": {
    operation: "getRunTimeline",
    summary: "When a run worked and waited, and all attempts at its task",
    params,
    reply: RunTimeline,
    alias: true,
  },
  "GET /runs/{run}/children": {
    operation: "listChildren",
    summary: "The runs that a run delegated to, with their costs",
    params,
    query: NodePage,
    reply: TreePage,
    alias: true,
  },
  "GET /runs/{run}/ancestors": {
    operation: "listAncestors",
    summary: "The runs from the root down to this run's parent",
    params,
    reply: AncestorList,
    alias: true,
  },
  "GET /sessions/{id}/tree": {
    operation: "getTree",
    summary: "The runs of a session as a tree, each with its own cost and the cost with the runs below",
    params: { id: "session" },
    query: NodePage,
    reply: TreePage,
    alias: true,
  },
});

import { SearchPage } from "@troupe/core/internal";
import { z } from "zod";
import { IdMatchList } from "../pages.ts";
import { Since, startAfter, wholeNumber } from "./query.ts";
import { defineRoutes } from "./route.ts";

/** Routes that find runs and tool calls by their words, and sessions and runs by the beginning of an id. */
export const searchContract = defineRoutes({
  "GET /search": {
    operation: "search",
    summary: "Runs and tool calls that have all words, newest first",
    query: z.object({
      q: z.string().default("").meta({ description: 'The words. `sleep*` is a beginning, and `"a b"` is a phrase.' }),
      since: Since,
      agent: z.string().optional().meta({ description: "Only runs of the agent with this id." }),
      after: startAfter("The `next` of the page before."),
      limit: wholeNumber({ min: 1, max: 200, otherwise: 20, about: "The most hits of a page." }),
    }),
    reply: SearchPage,
    alias: true,
  },
  "GET /ids/{prefix}": {
    operation: "findIds",
    summary: "Sessions, and then runs, whose id begins with the prefix",
    params: { prefix: "prefix" },
    query: z.object({ limit: wholeNumber({ min: 1, max: 100, otherwise: 10, about: "The most ids." }) }),
    reply: IdMatchList,
    alias: true,
  },
});

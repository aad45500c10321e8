import { GrantExplanation, RunControlOutcome, UndoOutcome, UndoRequest } from "@troupe/core/internal";
import { z } from "zod";
import { CancelBody, PauseBody, SteerBody } from "../../service/command-bodies.ts";
import { ChangePage, EntryPage, UndoList } from "../pages.ts";
import { RowPage, wholeNumber } from "./query.ts";
import { defineRoutes } from "./route.ts";

const params = { run: "run" } as const;

/** Routes that read one run and send it commands. A command about a settled run changes nothing and says so. */
export const runContract = defineRoutes({
  "GET /runs/{run}/entries": {
    operation: "listEntries",
    summary: "The journal of a run, oldest first, at most 1 MB",
    params,
    query: z.object({
      from: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0, about: "The index of the first entry." }),
      limit: wholeNumber({ min: 1, max: 1_000, otherwise: 100, about: "The most entries of a page." }),
    }),
    reply: EntryPage,
    alias: true,
  },
  "GET /runs/{run}/changes": {
    operation: "listRunChanges",
    summary: "File changes of a run, oldest first, at most 1 MB",
    params,
    query: RowPage,
    reply: ChangePage,
    alias: true,
  },
  "GET /runs/{run}/explain": {
    operation: "explainRun",
    summary: "Every tool and agent of a run's grant, and the layer that removed it",
    description: "`CONFLICT` until the run has started.",
    params,
    reply: GrantExplanation,
    errors: ["CONFLICT"],
    alias: true,
  },
  "GET /runs/{run}/undos": {
    operation: "listUndos",
    summary: "The undos of a run, oldest first",
    params,
    reply: UndoList,
    alias: true,
  },
  "POST /runs/{run}/undo": {
    operation: "undoRun",
    summary: "Restores the files that a run and the runs below it changed",
    description: "`CONFLICT` for a run that is still working, and for a run without files on this machine.",
    params,
    body: UndoRequest,
    reply: UndoOutcome,
    errors: ["CONFLICT"],
    alias: true,
  },
  "POST /runs/{run}/cancel": {
    operation: "cancelRun",
    summary: "Stops a run and all runs below it",
    params,
    body: CancelBody,
    reply: RunControlOutcome,
    alias: true,
  },
  "POST /runs/{run}/steer": {
    operation: "steerRun",
    summary: "Sends a message to a run's model, which reads it at its next step",
    params,
    body: SteerBody,
    reply: RunControlOutcome,
    alias: true,
  },
  "POST /runs/{run}/pause": {
    operation: "pauseRun",
    summary: "Pauses a run and all runs below it",
    params,
    body: PauseBody,
    reply: RunControlOutcome,
    alias: true,
  },
  "POST /runs/{run}/resume": {
    operation: "resumeRun",
    summary: "Resumes a paused run",
    params,
    body: PauseBody,
    reply: RunControlOutcome,
    alias: true,
  },
});

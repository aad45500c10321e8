import { z } from "zod";
import { CostSum } from "./costs.ts";
import { Id, Token } from "./ids.ts";

const Count = z.int().nonnegative();

/** A run in the tree of its session. */
export const RunNode = z.object({
  session: Id,
  run: Id,
  parentRun: Id.nullable(),
  /** Its place among the runs of the session, by arrival. */
  order: Count,
  agent: Token,
  team: Token.nullable(),
  depth: Count,
  attempt: z.int().positive(),
  status: z.string(),
  /** At most 300 characters. */
  task: z.string(),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
  durationMs: z.number().nonnegative().nullable(),
  children: Count,
  own: CostSum,
  /** The run with all runs below it. */
  subtree: CostSum,
});
export type RunNode = z.infer<typeof RunNode>;

/** Runs of a tree in the order of their arrival. */
export const TreePage = z.object({
  nodes: z.array(RunNode),
  /** The `order` after which the next page begins; null for the last page. */
  next: z.int().nullable(),
});
export type TreePage = z.infer<typeof TreePage>;

/** `working`: an open part of the run that no entry explains yet. */
export const SpanKind = z.enum(["queued", "model", "tool", "delegating", "waiting", "paused", "parked"]);
export type SpanKind = z.infer<typeof SpanKind>;

/** A part of a run's time. */
export const RunSpan = z.object({
  kind: SpanKind,
  /** The model, the tool, the reason of a question, or the number of children. */
  name: z.string().nullable(),
  step: z.int().nullable(),
  startMs: z.int(),
  /** Null while it lasts. */
  endMs: z.int().nullable(),
  /** Why it failed; null for a success and for a span that has not ended. */
  error: z.string().nullable(),
  /** Failed requests before the answer of a model, and how long the run waited after each. */
  retries: z.array(z.object({ error: z.string(), waitedMs: z.number().nonnegative() })),
});
export type RunSpan = z.infer<typeof RunSpan>;

/** When one run worked and waited. */
export const RunTimeline = z.object({
  session: Id,
  run: Id,
  startMs: z.int(),
  /** Null until the run settles. */
  endMs: z.int().nullable(),
  spans: z.array(RunSpan),
  /** The runs of the same delegation, in the order of their attempts, this run included. Empty for a root run. */
  attempts: z.array(z.object({ run: Id, attempt: z.int().positive(), agent: Token, status: z.string() })),
  /** True if later spans are left out. */
  isCut: z.boolean(),
});
export type RunTimeline = z.infer<typeof RunTimeline>;

/** A session or run whose id begins with a prefix. */
export const IdMatch = z.object({ kind: z.enum(["session", "run"]), id: Id, session: Id });
export type IdMatch = z.infer<typeof IdMatch>;

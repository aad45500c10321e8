import { z } from "zod";

const AfterPieces = z.strictObject({
  /** Pieces of the answer that come through before. */
  afterPieces: z.int().nonnegative(),
});

/** In which of these ways a request goes wrong; a fault has one of them at most. */
const ways = ["status", "stall", "cut", "halfOpen", "streamError", "notWhatItSays"] as const;

/**
 * What becomes of one request for a step instead of its answer. With `delayMs` alone the answer comes, only later.
 * A vendor's own word for a failure (`insufficient_quota`) is its `code`.
 */
export const Fault = z
  .strictObject({
    /** Passes before anything else happens. */
    delayMs: z.number().nonnegative().max(3_600_000).exactOptional(),
    /** Refused with this HTTP status. */
    status: z.int().min(400).max(599).exactOptional(),
    retryAfterMs: z.number().nonnegative().exactOptional(),
    code: z.string().min(1).exactOptional(),
    message: z.string().min(1).exactOptional(),
    /** Silence for ever, on a connection that stays open. */
    stall: AfterPieces.exactOptional(),
    /** The connection is lost. */
    cut: AfterPieces.exactOptional(),
    /** The other end is gone without a word: nothing is read and nothing is closed any more. */
    halfOpen: AfterPieces.exactOptional(),
    /** An error inside an answer that began well. */
    streamError: AfterPieces.extend({
      /** The status that it would have had. */
      status: z.int().min(400).max(599).default(529),
      /** @default what vendors call that status */
      type: z.string().min(1).exactOptional(),
      message: z.string().min(1).exactOptional(),
    }).exactOptional(),
    /** Success, with a body of another kind. */
    notWhatItSays: z.enum(["html", "json", "empty"]).exactOptional(),
  })
  .superRefine((fault, context) => {
    const given = ways.filter((way) => fault[way] !== undefined);
    if (given.length > 1) {
      context.addIssue({ code: "custom", message: `a request goes wrong in one way, not in ${given.join(" and ")}` });
    }
    if (given.length === 0 && fault.delayMs === undefined) {
      context.addIssue({ code: "custom", message: `a fault needs delayMs or one of ${ways.join(", ")}` });
    }
    for (const name of ["retryAfterMs", "code", "message"] as const) {
      if (fault[name] === undefined || fault.status !== undefined) continue;
      context.addIssue({ code: "custom", message: `${name} belongs to a status`, path: [name] });
    }
  });
export type Fault = z.infer<typeof Fault>;

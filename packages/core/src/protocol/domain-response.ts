import { z } from "zod";
import { Token } from "./ids.ts";
import { Json } from "./json.ts";
import { RunErrorType } from "./run-error.ts";

/** Types of errors in the response of a domain agent. */
export const DomainErrorType = RunErrorType.extract([
  "auth",
  "params",
  "network",
  "rate_limit",
  "permission",
  "tool_error",
]);
export type DomainErrorType = z.infer<typeof DomainErrorType>;

export const DomainError = z.object({
  type: DomainErrorType,
  message: z.string(),
  /** The failed tool; for an error before the first call, the tool that the request was for. */
  tool: z.string(),
  /** Whether the same request can succeed later. */
  recoverable: z.boolean(),
  /** Seconds until then, if the service names them. */
  retryAfter: z.number().nonnegative().exactOptional(),
});
export type DomainError = z.infer<typeof DomainError>;

/**
 * The answer of a domain agent, in one shape for every domain. The parent's model reads it as the result of its
 * delegation.
 *
 * @example
 * DomainResponse.parse({
 *   success: true,
 *   domain: "contacts",
 *   request: "Find people at Acme",
 *   result: { data: { contacts: [] }, summary: "No contact works at Acme.", tools_used: ["contacts_search"], execution_time: 0.4 },
 *   confidence: 1,
 *   assumptions: [],
 *   missing: [],
 * }).success; // true
 */
export const DomainResponse = z.object({
  success: z.boolean(),
  domain: Token,
  /** The request, as it was asked. */
  request: z.string(),
  result: z.object({
    /** The results of the tools, joined. Null if no tool succeeded. */
    data: Json,
    summary: z.string(),
    tools_used: z.array(z.string()),
    /** Seconds. */
    execution_time: z.number().nonnegative(),
  }),
  /** Null if it is unknown, and for a failed request. */
  confidence: z.number().min(0).max(1).nullable(),
  /** Readings of an ambiguous request that the agent chose, as sentences. */
  assumptions: z.array(z.string()),
  /** Data that the request needs and that was not found, as sentences. */
  missing: z.array(z.string()),
  /** Absent for a successful request. */
  error: DomainError.exactOptional(),
});
export type DomainResponse = z.infer<typeof DomainResponse>;

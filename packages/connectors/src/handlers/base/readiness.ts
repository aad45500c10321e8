import type { RunError } from "@troupe/core";
import type { Connector } from "../../ports/connection.ts";
import { errorOf } from "./call-failure.ts";
import { listOf } from "./wording.ts";

/** The checks before the first call of a request. */
export interface Readiness {
  /** The checks that passed, as sentences. */
  notes: string[];
  /** The first check that failed. Null: none. */
  problem: RunError | null;
}

/** Needs of a request. */
export interface Needs {
  /** In the order of their calls. */
  tools: readonly string[];
  /** Whether it changes anything. */
  changes: boolean;
}

/** The tools that the run may call, and the connection of the domain. */
export interface Resources {
  granted: readonly string[];
  /** Opens the connection. Null: the domain has none. */
  connect: (() => Promise<Connector>) | null;
}

/** Checks that the agent may call its tools, that the account is connected and may write, and that no rate limit is used up. */
export async function checkReadiness(needs: Needs, { granted, connect }: Resources): Promise<Readiness> {
  const [tool = ""] = needs.tools;
  const missing = needs.tools.filter((name) => !granted.includes(name));
  if (missing.length > 0) {
    const message = `the agent may not call ${listOf(missing)}; add it to the tools of the agent`;
    return refused([], { type: "permission", message, tool: missing[0] ?? tool, recoverable: false });
  }
  const notes = [`The agent may call ${listOf(needs.tools)}.`];
  if (connect === null) return { notes, problem: null };
  try {
    return await checkConnection(await connect(), needs, notes);
  } catch (thrown) {
    return { notes, problem: errorOf(thrown, tool) };
  }
}

async function checkConnection(connector: Connector, { tools, changes }: Needs, notes: string[]): Promise<Readiness> {
  const { account, auth, canWrite, rateLimit, note } = await connector.status();
  const [tool = ""] = tools;
  if (auth === "revoked") {
    const message = `the access to the account ${account} was revoked; connect it again with troupe connect`;
    return refused(notes, { type: "auth", message, tool, recoverable: false });
  }
  if (changes && !canWrite) {
    const message = `the account ${account} may only read; connect it with the right to write`;
    return refused(notes, { type: "permission", message, tool, recoverable: false });
  }
  if (rateLimit && rateLimit.remaining <= 0) {
    const message = `the service accepts no more calls for ${rateLimit.resetsInS} seconds; try again then`;
    const retryAfterMs = rateLimit.resetsInS * 1_000;
    return refused(notes, { type: "rate_limit", message, tool, recoverable: true, retryAfterMs });
  }
  const state = auth === "expired" ? "has expired access, which is refreshed at the first call" : "is connected";
  notes.push(`The account ${account} ${state}${changes ? ", and may write" : ""}.`);
  notes.push(rateLimit ? `The rate limit leaves ${rateLimit.remaining} calls.` : "The service names no rate limit.");
  if (note !== null) notes.push(note.endsWith(".") ? note : `${note}.`);
  return { notes, problem: null };
}

function refused(notes: string[], problem: Omit<RunError, "retryAfterMs"> & { retryAfterMs?: number }): Readiness {
  return { notes, problem: { retryAfterMs: null, ...problem } };
}

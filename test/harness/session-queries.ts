import type { ApprovalRow, RunResponse, RunRow } from "@troupe/core";
import type { TestDaemon } from "./daemon.ts";
import { until } from "./until.ts";

type HasClient = Pick<TestDaemon, "client">;

/** The runs of a session, once they stand as wanted. */
export function runsWhere(
  { client }: HasClient,
  session: string,
  wanted: (runs: readonly RunRow[]) => boolean,
): Promise<RunRow[]> {
  return until(async () => {
    const detail = await client.session(session).catch(() => null);
    return detail && wanted(detail.runs) && detail.runs;
  });
}

/** Waits for a number of open approvals of a session. Returns them sorted by command. */
export async function questionsOf({ client }: HasClient, session: string, count: number): Promise<ApprovalRow[]> {
  return until(async () => {
    const { approvals } = await client.approvals({ limit: 500 });
    const own = approvals.filter((row) => row.session === session);
    return own.length === count && own.sort((one, other) => (commandOf(one) < commandOf(other) ? -1 : 1));
  });
}

/** Waits for the open approval of a command. Answered approvals may stay in the record for a moment. */
export function questionFor({ client }: HasClient, session: string, command: string): Promise<ApprovalRow> {
  return until(async () => {
    const { approvals } = await client.approvals({ limit: 500 });
    return approvals.find((row) => row.session === session && commandOf(row) === command);
  });
}

export function commandOf({ args }: Pick<ApprovalRow, "args">): string {
  return args !== null && typeof args === "object" && "command" in args ? String(args.command) : "";
}

/** Waits for the response of a session. */
export function responseOf({ client }: HasClient, session: string): Promise<RunResponse> {
  return until(() => client.response(session).catch(() => null));
}

/** `agent status` of each run, in the order in which they were first seen. */
export function statusLines(runs: readonly Pick<RunRow, "agent" | "exactStatus">[]): string[] {
  return runs.map(({ agent, exactStatus }) => `${agent} ${exactStatus}`);
}

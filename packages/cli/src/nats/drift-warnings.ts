import type { StreamReport } from "@troupe/runtime";

/** What people are told of streams that are not as they should be, or not there. */
export function driftWarnings({ drift, missing }: Pick<StreamReport, "drift" | "missing">): string[] {
  return [
    ...missing.map((stream) => `the stream ${stream} is not there: a troupe up on this server creates it`),
    ...drift.map(
      ({ stream, setting, found, wanted, fix }) =>
        `the stream ${stream} has ${setting} ${found}, where ${wanted} is wanted: ${fix}`,
    ),
  ];
}

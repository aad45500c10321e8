import type { StreamCopies, StreamReport } from "@troupe/nats";

/** What people are told of streams that are not as they should be, or not there. */
export function streamWarnings({
  drift,
  missing,
  copies,
}: Pick<StreamReport, "drift" | "missing" | "copies">): string[] {
  return [
    ...offlineServerWarnings(copies),
    ...missing.map((stream) => `the stream ${stream} is not there: a troupe up on this server creates it`),
    ...drift.map(
      ({ stream, setting, found, wanted, fix }) =>
        `the stream ${stream} has ${setting} ${found}, where ${wanted} is wanted: ${fix}`,
    ),
  ];
}

/** A line for each server of which nothing is heard. */
export function offlineServerWarnings(copies: readonly StreamCopies[]): string[] {
  const streams = new Map<string, string[]>();
  for (const { stream, followers } of copies) {
    for (const { server, away } of followers) if (away) streams.set(server, [...(streams.get(server) ?? []), stream]);
  }
  return [...streams].map(
    ([server, of]) =>
      `the server ${server} is away, with its copies of ${of.join(", ")}: start it; without half of the servers nothing goes on`,
  );
}

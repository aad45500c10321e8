import type { StreamCopies, StreamReport } from "@troupe/nats";

/** One message for each missing stream, wrong setting and offline server. */
export function streamWarnings({
  drift,
  missing,
  copies,
}: Pick<StreamReport, "drift" | "missing" | "copies">): string[] {
  return [
    ...offlineServerWarnings(copies),
    ...missing.map((stream) => `the stream ${stream} is missing; \`troupe up\` on this server creates it`),
    ...drift.map(
      ({ stream, setting, found, wanted, fix }) =>
        `the stream ${stream} has ${setting} ${found}, but the configuration says ${wanted}: ${fix}`,
    ),
  ];
}

/** One message for each server that is offline. */
export function offlineServerWarnings(copies: readonly StreamCopies[]): string[] {
  const streams = new Map<string, string[]>();
  for (const { stream, followers } of copies) {
    for (const { server, away } of followers) if (away) streams.set(server, [...(streams.get(server) ?? []), stream]);
  }
  return [...streams].map(
    ([server, of]) =>
      `the server ${server} is offline, with its copies of ${of.join(", ")}: start it. Without a majority of the servers no run continues`,
  );
}

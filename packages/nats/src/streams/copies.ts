import type { StreamInfo } from "@nats-io/jetstream";

/** The copies of a stream that several servers of a cluster have. */
export interface StreamCopies {
  stream: string;
  /** The server that everything is written to first. */
  leader: string;
  /** All others. `away`: nothing is heard of it; `behind`: so many operations it lacks. */
  followers: { server: string; away: boolean; behind: number }[];
}

/** Servers of a stream hear from each other once a second, and call nobody gone for ten times that. */
const silentNanosMax = 3_000_000_000;

/** Null for a stream that one server alone has. */
export function copiesOf({ config, cluster }: StreamInfo): StreamCopies | null {
  if (!cluster?.replicas?.length) return null;
  const followers = cluster.replicas.map(({ name, offline, active, current, lag = 0 }) => {
    return { server: name, away: Boolean(offline) || active > silentNanosMax, behind: current ? 0 : lag };
  });
  return { stream: config.name, leader: cluster.leader ?? "", followers };
}

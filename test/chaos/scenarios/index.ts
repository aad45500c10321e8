import type { Scenario } from "../harness/scenario.ts";
import { burst } from "./burst.ts";
import { catchUp } from "./catch-up.ts";
import { clockJump } from "./clock-jump.ts";
import { corruption } from "./corruption.ts";
import { crashLoop } from "./crash-loop.ts";
import { daemonFailpoints } from "./daemon-failpoints.ts";
import { deaths } from "./deaths.ts";
import { serverDiskFull } from "./disk-full.ts";
import { flaky, lostReplies, slowConsumer } from "./flaky.ts";
import { links } from "./links.ts";
import { lostLeader } from "./lost-leader.ts";
import { noHost } from "./no-host.ts";
import { outage } from "./outage.ts";
import { partitions } from "./partition.ts";
import { replayedMessages } from "./replayed-messages.ts";
import { rolling } from "./rolling.ts";
import { storm } from "./storm.ts";
import { takeover } from "./takeover.ts";
import { wipedStore } from "./wiped-store.ts";
import { workerFailpoints } from "./worker-failpoints.ts";
import { zombie } from "./zombie.ts";

/** In the order of the catalogue. */
export const scenarios: readonly Scenario[] = [
  workerFailpoints,
  daemonFailpoints,
  burst,
  storm,
  zombie,
  deaths,
  crashLoop,
  outage,
  wipedStore,
  ...partitions,
  lostLeader,
  flaky,
  lostReplies,
  slowConsumer,
  links,
  catchUp,
  replayedMessages,
  noHost,
  serverDiskFull,
  corruption,
  clockJump,
  takeover,
  rolling,
];

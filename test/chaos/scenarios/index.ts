import type { Scenario } from "../harness/scenario.ts";
import { burst } from "./burst.ts";
import { catchUp } from "./catch-up.ts";
import { clockJump } from "./clock-jump.ts";
import { corruption } from "./corruption.ts";
import { crashLoop } from "./crash-loop.ts";
import { daemonMoments } from "./daemon-moments.ts";
import { serverDiskFull } from "./disk-full.ts";
import { echoes } from "./echoes.ts";
import { flaky, slowConsumer, swallowed } from "./flaky.ts";
import { lostLeader } from "./lost-leader.ts";
import { workerMoments } from "./moments.ts";
import { nobody } from "./nobody.ts";
import { outage } from "./outage.ts";
import { partitions } from "./partition.ts";
import { rolling } from "./rolling.ts";
import { storm } from "./storm.ts";
import { takeover } from "./takeover.ts";
import { wiped } from "./wiped.ts";
import { zombie } from "./zombie.ts";

/** In the order of the catalogue. */
export const scenarios: readonly Scenario[] = [
  workerMoments,
  daemonMoments,
  burst,
  storm,
  zombie,
  crashLoop,
  outage,
  wiped,
  ...partitions,
  lostLeader,
  flaky,
  swallowed,
  slowConsumer,
  catchUp,
  echoes,
  nobody,
  serverDiskFull,
  corruption,
  clockJump,
  takeover,
  rolling,
];

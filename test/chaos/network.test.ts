// Servers that are away, cables that are cut, links that lose things, disks that are full, clocks that are set.
import { testShortForms } from "./harness/short-forms.ts";
import { catchUp } from "./scenarios/catch-up.ts";
import { clockJump } from "./scenarios/clock-jump.ts";
import { corruption } from "./scenarios/corruption.ts";
import { serverDiskFull } from "./scenarios/disk-full.ts";
import { echoes } from "./scenarios/echoes.ts";
import { flaky, slowConsumer, swallowed } from "./scenarios/flaky.ts";
import { nobody } from "./scenarios/nobody.ts";
import { outage } from "./scenarios/outage.ts";
import { partitions } from "./scenarios/partition.ts";
import { wiped } from "./scenarios/wiped.ts";

testShortForms("what is between processes", [
  outage,
  wiped,
  ...partitions,
  flaky,
  swallowed,
  slowConsumer,
  catchUp,
  echoes,
  nobody,
  serverDiskFull,
  corruption,
  clockJump,
]);

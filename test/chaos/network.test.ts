// Servers that are away, cables that are cut, links that lose things, disks that are full, clocks that are set.
import { casesOf } from "../harness/long.ts";
import { isCheckedOnlyHere, testShortScenarios } from "./harness/short-scenarios.ts";
import { catchUp } from "./scenarios/catch-up.ts";
import { clockJump } from "./scenarios/clock-jump.ts";
import { corruption } from "./scenarios/corruption.ts";
import { serverDiskFull } from "./scenarios/disk-full.ts";
import { flaky, lostReplies, slowConsumer } from "./scenarios/flaky.ts";
import { links } from "./scenarios/links.ts";
import { noHost } from "./scenarios/no-host.ts";
import { outage } from "./scenarios/outage.ts";
import { partitions } from "./scenarios/partition.ts";
import { replayedMessages } from "./scenarios/replayed-messages.ts";
import { wipedStore } from "./scenarios/wiped-store.ts";

const scenarios = [
  links,
  outage,
  wipedStore,
  ...partitions,
  flaky,
  lostReplies,
  slowConsumer,
  catchUp,
  replayedMessages,
  noHost,
  serverDiskFull,
  corruption,
  clockJump,
];

testShortScenarios("the network between processes", casesOf(scenarios, isCheckedOnlyHere));

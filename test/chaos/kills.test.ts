// Processes that die at any moment, stand still, or are replaced. One process that dies and comes back: test/e2e/kill.test.ts.
import { casesOf } from "../harness/long.ts";
import { isCheckedOnlyHere, testShortScenarios } from "./harness/short-scenarios.ts";
import { burst } from "./scenarios/burst.ts";
import { crashLoop } from "./scenarios/crash-loop.ts";
import { daemonFailpoints } from "./scenarios/daemon-failpoints.ts";
import { deaths } from "./scenarios/deaths.ts";
import { rolling } from "./scenarios/rolling.ts";
import { storm } from "./scenarios/storm.ts";
import { workerFailpoints } from "./scenarios/worker-failpoints.ts";
import { zombie } from "./scenarios/zombie.ts";

const scenarios = [deaths, workerFailpoints, daemonFailpoints, burst, storm, zombie, crashLoop, rolling];

testShortScenarios("processes that die", casesOf(scenarios, isCheckedOnlyHere));

// Processes that die at any moment, stand still, or are replaced. One process that dies and comes back: test/e2e/kill.test.ts.
import { testShortForms } from "./harness/short-forms.ts";
import { burst } from "./scenarios/burst.ts";
import { crashLoop } from "./scenarios/crash-loop.ts";
import { daemonMoments } from "./scenarios/daemon-moments.ts";
import { workerMoments } from "./scenarios/moments.ts";
import { rolling } from "./scenarios/rolling.ts";
import { storm } from "./scenarios/storm.ts";
import { takeover } from "./scenarios/takeover.ts";
import { zombie } from "./scenarios/zombie.ts";

testShortForms("processes that die", [
  workerMoments,
  daemonMoments,
  burst,
  storm,
  zombie,
  crashLoop,
  takeover,
  rolling,
]);

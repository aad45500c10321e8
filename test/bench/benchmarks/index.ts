import type { Benchmark } from "../benchmark.ts";
import { agents } from "./agents.ts";
import { appends } from "./appends.ts";
import { cancel } from "./cancel.ts";
import { context } from "./context.ts";
import { crowd } from "./crowd.ts";
import { delegation } from "./delegation.ts";
import { fanOut } from "./fan-out.ts";
import { files } from "./files.ts";
import { office } from "./office.ts";
import { rate } from "./rate.ts";
import { record } from "./record.ts";
import { recorder } from "./recorder.ts";
import { runs } from "./runs.ts";
import { sandbox } from "./sandbox.ts";
import { search } from "./search.ts";
import { spread } from "./spread.ts";
import { start } from "./start.ts";
import { takeover } from "./takeover.ts";
import { tracking } from "./tracking.ts";
import { wide } from "./wide.ts";

/** In the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  start,
  context,
  runs,
  wide,
  crowd,
  cancel,
  fanOut,
  search,
  office,
  sandbox,
  tracking,
  delegation,
  rate,
  takeover,
  spread,
  appends,
  recorder,
  record,
  files,
  agents,
];

import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { type Clock, TroupeError } from "@troupe/core";
import { type FailpointHook, type HostDeps, noFailpoints } from "@troupe/runtime";

/**
 * Fault injection for tests of durability, off unless a variable is set.
 *
 * `TROUPE_TEST_LEDGER=<file>`: writes one line for each model and tool call, synced to disk before the call, so that the
 * line survives a kill.
 * `TROUPE_TEST_FAILPOINT=<point>#<n>`: this process kills itself with SIGKILL when it passes the point for the n-th time.
 * `TROUPE_TEST_FAILPOINT=<point>@<key>`: it kills itself when the effect with that key (`effect:after@tool/2/0`), or the
 * append of its outcome, passes the point; with `+<ms>`, that much later.
 * `TROUPE_TEST_CLOCK_OFFSET=<file>`: see `injectClockFaults`.
 */
export function injectFaults(env: NodeJS.ProcessEnv, deps: Omit<HostDeps, "failpoint">): HostDeps {
  const failpoint = env.TROUPE_TEST_FAILPOINT ? parseFailpoint(env.TROUPE_TEST_FAILPOINT) : noFailpoints;
  if (!env.TROUPE_TEST_LEDGER) return { ...deps, failpoint };
  return { ...deps, failpoint, ...withLedger(env.TROUPE_TEST_LEDGER, deps) };
}

/**
 * `TROUPE_TEST_CLOCK_OFFSET=<file>`: shifts the wall clock by the milliseconds in the file, read at every call. Timers and
 * the monotonic clock are not affected.
 */
export function injectClockFaults(env: NodeJS.ProcessEnv, clock: Clock): Clock {
  const file = env.TROUPE_TEST_CLOCK_OFFSET;
  return file ? { ...clock, now: () => clock.now() + Number(readFileSync(file, "utf8")) } : clock;
}

function withLedger(file: string, { models, tools }: Omit<HostDeps, "failpoint">): Pick<HostDeps, "models" | "tools"> {
  const descriptor = openSync(file, "a");
  process.once("exit", () => closeSync(descriptor));
  const note = (kind: string, key: string): void => {
    writeSync(descriptor, `${JSON.stringify({ pid: process.pid, at: Date.now(), kind, key })}\n`);
    fsyncSync(descriptor);
  };
  return {
    models: {
      ...models,
      call(request, options) {
        const { run, step, purpose = "turn" } = request.origin;
        note("model", `${run}/${modelKey[purpose](step)}`);
        return models.call(request, options);
      },
    },
    tools: {
      prepare: async (workspace) => tools.prepare?.(workspace),
      specs: (workspace) => tools.specs(workspace),
      assess: (call, context) => tools.assess(call, context),
      ...(tools.reachOf ? { reachOf: tools.reachOf } : {}),
      ...(tools.examine ? { examine: tools.examine } : {}),
      plan: (call, context) => tools.plan(call, context),
      verify: (call, context) => tools.verify(call, context),
      run(call, context) {
        const [run, step, index] = context.idempotencyKey.split("/");
        note("tool", `${run}/tool/${step}/${index}`);
        return tools.run(call, context);
      },
    },
  };
}

/** Effect key of a model call, by its purpose. */
const modelKey = {
  turn: (step: number) => `model/${step}`,
  summary: (step: number) => `summary/${step}`,
  intent: () => "intent",
};

const settingPattern = /^([a-z]+:[a-z]+)(?:#([1-9]\d*)|@([a-z]+[\d/]*)(?:\+(\d+))?)$/;

function parseFailpoint(setting: string): FailpointHook {
  const [, point, count = "1", keyWanted, afterMs] = settingPattern.exec(setting) ?? [];
  if (!point) {
    throw new TroupeError("USAGE", `TROUPE_TEST_FAILPOINT=${setting} is neither <point>#<n> nor <point>@<key>`, {
      fix: "unset TROUPE_TEST_FAILPOINT",
    });
  }
  let left = Number(count);
  const die = () => process.kill(process.pid, "SIGKILL");
  return {
    at(passed, { key }) {
      if (passed !== point || (keyWanted !== undefined && !key.split(" ").includes(keyWanted))) return;
      left -= 1;
      if (left !== 0) return;
      if (afterMs === undefined) die();
      else setTimeout(die, Number(afterMs));
    },
  };
}

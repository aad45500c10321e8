import type { Mutant } from "./mutant.ts";

const wire = "packages/runtime/src/host/wire.test.ts > a delegation";
const messages = "test/delegation/messages.test.ts";
const whole = "the message of each run on its subject has the whole response";
const layout = "test/packaging/layout.test.ts > the repository";
const machine = "packages/core/src/machines/agent/machine.ts";
const turn = "packages/core/src/machines/agent/turn.ts";
const logs = "test/e2e/logs.test.ts > the log";

export const mutants: readonly Mutant[] = [
  {
    name: "the response is never in the message, in one process and between two",
    rows: ["C.3a", "C.3b"],
    file: "packages/runtime/src/host/run/settled.ts",
    find: "fits ? bytes : encode({ ...message, response: null })",
    replace: "fits && bytes.byteLength < 0 ? bytes : encode({ ...message, response: null })",
    tests: [`${messages} > with one host > ${whole}`, `${messages} > with two processes > ${whole}`],
  },
  {
    name: "the message of a settled run goes to another subject",
    rows: ["C.3b"],
    file: "packages/runtime/src/host/run/settled.ts",
    find: "bus.publish(subjects.settled(response.runId),",
    replace: "bus.publish(subjects.settled(response.sessionId),",
    tests: [`${messages} > with two processes > ${whole}`],
  },
];

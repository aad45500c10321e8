import type { Mutant } from "./mutant.ts";

const messages = "test/delegation/messages.test.ts";
const whole = "the message of each run on its subject has the whole response";
const layout = "test/packaging/layout.test.ts > the repository";
const delegation = "packages/core/src/machines/agent/delegate.test.ts > a delegation";
const workers = "test/e2e/with-worker/machines.test.ts > a daemon and a worker";
const logs = "test/e2e/logs.test.ts > the log";
const up = "test/e2e/up.test.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "the agents' machine does not stand on xstate",
    rows: ["C.1"],
    file: "packages/core/package.json",
    find: '"xstate": "',
    replace: '"robot3": "',
    tests: [`${layout} > packages/core stands on xstate`],
  },
  {
    name: "the recorder has another name",
    rows: ["C.1"],
    file: "packages/recorder/package.json",
    find: '"name": "@troupe/recorder"',
    replace: '"name": "@troupe/recording"',
    tests: [`${layout} > has packages/recorder`],
  },
  {
    name: "a refused request is executed",
    rows: ["C.2a"],
    file: "packages/core/src/machines/agent/machine.ts",
    find: '            { guard: "isRejected", target: "#agent.respond", actions: { type: "setOutcome", params: onRejection } },\n',
    replace: "",
    tests: ["packages/core/src/machines/mermaid.test.ts > the chart of the agent machine"],
  },
  {
    name: "an intent is never assessed",
    rows: ["C.2a"],
    file: "packages/core/src/machines/agent/machine.ts",
    find: '{ guard: "isNotPaused", target: "assessing" },',
    replace: '{ guard: "isNotPaused", target: "assessed" },',
    tests: ["packages/core/src/machines/agent/intent.test.ts > a request"],
  },
  {
    name: "an agent goes on and on",
    rows: ["C.2b"],
    file: "packages/core/src/machines/agent/turn.ts",
    find: 'if (nextStep(context) >= turnsMax(context.pin)) return "max_iterations";',
    replace: 'if (nextStep(context) > turnsMax(context.pin) + 9) return "max_iterations";',
    tests: ["packages/core/src/machines/agent/caps.test.ts > iterations"],
  },
  {
    name: "a delegation spawns no actor",
    rows: ["C.2c"],
    file: "packages/core/src/machines/agent/setup/delegation.ts",
    find: 'enqueue.spawnChild("batch", { id: batchActor({ step, call }), input: { run: request.run, step, call, plan } });',
    replace: "if (!request || !call || !plan || !step) return;",
    tests: [`${delegation} > is one request with all fields of the child`],
  },
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
  {
    name: "a cancel at one host does not reach the run at another",
    rows: ["C.3c", "C.6"],
    file: "packages/core/src/machines/agent/events.ts",
    find: 'return kind === "session.cancelled" || kind === "run.cancelled";',
    replace: 'return kind === "session.cancelled";',
    tests: [
      `${workers} > share a session: each run works at a host that serves its agent; a cancel at one host ends processes of the other`,
    ],
  },
  {
    name: "the subscription leaves out an item",
    rows: ["C.4a"],
    file: "packages/recorder/src/record/recorder.ts",
    find: "journal.watch({ after: identity.after(), signal: until, follower })",
    replace: "journal.watch({ after: identity.after() + 1, signal: until, follower })",
    tests: [
      "packages/recorder/src/record/recorder.test.ts > the subscription > records the items of a journal, and later items",
    ],
  },
  {
    name: "a child that comes before its parent stays without one",
    rows: ["C.4b"],
    file: "packages/recorder/src/record/run-table.ts",
    find: "    linkChildren.run(messageId, record.run);\n",
    replace: "",
    tests: [
      "packages/recorder/src/record/record-store.test.ts > rows > are the same if a child arrives before its parent, and the root before the request",
    ],
  },
  {
    name: "the line of a ready daemon has no token",
    rows: ["C.5"],
    file: "packages/cli/src/commands/up.ts",
    find: 'out.line(jsonLine({ event: "ready", url, token, bus,',
    replace: 'out.line(jsonLine({ event: "ready", url, bus,',
    tests: [
      `${up} > a daemon that is ready > reports it to programs in one line with exactly the keys of the contract`,
    ],
  },
  {
    name: "a daemon that stops says nothing about its sessions",
    rows: ["C.5"],
    file: "packages/cli/src/commands/up.ts",
    find: 'active.length === 0 ? "stopping" :',
    replace: 'active.length >= 0 ? "stopping" :',
    tests: [`${up} > Ctrl-C`],
  },
  {
    name: "a worker lets run what its owner denies",
    rows: ["C.6"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "grantOf([...request.layers, ...machine], definition,",
    replace: "grantOf([...request.layers, ...machine.slice(1)], definition,",
    tests: [
      `${workers} > a tool that the worker's owner denies does not run there, whatever the daemon allows; and troupe explain names the worker`,
    ],
  },
  {
    name: "the page does not show changes as they come",
    rows: ["C.7a"],
    file: "apps/dashboard/src/lib/feed.ts",
    find: 'eventSource.addEventListener("change", ',
    replace: 'eventSource.addEventListener("changes", ',
    tests: [
      "test/browser/live-tree.test.ts > the live tree > grows and changes while the demo runs, from one press of a button to the end",
    ],
  },
  {
    name: "the page says nothing when its daemon is away",
    rows: ["C.7b"],
    file: "apps/dashboard/src/lib/feed.ts",
    find: '      publish({ kind: "connection", state: "down" });\n',
    replace: "",
    tests: ["test/browser/reconnect.test.ts > a page whose daemon is killed"],
  },
  {
    name: "core does not declare a library that it imports",
    rows: ["C.8"],
    file: "packages/core/package.json",
    find: '    "uuidv7": "^1.2.1",\n',
    replace: "",
    tests: ["test/packaging/packaging.test.ts > @troupe/core > loads every module that its manifest exports"],
  },
  {
    name: "the runtime does not declare the library of its server",
    rows: ["C.8"],
    file: "packages/runtime/package.json",
    // npm installs hono with it, as its peer.
    find: '    "@hono/node-server": "^2.1.8",\n',
    replace: "",
    tests: [
      "test/packaging/packaging.test.ts > @troupe/runtime > is used alone in a few lines",
      "test/packaging/packaging.test.ts > @troupe/runtime > loads every module that its manifest exports",
    ],
  },
  {
    name: "the log goes to stdout",
    rows: ["C.9a", "C.9b"],
    file: "packages/cli/src/logger.ts",
    find: "destination({ dest: path,",
    replace: "destination({ dest: path.length > 0 ? 1 : path,",
    tests: [logs],
  },
  {
    name: "the start of a run is not logged",
    rows: ["C.9a"],
    file: "packages/runtime/src/host/run/run.ts",
    find: 'this.#events.log(resumed ? "run resumed" : "run started", ',
    replace: 'this.#events.log(resumed ? "run resumed" : "run begun", ',
    tests: [`${logs} > of a daemon has each run's start and end with both ids, and stdout has none of it`],
  },
];

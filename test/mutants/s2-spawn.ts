import type { Mutant } from "./mutant.ts";

const spawnTest = "test/e2e/spawn.test.ts";
const firstRequests = `${spawnTest} > /spawn on the command line > asks the model of the sub-agent first, and then main, which has the result; also in a further turn`;

/** Breaks the command `/spawn`. */
export const mutants: readonly Mutant[] = [
  {
    name: "the first turn of a /spawn calls the model",
    rows: ["S2.17d"],
    file: "packages/runtime/src/host/effects/call-model.ts",
    find: "if (request.spawn && step === 1)",
    replace: "if (request.spawn && step === 0)",
    tests: [firstRequests],
  },
  {
    name: "a further turn ignores /spawn",
    rows: ["S2.17d", "S2.17j"],
    file: "packages/runtime/src/service/continue-session.ts",
    find: "    ...spawnFields(submission, agent, { registry, layers, specs }),\n",
    replace: "    ...spawnFields({ ...submission, makesPlan: true }, agent, { registry, layers, specs }),\n",
    tests: [firstRequests],
  },
  {
    name: "a /spawn reaches every agent",
    rows: ["S2.17d"],
    file: "packages/runtime/src/service/spawn-fields.ts",
    find: "return agents.filter((id) => id !== agent.id)",
    replace: "return [...agents, ...registry.agents.map(({ id }) => id)].filter((id) => id !== agent.id)",
    tests: ["packages/runtime/src/service/spawn-fields.test.ts > a /spawn is refused"],
  },
  {
    name: "a refused /spawn goes on to the model",
    rows: ["S2.17d"],
    file: "packages/core/src/machines/agent/setup/checks.ts",
    find: "isSpawnRefused: ({ context }) => spawnRefusal(context) !== null,",
    replace: "isSpawnRefused: ({ context }) => spawnRefusal(context) === undefined,",
    tests: ["packages/core/src/machines/agent/spawn.test.ts > a /spawn"],
  },
  {
    name: "a /spawn anywhere in the text is the command",
    rows: ["S2.17d"],
    file: "packages/core/src/delegation/spawn-command.ts",
    find: "= splitWords(text, 2);",
    replace: "= splitWords(text.slice(Math.max(0, text.indexOf(spawnCommand))), 2);",
    tests: [
      `${spawnTest} > /spawn on the command line > is refused with what to do, and nothing is started, or is an ordinary text`,
    ],
  },
];

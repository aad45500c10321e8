import type { Mutant } from "./mutant.ts";

const webhooks = "test/troupe/webhooks.test.ts > webhooks";
const client = "test/e2e/client.test.ts > a client";
const badInput = "packages/runtime/src/http/bad-input.test.ts";
const openApi = "packages/runtime/src/http/contract/openapi.test.ts > the OpenAPI document";
const resent = `${webhooks} > that were given up are sent again on request, with the same ids, also after a restart`;
const pages =
  "packages/runtime/src/http/session-page.test.ts > a session of 1,000 runs with long texts > comes in pages of at most 1 MB that have every run and approval once, in order";
const startWebhooks = "packages/troupe/src/webhooks/start-webhooks.ts";
const postMessage = "packages/troupe/src/webhooks/post-message.ts";
const addRoutes = "packages/runtime/src/http/contract/add-routes.ts";

/** Breaks the guarantees of the HTTP API: signature, repetition, resumption, aliases and the document. */
export const mutants: readonly Mutant[] = [
  {
    name: "the signature of a webhook leaves out the time",
    rows: ["S5.11h"],
    file: postMessage,
    find: "`${message.id}.${message.timestamp}.${message.body}`",
    replace: "`${message.id}.${message.body}`",
    tests: [`${webhooks} > are signed so that a library of Standard Webhooks accepts them`],
  },
  {
    name: "a webhook follows private addresses that the policy does not allow",
    rows: ["SEC.5e"],
    file: postMessage,
    find: "  if (!loopbackHosts.includes(hostname)) return policy;\n",
    replace: "",
    tests: [`${webhooks} > follow no redirect, and reach no private address but this machine's own`],
  },
  {
    name: "a failed webhook is forgotten",
    rows: ["S5.11h"],
    file: startWebhooks,
    find: 'if (attempt.result === "delivered") store.delivered(message);',
    replace: 'if (attempt.result !== "gone") store.delivered(message);',
    tests: [`${webhooks} > are repeated with the same id after a failure, and wait longer each time`],
  },
  {
    name: "the cursor passes events that a full queue has not taken",
    rows: ["S5.11h"],
    file: startWebhooks,
    find: "if (!isBehind) store.setPosition(position);",
    replace: "store.setPosition(position);",
    tests: [`${webhooks} > wait in the record while the queue is full, and lose nothing`],
  },
  {
    name: "events from the time without a daemon are not read",
    rows: ["S5.11h"],
    file: startWebhooks,
    find: "  await run(catchUp);\n",
    replace: "  isBehind = false;\n",
    tests: [`${webhooks} > are sent after a restart, with events that came while nothing ran`],
  },
  {
    name: "a client reconnects from now instead of its position",
    rows: ["S5.11f"],
    file: "packages/troupe/src/client/follow.ts",
    find: "if (frame.id !== undefined) position = Number(frame.id);",
    replace: "if (frame.id === undefined) position = Number(frame.id);",
    tests: [`${client} > follows on where it was after a kill of the daemon, without gap or repeat`],
  },
  {
    name: "a client does not pass on that it must load everything again",
    rows: ["S5.11f"],
    file: "packages/troupe/src/client/follow.ts",
    find: 'if (event === "resync") return { type: "resync", position };',
    replace: 'if (event === "resync") return null;',
    tests: [`${client} > is told to load everything again when the daemon has no such position`],
  },
  {
    name: "the paths of earlier versions are gone",
    rows: ["S5.11g"],
    file: addRoutes,
    find: "if (!contract.alias) continue;",
    replace: "if (contract.alias) continue;",
    tests: [`${badInput} > a path of earlier versions > answers like the new one, and says that it is deprecated`],
  },
  {
    name: "an unknown name in a query is ignored",
    rows: ["S5.11g"],
    file: addRoutes,
    find: "answer(context, contract, handler, true)",
    replace: "answer(context, contract, handler, false)",
    tests: [`${badInput} > bad input to every route: > an unknown name in the query of GET /sessions`],
  },
  {
    name: "a group of routes is missing in the document",
    rows: ["S5.11f"],
    file: "packages/runtime/src/http/contract/openapi.ts",
    find: "for (const [tag, routes] of Object.entries(routeGroups)) {",
    replace: "for (const [tag, routes] of Object.entries(routeGroups).slice(1)) {",
    tests: [`${openApi} > has every route of the router, and no other`],
  },
  {
    name: "a webhook follows redirects",
    rows: ["SEC.5e"],
    file: postMessage,
    find: "redirectsMax: 0 }",
    replace: "redirectsMax: 1 }",
    tests: [`${webhooks} > follow no redirect, and reach no private address but this machine's own`],
  },
  {
    name: "a page of a session repeats the last run of the page before",
    rows: ["S5.11f"],
    file: "packages/runtime/src/http/session-page.ts",
    find: "items.slice(last + 1)",
    replace: "items.slice(last)",
    tests: [pages],
  },
  {
    name: "a large session is one reply",
    rows: ["S5.11f"],
    file: "packages/runtime/src/http/session-routes.ts",
    find: "return cutSessionPage(detail, after);",
    replace: 'return after === "" ? cutSessionPage(detail, after) : detail;',
    tests: [pages],
  },
  {
    name: "a message that was given up stays so",
    rows: ["S5.11h"],
    file: "packages/troupe/src/webhooks/webhook-store.ts",
    find: "SET state = 'open', tries = 0",
    replace: "SET state = 'dead', tries = 0",
    tests: [resent],
  },
  {
    name: "a message that is given up loses its content",
    rows: ["S5.11h"],
    file: "packages/troupe/src/webhooks/webhook-store.ts",
    find: "iif(?1 = 'dead', body, '')",
    replace: "iif(?1 = 'none', body, '')",
    tests: [resent],
  },
];

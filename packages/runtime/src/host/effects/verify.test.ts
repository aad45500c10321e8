/** Claims are checked by the named verifiers, and answers against the output schema. */
import type { RunRequest } from "@troupe/core";
import { failedOutcome, notStartedResponse, permanentError } from "@troupe/core/internal";
import { expect, test } from "vitest";
import { perform } from "./perform.ts";
import { createScope, run } from "./scope.test-helper.ts";

const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
const other = { type: "string" };

test.for<{
  what: string;
  request?: Partial<RunRequest>;
  own?: typeof schema | null;
  details: string;
  failures: string[];
}>([
  { what: "an answer without a schema is any text", details: "done", failures: [] },
  { what: "an answer that fits", own: schema, details: '{"count":1}', failures: [] },
  {
    what: "an answer that does not fit the definition's schema",
    own: schema,
    details: '{"count":"one"}',
    failures: ["the answer at count: expected number, received string"],
  },
  {
    what: "the request's schema wins over the definition's",
    own: schema,
    request: { outputSchema: other },
    details: '{"count":1}',
    failures: ["the answer at its top: expected string, received object"],
  },
])("$what", async ({ request, own = null, details, failures }) => {
  const scope = await createScope({ agents: [{ id: "main", outputSchema: own }], ...(request ? { request } : {}) });
  const response = { ...notStartedResponse(scope.request, "completed", permanentError("params", "")), details };
  const effect = { kind: "verify" as const, run, round: 1, verifiers: [], response };
  expect(await perform(effect, scope)).toEqual({ kind: "verify.finished", round: 1, failures });
});

test("the failures of verifiers come with the mismatches of the schema", async () => {
  const scope = await createScope({ agents: [{ id: "main", outputSchema: schema }] });
  const response = notStartedResponse(scope.request, "completed", permanentError("params", "no JSON"));
  const verifiers = [{ name: "nobody", params: {} }];
  const body = await perform({ kind: "verify", run, round: 2, verifiers, response }, scope);
  expect(body).toMatchObject({
    failures: [
      expect.stringMatching(/^no verifier is called "nobody"/),
      expect.stringMatching(/^the answer is not JSON/),
    ],
  });
});

test("a decision of the machine is journaled unchanged", async () => {
  const scope = await createScope();
  const children = [
    {
      call: 0,
      item: 0,
      run,
      agent: "helper",
      task: "a",
      name: "a",
      after: [],
      contextMode: "task_only" as const,
      maxAttempts: 2,
    },
  ];
  const refused = [{ call: 1, tool: "delegate", error: permanentError("permission", "no") }];
  expect(await perform({ kind: "planCalls", run, step: 1, children, refused }, scope)).toEqual({
    kind: "calls.planned",
    step: 1,
    children,
    refused,
  });
  const { status, error } = failedOutcome(permanentError("budget", "nothing is left"));
  const response = notStartedResponse(scope.request, status, error ?? permanentError("budget", ""));
  const drop = { kind: "dropChild" as const, run, step: 1, call: 0, item: 2, attempt: 3, response };
  expect(await perform(drop, scope)).toEqual({
    kind: "child.settled",
    step: 1,
    call: 0,
    item: 2,
    attempt: 3,
    response,
  });
});

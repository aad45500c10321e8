/** The checks before the first call of a request. */
import { expect, it } from "vitest";
import type { ConnectionStatus } from "../../ports/connection.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import { checkReadiness } from "./readiness.ts";

const valid: ConnectionStatus = {
  account: "kim@x.example",
  auth: "valid",
  canWrite: true,
  rateLimit: null,
  note: null,
};
const check = (status: Partial<ConnectionStatus> | Error, changes = true, granted = ["send"]) => {
  const connector = {
    status: async (): Promise<ConnectionStatus> => {
      if (status instanceof Error) throw status;
      return { ...valid, ...status };
    },
  };
  return checkReadiness({ tools: ["send"], changes }, { granted, connect: async () => connector });
};

it.each<[string, Partial<ConnectionStatus>, boolean]>([
  ["a valid account", {}, true],
  ["expired access, which a refresh renews", { auth: "expired" }, true],
  ["an account that only reads, for a search", { canWrite: false }, false],
  ["a rate limit that leaves calls", { rateLimit: { remaining: 3, resetsInS: 10 } }, true],
])("passes: %s", async (_, status, changes) => {
  const { notes, problem } = await check(status, changes);
  expect(problem).toBeNull();
  expect(notes.join(" ")).toContain("kim@x.example");
});

it.each<[string, Partial<ConnectionStatus> | Error, object]>([
  ["revoked access", { auth: "revoked" }, { type: "auth", recoverable: false, tool: "send" }],
  ["no right to write", { canWrite: false }, { type: "permission", recoverable: false, tool: "send" }],
  [
    "a used up rate limit",
    { rateLimit: { remaining: 0, resetsInS: 42 } },
    { type: "rate_limit", recoverable: true, retryAfterMs: 42_000 },
  ],
  ["a server that is away", new ConnectorError("network", "no route"), { type: "network", recoverable: true }],
])("stops: %s", async (_, status, problem) => {
  expect((await check(status)).problem).toMatchObject(problem);
});

it("stops a request whose tool the agent may not call, before the account is asked", async () => {
  const { problem } = await check(new Error("asked"), true, ["search"]);
  expect(problem).toMatchObject({ type: "permission", tool: "send" });
  expect(problem?.message).toContain("add it to the tools");
});

it("states the checks as notes", async () => {
  const { notes } = await check({ rateLimit: { remaining: 7, resetsInS: 1 }, note: "sent mail stays here" });
  expect(notes).toEqual([
    "The agent may call send.",
    "The account kim@x.example is connected, and may write.",
    "The rate limit leaves 7 calls.",
    "sent mail stays here.",
  ]);
});

/** The tools and handlers of the office are known at once, and load with their first use. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOfficeHandlers, openLocalOffice, seedOffice } from "@troupe/connectors";
import { officeToolSpecs } from "@troupe/connectors/tool-specs";
import { createOfficeTools } from "@troupe/connectors/tools";
import { silentLogger, type ToolContext } from "@troupe/core";
import { handlerNames } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { createToolHost } from "@troupe/tools";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Cleanup, createCleanup } from "../cleanup.ts";
import { defaultOffice } from "../config/office-settings.ts";
import { needsOffice, openOfficeParts } from "./office-parts.ts";

let path: string;
let cleanup: Cleanup;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "troupe-office-"));
  cleanup = createCleanup();
});
afterEach(async () => {
  await cleanup.run();
  await rm(path, { recursive: true });
});

const parts = () =>
  openOfficeParts({ home: { path }, settings: defaultOffice, clock: systemClock(), logger: silentLogger }, cleanup);

function seed(): void {
  const office = openLocalOffice({ folder: join(path, "office") });
  seedOffice(office);
  office.close();
}

test("the specs of the build are those of the tools, and each tool must be named", () => {
  const noConnectors = () => Promise.reject(new Error("not called"));
  const specs = officeToolSpecs();
  expect(specs).toEqual(createOfficeTools({ connectors: noConnectors }).map(({ spec }) => spec));
  expect(specs.filter(({ namedOnly }) => !namedOnly)).toEqual([]);
});

test("the known names of handlers are those of the connectors", () => {
  const office = openLocalOffice({ folder: path });
  cleanup.add(() => office.close());
  expect(
    createOfficeHandlers({ connectors: office })
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...handlerNames].sort());
  expect(parts().handlers.map(({ name }) => name)).toEqual(handlerNames);
});

const context = (tools: string[]): ToolContext => ({
  ...{ session: "s", run: "r", agent: "main", workspace: path, idempotencyKey: "k", approved: false, plan: null },
  grant: { tools, agents: [], writes: [] },
  signal: new AbortController().signal,
});

test("a tool loads before its call is examined and run", async () => {
  seed();
  const { tools, withTools } = parts();
  const host = withTools(createToolHost({ tools }));
  const call = { id: "1", name: "contacts_search", args: { organization: "Acme" }, problem: null };
  expect(await host.examine?.(call, context([call.name]))).toMatchObject({ decision: "allow", risk: "low" });
  const outcome = await host.run(call, context([call.name]));
  expect(JSON.parse(outcome.output).contacts).toHaveLength(3);
});

test("a handler loads with its first request, and says how to fill an office without data", async () => {
  const handler = parts().handlers.find(({ name }) => name === "calendar");
  const request = {
    ...{ task: "Schedule a meeting with the team next Tuesday 2pm", userId: null, session: "s", run: "r" },
    ...{ nowMs: Date.now(), tools: ["calendar_check_availability", "calendar_create_event"], agents: [] },
  };
  expect((await handler?.assess(request))?.problem?.message).toMatch(/names no known person.*troupe office seed/);
  seed();
  const intent = await handler?.assess(request);
  expect(intent?.problem).toBeUndefined();
  expect(intent?.notes.join(" ")).toContain("the 5 contacts of the group team");
});

test.each([
  [["email"], true],
  [["read", "gmail_send_email"], true],
  [["calendar_*"], true],
  [["read", "shell"], false],
  [["*"], false],
  [[], false],
  [null, false],
])("an agent with the tools %j needs an office: %s", (tools, needs) => {
  expect(needsOffice({ tools })).toBe(needs);
});

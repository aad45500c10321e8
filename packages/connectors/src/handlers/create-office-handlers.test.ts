/** The office has five handlers, and each of its four domains owns its tools. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { officeAgents } from "./create-office-handlers.ts";
import { type Driver, openDriver } from "./office-driver.test-helper.ts";

let office: Driver;

beforeAll(async () => {
  office = await openDriver();
});
afterAll(() => office.close());

describe("the office", () => {
  it("has a handler for each domain and for the master", () => {
    expect(office.handlers.map(({ name }) => name)).toEqual(["gmail", "calendar", "contacts", "slack", "office"]);
  });

  it("gives each tool to the agent of its domain, and to no other", () => {
    const agents = officeAgents({ connectors: office.office, tools: office.tools });
    expect(agents.map(({ agent }) => [agent.id, agent.domain, agent.handler])).toEqual([
      ["email", "email", "gmail"],
      ["calendar", "calendar", "calendar"],
      ["contacts", "contacts", "contacts"],
      ["slack", "slack", "slack"],
    ]);
    const owned = agents.flatMap(({ tools }) => tools.map(({ spec }) => spec.name));
    expect(owned.toSorted()).toEqual(office.tools.map(({ spec }) => spec.name).toSorted());
    for (const { tools, agent } of agents) {
      expect(agent.tools).toEqual(tools.map(({ spec }) => spec.name));
      expect(tools.flatMap(({ spec }) => spec.groups)).toEqual(tools.map(() => agent.id));
      expect(agent.limits).toEqual({ maxIterations: 3 });
    }
  });

  it("takes the user from the account, and the connectors of each request", async () => {
    const asked: string[] = [];
    const [gmail] = officeAgents({
      tools: office.tools,
      connectors: async ({ session }) => {
        asked.push(session);
        return office.office;
      },
    });
    const intent = await gmail?.handler.assess(office.requestOf("Send an email to John about the offer"));
    expect(intent?.risk).toBe("high");
    expect(new Set(asked)).toEqual(new Set([office.requestOf("").session]));
  });
});

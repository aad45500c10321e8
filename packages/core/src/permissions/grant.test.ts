/** What an agent may use: global ∩ parent ∩ own, denies winning, in whatever order the layers say it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aDefinition } from "../machines/samples.test-helper.ts";
import type { AgentDefinition } from "../protocol/agent.ts";
import type { Grant } from "../protocol/request.ts";
import { ToolSpec } from "../protocol/tool.ts";
import { delegateNames, grantForChild, isDelegate, narrowGrant } from "./grant.ts";

function spec(name: string, ...groups: string[]): ToolSpec {
  return ToolSpec.parse({ name, description: name, risk: "low", effect: "read", groups, inputSchema: {} });
}

const specs = [
  spec("read", "filesystem"),
  spec("write", "filesystem"),
  spec("web_search", "web"),
  spec("web_fetch", "web"),
  spec("query_graph", "neo4j"),
  spec("shell"),
  spec("mcp__github__list_issues", "web"),
  spec("mcp__github__create_issue"),
  spec("mcp__gitlab__list_issues"),
];
const everything: Grant = { tools: specs.map(({ name }) => name), agents: ["helper", "writer", "critic"] };

type Layer = Pick<Partial<AgentDefinition>, "tools" | "disallowedTools">;

function toolsOf(granted: Grant, layer: Layer): string[] {
  return narrowGrant(granted, aDefinition(layer), specs).tools;
}

describe("tools", () => {
  const cases: [string, Layer, string[]][] = [
    ["none named: whatever is granted", {}, everything.tools],
    ["an empty list: none", { tools: [] }, []],
    ["by name", { tools: ["read", "shell"] }, ["read", "shell"]],
    ["by group", { tools: ["filesystem"] }, ["read", "write"]],
    ["by name and group", { tools: ["shell", "neo4j"] }, ["query_graph", "shell"]],
    ["all of a server", { tools: ["mcp__github__*"] }, ["mcp__github__list_issues", "mcp__github__create_issue"]],
    ["a star that is no server's", { tools: ["*", "web_*", "r*"] }, []],
    ["one that there is not", { tools: ["fly"] }, []],
    ["a deny by name wins", { tools: ["read", "write"], disallowedTools: ["write"] }, ["read"]],
    ["a deny by group wins over a name", { tools: ["read", "shell"], disallowedTools: ["filesystem"] }, ["shell"]],
    ["a deny by name wins over a group", { tools: ["filesystem"], disallowedTools: ["write"] }, ["read"]],
    ["a deny of a server", { tools: ["web"], disallowedTools: ["mcp__github__*"] }, ["web_search", "web_fetch"]],
    ["a deny of the same thing", { tools: ["shell"], disallowedTools: ["shell"] }, []],
  ];
  test.each(cases)("%s", (_, layer, tools) => {
    expect(toolsOf(everything, layer)).toEqual(tools);
  });

  test("the example of the three layers: global, coordinator, analyst", () => {
    const global = narrowGrant(everything, aDefinition({ tools: ["neo4j", "web", "filesystem"] }), specs);
    const parent = aDefinition({ tools: ["neo4j", "web"], disallowedTools: ["filesystem"] });
    const coordinator = narrowGrant(global, parent, specs);
    expect(coordinator.tools).toEqual(["web_search", "web_fetch", "query_graph", "mcp__github__list_issues"]);
    const offered = grantForChild(coordinator, global, parent);
    const analyst = aDefinition({ tools: ["neo4j"], disallowedTools: ["web"] });
    expect(narrowGrant(offered, analyst, specs).tools).toEqual(["query_graph"]);
  });

  test("a granted tool with the name of a group does not let the group through", () => {
    const clashing = [spec("web"), spec("web_search", "web")];
    const granted = { tools: ["web"], agents: [] };
    expect(narrowGrant(granted, aDefinition({ tools: ["web"] }), clashing).tools).toEqual(["web"]);
  });
});

describe("agents", () => {
  const cases: [string, Partial<AgentDefinition["subagents"]>, string[], string[]][] = [
    ["a leaf", {}, [], []],
    ["those it allows", { allow: ["helper", "writer"] }, [], ["helper", "writer"]],
    ["not those that nobody granted", { allow: ["helper", "stranger"] }, [], ["helper"]],
    ["a deny wins", { allow: ["helper", "writer"], deny: ["writer"] }, [], ["helper"]],
    ["never itself", { allow: ["helper", "main"] }, [], ["helper"]],
    ...delegateNames.map((name): [string, { allow: string[] }, string[], string[]] => [
      `a deny of ${name} denies all`,
      { allow: ["helper"] },
      [name],
      [],
    ]),
  ];
  test.each(cases)("%s", (_, subagents, disallowedTools, agents) => {
    const granted = { ...everything, agents: [...everything.agents, "main"] };
    const definition = aDefinition({
      subagents: { allow: [], deny: [], execution: "parallel", max_concurrent: 5, ...subagents },
      disallowedTools,
    });
    expect(narrowGrant(granted, definition, specs).agents).toEqual(agents);
  });

  test("a child may ask whom its parent may not, but nobody whom its parent denies", () => {
    const definition = aDefinition({
      subagents: { allow: ["helper"], deny: ["critic"], execution: "parallel", max_concurrent: 5 },
    });
    const own = narrowGrant(everything, definition, specs);
    expect(own.agents).toEqual(["helper"]);
    expect(grantForChild(own, everything, definition).agents).toEqual(["helper", "writer"]);
  });
});

test("delegation has its names, and no other tool is one", () => {
  expect([...delegateNames, "read", "delegates", ""].map(isDelegate)).toEqual([
    ...delegateNames.map(() => true),
    false,
    false,
    false,
  ]);
});

describe("laws", () => {
  const names = ["a", "b", "c", "mcp__s__x", "mcp__s__y", "mcp__t__x"];
  const groups = ["a", "g", "h"];
  const words = fc.subarray([...names, ...groups, "mcp__s__*", "mcp__t__*"]);
  const anySpecs = fc
    .tuple(...names.map((name) => fc.subarray(groups).map((of) => spec(name, ...of))))
    .map((all) => [...all]);
  const anyDefinition = fc
    .record({ tools: fc.option(words), disallowedTools: words })
    .map((changes) => aDefinition(changes));
  const anyGrant = fc.subarray(names).map((tools): Grant => ({ tools, agents: [] }));

  test("a child never has a tool that its parent lacks, at any depth", () => {
    fc.assert(
      fc.property(anySpecs, anyGrant, fc.array(anyDefinition, { maxLength: 4 }), (all, granted, chain) => {
        let [parent, offered] = [granted, granted];
        for (const definition of chain) {
          const own = narrowGrant(offered, definition, all);
          expect(parent.tools).toEqual(expect.arrayContaining(own.tools));
          offered = grantForChild(own, offered, definition);
          parent = own;
        }
      }),
    );
  });

  test("nor one that its own definition denies or does not name", () => {
    fc.assert(
      fc.property(anySpecs, anyGrant, anyDefinition, (all, granted, definition) => {
        for (const name of narrowGrant(granted, definition, all).tools) {
          const of = all.find((found) => found.name === name)?.groups ?? [];
          const server = `${name.slice(0, "mcp__s__".length)}*`;
          const names = (list: readonly string[]): boolean =>
            list.includes(name) || list.includes(server) || of.some((group) => list.includes(group));
          expect(names(definition.disallowedTools)).toBe(false);
          expect(definition.tools === null || names(definition.tools)).toBe(true);
        }
      }),
    );
  });

  test("narrowing twice is narrowing once", () => {
    fc.assert(
      fc.property(anySpecs, anyGrant, anyDefinition, (all, granted, definition) => {
        const once = narrowGrant(granted, definition, all);
        expect(narrowGrant(once, definition, all)).toEqual(once);
      }),
    );
  });
});

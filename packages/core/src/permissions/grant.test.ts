/** The grant of an agent: the intersection of all layers, in any order; denials win. */
import fc from "fast-check";
import { describe, expect, inject, test } from "vitest";
import { aDefinition } from "../machines/fixtures.test-helper.ts";
import { AgentDefinition } from "../protocol/agent.ts";
import type { GrantDecision } from "../protocol/api.ts";
import { type Grant, GrantLayer } from "../protocol/request.ts";
import { ToolSpec } from "../protocol/tool.ts";
import { abilitiesOf } from "./agent-reach.ts";
import {
  delegateNames,
  explainGrant,
  type Grantable,
  grantOf,
  isDelegate,
  layersForChild,
  namesTool,
  toolRemoval,
} from "./grant.ts";

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
const allTools = specs.map(({ name }) => name);
const ids = ["main", "helper", "writer", "critic"];
const everything: Grantable = { tools: specs, agents: ids.map((id) => aDefinition({ id })) };

type Layer = Partial<Pick<GrantLayer, "tools" | "denyTools" | "agents" | "denyAgents">>;

const policy = (says: Layer): GrantLayer => GrantLayer.parse({ from: "policy", kind: "policy", ...says });
const session = (says: Layer): GrantLayer => GrantLayer.parse({ from: "session", kind: "session", ...says });

interface Own extends Partial<Omit<AgentDefinition, "subagents">> {
  subagents?: Partial<AgentDefinition["subagents"]>;
}

/** `main`, which asks for everything unless it is said otherwise. */
function main({ subagents, ...own }: Own = {}): AgentDefinition {
  return AgentDefinition.parse({ ...aDefinition(), subagents: { allow: ids, ...subagents }, ...own });
}

function decisionOn(name: string, layers: GrantLayer[], definition = main(), grantable = everything): GrantDecision {
  const found = explainGrant(layers, definition, grantable).find((decision) => decision.name === name);
  if (!found) throw new Error(`no decision on ${name}`);
  return found;
}

describe("tools", () => {
  const cases: [string, Pick<Own, "tools" | "disallowedTools">, string[]][] = [
    ["without a list: no restriction", {}, allTools],
    ["an empty list: none", { tools: [] }, []],
    ["by name", { tools: ["read", "shell"] }, ["read", "shell"]],
    ["by group", { tools: ["filesystem"] }, ["read", "write"]],
    ["by name and group", { tools: ["shell", "neo4j"] }, ["query_graph", "shell"]],
    ["all tools of a server", { tools: ["mcp__github__*"] }, ["mcp__github__list_issues", "mcp__github__create_issue"]],
    ["all tools of all servers", { tools: ["mcp__*"] }, allTools.filter((name) => name.startsWith("mcp__"))],
    ["a star for all tools", { tools: ["*"] }, allTools],
    ["a star for a prefix", { tools: ["web_*"] }, ["web_search", "web_fetch"]],
    ["a star in the middle is not a wildcard", { tools: ["*_fetch", "w*b", "mcp__*__list_issues"] }, []],
    ["a server without a star", { tools: ["mcp__github", "mcp__github__"] }, []],
    ["part of a name, another spelling, nothing", { tools: ["rea", "READ", "read ", ""] }, []],
    ["by an alias", { tools: ["Read", "Bash"] }, ["read", "shell"]],
    ["a denial by an alias", { tools: ["read", "shell"], disallowedTools: ["Bash"] }, ["read"]],
    ["an unknown tool", { tools: ["fly"] }, []],
    ["a denial by name wins", { tools: ["read", "write"], disallowedTools: ["write"] }, ["read"]],
    ["a denial by group wins over a name", { tools: ["read", "shell"], disallowedTools: ["filesystem"] }, ["shell"]],
    ["a denial by name wins over a group", { tools: ["filesystem"], disallowedTools: ["write"] }, ["read"]],
    ["a denial of a server", { tools: ["web"], disallowedTools: ["mcp__github__*"] }, ["web_search", "web_fetch"]],
    ["a denial by a prefix", { tools: ["web", "shell"], disallowedTools: ["web_*", "mcp__*"] }, ["shell"]],
    ["a denial of the same tool", { tools: ["shell"], disallowedTools: ["shell"] }, []],
    ["a denial of a star denies all", { tools: ["*", "read"], disallowedTools: ["*"] }, []],
    ["a denial of an unknown tool", { tools: ["read"], disallowedTools: ["fly"] }, ["read"]],
  ];
  test.each(cases)("%s", (_, own, tools) => {
    expect(grantOf([], main(own), everything).tools).toEqual(tools);
  });

  test.each(cases)("%s, in the policy", (_, { tools = null, disallowedTools = [] }, granted) => {
    expect(grantOf([policy({ tools, denyTools: disallowedTools })], main(), everything).tools).toEqual(granted);
  });

  test.each([
    ["the session removes tools of the agent", [session({ denyTools: ["shell"] })], ["read"]],
    ["the session cannot add tools", [session({ tools: ["read", "shell", "write"] })], ["read", "shell"]],
    ["the session's tools are the remaining ones", [session({ tools: ["shell", "write"] })], ["shell"]],
    ["an empty list of the session: none", [session({ tools: [] })], []],
    ["the policy wins over the session", [policy({ tools: ["read"] }), session({ tools: ["*"] })], ["read"]],
    ["a denial of the policy wins, too", [policy({ denyTools: ["filesystem"] }), session({ tools: ["read"] })], []],
  ])("%s", (_, layers, granted) => {
    expect(grantOf(layers, main({ tools: ["read", "shell"] }), everything).tools).toEqual(granted);
  });

  test("the example with three layers: global, coordinator, analyst", () => {
    const global = policy({ tools: ["neo4j", "web", "filesystem"] });
    const coordinator = main({ tools: ["neo4j", "web"], disallowedTools: ["filesystem"] });
    const analyst = main({ id: "analyst", tools: ["neo4j"], disallowedTools: ["web"] });
    expect(grantOf([global], coordinator, everything).tools).toEqual([
      "web_search",
      "web_fetch",
      "query_graph",
      "mcp__github__list_issues",
    ]);
    const layers = layersForChild([global], coordinator);
    expect(grantOf(layers, analyst, everything).tools).toEqual(["query_graph"]);
    expect(
      explainGrant(layers, analyst, everything).flatMap(({ kind, reason }) => (kind === "tool" ? reason : [])),
    ).toMatchInlineSnapshot(`
        [
          "denied by the agent main",
          "denied by the agent main",
          "denied by the agent analyst",
          "denied by the agent analyst",
          "every layer lets it through",
          "not among the tools of this machine's policy",
          "denied by the agent analyst",
          "not among the tools of this machine's policy",
          "not among the tools of this machine's policy",
        ]
      `);
  });

  test("a child without a list of tools has its parent's tools", () => {
    const parent = main({ tools: ["filesystem", "shell"], disallowedTools: ["write"] });
    const layers = layersForChild([session({ denyTools: ["shell"] })], parent);
    expect(grantOf(layers, main({ id: "helper" }), everything).tools).toEqual(["read"]);
  });

  test("a machine without tools grants none", () => {
    expect(grantOf([policy({ tools: ["*"] })], main({ tools: ["*"] }), { tools: [], agents: [] })).toEqual({
      tools: [],
      agents: [],
      writes: [],
    });
  });

  test("names of JavaScript's built-in properties have no special meaning", () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    const grantable = { tools: [...names.map((name) => spec(name, "valueOf")), spec("read")], agents: [] };
    expect(grantOf([], main({ tools: [] }), grantable).tools).toEqual([]);
    expect(grantOf([], main({ tools: ["__proto__", "toString"] }), grantable).tools).toEqual(["__proto__", "toString"]);
    expect(grantOf([], main({ tools: ["valueOf"] }), grantable).tools).toEqual(names);
    expect(grantOf([], main({ disallowedTools: names }), grantable).tools).toEqual(["read"]);
  });
});

describe("a tool for agents that name it", () => {
  const special: ToolSpec = { ...spec("send_mail", "office"), namedOnly: true };
  const grantable: Grantable = { ...everything, tools: [...specs, special] };
  const hasIt = (own: Own, layers: GrantLayer[] = []): boolean =>
    grantOf(layers, main(own), grantable).tools.includes("send_mail");

  test.each<[string, Own, boolean]>([
    ["an agent with all tools does not get it", {}, false],
    ["a star does not name it", { tools: ["*"] }, false],
    ["an agent that names it gets it", { tools: ["send_mail"] }, true],
    ["an agent that names its group gets it", { tools: ["office"] }, true],
    ["an agent that names a prefix gets it", { tools: ["send_*"] }, true],
    ["a denial wins", { tools: ["office"], disallowedTools: ["send_mail"] }, false],
  ])("%s", (_, own, granted) => {
    expect(hasIt(own)).toBe(granted);
    expect(
      abilitiesOf(main({ subagents: { allow: [] }, ...own }), [{ ...special, effect: "unsafe" }], undefined),
    ).toEqual(granted ? ["acts_otherwise"] : []);
  });

  test("a parent with all tools does not keep it from a child that names it", () => {
    const layers = layersForChild([], main());
    expect(hasIt({ id: "helper", tools: ["send_mail"] }, layers)).toBe(true);
    expect(hasIt({ id: "helper", tools: null }, layers)).toBe(false);
  });

  test("a session or policy that names it does not give it to an agent that does not", () => {
    expect(hasIt({}, [policy({ tools: ["send_mail"] }), session({ tools: ["send_mail"] })])).toBe(false);
  });

  test("is explained", () => {
    expect(decisionOn("send_mail", [], main(), grantable)).toMatchObject({
      granted: false,
      removedBy: "main",
      reason: "only agents whose tools name it get it, and the agent main does not",
    });
  });
});

describe("agents", () => {
  const cases: [string, GrantLayer[], Own, string[]][] = [
    ["a leaf", [], { subagents: { allow: [] } }, []],
    ["the agents that it allows", [], { subagents: { allow: ["helper", "writer"] } }, ["helper", "writer"]],
    ["not the unknown agents", [], { subagents: { allow: ["helper", "stranger"] } }, ["helper"]],
    ["never itself", [], { subagents: { allow: ["helper", "main"] } }, ["helper"]],
    ["a denial wins", [], { subagents: { allow: ["helper", "writer"], deny: ["writer"] } }, ["helper"]],
    ["the tools of an agent do not matter", [], { tools: [], subagents: { allow: ["helper"] } }, ["helper"]],
    ["an expert of one domain is a leaf", [], { domain: "email", subagents: { allow: ["helper"] } }, []],
    ["the session's choice", [session({ agents: ["helper", "critic"] })], {}, ["helper", "critic"]],
    ["the session's choice of all agents", [session({ agents: ["*"] })], {}, ["helper", "writer", "critic"]],
    ["the session's choice of no agent", [session({ agents: [] })], {}, []],
    ["the session adds no agent", [session({ agents: ["*"] })], { subagents: { allow: ["critic"] } }, ["critic"]],
    ["the session's deny", [session({ denyAgents: ["helper"] })], {}, ["writer", "critic"]],
    ["the policy's choice", [policy({ agents: ["writer"] }), session({ agents: ["*"] })], {}, ["writer"]],
    ["the agents that the policy disables", [policy({ denyAgents: ["writer"] })], {}, ["helper", "critic"]],
    ["a denial of a star denies all", [policy({ denyAgents: ["*"] })], {}, []],
    [
      "a session without tools may still delegate",
      [session({ tools: [] })],
      { subagents: { allow: ["helper"] } },
      ["helper"],
    ],
    ["a denial of every tool denies delegation", [session({ denyTools: ["*"] })], {}, []],
    [
      "a denial of another tool does not",
      [session({ denyTools: ["Tas", "t*k", "delegates"] })],
      {},
      ["helper", "writer", "critic"],
    ],
    ...delegateNames.flatMap((name): [string, GrantLayer[], Own, string[]][] => [
      [`an agent that is denied ${name}`, [], { disallowedTools: [name] }, []],
      [`a session that denies ${name}`, [session({ denyTools: [name] })], {}, []],
      [`a policy that denies ${name.slice(0, 4)}*`, [policy({ denyTools: [`${name.slice(0, 4)}*`] })], {}, []],
    ]),
  ];
  test.each(cases)("%s", (_, layers, own, agents) => {
    expect(grantOf(layers, main(own), everything).agents).toEqual(agents);
  });

  test("no agent can delegate to one that its own definition disables", () => {
    const agents = [aDefinition({ id: "helper", disabled: true }), aDefinition({ id: "writer" })];
    expect(grantOf([], main(), { tools: [], agents }).agents).toEqual(["writer"]);
  });

  test("a child may delegate to agents that its parent may not, unless an ancestor denies them", () => {
    const parent = main({ subagents: { allow: ["helper"], deny: ["critic"] } });
    const child = main({ id: "helper" });
    const layers = layersForChild([session({ denyAgents: ["main"] })], parent);
    expect(grantOf([], parent, everything).agents).toEqual(["helper"]);
    expect(grantOf(layers, child, everything).agents).toEqual(["writer"]);
  });

  test("a choice of the session applies to the whole tree", () => {
    const above = [session({ agents: ["helper", "writer"] })];
    const layers = layersForChild(layersForChild(above, main()), main({ id: "helper" }));
    expect(grantOf(layers, main({ id: "critic" }), everything).agents).toEqual(["helper", "writer"]);
  });

  test("an agent can be called __proto__", () => {
    const agents = ["__proto__", "constructor"].map((id) => aDefinition({ id }));
    expect(grantOf([], main({ subagents: { allow: [] } }), { tools: [], agents }).agents).toEqual([]);
    expect(grantOf([], main({ subagents: { allow: ["__proto__"] } }), { tools: [], agents }).agents).toEqual([
      "__proto__",
    ]);
  });
});

describe("the layers of a child", () => {
  test("are the layers of its ancestors, followed by its parent's definition", () => {
    const above = [policy({ denyTools: ["shell"] }), session({ tools: ["read"] })];
    const parent = main({ tools: ["read", "web"], disallowedTools: ["write"], subagents: { deny: ["critic"] } });
    expect(layersForChild(above, parent)).toEqual([
      ...above,
      {
        from: "main",
        kind: "agent",
        tools: ["read", "web"],
        denyTools: ["write"],
        agents: null,
        denyAgents: ["critic"],
        writes: null,
      },
    ]);
  });

  test("survive JSON", () => {
    const layers = layersForChild([policy({}), session({ tools: [] })], main({ tools: null }));
    expect(JSON.parse(JSON.stringify(layers)).map((layer: unknown) => GrantLayer.parse(layer))).toEqual(layers);
  });
});

describe("an explanation", () => {
  const layers = [policy({ denyTools: ["web"] }), session({ tools: ["read", "web_search"], denyAgents: ["critic"] })];
  const definition = main({ tools: ["write", "read"], subagents: { allow: ["helper", "critic"] } });

  test.each([
    ["read", true, null, "every layer lets it through"],
    ["web_search", false, "policy", "denied by this machine's policy"],
    ["shell", false, "session", "not among the tools of the session's grant"],
    ["helper", true, null, "every layer lets it through"],
    ["critic", false, "session", "denied by the session's grant"],
    ["writer", false, "main", "not among the agents of the agent main"],
    ["main", false, "main", "an agent cannot delegate to itself"],
  ])("of %s", (name, granted, removedBy, reason) => {
    expect(decisionOn(name, layers, definition)).toMatchObject({ granted, removedBy, reason });
  });

  test.each([
    [
      "the first layer that denies it, not the last",
      [session({ tools: [] }), policy({ denyTools: ["read"] })],
      "session",
    ],
    ["a later layer if the first allows it", [policy({ tools: ["read"] }), session({ tools: [] })], "session"],
  ])("names %s", (_, layers, removedBy) => {
    expect(decisionOn("read", layers).removedBy).toBe(removedBy);
  });

  test("names an ancestor's definition, not the child's", () => {
    const handed = layersForChild([], main({ disallowedTools: ["shell"], subagents: { deny: ["critic"] } }));
    const child = main({ id: "helper", disallowedTools: ["shell"] });
    expect(decisionOn("shell", handed, child)).toMatchObject({ removedBy: "main", reason: "denied by the agent main" });
    expect(decisionOn("critic", handed, child)).toMatchObject({
      removedBy: "main",
      reason: "denied by the agent main",
    });
  });

  test.each([
    [
      "switched off",
      main(),
      aDefinition({ id: "helper", disabled: true }),
      "helper",
      "switched off by its own definition",
    ],
    [
      "a leaf by its domain",
      main({ domain: "email" }),
      aDefinition({ id: "helper" }),
      "main",
      "an expert of one domain does not delegate",
    ],
    [
      "no delegation",
      main({ disallowedTools: ["Task"] }),
      aDefinition({ id: "helper" }),
      "main",
      "the agent main denies delegating",
    ],
  ])("of an agent: %s", (_, definition, agent, removedBy, reason) => {
    const grantable = { tools: [], agents: [agent] };
    expect(decisionOn("helper", [], definition, grantable)).toMatchObject({ granted: false, removedBy, reason });
  });

  test("a machine's own policy can be checked alone, as it is at every call", () => {
    const [read, write] = specs as [ToolSpec, ToolSpec];
    const layer = policy({ tools: ["filesystem"], denyTools: ["write"] });
    expect(toolRemoval([layer], read)).toBeNull();
    expect(toolRemoval([layer], write)).toEqual({ by: "policy", reason: "denied by this machine's policy" });
    expect(namesTool(["web", "filesystem"], read)).toBe(true);
    expect(namesTool(["web"], read)).toBe(false);
  });
});

test("delegation has a fixed list of tool names", () => {
  expect([...delegateNames, "read", "delegates", "DELEGATE", "", "__proto__"].map(isDelegate)).toEqual([
    ...delegateNames.map(() => true),
    ...["read", "delegates", "DELEGATE", "", "__proto__"].map(() => false),
  ]);
});

describe("properties", () => {
  const runs = { numRuns: inject("long") ? 5_000 : 600 };
  const tools = ["a", "b", "__proto__", "mcp__s__x", "mcp__s__y", "mcp__t__x"];
  const groups = ["a", "g", "constructor"];
  const agents = ["root", "p", "q", "r", "__proto__"];
  const anyTools = fc.subarray([...tools, ...groups, "mcp__s__*", "mcp__*", "nothing"]);
  const anyDenied = fc.oneof(
    fc.constant<string[]>([]),
    fc.subarray([...tools, ...groups, "mcp__t__*", "Task"], { maxLength: 2 }),
  );
  const anyAgents = fc.subarray([...agents, "*", "stranger"]);
  const anyLayer: fc.Arbitrary<GrantLayer> = fc.record({
    from: fc.constantFrom("policy", "session", "p"),
    kind: fc.constantFrom("policy" as const, "session" as const, "agent" as const),
    tools: fc.option(anyTools),
    denyTools: anyDenied,
    agents: fc.option(anyAgents),
    denyAgents: fc.subarray(agents, { maxLength: 1 }),
    writes: fc.constant(null),
  });
  const anyLayers = fc.array(anyLayer, { maxLength: 4 });
  const anyDefinition = fc
    .record({
      id: fc.constantFrom(...agents),
      tools: fc.option(anyTools),
      disallowedTools: anyDenied,
      allow: fc.subarray(agents, { minLength: 2 }),
      deny: fc.subarray(agents, { maxLength: 1 }),
      domain: fc.constantFrom(null, null, null, "email"),
    })
    .map(({ allow, deny, ...own }) => main({ ...own, subagents: { allow, deny } }));
  const anyGrantable: fc.Arbitrary<Grantable> = fc.record({
    tools: fc.tuple(...tools.map((name) => fc.subarray(groups).map((of) => spec(name, ...of)))).map((all) => [...all]),
    agents: fc
      .tuple(...agents.map((id) => fc.boolean().map((disabled) => aDefinition({ id, disabled }))))
      .map((all) => [...all]),
  });

  /** Requests everything: its grant is the intersection of the layers. */
  const anyAgent = main({ id: "any-agent", subagents: { allow: agents } });

  function expectWithin(grant: Grant, of: Grant): void {
    expect(of.tools).toEqual(expect.arrayContaining(grant.tools));
    expect(of.agents).toEqual(expect.arrayContaining(grant.agents));
  }

  test("no grant exceeds any of its layers, including the agent's own", () => {
    fc.assert(
      fc.property(anyGrantable, anyLayers, anyDefinition, (grantable, layers, definition) => {
        const grant = grantOf(layers, definition, grantable);
        for (const layer of layers) expectWithin(grant, grantOf([layer], anyAgent, grantable));
        expectWithin(grant, grantOf([], definition, grantable));
      }),
      runs,
    );
  });

  test("a child never has a tool that its parent lacks, nor an agent that an ancestor denies, at any depth", () => {
    fc.assert(
      fc.property(anyGrantable, anyLayers, fc.array(anyDefinition, { maxLength: 4 }), (grantable, above, chain) => {
        let layers = above;
        let parent = grantOf(layers, anyAgent, grantable);
        const denied = new Set(above.flatMap(({ denyAgents }) => denyAgents));
        for (const definition of chain) {
          const own = grantOf(layers, definition, grantable);
          expect(parent.tools).toEqual(expect.arrayContaining(own.tools));
          expect(own.agents.filter((id) => denied.has(id))).toEqual([]);
          layers = layersForChild(layers, definition);
          parent = own;
          for (const id of definition.subagents.deny) denied.add(id);
        }
      }),
      runs,
    );
  });

  test("one more layer never grants more, at any position; the order of the layers does not matter", () => {
    const anyOrder = fc.array(fc.nat(), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(
        anyGrantable,
        anyLayers,
        anyLayer,
        anyDefinition,
        anyOrder,
        (grantable, layers, more, definition, order) => {
          const grant = grantOf(layers, definition, grantable);
          expectWithin(grantOf([...layers, more], definition, grantable), grant);
          expectWithin(grantOf([more, ...layers], definition, grantable), grant);
          const shuffled = layers.map((layer, i) => ({ layer, at: order[i] ?? 0 })).sort((a, b) => a.at - b.at);
          const again = shuffled.map(({ layer }) => layer);
          expect(grantOf(again, definition, grantable)).toEqual(grant);
        },
      ),
      runs,
    );
  });

  test("a denial in any layer removes the tool, under any name", () => {
    const anyDeny = fc.record({
      tool: fc.nat(),
      how: fc.constantFrom("name", "group", "beginning", "all"),
      agent: fc.nat(),
    });
    fc.assert(
      fc.property(anyGrantable, anyLayers, anyDeny, fc.nat(), (grantable, layers, deny, where) => {
        const tool = grantable.tools[deny.tool % grantable.tools.length] ?? spec("none");
        const agent = agents[deny.agent % agents.length] ?? "none";
        const words = {
          name: tool.name,
          group: tool.groups[0] ?? tool.name,
          beginning: `${tool.name.slice(0, -1)}*`,
          all: "*",
        };
        const denying = session({ denyTools: [words[deny.how]], denyAgents: [deny.how === "all" ? "*" : agent] });
        const at = where % (layers.length + 1);
        const grant = grantOf([...layers.slice(0, at), denying, ...layers.slice(at)], anyAgent, grantable);
        expect(grant.tools).not.toContain(tool.name);
        expect(grant.agents).not.toContain(agent);
        const own = main({
          id: "any-agent",
          disallowedTools: [words[deny.how]],
          subagents: { allow: agents, deny: [agent] },
        });
        expect(grantOf(layers, own, grantable).tools).not.toContain(tool.name);
        expect(grantOf(layers, own, grantable).agents).not.toContain(agent);
      }),
      runs,
    );
  });

  test("an explanation agrees with the grant, and names the first layer that alone would have removed it", () => {
    const namesOf = (kind: GrantDecision["kind"], grant: Grant): string[] =>
      kind === "tool" ? grant.tools : grant.agents;
    fc.assert(
      fc.property(anyGrantable, anyLayers, anyDefinition, (grantable, layers, definition) => {
        const grant = grantOf(layers, definition, grantable);
        const decisions = explainGrant(layers, definition, grantable);
        const off = grantable.agents.flatMap(({ id, disabled }) => (disabled ? id : []));
        const isAlone = definition.domain === null ? (id: string) => id === definition.id : () => true;
        const removerOf = ({ kind, name }: GrantDecision): string => {
          if (kind === "agent" && off.includes(name)) return name;
          if (kind === "agent" && isAlone(name)) return definition.id;
          const first = layers.find((layer) => !namesOf(kind, grantOf([layer], anyAgent, grantable)).includes(name));
          return first?.from ?? definition.id;
        };
        expect(decisions.map(({ name }) => name)).toEqual([...tools, ...agents]);
        for (const decision of decisions) {
          expect(decision.granted).toBe(namesOf(decision.kind, grant).includes(decision.name));
          expect(decision.removedBy).toBe(decision.granted ? null : removerOf(decision));
        }
      }),
      runs,
    );
  });
});

describe("an agent in plan mode", () => {
  const changing = [
    { ...spec("write", "filesystem"), effect: "verifiable" as const },
    { ...spec("shell", "filesystem"), effect: "unsafe" as const },
    { ...spec("notes", "memory"), effect: "idempotent" as const },
    { ...spec("mcp__github__create_issue", "filesystem"), effect: "unsafe" as const },
    { ...spec("Bash"), effect: "unsafe" as const },
  ];
  const readers = [spec("read", "filesystem"), spec("mcp__github__list_issues", "filesystem")];
  const grantable: Grantable = { ...everything, tools: [...changing, ...readers] };
  const plan = { permissionMode: "plan" as const };
  const names = changing.map(({ name }) => name);

  test.each<[string, AgentDefinition["tools"]]>([
    ["no list", null],
    ["their names", [...names, "read"]],
    ["aliases", ["Bash", "Write", "Read"]],
    ["a group", ["filesystem", "memory"]],
    ["a whole server and a star", ["mcp__github__*", "*"]],
  ])("gets only tools that read, with %s", (_what, tools) => {
    const without = grantOf([policy({})], main({ tools }), grantable).tools;
    expect(without.filter((name) => names.includes(name))).not.toEqual([]);
    const { tools: granted, writes } = grantOf([policy({})], main({ ...plan, tools }), grantable);
    expect(granted).toEqual(without.filter((name) => !names.includes(name)));
    expect(writes).toContainEqual([]);
  });

  test("limits every run below it, whatever their definitions say", () => {
    const child = aDefinition({ id: "writer", tools: ["*"] });
    const layers = layersForChild(layersForChild([policy({})], main(plan)), main());
    expect(grantOf(layers, child, grantable)).toMatchObject({
      tools: readers.map(({ name }) => name),
      readOnly: true,
      writes: [[]],
    });
  });

  test("is named as the reason", () => {
    expect(decisionOn("shell", [policy({})], main({ ...plan, tools: ["shell"] }), grantable)).toMatchObject({
      granted: false,
      removedBy: "main",
      reason: "the agent main plans only (permissionMode: plan), and this tool can change something",
    });
  });

  test("keeps its limit on a host of an earlier version, which reads the write scopes alone", () => {
    const [layer] = layersForChild([], main({ ...plan, writes: ["test"] }));
    expect(layer).toMatchObject({ readOnly: true, writes: [] });
  });
});

describe("all agents (*)", () => {
  const inTeam = (id: string, team: string): AgentDefinition => ({ ...aDefinition({ id }), team });
  const everyone = [
    aDefinition({ id: "a" }),
    aDefinition({ id: "b" }),
    inTeam("news_lead", "news"),
    inTeam("news_writer", "news"),
    inTeam("books_editor", "books"),
  ];
  const granted = (definition: AgentDefinition): string[] =>
    grantOf(
      [],
      { ...definition, subagents: { ...definition.subagents, allow: ["*"] } },
      { tools: [], agents: everyone },
    ).agents;

  test("of an agent without a team are those without a team", () => {
    expect(granted(aDefinition({ id: "a" }))).toEqual(["b"]);
  });

  test("of an agent of a team are those of its team", () => {
    expect(granted(inTeam("news_lead", "news"))).toEqual(["news_writer"]);
  });
});

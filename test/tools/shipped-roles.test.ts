/** Tests the grants of the shipped roles over the real tools: no list names an unknown tool, and only some roles write. */
import { officeToolSpecs } from "@troupe/connectors/tool-specs";
import { grantOf } from "@troupe/core";
import { layersForChild, unknownToolNames } from "@troupe/core/internal";
import { createAgentSource } from "@troupe/roles";
import { shippedToolSpecs } from "@troupe/tools";
import { describe, expect, test } from "vitest";

const specs = [...shippedToolSpecs(), ...officeToolSpecs()];
const { agents } = await createAgentSource({ userFolders: [] }).load(null);

function roleNamed(id: string) {
  const definition = agents.find((agent) => agent.id === id);
  if (!definition) throw new Error(`no role ${id}`);
  const grant = grantOf([], definition, { tools: specs, agents });
  return { definition, grant, granted: specs.filter(({ name }) => grant.tools.includes(name)) };
}

describe("a shipped role", () => {
  test.each(agents.map(({ id, tools }) => [id, tools ?? []] as const))("%s names existing tools only", (_, tools) => {
    expect(unknownToolNames(tools, specs)).toEqual([]);
  });

  test.each(["researcher", "pipeline_planner"])(
    "%s has no tool that changes anything, nor one that runs a command",
    (id) => {
      expect(new Set(roleNamed(id).granted.map(({ effect }) => effect))).toEqual(new Set(["read"]));
    },
  );

  test.each(["reviewer", "coding_reviewer", "pipeline_reviewer"])(
    "%s may run commands, and may write nowhere",
    (id) => {
      const { granted, grant } = roleNamed(id);
      expect(granted.filter(({ effect }) => effect !== "read").map(({ name }) => name)).toEqual(["shell", "test"]);
      expect(grant.writes).toEqual([[]]);
    },
  );

  test("researcher may use each tool that research needs, grep by its name too", () => {
    const wanted = ["read", "ls", "search", "code_search", "web_search", "web_fetch", "overview", "docs_coverage"];
    const { definition, grant } = roleNamed("researcher");
    expect(grant.tools).toEqual(expect.arrayContaining(wanted));
    const layer = {
      from: "session",
      kind: "session" as const,
      denyTools: [],
      agents: null,
      denyAgents: [],
      writes: null,
    };
    expect(grantOf([{ ...layer, tools: ["grep"] }], definition, { tools: specs, agents }).tools).toEqual(["search"]);
  });

  test.each(["researcher", "pipeline_planner", "reviewer"])("%s is a leaf: it can ask no agent", (id) => {
    expect(roleNamed(id).grant.agents).toEqual([]);
  });

  const arrows = agents.flatMap((parent) =>
    parent.subagents.allow.flatMap((id) => {
      const child = agents.find((agent) => agent.id === id);
      return parent.team !== undefined && child ? [{ arrow: `${parent.id} → ${id}`, parent, child }] : [];
    }),
  );
  test.each(arrows)(
    "$arrow: the child loses no tool that it needs to the limits of its parent",
    ({ parent, child }) => {
      const below = grantOf(layersForChild([], parent), child, { tools: specs, agents });
      expect(below.tools).toEqual(grantOf([], child, { tools: specs, agents }).tools);
    },
  );
});

/** `/spawn` in a program: a task of `createTroupe` that begins with it starts that sub-agent. */
import { createTroupe } from "troupe";
import { expect, it } from "vitest";
import { writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const lead = { id: "lead", description: "Leads", prompt: "You lead.", subagents: { allow: ["poet"] } };
const poet = { id: "poet", description: "Writes verse", prompt: "You write verse.", tools: [] };
const critic = { id: "critic", description: "Judges", prompt: "You judge.", tools: [] };

it("a program's task that begins with /spawn starts the sub-agent, within the grants of its parent", async (test) => {
  const folder = await tempFolder("spawn-program", test);
  const file = await writeScenario(folder, {
    lead: [{ steps: [{ text: "not asked" }, { text: "The poet says: waves." }] }],
    poet: [{ steps: [{ text: "Waves." }] }],
  });
  const env = { HOME: folder, PATH: process.env.PATH, TROUPE_HOME: `${folder}/home` };
  await using troupe = await createTroupe({
    ...{ agents: [lead, poet, critic], workspace: folder, env, model: `scripted/${file}`, store: "memory" },
  });
  const answer = await troupe.run("/spawn poet Write a verse", { agent: "lead" });
  expect(answer).toMatchObject({ status: "completed", details: "The poet says: waves." });
  const detail = await troupe.sessions.get(answer.sessionId);
  expect(detail?.runs.map(({ agent, task }) => [agent, task])).toEqual([
    ["lead", "/spawn poet Write a verse"],
    ["poet", "Write a verse"],
  ]);
  await expect(troupe.run("/spawn critic Judge it", { agent: "lead" })).rejects.toMatchObject({
    ...{ code: "USAGE", message: "lead may not delegate to critic; it may delegate to: poet" },
  });
});

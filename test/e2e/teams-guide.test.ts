/** Every command of docs/guides/teams.md, in its order, in an empty folder with an empty home. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const guide = await readFile(new URL("../../docs/guides/teams.md", import.meta.url), "utf8");
const blocksOf = (language: string): string[] =>
  [...guide.matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, name, text = ""]) => (name === language ? [text] : []));

/** The words of a command, as a shell reads them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

it("the guide to teams works as it is written", { timeout: 180_000 }, async (test) => {
  const { expect } = test;
  const home = await tempFolder("guide", test);
  const work = await tempFolder("guide-work", test);
  const scenario = await writeScenario(home, {
    letters_lead: [
      {
        steps: [
          { calls: [{ tool: "delegate", args: { agent: "letters_writer", task: "write" } }] },
          { text: "The letter is in thanks.md." },
        ],
      },
    ],
    letters_writer: [
      {
        when: { task: "write" },
        steps: [{ calls: [{ tool: "write", args: { path: "thanks.md", content: "Thanks." } }] }, { text: "Written." }],
      },
      { steps: [{ text: "First come, first served." }] },
    ],
  });
  const team = path.join(work, ".troupe", "teams", "letters");
  let session = "";
  const printed: Record<string, string> = {};
  for (const [i, block] of blocksOf("sh").entries()) {
    // The guide adds the third agent before it checks the team again.
    if (i === 4) await addEditor(team);
    for (const line of block.trim().split("\n")) {
      const [program, ...words] = wordsOf(line);
      expect(program).toBe("troupe");
      const args = words.map((word) => word.replace("<session>", session));
      const env = { TROUPE_MODEL: `scripted/${scenario}` };
      const result = await troupe(args, { home, cwd: work, env });
      expect(result, `${line}\n${result.stderr}`).toMatchObject({ code: 0 });
      session = /session (\S+)/.exec(result.stderr)?.[1] ?? session;
      printed[line] = result.stdout + result.stderr;
    }
  }
  expect(Object.keys(printed)).toHaveLength(13);
  const tree = printed["troupe sessions show --tree <session>"];
  expect(tree).toMatch(/letters\/lead.*letters\/writer/s);
  expect(await readFile(path.join(work, "thanks.md"), "utf8")).toBe("Thanks.");
  expect(printed["troupe agents show letters/lead"]).toContain("letters/writer, letters/editor");
  expect(printed["troupe teams show letters"]).toMatch(/^entry +letters\/lead$/m);
  expect(printed["troupe config get team"]).toBe("letters\n");
});

async function addEditor(team: string): Promise<void> {
  const [editor = ""] = blocksOf("markdown");
  const [targets = ""] = blocksOf("yaml");
  await writeFile(path.join(team, "editor.md"), editor);
  const lead = await readFile(path.join(team, "lead.md"), "utf8");
  const changed = lead.replace("subagents:\n  allow: [writer]\n", targets);
  await writeFile(path.join(team, "lead.md"), changed);
}

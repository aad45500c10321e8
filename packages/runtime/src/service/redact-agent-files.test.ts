import { createRedactor } from "@troupe/core";
import { AgentDraft, type AgentFiles } from "@troupe/core/internal";
import { expect, it } from "vitest";
import { createFakeService, fileVersion, sampleCheck, sampleFileRow } from "../http/service.fixture.ts";
import { redactService } from "./service.ts";

const key = "correct-horse-battery";
const redact = createRedactor({ values: [{ name: "SHOP_KEY", value: key }] });

function filesOver(text: string) {
  const service = createFakeService();
  const read = async (id: string) => ({ row: sampleFileRow(id), check: sampleCheck(id, text) });
  const files: AgentFiles | undefined = service.agentFiles && { ...service.agentFiles, read };
  const { agentFiles }: { agentFiles?: AgentFiles | undefined } = redactService(
    { ...service, agentFiles: files },
    redact,
  );
  if (!agentFiles) throw new Error("no agent files");
  return { agentFiles, commands: service.commands };
}

it("a file with a secret is shown without it, and cannot be edited: saving it would destroy the secret", async () => {
  const { agentFiles } = filesOver(`---\n---\nUse ${key}`);
  const view = await agentFiles.read("clerk", null);
  expect(JSON.stringify(view)).not.toContain(key);
  expect(view).toMatchObject({ row: { editing: "none", reason: "its file contains a secret" }, check: { form: null } });
});

it("a draft with a secret is refused", async () => {
  const { agentFiles, commands } = filesOver("---\n---\n");
  const draft = AgentDraft.parse({ id: "clerk", version: fileVersion, text: `---\n---\nUse ${key}` });
  await expect(agentFiles.check(draft)).rejects.toThrow(expect.objectContaining({ code: "USAGE" }));
  await expect(agentFiles.save(draft)).rejects.toThrow(expect.objectContaining({ code: "USAGE" }));
  expect(commands).toEqual([]);
});

it("everything else passes as it is", async () => {
  const { agentFiles, commands } = filesOver("---\n---\nhello");
  expect(await agentFiles.read("clerk", null)).toMatchObject({
    row: { editing: "file" },
    check: { text: "---\n---\nhello" },
  });
  await agentFiles.save(AgentDraft.parse({ id: "clerk", version: fileVersion, text: "x" }));
  expect(commands).toHaveLength(1);
});

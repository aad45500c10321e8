import { createRedactor } from "@troupe/core";
import { expect, it } from "vitest";
import { createFakeService, sessionA } from "../http/service.fixture.ts";
import { redactService } from "./service.ts";

const key = "correct-horse-battery";

function openFiles() {
  const service = createFakeService();
  const redact = createRedactor({ values: [{ name: "SHOP_KEY", value: key }] });
  const { sessionFiles } = redactService(service, redact);
  if (!sessionFiles) throw new Error("no files");
  return { sessionFiles, commands: service.commands };
}

it.each([
  ["in text", "a", Buffer.from(`key: ${key}`)],
  ["in binary content", "a", Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(key)])],
  ["in the name", key, Buffer.from("x")],
])("an upload with a secret is refused: %s", async (_, name, bytes) => {
  const { sessionFiles, commands } = openFiles();
  const error: unknown = await sessionFiles.put(sessionA, { name, bytes, by: "ada" }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "USAGE" });
  expect(String(error)).not.toContain(key);
  expect(commands).toEqual([]);
});

it("every other file passes as it is", async () => {
  const { sessionFiles, commands } = openFiles();
  await sessionFiles.put(sessionA, { name: "a", bytes: Buffer.from([0, 255]), by: `ada ${key}` });
  expect(commands).toEqual(['put "a" 00ff ada [redacted: SHOP_KEY]']);
  expect(await sessionFiles.get(sessionA, "a.bin")).toMatchObject({ name: "a.bin", bytes: Buffer.from([0, 255]) });
});

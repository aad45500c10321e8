/** Checks that a definition can declare: they look at the workspace, never at the words of an answer. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { notStartedResponse, permanentError } from "@troupe/core/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rootRequest } from "../host/host-deps.test-helper.ts";
import { builtinVerifiers, verifyAll } from "./verifier.ts";

let workspace: string;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "troupe-verifier-"));
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

function filesExist(...paths: string[]): Promise<string[]> {
  const request = rootRequest({ run: "0198a000-0000-7000-8000-000000000001" });
  const response = notStartedResponse(request, "completed", permanentError("params", "expanded_corpus.json is saved"));
  return verifyAll(builtinVerifiers, [{ name: "files-exist", params: { paths } }], {
    response,
    workspace,
    task: "do it",
    answer: "",
    key: "verify/1",
  });
}

test("files-exist names each missing file, and ignores claims of the answer", async () => {
  expect(await filesExist("expanded_corpus.json", "work_products/report.html")).toEqual([
    "the file expanded_corpus.json is missing",
    "the file work_products/report.html is missing",
  ]);
  await writeFile(join(workspace, "expanded_corpus.json"), "{}");
  expect(await filesExist("expanded_corpus.json")).toEqual([]);
});

test("files-exist without a file fails", async () => {
  expect(await filesExist()).toEqual([expect.stringMatching(/^files-exist: its parameters are invalid \(paths: /)]);
});

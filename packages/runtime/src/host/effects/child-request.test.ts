/** A child is given no file that its parent may not read itself. */
import { RunRequest, ToolOutcome } from "@troupe/core";
import type { EffectOf } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { rootRequest } from "../host-deps.test-helper.ts";
import { filesCharactersMax, withContextFiles } from "./child-request.ts";
import { createScope, run, type TestScope } from "./scope.test-helper.ts";

const child = "0198a000-0000-7000-8000-00000000000c";

function asking(contextFiles: string[], context: string | null = null): EffectOf<"runChild"> {
  const request: RunRequest = rootRequest({ run: child, agent: "helper", contextFiles, context });
  return { kind: "runChild", run, step: 1, call: 0, item: 2, request };
}

/** A machine with these files. It records the calls. */
async function withFiles(files: Record<string, string>): Promise<{ scope: TestScope; asked: unknown[] }> {
  const asked: unknown[] = [];
  const scope = await createScope({
    request: { workspace: { id: "w1", path: "/work" } },
    tools: {
      run: async ({ name, args }, { workspace, grant, idempotencyKey, approved }) => {
        asked.push({ name, args, workspace, tools: grant.tools, idempotencyKey, approved });
        const path = typeof args === "object" && args !== null && "path" in args ? String(args.path) : "";
        if (path in files) return ToolOutcome.parse({ output: files[path] });
        const type = path.startsWith("..") ? "permission" : "tool_error";
        return ToolOutcome.parse({ output: "x", error: { type, message: "no such thing", recoverable: true } });
      },
    },
  });
  return { scope, asked };
}

test("a request without files is unchanged", async () => {
  const { scope, asked } = await withFiles({});
  const effect = asking([]);
  expect(await withContextFiles(effect, scope)).toBe(effect.request);
  expect(asked).toEqual([]);
});

test("files are read in order by the parent's tools, under its grant, and follow the rest of the context", async () => {
  const { scope, asked } = await withFiles({ "a.md": "alpha", "b.md": "```\ncode\n```` here" });
  const { context } = await withContextFiles(asking(["b.md", "a.md"], "the conversation"), scope);
  expect(context).toBe(
    "the conversation\n\nFile b.md:\n`````\n```\ncode\n```` here\n`````\n\nFile a.md:\n```\nalpha\n```",
  );
  expect(asked).toEqual(
    ["b.md", "a.md"].map((path, place) => ({
      name: "read",
      args: { path, limit: 10_000 },
      workspace: "/work",
      tools: ["echo", "danger", "deploy"],
      idempotencyKey: `${run}/1/0/2/${place}`,
      approved: false,
    })),
  );
});

test("all files together are truncated at a limit, each with a notice", async () => {
  const { scope } = await withFiles({ a: "x".repeat(filesCharactersMax - 3), b: "ab👋cd", c: "rest" });
  const { context } = await withContextFiles(asking(["a", "b", "c"]), scope);
  expect(context).toContain("File b:\n```\nab\n```\n[cut: 2 of 6 characters]");
  expect(context?.endsWith("File c: left out, the 200000 characters for files are used up")).toBe(true);
  expect(RunRequest.parse({ ...asking([]).request, context }).context).toBe(context);
});

describe("an unreadable file is named:", () => {
  test.for([
    { path: "../secret", type: "permission" },
    { path: "missing.md", type: "params" },
  ])("$path", async ({ path, type }) => {
    const { scope } = await withFiles({ "a.md": "alpha" });
    await expect(withContextFiles(asking(["a.md", path]), scope)).rejects.toMatchObject({
      runError: {
        type,
        tool: "read",
        recoverable: false,
        message: `the context file ${path} cannot be passed on: no such thing`,
      },
    });
  });
});

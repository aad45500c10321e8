/** The lines of docs/providers.md, as they are written there, against a scripted server. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { type CliResult, troupe } from "../harness/cli.ts";
import { wordsOf } from "../harness/guide.ts";
import { type ModelServer, startModelServer } from "../harness/model-server/start-model-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const guide = await readFile(new URL("../../docs/providers.md", import.meta.url), "utf8");
const [, section = ""] = /\n## Set one up\n(.*?)\n## /s.exec(guide) ?? [];
const blocks = new Map(
  [...section.matchAll(/### ([^\n]*)\n\n(?:[^\n`]+\n\n)?```sh\n(.*?)```/gs)].map(([, title = "", code = ""]) => [
    title,
    code,
  ]),
);

const task = "What is in this folder, and what is it for?";

/** Where a reader's key or server would be, the scripted one is. */
const ways: Record<string, (server: ModelServer, home: string) => Promise<Record<string, string>>> = {
  Claude: async ({ anthropicUrl }) => ({ ANTHROPIC_BASE_URL: anthropicUrl }),
  // Told by a file, so that all else stays as with OpenAI itself: the wire, and the model that is taken.
  OpenAI: async ({ openaiUrl }, home) => {
    const file = path.join(home, "config.yaml");
    await writeFile(file, `providers: {openai: {baseUrl: "${openaiUrl}", wire: openai-responses}}`);
    return { TROUPE_CONFIG: file };
  },
  Ollama: async ({ url }) => ({ OLLAMA_HOST: url }),
  "Any server like OpenAI's": async () => ({}),
};

async function run(
  title: string,
  test: Pick<TestContext, "onTestFinished">,
): Promise<CliResult & { server: ModelServer }> {
  const server = await startModelServer({
    scenario: {
      agents: {
        main: [
          { when: { task: "Call the tool" }, steps: [{ calls: [{ tool: "probe", args: { word: "ready" } }] }] },
          { when: { task }, steps: [{ text: "It is a folder." }] },
          { steps: [{ text: "ready" }] },
        ],
      },
    },
  });
  test.onTestFinished(() => server.close());
  const home = await tempFolder("guide", test);
  const env = { ...(await ways[title]?.(server, home)) };
  const script = (blocks.get(title) ?? "").replaceAll("http://127.0.0.1:8000", server.url);
  const outputs: CliResult[] = [];
  for (const line of script.trim().split("\n")) {
    const { variables, program, args } = readLine(line);
    if (program === "export") Object.assign(env, variablesIn(args));
    else if (program === "troupe") outputs.push(await troupe(args, { home, env: { ...env, ...variables } }));
    // The model server takes the place of the installed one.
    else expect(program, line).toBe("ollama");
    if (outputs.at(-1)?.code) break;
  }
  const all = (stream: "stdout" | "stderr") => outputs.map((output) => output[stream]).join("");
  return { code: outputs.at(-1)?.code ?? null, stdout: all("stdout"), stderr: all("stderr"), server };
}

/** The variables before a command, and its words, as a shell reads them. */
function readLine(line: string): { variables: Record<string, string>; program: string; args: string[] } {
  const words = wordsOf(line);
  const at = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  const [program = "", ...args] = words.slice(at);
  return { variables: variablesIn(words.slice(0, at)), program, args };
}

const variablesIn = (words: readonly string[]) =>
  Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));

describe.concurrent("in the providers guide,", () => {
  it("each way takes three commands at most", ({ expect }) => {
    expect([...blocks.keys()]).toEqual([...Object.keys(ways), "No key"]);
    for (const [title, code] of blocks) expect(code.trim().split("\n").length, title).toBeLessThanOrEqual(3);
    expect(guide).toContain("None of them has been tried live");
  });

  it.for([
    { title: "Claude", model: "claude-sonnet-5", path: "/v1/messages" },
    { title: "OpenAI", model: "gpt-6-sol", path: "/v1/responses" },
    { title: "Ollama", model: "qwen3-coder:30b", path: "/v1/chat/completions" },
    { title: "Any server like OpenAI's", model: "llama3.2", path: "/v1/chat/completions" },
  ])("$title answers a task", async ({ title, model, path: wire }, { expect, onTestFinished }) => {
    const { code, stdout, stderr, server } = await run(title, { onTestFinished });
    expect({ code, stderr: code === 0 ? "" : stderr + stdout }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/It is a folder\.\n$/);
    expect(stderr).not.toContain("demo");
    const calls = server.calls().filter(({ method, path: at }) => method === "POST" && at.startsWith("/v1/"));
    expect(new Set(calls.map(({ path: at, body }) => `${at} ${(body as { model: string }).model}`))).toEqual(
      new Set([`${wire} ${model}`]),
    );
  });

  it("a demo needs no key, and its answer is labelled as a demo", async ({ expect, onTestFinished }) => {
    const { code, stdout, stderr, server } = await run("No key", { onTestFinished });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\w/) });
    expect(stderr).toContain("demo: scripted, offline; no model was called, $0");
    expect(server.calls()).toEqual([]);
  });
});

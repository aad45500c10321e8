/**
 * Tests `troupe run` with nothing but a key, an address or a local server: all shipped agents over each wire format,
 * against a server with the vendor's rules.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { knownTiers } from "@troupe/models";
import { describe, it } from "vitest";
import { troupe } from "../../harness/cli.ts";
import { startServer } from "../../harness/model-server/fixture.ts";
import type { ModelServer } from "../../harness/model-server/start-model-server.ts";
import { tempFolder } from "../../harness/temp-folder.ts";
import { key } from "./team.ts";

const scenario = {
  agents: {
    main: [
      { when: { continued: true }, steps: [{ thinking: "again", text: "As I said." }] },
      {
        steps: [
          {
            thinking: "two can do this",
            text: "I ask two.",
            calls: [
              { tool: "delegate", args: { agent: "coder", task: "write made.txt" } },
              { tool: "delegate", args: { agent: "researcher", task: "read notes.txt" } },
            ],
          },
          { text: "{{result.0.summary}} {{result.1.summary}}" },
        ],
      },
    ],
    coder: [
      {
        when: { depth: 1 },
        steps: [
          { thinking: "a file", calls: [{ tool: "write", args: { path: "made.txt", content: "größer" } }] },
          { text: "Written.", faults: [{ status: 529 }] },
        ],
      },
    ],
    researcher: [
      {
        when: { depth: 1 },
        steps: [
          {
            calls: [
              { tool: "read", args: { path: "notes.txt" } },
              { tool: "read", args: { path: "notes.txt", offset: 1 } },
            ],
          },
          { text: "Read.", faults: [{ cut: { afterPieces: 1 } }] },
        ],
      },
    ],
  },
};

interface Vendor {
  what: string;
  env(server: ModelServer): Record<string, string>;
  config?(server: ModelServer): string;
  path: string;
  model: string;
}

const vendors: Vendor[] = [
  {
    what: "Claude, by a key alone",
    env: ({ anthropicUrl }) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: anthropicUrl }),
    path: "/v1/messages",
    model: knownTiers.anthropic.sonnet,
  },
  {
    what: "any server that speaks like OpenAI",
    env: ({ openaiUrl }) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: openaiUrl, TROUPE_MODEL: "openai/gpt-4.1" }),
    path: "/v1/chat/completions",
    model: "gpt-4.1",
  },
  {
    what: "OpenAI's own wire",
    env: () => ({ OPENAI_API_KEY: key, TROUPE_MODEL: "openai/gpt-5" }),
    config: ({ openaiUrl }) => `providers:\n  openai: { baseUrl: ${openaiUrl}, wire: openai-responses }\n`,
    path: "/v1/responses",
    model: "gpt-5",
  },
  {
    what: "Ollama",
    env: ({ url }) => ({ OLLAMA_HOST: new URL(url).host, TROUPE_MODEL: "ollama/qwen3-coder:30b" }),
    path: "/v1/chat/completions",
    model: "qwen3-coder:30b",
  },
];

describe("agents work with", () => {
  it.for(vendors)("$what", async ({ env, config, path: address, model }, { expect, onTestFinished }) => {
    const context = { onTestFinished };
    const isKeyless =
      env({ url: "http://x", anthropicUrl: "", openaiUrl: "" } as ModelServer).OLLAMA_HOST !== undefined;
    const server = await startServer(context, { scenario, ...(isKeyless ? {} : { apiKey: key }) });
    const home = await tempFolder("vendors", context);
    const cwd = await tempFolder("vendors-work", context);
    await writeFile(path.join(cwd, "notes.txt"), "notes\n");
    const file = path.join(home, "config.yaml");
    if (config) await writeFile(file, config(server));

    const options = { home, cwd, env: { ...env(server), ...(config ? { TROUPE_CONFIG: file } : {}) } };
    const { code, stdout, stderr } = await troupe(["run", "make it"], options);

    expect([code, stdout]).toEqual([0, "Written. Read.\n"]);
    expect(await readFile(path.join(cwd, "made.txt"), "utf8")).toBe("größer");
    const calls = server.calls().filter(({ identity }) => identity !== null);
    expect(new Set(calls.map((call) => call.path))).toEqual(new Set([address]));
    expect(new Set(calls.map(({ body }) => (body as { model: string }).model))).toEqual(new Set([model]));
    expect(
      calls.map(({ identity, outcome, status }) => [identity?.agent, identity?.step, outcome, status].join(" ")).sort(),
    ).toEqual([
      "coder 1 answered 200",
      "coder 2 answered 200",
      "coder 2 refused 529",
      "main 1 answered 200",
      "main 2 answered 200",
      "researcher 1 answered 200",
      "researcher 2 answered 200",
      "researcher 2 lost 200",
    ]);
    const again = await troupe(["run", "--continue", "once more"], options);
    expect([again.code, again.stdout]).toEqual([0, "As I said.\n"]);
    expect(server.calls().at(-1)?.identity).toMatchObject({
      agent: "main",
      task: "once more",
      continued: true,
      step: 1,
    });

    expect(stderr + again.stderr).not.toContain(key);
    for (const each of await readdir(home, { recursive: true, withFileTypes: true })) {
      if (!each.isFile()) continue;
      expect((await readFile(path.join(each.parentPath, each.name), "latin1")).includes(key), each.name).toBe(false);
    }
  });
});

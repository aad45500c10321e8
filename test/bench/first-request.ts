/** The first request for "hello", with so many agent files beside the shipped ones. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ModelProvider, ModelRequest } from "@troupe/core";
import { createTroupe } from "troupe";

/** Estimated tokens of the parts of a request: four characters are one token. */
export interface RequestTokens {
  total: number;
  prompt: number;
  /** Tokens of each tool, by its name. */
  tools: Record<string, number>;
}

const charactersPerToken = 4;
/** Agent files in the wild describe themselves with examples, in 1,000 to 2,500 characters. */
const about =
  "Use this agent when a task needs deep knowledge of its field. It reads the code, names the risks, proposes a change and " +
  "explains it. Examples: the user asks for a review before a release; the assistant finds a failure that it cannot explain. ";

/** Sends "hello" to the default agent and returns the size of the first request. */
export async function firstRequest(agentFiles: number): Promise<RequestTokens> {
  const folder = await mkdtemp(path.join(tmpdir(), "troupe-first-request-"));
  try {
    const agents = path.join(folder, "agents");
    const workspace = path.join(folder, "work");
    await Promise.all([agents, workspace].map((each) => mkdir(each)));
    for (let i = 0; i < agentFiles; i += 1) await writeFile(path.join(agents, `${nameOf(i)}.md`), agentFile(i));
    return tokensOf(await requestOf({ folder, agents, workspace }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const fields = ["backend", "frontend", "database", "security", "payments", "mobile", "documentation", "infrastructure"];

function nameOf(i: number): string {
  return `${fields[i % fields.length]}-specialist-${i}`;
}

function agentFile(i: number): string {
  return `---\nname: ${nameOf(i)}\ndescription: The specialist number ${i}. ${about.repeat(6)}\n---\n\nYou are a specialist.\n`;
}

async function requestOf({ folder, agents, workspace }: Record<string, string>): Promise<ModelRequest> {
  const requests: ModelRequest[] = [];
  const provider: ModelProvider = {
    id: "bench",
    priceOf: async () => null,
    async call(request) {
      requests.push(request);
      const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: null };
      return { text: "Hello.", calls: [], usage, stopReason: "end", model: "bench/model" };
    },
  };
  const troupe = await createTroupe({
    model: "bench/model",
    providers: [provider],
    agents: [agents ?? ""],
    workspace: workspace ?? "",
    home: path.join(folder ?? "", "home"),
    store: "memory",
    env: { HOME: folder, PATH: process.env.PATH },
  });
  try {
    await troupe.run("hello");
  } finally {
    await troupe.close();
  }
  const [first] = requests;
  if (!first) throw new Error("the model was not called");
  return first;
}

function tokensOf({ system, tools, messages }: ModelRequest): RequestTokens {
  const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return {
    total: tokensIn(system) + tokensIn(JSON.stringify(sent)) + tokensIn(JSON.stringify(messages)),
    prompt: tokensIn(system),
    tools: Object.fromEntries(sent.map((tool) => [tool.name, tokensIn(JSON.stringify(tool))])),
  };
}

function tokensIn(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

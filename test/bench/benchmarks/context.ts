import type { Benchmark } from "../benchmark.ts";
import type { RequestTokens } from "../first-request.ts";

const aims = [{ agentFiles: 0, aim: 6_000 }, { agentFiles: 32 }, { agentFiles: 403, aim: 8_500 }];

export const context: Benchmark = {
  name: "context",
  what: 'tokens that a model reads before "hello", at four characters a token: in all, and of each tool',
  async *figures(measure) {
    let tools: RequestTokens["tools"] = {};
    for (const { agentFiles, aim } of aims) {
      const sizes = await measure<RequestTokens>(1, "context-cost.ts", String(agentFiles));
      const values = sizes.map(({ total }) => total);
      yield { what: `first request with ${agentFiles} agent files`, values, unit: "tokens", ...(aim ? { aim } : {}) };
      yield { what: "  of these, the prompt", values: sizes.map(({ prompt }) => prompt), unit: "tokens" };
      tools = { ...tools, ...sizes[0]?.tools };
    }
    const largestFirst = Object.entries(tools).sort(([, a], [, b]) => b - a);
    for (const [name, tokens] of largestFirst) yield { what: `  tool ${name}`, values: [tokens], unit: "tokens" };
  },
};

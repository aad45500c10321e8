import { z } from "zod";
import type { ToolSpec } from "../protocol/tool.ts";
import { type ListedAgent, shorten } from "./agent-list.ts";

/** The tool that searches the agents that a run may delegate to. */
export const findAgentToolName = "find_agent";

const matchesMax = 10;
const descriptionCharactersMax = 1_000;
const queryCharactersMax = 500;

/** Offered if the list of agents leaves something out. */
export const findAgentSpec: ToolSpec = {
  name: findAgentToolName,
  description: "Searches all agents that you may delegate to, by words of their names and full descriptions.",
  risk: "low",
  effect: "read",
  groups: [],
  inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
};

const Query = z.object({ query: z.string().trim().min(1, "is empty").max(queryCharactersMax) });

/** A result that the model reads, or the mistake in the arguments. */
export type FoundAgents = { output: string } | { error: string };

/**
 * Answers a call of `find_agent` from the run's own targets, so that it finds no agent that the run may not ask. The same
 * arguments and targets always give the same answer.
 *
 * @example
 * findAgents([{ id: "sql", description: "Tunes database queries." }], { query: "slow database" });
 * // { output: '{"agents":[{"agent":"sql","description":"Tunes database queries."}],"found":1,"of":1}' }
 */
export function findAgents(targets: readonly ListedAgent[], args: unknown): FoundAgents {
  const parsed = Query.safeParse(args);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return {
      error: `find_agent: ${issue?.path.join(".") || "arguments"}: ${issue?.message}; give words of a description`,
    };
  }
  const found = rank(targets, parsed.data.query);
  const agents = found.slice(0, matchesMax).map(({ id, description, hint }) => ({
    agent: id,
    description: shorten(description, descriptionCharactersMax),
    ...(hint === undefined ? {} : { record: hint }),
  }));
  return { output: JSON.stringify({ agents, found: found.length, of: targets.length }) };
}

/** Agents that match at least one word, the best first; equally good ones in the order of their ids. */
function rank(targets: readonly ListedAgent[], query: string): ListedAgent[] {
  const words = [...new Set(wordsOf(query))];
  const documents = targets.map((target) => ({
    target,
    name: wordsOf(target.id),
    description: new Set(wordsOf(target.description)),
  }));
  const rarityOf = new Map(
    words.map((word) => {
      const count = documents.filter(
        ({ name, description }) => matchOf(word, name) + matchOf(word, description) > 0,
      ).length;
      return [word, Math.log(1 + targets.length / Math.max(count, 1))] as const;
    }),
  );
  return documents
    .map(({ target, name, description }) => ({
      target,
      score: words.reduce(
        (sum, word) =>
          sum + (rarityOf.get(word) ?? 0) * (nameWeight * matchOf(word, name) + matchOf(word, description)),
        target.id.toLowerCase() === query.toLowerCase() ? exactNameScore : 0,
      ),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.target.id < b.target.id ? -1 : 1))
    .map(({ target }) => target);
}

const nameWeight = 3;
const exactNameScore = 1_000;
const prefixLengthMin = 4;

/** 1 for the word itself, half for a longer or shorter form of it, such as its plural. */
function matchOf(word: string, words: Iterable<string>): number {
  let best = 0;
  for (const other of words) {
    if (other === word) return 1;
    if (Math.min(word.length, other.length) >= prefixLengthMin && (other.startsWith(word) || word.startsWith(other))) {
      best = 0.5;
    }
  }
  return best;
}

/** Lower-case words of letters and digits. `codeReview` and `code_review` are two words. */
function wordsOf(text: string): string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}

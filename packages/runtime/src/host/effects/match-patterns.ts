import { type Context, createContext, Script } from "node:vm";
import type { AgentDefinition, Risk } from "@troupe/core";
import { runLimited } from "../../verifiers/run-limited.ts";

type IntentPattern = NonNullable<AgentDefinition["patterns"]>[number];

/** The result of comparing a request with an agent's patterns. */
export interface PatternMatch {
  /** The highest risk of the matching patterns; null if none matches. */
  risk: Risk | null;
  /** The tools of the matching patterns, in their order, each once. */
  tools: string[];
  notes: string[];
}

/** The part of a request that patterns see. */
const charactersMax = 10_000;
/** A pattern with nested repetitions can need years. The patterns come from files of a project. */
const timeoutMs = 100;

const test = new Script('new RegExp(source, "is").test(text)');
const risks: readonly Risk[] = ["low", "medium", "high"];

/** Compares a request with patterns. A pattern that takes too long counts as a match of high risk. Never throws. */
export function matchPatterns(patterns: readonly IntentPattern[], request: string): PatternMatch {
  const context = createContext({ source: "", text: request.slice(0, charactersMax) });
  const result: PatternMatch = { risk: null, tools: [], notes: [] };
  for (const { pattern, tools, risk } of patterns) {
    context.source = pattern;
    try {
      if (!runsToEnd(context)) continue;
      result.risk = higherOf(result.risk, risk);
      result.tools = [...new Set([...result.tools, ...tools])];
      result.notes.push(`the request matches the pattern ${JSON.stringify(pattern)}`);
    } catch {
      result.risk = "high";
      result.notes.push(`the pattern ${JSON.stringify(pattern)} took too long, so the risk counts as high`);
    }
  }
  return result;
}

/** Whether the pattern of the context matches. Throws if it takes too long. */
function runsToEnd(context: Context): boolean {
  return runLimited(timeoutMs, (timeout) => test.runInContext(context, { timeout }) === true);
}

function higherOf(a: Risk | null, b: Risk): Risk {
  return a === null || risks.indexOf(b) > risks.indexOf(a) ? b : a;
}

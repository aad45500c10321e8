import type { SubmitSession } from "@troupe/core";
import type { ApiProblem } from "./api.ts";

/** The choices for a new session, as a person types them. An empty text leaves the choice to the daemon. */
export interface SessionOptions {
  /** Absolute path of the workspace. */
  folder: string;
  team: string;
  agent: string;
  model: string;
  tokens: string;
  costUsd: string;
  toolCalls: string;
  spawns: string;
}

export type OptionName = keyof SessionOptions;

/** The problems of the options, by their name. */
export type OptionProblems = Partial<Record<OptionName, string>>;

const noBudget = { tokens: "", costUsd: "", toolCalls: "", spawns: "" };

export const noOptions: SessionOptions = { folder: "", team: "", agent: "", model: "", ...noBudget };

export const budgetNames = ["tokens", "costUsd", "toolCalls", "spawns"] as const;

/** The fields of a request for these options. */
export function requestOf(options: SessionOptions): Partial<SubmitSession> {
  const { folder, team, agent, model } = trimmed(options);
  const limits = budgetNames.filter((name) => options[name].trim() !== "");
  return {
    ...(folder === "" ? {} : { workspace: folder }),
    ...(team === "" ? {} : { team }),
    ...(agent === "" ? {} : { agent }),
    ...(model === "" ? {} : { model }),
    ...(limits.length === 0 ? {} : { budget: Object.fromEntries(limits.map((name) => [name, Number(options[name])])) }),
  };
}

/** The problems that show before the daemon is asked: a limit that is not a number above zero. */
export function problemsOf(options: SessionOptions): OptionProblems {
  const { costUsd, ...counts } = trimmed(options);
  const wrong: OptionProblems = {};
  for (const name of ["tokens", "toolCalls", "spawns"] as const) {
    if (counts[name] !== "" && !isWholeNumber(counts[name])) wrong[name] = "Write a whole number above 0.";
  }
  if (costUsd !== "" && !isAmount(costUsd)) wrong.costUsd = "Write a number above 0, such as 0.50.";
  return wrong;
}

function isWholeNumber(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) > 0 && Number.isSafeInteger(Number(text));
}

function isAmount(text: string): boolean {
  return /^(\d+\.?\d*|\.\d+)$/.test(text) && Number(text) > 0 && Number.isFinite(Number(text));
}

/**
 * The option that a refusal of the daemon is about; null if it is about none, or about an option that is empty. A budget
 * can also be set by an agent's file: the form cannot raise it.
 */
export function optionOf({ code, message }: ApiProblem, options: SessionOptions): OptionName | null {
  const name = codes[code ?? ""] ?? beginnings.find(([text]) => message.startsWith(text))?.[1] ?? null;
  return name === null || options[name].trim() === "" ? null : name;
}

const codes: Readonly<Record<string, OptionName>> = {
  UNKNOWN_TEAM: "team",
  UNKNOWN_AGENT: "agent",
  UNKNOWN_MODEL: "model",
  NO_PROVIDER: "model",
};

/** The beginnings of messages with the code `USAGE`. */
const beginnings: readonly (readonly [string, OptionName])[] = [
  ["the workspace ", "folder"],
  ["the path of the workspace ", "folder"],
  ["the token budget ", "tokens"],
  ["the cost budget ", "costUsd"],
];

/** The message of a refusal for its field. A fix with flags is for the command line: the form has no flags. */
export function textOf({ message, fix }: ApiProblem): string {
  return fix === null || /(^|\s)--\w/.test(fix) ? `${message}.` : `${message}. ${fix}`;
}

/** The options that are set, in a few words each. */
export function summaryOf(options: SessionOptions): string[] {
  const { folder, team, agent, model, tokens, costUsd, toolCalls, spawns } = trimmed(options);
  return [
    folder && `folder ${folder}`,
    team && `team ${team}`,
    agent && `agent ${agent}`,
    model && `model ${model}`,
    tokens && `${tokens} tokens`,
    costUsd && `$${costUsd}`,
    toolCalls && `${toolCalls} tool calls`,
    spawns && `${spawns} sub-runs`,
  ].filter((part) => part !== "");
}

function trimmed(options: SessionOptions): SessionOptions {
  return withEach((name) => options[name].trim());
}

function withEach(value: (name: OptionName) => string): SessionOptions {
  const names = Object.keys(noOptions) as OptionName[];
  return Object.fromEntries(names.map((name) => [name, value(name)])) as unknown as SessionOptions;
}

const key = "troupe.new-session";

/** The options of the last session that this browser started, without its budget. */
export function storedOptions(): SessionOptions {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    const values = (stored ?? {}) as Partial<Record<OptionName, unknown>>;
    return { ...withEach((name) => (typeof values[name] === "string" ? values[name] : "")), ...noBudget };
  } catch {
    return noOptions;
  }
}

/** Stores the options of a session that has started, and returns those of the next one. A budget holds once. */
export function storeOptions(options: SessionOptions): SessionOptions {
  const next = { ...trimmed(options), ...noBudget };
  try {
    localStorage.setItem(key, JSON.stringify(next));
  } catch {
    // Without storage the options last until the next page load.
  }
  return next;
}

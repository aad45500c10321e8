import { TroupeError } from "../errors.ts";
import { Token } from "./ids.ts";

/**
 * Builds and parses every subject. No other code does.
 *
 * Tokens go from general to specific, with the id last. Invalid tokens are refused, so that no id or agent name can widen
 * a subscription.
 */
export interface Subjects {
  task(locality: string, agent: string, run: string): string;
  /** Announces that there may be a new task. The message is empty. */
  hint(locality: string, agent: string): string;
  journal(session: string, run: string): string;
  inbox(session: string): string;
  settled(run: string): string;
  live(session: string, run: string): string;
  /** Questions and hints to a host, or to `all`. Every process of a namespace may send them. */
  control(host: string): string;
  /** Asks a host to leave. A subject of its own, so that a server can allow it to daemons alone. */
  drain(host: string): string;
  host(host: string): string;
  /** Wildcards, for subscriptions. */
  all: {
    task: string;
    journal: string;
    journalOf(session: string): string;
    inbox: string;
    /** Tasks of one agent in one locality. */
    tasksOf(locality: string, agent: string): string;
    settled: string;
    live: string;
    liveOf(session: string): string;
    control: string;
    host: string;
  };
  /** Kind and tokens of a subject; `null` if it is not in this namespace. */
  parse(subject: string): ParsedSubject | null;
}

export type ParsedSubject =
  | { kind: "task"; locality: string; agent: string; run: string }
  | { kind: "hint"; locality: string; agent: string }
  | { kind: "journal"; session: string; run: string }
  | { kind: "inbox"; session: string }
  | { kind: "settled"; run: string }
  | { kind: "live"; session: string; run: string }
  | { kind: "control"; host: string }
  | { kind: "drain"; host: string }
  | { kind: "host"; host: string };

/**
 * The subjects of one namespace.
 *
 * @example
 * const subjects = createSubjects();
 * subjects.settled("0198…"); // "troupe.settled.0198…"
 */
export function createSubjects(namespace = "troupe"): Subjects {
  const join = (...tokens: string[]): string => [namespace, ...tokens].map(checkToken).join(".");
  checkToken(namespace);
  return {
    task: (locality, agent, run) => join("task", locality, agent, run),
    hint: (locality, agent) => join("hint", locality, agent),
    journal: (session, run) => join("journal", session, run),
    inbox: (session) => join("inbox", session),
    settled: (run) => join("settled", run),
    live: (session, run) => join("live", session, run),
    control: (host) => join("control", host),
    drain: (host) => join("drain", host),
    host: (host) => join("host", host),
    all: {
      task: `${namespace}.task.>`,
      journal: `${namespace}.journal.>`,
      journalOf: (session) => `${join("journal", session)}.*`,
      inbox: `${namespace}.inbox.>`,
      tasksOf: (locality, agent) => `${join("task", locality, agent)}.*`,
      settled: `${namespace}.settled.*`,
      live: `${namespace}.live.>`,
      liveOf: (session) => `${join("live", session)}.*`,
      control: `${namespace}.control.*`,
      host: `${namespace}.host.*`,
    },
    parse: (subject) => parseSubject(namespace, subject),
  };
}

/** Names of the tokens after the kind, in order. */
const tokensByKind = {
  task: ["locality", "agent", "run"],
  hint: ["locality", "agent"],
  journal: ["session", "run"],
  inbox: ["session"],
  settled: ["run"],
  live: ["session", "run"],
  control: ["host"],
  drain: ["host"],
  host: ["host"],
} as const;

function parseSubject(namespace: string, subject: string): ParsedSubject | null {
  const [head, kind = "", ...tokens] = subject.split(".");
  if (head !== namespace || !Object.hasOwn(tokensByKind, kind)) return null;
  const names = tokensByKind[kind as keyof typeof tokensByKind];
  if (tokens.length !== names.length || !tokens.every((token) => Token.safeParse(token).success)) return null;
  return { kind, ...Object.fromEntries(names.map((name, i) => [name, tokens[i]])) } as ParsedSubject;
}

function checkToken(token: string): string {
  if (Token.safeParse(token).success) return token;
  throw new TroupeError("INVALID_MESSAGE", `"${token}" cannot stand in a subject`, {
    fix: "use letters, digits, _ and - only, at most 128 of them",
  });
}

/**
 * Whether a subject matches a pattern by the rules of NATS: `*` is one token, a final `>` is one or more. The in-process
 * bus uses it, so that both buses deliver the same messages.
 */
export function subjectMatches(pattern: string, subject: string): boolean {
  const expected = pattern.split(".");
  const given = subject.split(".");
  if (given.includes("")) return false;
  for (const [i, token] of expected.entries()) {
    if (token === ">") return given.length > i;
    if (i >= given.length || (token !== "*" && token !== given[i])) return false;
  }
  return expected.length === given.length;
}

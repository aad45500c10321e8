import { z } from "zod";
import { didYouMean } from "../text/nearest-names.ts";
import { JsonObject } from "./json.ts";

const path = z.string().min(1).max(4_096);
const corpusPath = path.default("expanded_corpus.json");
const timeoutMs = z.int().min(1).max(600_000).default(60_000);
const folderName = path.regex(/^(?!\.{0,2}\/)[^\0*]+$/, "is a folder relative to the workspace, such as work_products");

/** The parameters of the verifiers that are part of the runtime. */
export const verifierParams = {
  "files-exist": z.strictObject({ paths: z.array(path).min(1) }),
  /** `path`: the file that has to fit. */
  "json-schema": z.strictObject({ path, schema: JsonObject }),
  "command-succeeds": z.strictObject({ command: z.string().min(1).max(100_000), timeoutMs, folder: path.optional() }),
  /** `run`: runs the `test` tool first. Without it, the tests that the run itself has run count. */
  "tests-pass": z.strictObject({
    run: z.boolean().default(false),
    paths: z.array(path).max(100).default([]),
    minimum: z.int().positive().default(1),
  }),
  /** Without `path`, the citations of the answer are checked. */
  "citations-resolve": z.strictObject({
    path: path.optional(),
    corpus: corpusPath,
    minimum: z.int().min(0).default(1),
  }),
  "claims-have-calls": z.strictObject({}),
  /** `before`: folders of reports, whose files have to wait for the corpus. */
  "report-corpus": z.strictObject({
    path: corpusPath,
    words: z.array(z.string().min(1)).min(1).default(["report", "comprehensive", "html", "work_products"]),
    before: z.array(folderName).default([]),
  }),
  /** `folder`: where the report is saved. `sources`: how many articles it cites at least, if the corpus has so many. */
  "report-form": z.strictObject({
    folder: folderName.default("work_products"),
    corpus: corpusPath,
    sources: z.int().positive().default(2),
  }),
} as const satisfies Record<string, z.ZodObject>;

export type VerifierName = keyof typeof verifierParams;
export type VerifierParams<N extends VerifierName> = z.output<(typeof verifierParams)[N]>;

const observedFolder = folderName.default("search_results");

/** The parameters of the observers that are part of the runtime. */
export const observerParams = {
  /** `delegating`: only in runs whose request has to be delegated, so that other work leaves no files in a project. */
  "save-search-results": z.strictObject({ folder: observedFolder, delegating: z.boolean().default(false) }),
  "save-workbench-activity": z.strictObject({ folder: folderName.default("workbench_activity") }),
  "enrich-corpus": z.strictObject({ folder: observedFolder, corpus: corpusPath }),
} as const satisfies Record<string, z.ZodObject>;

export type ObserverName = keyof typeof observerParams;
export type ObserverParams<N extends ObserverName> = z.output<(typeof observerParams)[N]>;

export interface CheckProblem {
  /** `name`: no such check is part of the runtime; a program may have added it. */
  at: "name" | "params";
  /** Within the params. */
  path: readonly PropertyKey[];
  message: string;
  fix: string;
}

/**
 * The problems of a verifier or observer of an agent file. Empty if its name is known and its params are valid.
 *
 * @example
 * checkProblems("verifier", { name: "files-exist", params: { path: "a" } }); // one problem at params
 */
export function checkProblems(
  kind: "verifier" | "observer",
  { name, params }: { name: string; params: Readonly<Record<string, unknown>> },
): CheckProblem[] {
  const schemas: Readonly<Record<string, z.ZodObject>> = kind === "verifier" ? verifierParams : observerParams;
  const names = Object.keys(schemas);
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  if (!schema) {
    const message = `no ${kind} called ${JSON.stringify(name)} is part of troupe; there are: ${names.join(", ")}`;
    return [
      { at: "name", path: [], message, fix: didYouMean(name, names) ?? `use one of them, or pass your own ${kind}` },
    ];
  }
  const issues = schema.safeParse(params).error?.issues ?? [];
  return issues.map((issue) => ({
    at: "params",
    path: issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path,
    message: `${name}: ${issue.path.join(".") || "its params"}: ${issue.message}`,
    fix: `its params are: ${Object.keys(schema.shape).join(", ") || "none"}`,
  }));
}

/** The handlers of requests that come with troupe. A host has them if it has the connectors that they use. */
export const handlerNames = ["office", "gmail", "calendar", "contacts", "slack"] as const;

/**
 * The problem of a handler that an agent file names. Null if the handler comes with troupe.
 *
 * @example
 * handlerProblem("calender")?.fix; // "did you mean calendar?"
 */
export function handlerProblem(name: string): Pick<CheckProblem, "message" | "fix"> | null {
  const names: readonly string[] = handlerNames;
  if (names.includes(name)) return null;
  const message = `no handler called ${JSON.stringify(name)} is part of troupe, so the agent's model works on each request`;
  return {
    message: `${message}; there are: ${names.join(", ")}`,
    fix: didYouMean(name, names) ?? "use one of them, or pass your own handler: createTroupe({ handlers })",
  };
}

/** The folders whose files have to wait for the corpus, by the verifiers of an agent. */
export function corpusFirstOf(verifiers: readonly { name: string; params: Record<string, unknown> }[]): string[] {
  return verifiers.flatMap(({ name, params }) =>
    name === "report-corpus" ? (verifierParams["report-corpus"].safeParse(params).data?.before ?? []) : [],
  );
}

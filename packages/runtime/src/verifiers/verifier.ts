import type { Clock, RunResponse, ToolOutcome } from "@troupe/core";
import { type VerifierName, type VerifierParams, type VerifierSpec, verifierParams } from "@troupe/core/internal";
import type { z } from "zod";
import { citationsResolve } from "./citations-resolve.ts";
import { claimsHaveCalls } from "./claims-have-calls.ts";
import { commandSucceeds } from "./command-succeeds.ts";
import { jsonFileFits } from "./json-file-fits.ts";
import { reportCorpus } from "./report-corpus.ts";
import { reportForm } from "./report-form.ts";
import { testsPass } from "./tests-pass.ts";
import { existsInWorkspace } from "./workspace-file.ts";

/** Runs a tool for a check, within the grant of the run that checks and without write access. */
export type CheckTool = (name: string, args: z.core.util.JSONType) => Promise<ToolOutcome>;

export type CheckFact = { missingFile: string } | { applies: false };

/** The result that a verifier checks: of its own run, or of a child in the folder of its parent. */
export interface VerifierSubject {
  response: RunResponse;
  /** The task that the result is for. */
  task: string;
  /** The answer of the run that checks; empty while it has none. */
  answer: string;
  /** The folder of the run that checks. */
  workspace: string;
  /** Key of the effect that checks. */
  key: string;
  /** Runs a tool. Absent: checks that need one fail. */
  runTool?: CheckTool;
  /** Takes a fact for the trace: a required file that is missing, or that the check does not concern this result. */
  note?(fact: CheckFact): void;
}

/**
 * A deterministic check of a run's response. Returns a line for each failure; none if the check passes.
 *
 * @example
 * const hasSummary: Verifier = async ({ response }) => (response.summary === "" ? ["the summary is empty"] : []);
 * const verifiers = { ...builtinVerifiers, "has-summary": hasSummary };
 */
export type Verifier = (subject: VerifierSubject & Pick<VerifierSpec, "params">) => Promise<string[]>;

export type Verifiers = Readonly<Record<string, Verifier>>;

/** A verifier whose params are parsed. */
export type BuiltinVerifier<N extends VerifierName> = (
  subject: VerifierSubject & { params: VerifierParams<N> },
) => Promise<string[]>;

/** Checks that the files in `params.paths` exist in the workspace. */
const filesExist: BuiltinVerifier<"files-exist"> = async ({ workspace, note, params: { paths } }) => {
  const exist = await Promise.all(paths.map((file) => existsInWorkspace(workspace, file)));
  for (const [i, missingFile] of paths.entries()) if (!exist[i]) note?.({ missingFile });
  return paths.filter((_, i) => !exist[i]).map((file) => `the file ${file} is missing`);
};

const builtins: { readonly [N in VerifierName]: BuiltinVerifier<N> } = {
  "files-exist": filesExist,
  "json-schema": jsonFileFits,
  "command-succeeds": commandSucceeds,
  "tests-pass": testsPass,
  "citations-resolve": citationsResolve,
  "claims-have-calls": claimsHaveCalls,
  "report-corpus": reportCorpus,
  "report-form": reportForm,
};

/** The verifiers that are part of the runtime. */
export const builtinVerifiers: Verifiers = Object.fromEntries(
  Object.entries(builtins).map(([name, verify]) => [name, withParams(name as VerifierName, verify as Verifier)]),
);

/** Wrong params fail the check, because a check that cannot run proves nothing. */
function withParams(name: VerifierName, verify: Verifier): Verifier {
  return async ({ params, ...subject }) => {
    const parsed = verifierParams[name].safeParse(params);
    if (parsed.success) return verify({ ...subject, params: parsed.data as VerifierSpec["params"] });
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "params"}: ${issue.message}`);
    return [`${name}: its parameters are invalid (${problems.join("; ")})`];
  };
}

/** A check that takes longer fails. A command has at most ten minutes. */
const checkMsMax = 11 * 60_000;

/** Runs all verifiers of a spec. An unknown verifier, one that throws, and one that takes too long count as a failure. */
export async function verifyAll(
  verifiers: Verifiers,
  specs: readonly VerifierSpec[],
  subject: VerifierSubject,
  limit?: { clock: Clock; signal?: AbortSignal; timeoutMs?: number },
): Promise<string[]> {
  const failures = await Promise.all(
    specs.map(async ({ name, params }) => {
      const verifier = Object.hasOwn(verifiers, name) ? verifiers[name] : undefined;
      if (!verifier) return [`no verifier is called "${name}"; there are: ${Object.keys(verifiers).join(", ")}`];
      try {
        return await inTime(verifier({ ...subject, params }), limit);
      } catch (error) {
        return [`verifier "${name}" failed: ${error instanceof Error ? error.message : String(error)}`];
      }
    }),
  );
  return failures.flat();
}

async function inTime(check: Promise<string[]>, limit: Parameters<typeof verifyAll>[3]): Promise<string[]> {
  if (!limit) return check;
  const { clock, timeoutMs = checkMsMax } = limit;
  const late = Promise.withResolvers<never>();
  const stop = clock.after(timeoutMs, () => late.reject(new Error(`it took longer than ${timeoutMs} ms`)));
  try {
    return await Promise.race([check, late.promise]);
  } finally {
    stop();
  }
}

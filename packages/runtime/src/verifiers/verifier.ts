import { access } from "node:fs/promises";
import path from "node:path";
import type { RunResponse } from "@troupe/core";
import type { VerifierSpec } from "@troupe/core/internal";

/**
 * A deterministic check of a run's response. Returns a line for each failure; none if the check passes.
 *
 * @example
 * const hasSummary: Verifier = async ({ response }) => (response.summary === "" ? ["the summary is empty"] : []);
 * const verifiers = { ...builtinVerifiers, "has-summary": hasSummary };
 */
export type Verifier = (subject: VerifierSubject & Pick<VerifierSpec, "params">) => Promise<string[]>;

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
}

export type Verifiers = Readonly<Record<string, Verifier>>;

/** The verifiers that are part of the runtime. */
export const builtinVerifiers: Verifiers = {
  /** Checks that the files in `params.paths` exist in the workspace. */
  "files-exist": async ({ workspace, params }) => {
    const paths = Array.isArray(params.paths) ? params.paths.map(String) : [];
    if (paths.length === 0) return ["files-exist: its parameter `paths` names no file"];
    const missing = await Promise.all(
      paths.map(async (file) => ((await exists(path.resolve(workspace, file))) ? [] : [`the file ${file} is missing`])),
    );
    return missing.flat();
  },
};

/** Runs all verifiers of a spec. An unknown verifier, or one that throws, counts as a failure. */
export async function verifyAll(
  verifiers: Verifiers,
  specs: readonly VerifierSpec[],
  subject: VerifierSubject,
): Promise<string[]> {
  const failures = await Promise.all(
    specs.map(async ({ name, params }) => {
      const verifier = Object.hasOwn(verifiers, name) ? verifiers[name] : undefined;
      if (!verifier) return [`no verifier is called "${name}"; there are: ${Object.keys(verifiers).join(", ")}`];
      try {
        return await verifier({ ...subject, params });
      } catch (error) {
        return [`verifier "${name}" failed: ${error instanceof Error ? error.message : String(error)}`];
      }
    }),
  );
  return failures.flat();
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

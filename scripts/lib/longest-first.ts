import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./project.ts";

/**
 * What takes longest begins first, so that no worker is left alone with it in the end. Where vitest has not seen the
 * tests before, as in a new checkout, it knows no more of a file than its size: these folders and files it knows from us.
 */
const longest: readonly RegExp[] = [
  /^test\/e2e\/(approvals|kill|effects)\.test\.ts$/,
  /^test\/hostile\/command-injection\.test\.ts$/,
  /^packages\/tools\/src\/sandbox\/(leftover-processes|escape-attempts)\.test\.ts$/,
  /^test\/(browser|e2e|hostile|packaging)\//,
  /^packages\/core\/src\/machines\/budget\.property\.test\.ts$/,
  /^packages\/.*\.(property|fuzz)\.test\.ts$/,
];

/** Those that have a worker of their own stay in front: as vitest has it, for shared ones are stopped at such a file. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId, project }: TestSpecification): number {
  const file = relative(root, moduleId);
  const at = longest.findIndex((pattern) => pattern.test(file));
  const rank = at < 0 ? longest.length : at;
  return project.config.isolate ? rank : rank + longest.length + 1;
}

import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./project.ts";

/**
 * Starts the longest files first, so that no worker runs alone at the end. In a new checkout vitest knows only file
 * sizes, so this list names the slow folders and files.
 */
const longest: readonly RegExp[] = [
  /^test\/chaos\/[^/]+\.test\.ts$/,
  /^test\/packaging\/packaging\.test\.ts$/,
  /^test\/hostile\/command-injection\.test\.ts$/,
  /^test\/e2e\/(approvals|kill|effects)\.test\.ts$/,
  /^packages\/tools\/src\/sandbox\/(leftover-processes|escape-attempts)\.test\.ts$/,
  /^test\/(browser|e2e|hostile|nats)\//,
  /^packages\/core\/src\/machines\/budget\.property\.test\.ts$/,
  /^packages\/.*\.(property|fuzz)\.test\.ts$/,
];

/** Files with their own worker stay in front, as in vitest's order: vitest stops shared workers at such a file. */
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

import { readFileSync } from "node:fs";
import type { ToolSpec } from "@troupe/core";

/**
 * The specs of the office tools: names, descriptions and input schemas. They are read from a file that the build makes of
 * `createOfficeTools`, so that a process that calls none of the tools does not load them.
 *
 * @example
 * const names = officeToolSpecs().map(({ name }) => name);
 */
export function officeToolSpecs(): ToolSpec[] {
  return JSON.parse(readFileSync(new URL("tool-specs.json", import.meta.url), "utf8"));
}

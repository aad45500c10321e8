import { defaultPolicy, type Policy, type ToolSpec } from "@troupe/core";
import { didYouMean, toolNames, unknownToolNames } from "@troupe/core/internal";
import { readSettings } from "../disk/read-settings.ts";

/**
 * Loads a policy; the default one if the file is missing. Throws `INVALID_POLICY` for any mistake.
 *
 * @example
 * const policy = await loadPolicy("/home/me/.troupe/policy.yaml");
 */
export async function loadPolicy(file: string): Promise<Policy> {
  const text = await readSettings(file, { code: "INVALID_POLICY", what: "a policy" });
  if (text === null) return defaultPolicy;
  // Loaded at first use, so that importing the tools does not load the YAML parser.
  const { parsePolicy } = await import("./parse-policy.ts");
  return parsePolicy(text, file);
}

/**
 * Warnings about names in a policy that match no tool of this machine. They are not errors, because tools come with
 * servers and versions, but a misspelt denial denies nothing.
 */
export function policyWarnings({ layer, ask = [] }: Policy, specs: readonly ToolSpec[]): string[] {
  const { tools, groups } = toolNames(specs);
  const warn = (key: string, names: readonly string[]): string[] =>
    unknownToolNames(names, specs).map((name) => {
      const meant = didYouMean(name, [...tools, ...groups]);
      return `${key} of the policy names ${JSON.stringify(name)}, but no tool here has that name${meant ? `: ${meant}` : ""}`;
    });
  return [...warn("tools.allow", layer.tools ?? []), ...warn("tools.deny", layer.denyTools), ...warn("tools.ask", ask)];
}

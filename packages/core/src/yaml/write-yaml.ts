import { stringify } from "yaml";

/**
 * A value as YAML, with long texts on several lines.
 *
 * @example
 * writeYaml({ steps: ["a"] }); // "steps:\n  - a\n"
 */
export function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 100 });
}

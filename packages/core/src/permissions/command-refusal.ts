import type { CommandLimit } from "../protocol/request.ts";
import type { ToolSpec } from "../protocol/tool.ts";
import { allowsCommands, patternsOf, type SimpleCommand, toolOfItem } from "./command-pattern.ts";
import { couldMatchCommands } from "./denied-commands.ts";
import { namesTool } from "./grant.ts";

/**
 * The reason why limits refuse a call. Null if they allow it.
 *
 * @param commands the commands of the call. Null if they cannot be told, or if the tool runs no commands.
 * @param reserved names of existing tools, which a list does not mean as aliases
 */
export function commandRefusal(
  limits: readonly CommandLimit[],
  spec: Pick<ToolSpec, "name" | "groups">,
  commands: readonly SimpleCommand[] | null,
  reserved?: ReadonlySet<string>,
): string | null {
  const { name } = spec;
  for (const { from, allow, deny } of limits) {
    const denied = patternsOf(deny, name);
    if (couldMatchCommands(denied, commands)) return `${from} denies ${listOf(deny, name)}${doubt(commands)}`;
    if (allow === null || namesTool(allow, spec, reserved)) continue;
    const allowed = patternsOf(allow, name);
    if (allowed.length > 0 && !allowsCommands(allowed, commands)) {
      return `${from} allows only ${listOf(allow, name)}, for each command of the line${doubt(commands)}`;
    }
  }
  return null;
}

/** Whether items of a list, patterns included, mean a call. In doubt they do. */
export function couldNameCall(
  items: readonly string[],
  spec: Pick<ToolSpec, "name" | "groups">,
  commands: readonly SimpleCommand[] | null,
): boolean {
  return namesTool(items, spec) || couldMatchCommands(patternsOf(items, spec.name), commands);
}

function listOf(items: readonly string[], tool: string): string {
  return items.filter((item) => toolOfItem(item) === tool).join(", ");
}

function doubt(commands: readonly SimpleCommand[] | null): string {
  return commands === null ? ", and the commands of this call cannot be told for sure" : "";
}

import type { CommandLimit, GrantLayer } from "../protocol/request.ts";
import { toolOfItem } from "./command-pattern.ts";

/** The patterns of a layer, such as `shell(git status:*)`. Empty for a layer that restricts whole tools only. */
export function commandLimits({ from, tools, denyTools }: GrantLayer): CommandLimit[] {
  const allow = tools?.some(isPattern) ? tools : null;
  const deny = denyTools.filter(isPattern);
  return allow === null && deny.length === 0 ? [] : [{ from, allow, deny }];
}

function isPattern(item: string): boolean {
  return toolOfItem(item) !== item;
}

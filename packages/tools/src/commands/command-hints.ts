import type { Grant } from "@troupe/core";
import type { CommandResult, Sandbox } from "../sandbox/sandbox.ts";
import { writableText } from "./command-risk.ts";

interface HintContext {
  sandbox: Pick<Sandbox, "contains">;
  grant: Pick<Grant, "writes">;
}

const notFound = /^(?:\/bin\/)?(?:sh|bash|dash|zsh): (?:line )?(?:\d+: )?([^\s:]+): (?:command )?not found$/m;
const noNetwork =
  /could not resolve|couldn't resolve|name resolution|name or service not known|EAI_AGAIN|ENOTFOUND|ENETUNREACH|network is unreachable/i;
const readOnly = /read-only file system|EROFS/i;

/**
 * What a command that failed was most likely not told: how the place is that it ran in. Null where the output speaks for
 * itself.
 */
export function commandHint(end: CommandResult, { sandbox, grant }: HintContext): string | null {
  if (end.reason !== "exited" || end.code === 0) return null;
  const missing = end.code === 127 ? notFound.exec(end.output)?.[1] : undefined;
  if (missing !== undefined) return `there is no program ${missing} on the PATH that commands have here`;
  if (sandbox.contains && noNetwork.test(end.output)) {
    return "commands have no network here, unless the policy of this machine gives it to them; web_fetch may reach the page";
  }
  if (sandbox.contains && readOnly.test(end.output))
    return `you may write ${writableText(grant.writes)}, and in $TMPDIR`;
  return null;
}

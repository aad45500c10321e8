import { type ErrorCode, TroupeError } from "@troupe/core";

const kinds = {
  session: ["UNKNOWN_SESSION", "troupe sessions ls"],
  run: ["UNKNOWN_RUN", "troupe sessions ls, then troupe sessions show SESSION"],
  approval: ["UNKNOWN_APPROVAL", "troupe approvals ls"],
  host: ["UNKNOWN_HOST", "troupe hosts ls"],
  rule: ["UNKNOWN_RULE", "troupe rules ls"],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

/** The error for an id that nothing has, with the command that lists those that there are. */
export function unknown(what: keyof typeof kinds, id: string): TroupeError {
  const [code, fix] = kinds[what];
  return new TroupeError(code, `there is no ${what} ${JSON.stringify(id)}`, { fix });
}

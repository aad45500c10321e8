import { closeSync, openSync } from "node:fs";
import { errorCodeOf } from "@troupe/core/internal";

/** Creates an empty file that only this user can read, unless it exists. SQLite gives its other files the same mode. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    if (errorCodeOf(thrown) !== "EEXIST") throw thrown;
  }
}

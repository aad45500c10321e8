import { TroupeError } from "@troupe/core/errors";

/** npm only warns about a Node that is too old. Without this check, the first error is about a missing module. */
export function checkNode(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return;
  throw new TroupeError("UNSUPPORTED_NODE", `troupe needs Node 22.13 or later; this is ${version}`, {
    fix: "install Node 24 from https://nodejs.org",
  });
}

import type { Grant } from "@troupe/core";
import { mayWrite } from "@troupe/core/internal";
import { protectedPart } from "./protected-paths.ts";
import type { ResolvedPath } from "./resolve-path.ts";
import { failure } from "./workspace-path.ts";

/**
 * Throws unless an agent may write, make or delete the file at a place. What is protected is so by the name that was
 * given and by the way that it really goes, so that no link and no missing folder leads around it.
 */
export function checkMayChange(place: Pick<ResolvedPath, "shown" | "real">, writes: Grant["writes"]): void {
  const { shown, real } = place;
  const protectedBy = protectedPart(shown) ?? protectedPart(real);
  if (protectedBy !== null) {
    throw failure(
      "permission",
      `${shown} was not changed: ${protectedBy} decides what agents and programs of this machine do, so that no agent writes ` +
        "it; ask a person to change it",
    );
  }
  if (mayWrite(writes, real)) return;
  throw failure("permission", `${shown} was not changed: this agent may write ${allowedFolders(writes)}`);
}

function allowedFolders(writes: Grant["writes"]): string {
  if (writes.some((folders) => folders.length === 0)) return "nothing";
  return writes.map((folders) => `only in ${folders.join(", ")}`).join(", and there ");
}

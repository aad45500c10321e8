import type { SandboxFacts } from "troupe/internal";
import { cleanLine } from "./clean.ts";

/** What keeps commands where nothing contains them, and how to get better. */
export function sandboxNote({ detail, fix }: Pick<SandboxFacts, "detail" | "fix">): string {
  return cleanLine(`${detail}${fix === null ? "" : `; better: ${fix}`}`);
}

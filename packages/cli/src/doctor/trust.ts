import { createProjectTrust } from "@troupe/tools";
import { changed, homeFiles } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { toTroupeError } from "../failure.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** What this folder brings, and whether it counts. */
export async function checkTrust({ home, cwd }: Cli): Promise<Check> {
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  try {
    // Without it nothing would be known of any folder.
    await trust.list();
  } catch (error) {
    const { message, fix } = toTroupeError(error);
    return fail("trust", message, fix ?? "troupe trust ls");
  }
  const project = await trust.inspect(cwd);
  const count = project.files.length === 1 ? "1 file" : `${project.files.length} files`;
  if (project.problem) return warn("trust", project.problem.message, project.problem.fix ?? "troupe trust");
  if (project.status === "nothing") return ok("trust", "this folder brings nothing that has to be trusted");
  if (project.status === "trusted") return ok("trust", `what this folder brings is trusted: ${count}`);
  if (project.status === "declined")
    return ok("trust", `what this folder brings was declined, and is not used: ${count}`);
  const why = project.status === "changed" ? `it is another since it was trusted: ${changed(project)}` : "not trusted";
  return warn("trust", `${count} of this folder not in force: ${why}`, "troupe trust");
}

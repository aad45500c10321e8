import { createProjectTrust } from "@troupe/tools";
import { homeFiles, prepareHome } from "troupe/internal";

/** Trusts the current files of a folder. */
export async function trustFolder(home: string, folder: string): Promise<void> {
  await prepareHome({ path: home });
  const trust = createProjectTrust({ file: homeFiles({ path: home }).trust });
  const project = await trust.inspect(folder);
  if (project.problem) throw project.problem;
  await trust.record(project, { decision: "accepted", at: "2026-11-18T12:00:00.000Z", by: "me" });
}

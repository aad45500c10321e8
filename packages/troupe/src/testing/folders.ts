import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProjectTrust } from "@troupe/tools";
import { homeFiles, prepareHome } from "../home/home.ts";

const folders: string[] = [];

/** A new folder. `removeTemporaryFolders` deletes it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "troupe-"));
  folders.push(folder);
  return folder;
}

export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Accepts the project files of a folder as they are now. */
export async function trustFolder(home: string, folder: string): Promise<void> {
  await prepareHome({ path: home });
  const trust = createProjectTrust({ file: homeFiles({ path: home }).trust });
  const project = await trust.inspect(folder);
  if (project.problem) throw project.problem;
  await trust.record(project, { decision: "accepted", at: "2026-11-18T12:00:00.000Z", by: "me" });
}

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** How often the server syncs: by its own default, or before each acknowledgement. */
export type Sync = "default" | "always";

/** The flags of a server that syncs so. The setting stands in a file; there is no flag for it. */
export async function serverFlags(wanted: string | undefined): Promise<{ args: string[]; applied: Sync }> {
  if (wanted !== "always") return { args: [], applied: "default" };
  const file = path.join(await mkdtemp(path.join(tmpdir(), "troupe-bench-")), "server.conf");
  await writeFile(file, "jetstream { sync_interval: always }\n");
  return { args: ["--config", file], applied: "always" };
}

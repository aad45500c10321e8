import { fetchBwrap, findUnshare } from "../fetch-bwrap.ts";
import { fetchChromium } from "../fetch-chromium.ts";
import { fetchNats } from "../fetch-nats.ts";

/** Variables that name the fetched programs, and why the others are missing. A test skips itself without its program. */
export async function fetchNeeds(): Promise<{ env: NodeJS.ProcessEnv; skips: string[] }> {
  const needs = {
    TROUPE_TEST_NATS_SERVER: ["nats-server", await fetchNats()],
    TROUPE_TEST_CHROMIUM: ["chromium", await fetchChromium()],
    TROUPE_TEST_BWRAP: ["bubblewrap", await fetchBwrap()],
    TROUPE_TEST_UNSHARE: ["namespaces", await findUnshare()],
  } as const;
  const env: NodeJS.ProcessEnv = {};
  const skips: string[] = [];
  for (const [variable, [name, need]] of Object.entries(needs)) {
    if ("path" in need) env[variable] = need.path;
    else skips.push(`${name}: ${need.skipped}`);
  }
  return { env, skips };
}

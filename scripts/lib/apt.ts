import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Reads this machine's apt sources. They are read at run time, so that no host is written here and a company mirror is
 * used where one is configured.
 */

/** A package source of this distribution. */
export interface Mirror {
  uri: string;
  signedBy: string | null;
}

/** A distribution's newer suites, in the order in which to try them, and the component that holds nats-server. */
export interface NewerSuites {
  suites: string[];
  component: string;
}

interface Source {
  uri: string;
  suites: string[];
  signedBy: string | null;
}

/** The mirror of the distribution's own packages, or null where there is no apt, or none that names this release. */
export function findMirror(etc = "/etc"): Mirror | null {
  const release = osRelease(etc);
  const codenames = [release.UBUNTU_CODENAME, release.DEBIAN_CODENAME, release.VERSION_CODENAME].filter(Boolean);
  const own = readSources(join(etc, "apt")).find((source) => source.suites.some((suite) => codenames.includes(suite)));
  return own ? { uri: own.uri, signedBy: own.signedBy } : null;
}

export function newerSuites(etc = "/etc"): NewerSuites {
  const { ID = "", ID_LIKE = "" } = osRelease(etc);
  const ubuntu = `${ID} ${ID_LIKE}`.split(" ").includes("ubuntu");
  return ubuntu ? { suites: ["devel"], component: "universe" } : { suites: ["testing", "unstable"], component: "main" };
}

/** The suite that this machine itself is of, and the component that holds bubblewrap; null where there is no apt. */
export function ownSuite(etc = "/etc"): { suite: string; component: string } | null {
  const { UBUNTU_CODENAME, DEBIAN_CODENAME, VERSION_CODENAME } = osRelease(etc);
  const suite = UBUNTU_CODENAME || DEBIAN_CODENAME || VERSION_CODENAME;
  return suite ? { suite, component: "main" } : null;
}

function osRelease(etc: string): Record<string, string | undefined> {
  const file = join(etc, "os-release");
  if (!existsSync(file)) return {};
  const pairs = readFileSync(file, "utf8").matchAll(/^([A-Z_]+)="?(.*?)"?$/gm);
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, value]));
}

function readSources(apt: string): Source[] {
  const folder = join(apt, "sources.list.d");
  const parts = existsSync(folder) ? readdirSync(folder).sort() : [];
  return [join(apt, "sources.list"), ...parts.map((name) => join(folder, name))]
    .filter((file) => /\.(list|sources)$/.test(file) && existsSync(file))
    .flatMap((file) => {
      const text = readFileSync(file, "utf8");
      return file.endsWith(".sources") ? parseStanzas(text) : parseLines(text);
    });
}

/** `deb [signed-by=KEY …] URI SUITE COMPONENT…`, one a line. */
function parseLines(text: string): Source[] {
  return [...text.matchAll(/^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)/gm)].map(
    ([, options = "", uri = "", suite = ""]) => ({
      uri,
      suites: [suite],
      signedBy: /signed-by=(\S+)/.exec(options)?.[1] ?? null,
    }),
  );
}

/** Stanzas of `Types: … URIs: … Suites: …`, an empty line between them. A key written into the stanza is left out. */
function parseStanzas(text: string): Source[] {
  const withoutComments = text.replace(/^#.*\n?/gm, "");
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const words = (field: string): string[] =>
      new RegExp(`^${field}:[ \\t]*(.*)$`, "im").exec(stanza)?.[1]?.trim().split(/\s+/).filter(Boolean) ?? [];
    const [uri] = words("URIs");
    if (!uri || !words("Types").includes("deb") || words("Enabled")[0] === "no") return [];
    return [{ uri, suites: words("Suites"), signedBy: words("Signed-By")[0] ?? null }];
  });
}

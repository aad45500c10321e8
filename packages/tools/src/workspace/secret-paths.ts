import { readFileSync, realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { loginHomes } from "@troupe/core/internal";
import { foldedName } from "./folded-name.ts";
import { identityOf } from "./held-folder.ts";
import { type SecretPlace, secretPlaces } from "./secret-places.ts";
import { isWithin } from "./workspace-path.ts";

/** A secret of a home of this machine. */
export interface SecretPath extends SecretPlace {
  /** Absolute, as named in the home. */
  at: string;
  /** Its path without links; null if it does not exist. */
  real: string | null;
}

/**
 * Real paths that a secret of a home once had. They stay secret for as long as this process lives: a command of a home
 * could remove the link that leads to them.
 */
const realPathsEver = new Map<string, SecretPlace>();

/** The homes of this user, and the homes of other users in a folder. */
export function homesIn(folder: string): string[] {
  const own = [homedir(), userHome()];
  const others = isAboveHomes(folder) ? listedHomes() : [];
  return [
    ...new Set(
      [...own, ...others].filter((home) => home.startsWith("/")).flatMap((home) => [home, realPathOf(home) ?? home]),
    ),
  ].filter((home) => home !== "/");
}

/** All secrets of the homes that a folder has to do with. */
function allSecrets(folder: string): SecretPath[] {
  return homesIn(folder).flatMap((home) =>
    secretPlaces.map((place): SecretPath => {
      const at = join(home, place.path);
      return { ...place, at, real: realPathOf(at) };
    }),
  );
}

/** The secrets in a folder, the secrets behind a link in it, and the secrets around the folder itself. */
export function secretsIn(folder: string): SecretPath[] {
  const all = allSecrets(folder);
  for (const { real, ...place } of all) if (real !== null && real !== place.at) realPathsEver.set(real, place);
  const moved = [...realPathsEver].map(([real, place]): SecretPath => ({ ...place, at: real, real: realPathOf(real) }));
  const overlaps = (path: string): boolean => isWithin(folder, path) || isWithin(path, folder);
  return [...all, ...moved].filter(({ at, real }) => overlaps(at) || (real !== null && overlaps(real)));
}

/**
 * The secret that a path of a workspace leads to; null for any other path. Names that a file system may treat as equal
 * count as equal.
 */
export function secretAt(root: string, path: string): SecretPath | null {
  const wanted = folded(path);
  const isAt = (place: string | null): boolean => place !== null && isWithin(folded(place), wanted);
  return knownSecretsIn(root).find(({ at, real }) => isAt(at) || isAt(real)) ?? null;
}

/** A workspace that is not a home can only have links of a home to it, which are looked up once per second. */
function knownSecretsIn(root: string): readonly SecretPath[] {
  const homes = homesIn(root);
  if (homes.some((home) => isWithin(root, home))) return secretsIn(root);
  const key = [root, ...homes].join();
  const known = recent.get(key);
  if (known && performance.now() <= known.untilMs) return known.secrets;
  const secrets = secretsIn(root);
  if (recent.size >= recentMax) recent.clear();
  recent.set(key, { secrets, untilMs: performance.now() + lookUpMs });
  return secrets;
}

/** Time between two looks at the places of a home, for a workspace that is none. */
const lookUpMs = 1_000;

/** The last look for each workspace: runs in many workspaces take turns. */
const recent = new Map<string, { secrets: readonly SecretPath[]; untilMs: number }>();
const recentMax = 100;

/** The secret that a file with more than one name (hard link) is; null for any other file. */
export function secretWithIdentity(root: string, identity: string): SecretPath | null {
  const homes = homesIn(root).join();
  if (identities?.homes !== homes || performance.now() > identities.untilMs) {
    identities = { homes, byIdentity: secretFiles(root), untilMs: performance.now() + lookUpMs };
  }
  return identities.byIdentity.get(identity) ?? null;
}

let identities: { homes: string; byIdentity: ReadonlyMap<string, SecretPath>; untilMs: number } | null = null;

function secretFiles(root: string): Map<string, SecretPath> {
  const files = allSecrets(root).flatMap((secret): [string, SecretPath][] => {
    const stats = secret.real === null ? undefined : statSync(secret.real, { bigint: true, throwIfNoEntry: false });
    return stats?.isFile() ? [[identityOf(stats), secret]] : [];
  });
  return new Map(files);
}

function folded(path: string): string {
  return path.split("/").map(foldedName).join("/");
}

function isAboveHomes(folder: string): boolean {
  return folder === "/" || listedHomes().some((home) => isWithin(folder, home));
}

let homes: readonly string[] | null = null;

/** The homes of the people of this machine. */
function listedHomes(): readonly string[] {
  homes ??= loginHomes(readText("/etc/passwd"));
  return homes;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function userHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

/** Null for a path that does not exist. */
export function realPathOf(path: string): string | null {
  try {
    // Most places do not exist, and an error costs more than this.
    return statSync(path, { throwIfNoEntry: false }) ? realpathSync.native(path) : null;
  } catch {
    return null;
  }
}

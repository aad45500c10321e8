import { foldedName } from "./folded-name.ts";
import {
  type ProtectedRow,
  type ProtectionClass,
  protectedInRepository,
  protectedTable,
  type RepositoryRow,
} from "./protected-table.ts";

/** Why a path is protected. */
export interface Protection {
  class: ProtectionClass;
  /** The protected path that contains or equals the path. */
  path: string;
  reason: string;
  /** A command may leave the file unless this matches its content. */
  harmful?: RegExp | undefined;
}

const strength: readonly ProtectionClass[] = ["marked", "asks", "never"];

/** The protection of a path in a workspace, by its names alone: the strongest, then the outermost. Null for none. */
export function protectionOf(path: string): Protection | null {
  const names = path.split("/");
  const folded = names.map(foldedName);
  let strongest: Protection | null = null;
  for (const at of names.keys()) {
    const found = protectionAt(names, folded, at);
    if (found && (!strongest || strength.indexOf(found.class) > strength.indexOf(strongest.class))) strongest = found;
  }
  return strongest;
}

/**
 * The protection that begins with the last name of a path. For a scan, which has checked the folders above already and
 * looks at very many names.
 */
export function protectionOfEntry(path: string): Protection | null {
  const last = path.slice(path.lastIndexOf("/") + 1);
  if (!mayEndRule(foldedName(last))) return null;
  const names = path.split("/");
  return protectionAt(names, names.map(foldedName), names.length - 1);
}

/**
 * Whether a link with this path could lead to a protected path under another name, such as `.cargo` for
 * `.cargo/config.toml`.
 */
export function leadsToProtected(path: string): boolean {
  const folded = path.split("/").map(foldedName);
  return longRules.some(({ segments, row }) =>
    segments.slice(0, -1).some((_, i) => row.class !== "marked" && endsWith(folded, segments.slice(0, i + 1))),
  );
}

/** The protected part of a repository that contains or equals a path relative to the repository. Null for none. */
export function repositoryRuleOf(below: readonly string[]): { names: readonly string[]; row: RepositoryRow } | null {
  const folded = below.map(foldedName);
  for (const { segments, row } of repositoryRules) {
    if (startsWith(folded, segments)) return { names: below.slice(0, segments.length), row };
  }
  return null;
}

interface Rule<Row> {
  segments: readonly string[];
  row: Row;
}

function rulesOf<Row extends { names: readonly string[] }>(rows: readonly Row[]): Rule<Row>[] {
  return rows.flatMap((row) => row.names.map((name) => ({ segments: name.split("/"), row })));
}

const rules = rulesOf<ProtectedRow>(protectedTable);
const repositoryRules = rulesOf<RepositoryRow>(protectedInRepository);
const longRules = rules.filter(({ segments }) => segments.length > 1);
const isPattern = (rule: Rule<unknown>): boolean => rule.segments.at(-1)?.includes("*") === true;
const patternRules = rules.filter(isPattern);
const rulesByName = groupByLastName(rules.filter((rule) => !isPattern(rule)));

function groupByLastName(all: readonly Rule<ProtectedRow>[]): Map<string, Rule<ProtectedRow>[]> {
  const groups = new Map<string, Rule<ProtectedRow>[]>();
  for (const rule of all) {
    const name = rule.segments.at(-1) ?? "";
    groups.set(name, [...(groups.get(name) ?? []), rule]);
  }
  return groups;
}

function mayEndRule(name: string): boolean {
  return name === ".git" || rulesByName.has(name) || patternRules.some((rule) => endsWith([name], rule.segments));
}

function protectionAt(names: readonly string[], folded: readonly string[], at: number): Protection | null {
  const name = folded[at] ?? "";
  if (name === ".git") return protectionInGit(names, at);
  const above = folded.slice(0, at + 1);
  const found = [...(rulesByName.get(name) ?? []), ...patternRules].find(({ segments }) => endsWith(above, segments));
  if (!found) return null;
  return { class: found.row.class, path: names.slice(0, at + 1).join("/"), reason: found.row.reason };
}

/** A `.git` file names the repository: a new one would name another repository with its own hooks. */
function protectionInGit(names: readonly string[], at: number): Protection | null {
  const git = names.slice(0, at + 1);
  const below = names.slice(at + 1);
  if (below.length === 0) return { class: "never", path: git.join("/"), reason: "names the repository" };
  const found = repositoryRuleOf(below);
  if (!found) return null;
  const { reason, harmful } = found.row;
  return { class: "never", path: [...git, ...found.names].join("/"), reason, harmful };
}

function endsWith(names: readonly string[], segments: readonly string[]): boolean {
  const from = names.length - segments.length;
  return from >= 0 && segments.every((segment, i) => isMatch(names[from + i] ?? "", segment));
}

function startsWith(names: readonly string[], segments: readonly string[]): boolean {
  return names.length >= segments.length && segments.every((segment, i) => isMatch(names[i] ?? "", segment));
}

function isMatch(name: string, segment: string): boolean {
  const star = segment.indexOf("*");
  if (star === -1) return name === segment;
  const [start, end] = [segment.slice(0, star), segment.slice(star + 1)];
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

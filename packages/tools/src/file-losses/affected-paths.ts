import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { joinFolder } from "../commands/file-effects/evaluate-line.ts";
import type { EffectTarget, FileClass } from "../commands/file-effects/file-target.ts";
import type { ShellField } from "../commands/file-effects/shell-fields.ts";
import { globMatcher } from "../search/glob-pattern.ts";
import { isRegenerable } from "./regenerable-folders.ts";

/** An existing path that a command deletes or overwrites. */
export interface AffectedPath {
  /** Relative to the workspace; empty for the workspace. Absolute if it is outside. */
  path: string;
  names: readonly string[] | null;
  classes: readonly FileClass[] | null;
  /** Whether the command deletes this path with everything in it, so that its `.git` counts as well. */
  isNamed: boolean;
}

export interface AffectedPaths {
  affected: AffectedPath[];
  /** Files that the command gives a content of its own, relative to the workspace. */
  written: string[];
}

/** A pattern that matches more paths stands for its whole folder. */
const matchesMax = 5_000;

/**
 * Finds the existing paths of a command's targets, with all patterns expanded.
 *
 * @param outside whether paths outside of the workspace count: no sandbox protects them
 */
export function affectedPaths(
  targets: readonly EffectTarget[],
  { workspace, outside }: { workspace: string; outside: boolean },
): AffectedPaths {
  const found = new Map<string, AffectedPath>();
  const written = new Set<string>();
  const moved = new Set<string>();
  for (const target of targets) {
    for (const { path, affected } of pathsOf(target, workspace, outside)) {
      if (affected !== null) found.set(JSON.stringify(affected), affected);
      if (path !== null && target.isMoved) moved.add(path);
      if (path !== null && target.isWritten) written.add(path);
    }
  }
  return { affected: [...found.values()], written: [...written].filter((path) => !moved.has(path)) };
}

/** The paths of a target: each one in the workspace that the line names, with its effect. */
function* pathsOf(target: EffectTarget, workspace: string, outside: boolean) {
  const places = placesOf(target, workspace);
  for (const place of places ?? [workspace]) {
    const real = realPlace(place, target.reach);
    if (real === null) continue;
    const path = pathIn(workspace, real);
    const isAffected = path === null ? outside && isProtected(real) : isLost(place, target, workspace);
    const affected = isAffected ? affectedBy(target, path ?? real, places !== null) : null;
    yield { path: places === null ? null : path, affected };
  }
}

function affectedBy({ names, classes, isWritten }: EffectTarget, path: string, isTold: boolean): AffectedPath {
  const isNamed = isTold && classes === undefined && !isWritten;
  return { path, names: names ?? null, classes: classes ?? null, isNamed };
}

function isLost(place: string, target: EffectTarget, workspace: string): boolean {
  return !target.isAppended && exists(place) && !staysInside(target, workspace);
}

/** The absolute paths of a target; null if they cannot be told. */
function placesOf({ folders, field }: EffectTarget, workspace: string): string[] | null {
  if (field === null) return null;
  if (field.text === "") return [];
  if (folders === null && !field.text.startsWith("/")) return null;
  const all = (folders ?? ["/"]).flatMap((folder) =>
    field.isPattern ? matchesOf(field.text, folder) : [joinFolder(folder, field.text)],
  );
  // A folder above the workspace, or one that contains it, is the whole workspace.
  const inside = all.map((place) => (workspace.startsWith(place === "/" ? place : `${place}/`) ? workspace : place));
  return inside.length > matchesMax ? null : inside;
}

/** The existing paths that a pattern of the shell matches. */
function matchesOf(pattern: string, folder: string): string[] {
  let found = [pattern.startsWith("/") ? "/" : folder];
  for (const segment of pattern.replaceAll("**", "*").split("/").filter(Boolean)) {
    const text = segment.replace(/\\(.)/g, "$1");
    if (!/(^|[^\\])[*?[]/.test(segment)) found = found.map((each) => joinFolder(each, text));
    else {
      const matches = matcherOf(segment);
      const isHidden = segment.startsWith(".") || segment.startsWith("\\.");
      found = found.flatMap((each) =>
        namesIn(each)
          .filter((name) => (isHidden || !name.startsWith(".")) && matches(name))
          .map((name) => joinFolder(each, name)),
      );
    }
    if (found.length > matchesMax) return found;
  }
  return found;
}

function matcherOf(segment: string): (name: string) => boolean {
  try {
    return globMatcher(segment);
  } catch {
    return () => true;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The path with all links on its way followed; also the last one, if the file behind it gets the content. */
function realPlace(place: string, reach: EffectTarget["reach"]): string | null {
  try {
    if (reach === "file") {
      const whole = realOrNull(place);
      if (whole !== null) return whole;
    }
    const folder = realpathSync(dirname(place));
    return folder === "/" ? `/${basename(place)}` : `${folder}/${basename(place)}`;
  } catch {
    return null;
  }
}

function realOrNull(place: string): string | null {
  try {
    return realpathSync(place);
  } catch {
    return null;
  }
}

/** The path relative to the workspace; null if it is outside. */
function pathIn(workspace: string, place: string): string | null {
  if (place === workspace) return "";
  return place.startsWith(`${workspace}/`) ? place.slice(workspace.length + 1) : null;
}

function exists(place: string): boolean {
  try {
    lstatSync(place);
    return true;
  } catch {
    return false;
  }
}

/** Whether a path outside of the workspace is an ordinary file or folder, and not a temporary one or a device. */
function isProtected(place: string): boolean {
  if (/^\/(dev|proc|sys|run|tmp|var\/tmp)(\/|$)/.test(place)) return false;
  try {
    const stats = statSync(place);
    return stats.isFile() || stats.isDirectory();
  } catch {
    return false;
  }
}

/** Whether a moved file is still in the workspace afterwards, at a place that is not cleaned up. */
function staysInside({ movesTo, folders }: EffectTarget, workspace: string): boolean {
  if (movesTo === undefined) return false;
  if (movesTo === null || folders === null) return false;
  return folders.every((folder) => placeOfMove(movesTo, folder, workspace));
}

function placeOfMove(target: ShellField, folder: string, workspace: string): boolean {
  const place = joinFolder(folder, target.text);
  const real = realOrNull(place) ?? realPlace(place, "tree") ?? place;
  const path = pathIn(workspace, real);
  return path !== null && !isRegenerable(path);
}

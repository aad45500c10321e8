import { joinFolder, singleText } from "./evaluate-line.ts";
import type { EffectScope } from "./file-target.ts";
import { has, type Operands, operandsOf } from "./operands.ts";
import { escapePattern, literal, type ShellField, type ShellFields } from "./shell-fields.ts";

type ProgramEffects = (scope: EffectScope) => void;

const deletes: ProgramEffects = ({ args, add }) => {
  for (const path of operandsOf(args).paths) for (const field of path ?? [null]) add({ field, reach: "tree" });
};

const overwritesAll =
  (valued?: RegExp): ProgramEffects =>
  ({ args, add }) => {
    for (const path of operandsOf(args, valued).paths) {
      for (const field of path ?? [null]) add({ field, reach: "file", isWritten: true });
    }
  };

/** Programs that write the file of an option. */
const writesOption =
  (option: RegExp): ProgramEffects =>
  ({ args, add }) => {
    const value = operandsOf(args, option).valueOf(option);
    for (const field of value === undefined ? [] : (value ?? [null])) add({ field, reach: "file", isWritten: true });
  };

/** The places that the sources get: in a folder, or the target itself. */
function placesOf(
  sources: readonly ShellFields[],
  target: ShellFields,
  scope: EffectScope,
  isFolder: boolean,
): ShellFields {
  if (target === null) return null;
  const places: ShellField[] = [];
  for (const place of target) {
    const inFolder = isFolder || place.isPattern || leadsToFolder(place.text, scope);
    if (!inFolder || place.isPattern) places.push(place);
    if (!inFolder) continue;
    for (const source of sources) {
      if (source === null) return null;
      places.push(...source.map((field) => within(place, field)));
    }
  }
  return places;
}

function leadsToFolder(path: string, { folders, isFolder }: EffectScope): boolean {
  if (path.endsWith("/")) return true;
  return folders === null
    ? path.startsWith("/") && isFolder(path)
    : folders.some((folder) => isFolder(joinFolder(folder, path)));
}

function within(folder: ShellField, source: ShellField): ShellField {
  const name = source.text.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const isPattern = folder.isPattern || source.isPattern;
  if (!isPattern) return literal(`${folder.text}/${name}`);
  const head = folder.isPattern ? folder.text : escapePattern(folder.text);
  return { text: `${head}/${source.isPattern ? name : escapePattern(name)}`, isPattern };
}

const copyValues = /^(-t|--target-directory|-S|--suffix|-m|--mode|-o|--owner|-g|--group)$/;

/** cp, install and ln: the last argument, or the folder of `-t`, gets the others. */
const copies =
  (isWriting: (operands: Operands) => boolean, { isLink = false } = {}): ProgramEffects =>
  (scope) => {
    const operands = operandsOf(scope.args, copyValues);
    if (!isWriting(operands)) return;
    const folder = operands.valueOf(/^(-t|--target-directory)$/);
    const sources = folder === undefined ? operands.paths.slice(0, -1) : operands.paths;
    const target = folder === undefined ? (operands.paths.at(-1) ?? null) : folder;
    if (sources.length === 0 && folder === undefined && operands.paths.length < 2) return;
    const isFolder = folder !== undefined && !has(operands, "T");
    for (const field of placesOf(sources, target, scope, isFolder) ?? [null]) {
      scope.add({ field, reach: "tree", ...(isLink ? {} : { isWritten: true }) });
    }
  };

/** The target gets the source. The source is lost only if it leaves the workspace. */
const moves: ProgramEffects = (scope) => {
  const operands = operandsOf(scope.args, copyValues);
  const folder = operands.valueOf(/^(-t|--target-directory)$/);
  const sources = folder === undefined ? operands.paths.slice(0, -1) : operands.paths;
  const target = folder === undefined ? (operands.paths.at(-1) ?? null) : folder;
  if (sources.length === 0) return;
  const keeps = has(operands, "n", /^--no-clobber$/);
  const places = keeps ? [] : placesOf(sources, target, scope, folder !== undefined);
  for (const field of places ?? [null]) scope.add({ field, reach: "tree", isMoved: true });
  for (const source of sources) {
    for (const field of source ?? [null]) {
      for (const place of target ?? [null]) scope.add({ field, reach: "tree", movesTo: place });
    }
  }
};

const edits =
  (inPlace: RegExp, valued: RegExp): ProgramEffects =>
  (scope) => {
    const operands = operandsOf(scope.args, valued);
    if (!operands.options.some((option) => inPlace.test(option))) return;
    for (const path of operands.paths) for (const field of path ?? [null]) scope.add({ field, reach: "file" });
  };

/** `tar`: the archive that it makes, or the folder into which it unpacks one. */
const unpacks: ProgramEffects = (scope) => {
  const operands = operandsOf(scope.args);
  const mode = singleText(scope.args[0] ?? null) ?? "";
  const letters = /^[a-zA-Z]+$/.test(mode) ? mode : "";
  const does = (letter: string, long: RegExp): boolean => letters.includes(letter) || has(operands, letter, long);
  const argumentOf = (option: RegExp): ShellFields | undefined => {
    const at = scope.args.findIndex((arg) => option.test(singleText(arg) ?? ""));
    return at < 0 ? undefined : (scope.args[at + 1] ?? null);
  };
  if (does("x", /^--(extract|get)$/)) {
    if (has(operands, "kO", /^--(keep-old-files|skip-old-files|to-stdout)$/)) return;
    const long = operandsOf(scope.args, /^--directory$/).valueOf(/^--directory$/);
    const folder = argumentOf(/^(-C|--directory)$/) ?? long;
    for (const field of folder === undefined ? [literal(".")] : (folder ?? [null])) {
      scope.add({ field, reach: "tree", isWritten: true });
    }
  } else if (does("c", /^--create$/)) {
    for (const field of argumentOf(/^-?\w*f$|^--file$/) ?? [null]) scope.add({ field, reach: "file", isWritten: true });
  }
};

const unzips: ProgramEffects = (scope) => {
  const operands = operandsOf(scope.args, /^-d$/);
  if (!has(operands, "o")) return;
  for (const field of operands.valueOf(/^-d$/) ?? [literal(".")]) {
    scope.add({ field, reach: "tree", isWritten: true });
  }
};

const synchronises: ProgramEffects = (scope) => {
  const operands = operandsOf(scope.args, /^(-e|--rsh|--exclude|--include|--filter|-f|--exclude-from|--files-from)$/);
  if (has(operands, "n", /^--dry-run$/) || operands.paths.length < 2) return;
  const target = operands.paths.at(-1) ?? null;
  if (has(operands, "", /^--remove-source-files$/)) {
    for (const path of operands.paths.slice(0, -1))
      for (const field of path ?? [null]) scope.add({ field, reach: "tree" });
  }
  const own = has(operands, "", /^--del/) ? {} : { isWritten: true as const };
  for (const field of target ?? [null]) {
    if (field === null || !/^[\w.@-]+:/.test(field.text)) scope.add({ field, reach: "tree", ...own });
  }
};

const dumps: ProgramEffects = ({ args, add }) => {
  for (const arg of args) {
    if (arg === null) add({ field: null, reach: "tree" });
    for (const { text, isPattern } of arg ?? []) {
      if (text.startsWith("of=")) add({ field: { text: text.slice(3), isPattern }, reach: "file", isWritten: true });
    }
  }
};

/** The files that programs delete or overwrite, by the name of the program. A program that is not here counts as one that does neither. */
const programTable: Readonly<Record<string, ProgramEffects>> = {
  rm: deletes,
  unlink: deletes,
  shred: deletes,
  srm: deletes,
  rimraf: deletes,
  "trash-put": deletes,
  mv: moves,
  cp: copies((operands) => !has(operands, "n", /^--(no-clobber|update=none)$/)),
  install: copies((operands) => !has(operands, "d", /^--directory$/)),
  ln: copies((operands) => has(operands, "f", /^--force$/), { isLink: true }),
  dd: dumps,
  tee: (scope) => (has(operandsOf(scope.args), "a", /^--append$/) ? undefined : overwritesAll()(scope)),
  truncate: overwritesAll(/^(-s|--size|-r|--reference)$/),
  sponge: (scope) => (has(operandsOf(scope.args), "a") ? undefined : overwritesAll()(scope)),
  rsync: synchronises,
  tar: unpacks,
  bsdtar: unpacks,
  unzip: unzips,
  sed: edits(/^-[a-zA-Z]*i|^--in-place/, /^(-e|--expression|-f|--file)$/),
  perl: edits(/^-\w*i/, /^$/),
  ruby: edits(/^-\w*i/, /^$/),
  gawk: edits(/^(-i|--include)/, /^$/),
  awk: edits(/^(-i|--include)/, /^$/),
  sort: writesOption(/^(-o|--output)$/),
  curl: writesOption(/^(-\w*o|--output)$/),
  wget: writesOption(/^(-\w*O|--output-document)$/),
  touch: ({ args, add }) => {
    for (const path of operandsOf(args, /^-[drt]$/).paths) {
      for (const field of path ?? []) add({ field, reach: "file", isWritten: true, isAppended: true });
    }
  },
};
export const programs: ReadonlyMap<string, ProgramEffects> = new Map(Object.entries(programTable));

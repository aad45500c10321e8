import { constants, open, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import {
  errorCodeOf,
  SessionFileName,
  type SessionFileRow,
  type SessionFiles,
  sessionFileBytesMax,
} from "@troupe/core/internal";
import { formatBytes } from "@troupe/core/texts";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { formatDuration } from "../render/format.ts";
import { type Cell, layout } from "../render/layout.ts";
import { type Archive, withArchive } from "../session/archive.ts";
import { userName } from "../session/control.ts";
import { resolveSession } from "../session/resolve-ids.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe sessions files`: lists the files on the workbench of a session. */
export async function listSessionFiles(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const { session, files } = await openFiles(cli, given);
  const rows = await files.list(session);
  if (flags.json) out.line(jsonLine(rows));
  else if (rows.length === 0) err.line(`no files yet; to add one: troupe sessions upload ${session} FILE`);
  else for (const line of tableOf(rows, { out, now: cli.now() })) out.line(line);
  return 0;
}

/** `troupe sessions upload`: puts a file of this machine on the workbench of a session. */
export async function uploadFile(
  cli: Cli,
  { session: given, path, name }: { session: string; path: string; name: string | null },
  flags: { json: boolean },
): Promise<number> {
  const remote = checkName(name ?? basename(path));
  const bytes = await readUpload(resolve(cli.cwd, path));
  const { session, files } = await openFiles(cli, given);
  const row = await files.put(session, { name: remote, bytes, by: userName(cli.env) });
  const line = `uploaded ${cleanLine(row.name)}: ${formatBytes(row.bytes)}, sha256 ${row.sha256}`;
  cli.terminal.out.line(flags.json ? jsonLine(row) : line);
  return 0;
}

/** `troupe sessions download`: writes a file of the workbench to this machine. Overwrites a file only with `--force`. */
export async function downloadFile(
  cli: Cli,
  { session: given, name, path: wanted }: { session: string; name: string; path: string | null },
  flags: { force: boolean; json: boolean },
): Promise<number> {
  const path = resolve(cli.cwd, wanted ?? fileNameOf(name));
  const { session, files } = await openFiles(cli, given);
  const { bytes, sha256 } = await files.get(session, checkName(name));
  await writeFile(path, bytes, { flag: flags.force ? "w" : "wx" }).catch((cause: unknown) => {
    throw notWritten(path, cause);
  });
  const row = { name, bytes: bytes.byteLength, sha256, path };
  const line = `downloaded ${cleanLine(name)} to ${cleanLine(path)}: ${formatBytes(row.bytes)}, sha256 ${sha256}`;
  cli.terminal.out.line(flags.json ? jsonLine(row) : line);
  return 0;
}

/** The files of a session, through the process that owns the home. */
async function openFiles(cli: Cli, given: string): Promise<{ session: string; files: SessionFiles }> {
  return await withArchive(cli, async (archive: Archive) => {
    const { session } = await resolveSession(archive, given);
    const files = archive.connection?.client.sessionFiles;
    if (files) return { session, files };
    throw new TroupeError("UNREACHABLE", "no daemon is running, and files of sessions need one", { fix: "troupe up" });
  });
}

function checkName(name: string): string {
  const parsed = SessionFileName.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new TroupeError(
    "USAGE",
    `${JSON.stringify(name)} is not a name of a file: ${parsed.error.issues[0]?.message}`,
    {
      fix: "use a name of 1 to 1000 characters",
    },
  );
}

/** The file name for a download without a path: the last part of the name, so the file is in the current folder. */
function fileNameOf(name: string): string {
  const last = basename(name);
  if (last !== "" && last !== "." && last !== ".." && !last.includes("\0")) return last;
  throw new TroupeError("USAGE", `the name ${JSON.stringify(name)} does not end with a file name`, {
    fix: "name the file to write as the last argument",
  });
}

/** Reads a file of at most the limit. A larger one, a folder or a device is refused before its content is read. */
async function readUpload(path: string): Promise<Buffer> {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new TroupeError("USAGE", `cannot read ${path}: ${errorCodeOf(cause) ?? "unknown error"}`, {
      cause,
      fix: `check the path: ls -l ${path}`,
    });
  });
  const stats = await file.stat();
  if (!stats.isFile()) {
    throw new TroupeError("USAGE", `${path} is not a file`, { fix: "name a file; pack a folder into one first" });
  }
  if (stats.size > sessionFileBytesMax) {
    throw new TroupeError("TOO_LARGE", `${path} has ${stats.size} bytes, and the limit is ${sessionFileBytesMax}`, {
      fix: "split the file, or put it into the folder of the session",
    });
  }
  return await file.readFile();
}

function notWritten(path: string, cause: unknown): TroupeError {
  const code = errorCodeOf(cause);
  const why = code === "EEXIST" ? "it exists already" : (code ?? "unknown error");
  const fix = code === "EEXIST" ? "name another file, or add --force" : "name a file in a folder that you can write to";
  return new TroupeError("USAGE", `cannot write ${path}: ${why}`, { cause, fix });
}

function tableOf(rows: readonly SessionFileRow[], { out, now }: { out: Output; now: number }): string[] {
  const { colours, width } = out;
  const head = ["NAME", "SIZE", "SHA256", "BY", "AGE"].map((text): Cell => ({ text, paint: colours.dim }));
  const body = rows.map((row): Cell[] => [
    { text: cleanLine(row.name) },
    { text: formatBytes(row.bytes) },
    { text: row.sha256.slice(0, 12) },
    { text: cleanLine(row.by ?? `run ${row.run}`) },
    { text: formatDuration(now - Date.parse(row.at)), paint: colours.dim },
  ]);
  return layout([{ flexible: true }, { align: "right" }, {}, {}, { align: "right" }], [head, ...body], width);
}

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Mirror } from "./apt.ts";
import { run } from "./command.ts";

/** A program of a package of the same name. */
export interface WantedProgram {
  name: string;
  /** File name of the program. @default as its package */
  program?: string;
  mirror: Mirror;
  suite: string;
  component: string;
  /** Path of the installed program. */
  target: string;
  /** Returns null when the file is this program and runs here, otherwise the reason. */
  whyNot(file: string): Promise<string | null>;
}

/**
 * Fetches a program from one suite. apt's lists, caches and sources are in a private folder, so the machine's apt state
 * does not change and root is not needed. The machine's keys verify the package as usual.
 */
export async function fetchProgram(wanted: WantedProgram): Promise<string | null> {
  const { name, suite, target } = wanted;
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), "fetch-"));
  try {
    const apt = privateApt(folder, wanted);
    for (const words of [["update"], ["download", name]]) {
      const { code, output } = await run([...apt, ...words], { cwd: folder, output: "capture" });
      if (code !== 0) return `apt-get ${words.join(" ")} (${suite}) failed: ${lastError(output)}`;
    }
    return await unpack(folder, wanted);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function privateApt(folder: string, { mirror, suite, component }: WantedProgram): string[] {
  for (const name of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(folder, name), { recursive: true });
  const signedBy = mirror.signedBy ? `[signed-by=${mirror.signedBy}] ` : "";
  writeFileSync(join(folder, "sources.list"), `deb ${signedBy}${mirror.uri} ${suite} ${component}\n`);
  const options = [
    `Dir::Etc::sourcelist=${join(folder, "sources.list")}`,
    "Dir::Etc::sourceparts=-",
    "Dir::Etc::preferences=-",
    "Dir::Etc::preferencesparts=-",
    `Dir::State::lists=${join(folder, "lists")}`,
    `Dir::Cache=${join(folder, "cache")}`,
    `Dir::Cache::archives=${join(folder, "cache", "archives")}`,
    "Acquire::Languages=none",
    "Acquire::Retries=3",
    // Else root's apt drops to a user who cannot write into a folder of root's home.
    ...(process.getuid?.() === 0 ? ["APT::Sandbox::User=root"] : []),
  ];
  return ["apt-get", "-q", ...options.flatMap((option) => ["-o", option])];
}

async function unpack(folder: string, wanted: WantedProgram): Promise<string | null> {
  const { name, program = name, target, whyNot } = wanted;
  const archive = readdirSync(folder).find((file) => file.endsWith(".deb"));
  if (!archive) return "apt-get download left no package";
  const { code, output } = await run(["dpkg-deb", "-x", archive, "unpacked"], { cwd: folder, output: "capture" });
  if (code !== 0) return `dpkg-deb failed: ${lastError(output)}`;
  const found = readdirSync(join(folder, "unpacked"), { recursive: true, encoding: "utf8" })
    .filter((path) => /^usr\/s?bin\//.test(path) && basename(path) === program)
    .map((path) => join(folder, "unpacked", path))[0];
  if (!found) return `${archive} holds no ${program}`;
  const problem = await whyNot(found);
  if (problem) return problem.replace(found, archive);
  // Copies to a temporary name and renames, so that a concurrent reader sees a whole file or none.
  copyFileSync(found, join(folder, program));
  renameSync(join(folder, program), target);
  return null;
}

/** The line of a program's output that says what went wrong. */
export function lastError(output: string): string {
  const lines = output.trim().split("\n");
  return lines.findLast((line) => /^(E|W|Error|dpkg-deb: error):? /.test(line)) ?? lines.at(-1) ?? "";
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The licenses of the installed packages that these modules come from, as one text. */
export function licensesOf(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? []));
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(join(folder, file), "utf8").trim())];
  });
  return texts
    .map((parts) => parts.join("\n\n"))
    .sort()
    .join(`\n\n${"-".repeat(80)}\n\n`);
}

import { RunFailure } from "@troupe/core";
import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";
import { type CodeFiles, type CodeScope, scopeOf } from "./code-files.ts";
import { type Found, findPlaces } from "./find-occurrences.ts";
import { showPlaces } from "./format-occurrences.ts";
import { languageOf, languages } from "./languages/languages.ts";
import { type AskedName, askedName } from "./requested-name.ts";
import { nearDefinitions } from "./similar-definitions.ts";

/**
 * Finds where a name is defined and used, by syntax instead of by text.
 *
 * @example
 * const codeSearch = createCodeSearchTool({ files });
 */
export function createCodeSearchTool({ files }: { files: CodeFiles }): Tool {
  return defineTool({
    name: "code_search",
    description:
      "Finds where a function, class, method, type or variable is defined and used, by syntax: comments and strings do " +
      `not count. Give the exact name, or Class.method. Understands ${titles}; in other files it finds the word. For ` +
      "free text use search.",
    input: z.strictObject({
      name: z.string().min(1).max(200).describe("The exact name, such as createUser or UserStore.create"),
      kind: z.enum(["definitions", "references", "all"]).default("all").describe("What to look for"),
      path: z.string().min(1).optional().describe("Folder or file to look in, relative to the workspace"),
      language: z.string().max(40).optional().describe("Only files of this language, such as python"),
      limit: z.int().min(1).max(500).default(60).describe("How many places to show"),
    }),
    risk: "low",
    effect: "read",
    groups: ["code"],
    async run({ name, kind, path, language, limit }, context) {
      const asked = askedName(name);
      const isWanted = languageFilter(language);
      const scope = await scopeOf(context, path);
      const found = await findPlaces(files, scope, { asked, isWanted });
      if (isEmpty(found)) return { output: await nothing(files, scope, { name, asked, isWanted }) };
      return { output: showPlaces(found, { name, asked, kind, limit }) };
    },
  });
}

const titles = languages
  .filter(({ id }) => id !== "tsx")
  .map(({ title }) => title)
  .join(", ");

/** Which files are looked into. Throws a `RunFailure` for a language that is not understood. */
function languageFilter(asked: string | undefined): (path: string) => boolean {
  if (asked === undefined) return () => true;
  const wanted = asked.toLowerCase().replace(/^\./, "");
  const ids = languages
    .filter(({ id, title, extensions }) => [id, title.toLowerCase(), ...extensions].includes(wanted))
    .map(({ id }) => id);
  if (ids.length === 0) {
    const known = languages.map(({ id }) => id).join(", ");
    const message = `the language ${JSON.stringify(asked)} is not understood; leave it out, or take one of: ${known}`;
    throw new RunFailure({ type: "params", message, recoverable: false });
  }
  // TSX is TypeScript to everybody but its grammar.
  const all = new Set(ids.includes("typescript") ? [...ids, "tsx"] : ids);
  return (path) => all.has(languageOf(path)?.id ?? "");
}

function isEmpty({ definitions, references, imports, texts, words }: Found): boolean {
  return [definitions, references, imports, texts, words].every((list) => list.length === 0);
}

async function nothing(
  files: CodeFiles,
  scope: CodeScope,
  { name, asked, isWanted }: { name: string; asked: AskedName; isWanted: (path: string) => boolean },
): Promise<string> {
  const where = scope.root === "." ? "the workspace" : scope.root;
  const near = await nearDefinitions(files, scope, { asked, isWanted });
  const found = near.definitions;
  const hint =
    found.length > 0 ? `The nearest definitions are:\n${found.join("\n")}` : "Nothing there has a similar name.";
  const partial = near.leftOut > 0 ? `\n[${near.leftOut} files were not looked into for similar names]` : "";
  return `${name} is found nowhere in ${where}. ${hint}${partial}`;
}

/** A reader who begins at README.md finds each package, page and guide by links, and each command in the reference. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The pages that a page links to. A link to a folder means its README. */
function linksOf(page: string): string[] {
  return [...read(page).matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].flatMap(([, link = ""]) => {
    const path = normalize(join(dirname(page), link)).replace(/\/$/, "");
    const candidates = [path, join(path, "README.md")];
    return candidates.filter((each) => each.endsWith(".md") && existsSync(join(root, each)));
  });
}

function reachableFrom(...starts: string[]): Set<string> {
  const reached = new Set(starts);
  for (const page of reached) for (const link of linksOf(page)) reached.add(link);
  return reached;
}

const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder)).flatMap((name) => (name.endsWith(".md") ? [join(folder, name)] : []));
const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name, "README.md"));

describe("from README.md a reader reaches", () => {
  const reached = reachableFrom("README.md");

  it.each([
    ["each package", [...packages, "apps/dashboard/README.md", "examples/README.md"]],
    ["each page of docs", pagesIn("docs")],
    ["each guide", pagesIn("docs/guides")],
    ["each decision", pagesIn("docs/adr")],
  ])("%s", (_, pages) => {
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});

it("README.md itself links to each guide", () => {
  expect(pagesIn("docs/guides").filter((page) => !linksOf("README.md").includes(page))).toEqual([]);
});

const otherParts = /^\s*(Usage|Options|Arguments|Environment|Exit codes|Examples?|A |Restores|Add )|^(?!\s*[\w ]+:\n)/;

it("the reference of the command line has each command and each flag of run", async (test) => {
  const home = await tempFolder("reachable", test);
  const helpOf = async (command: string[]): Promise<string> => (await troupe([...command, "--help"], { home })).stdout;
  const commandsOf = async (command: string[]): Promise<string[][]> => {
    // The commands stand in groups, each under a heading; the other parts of a help have fixed headings.
    const parts = (await helpOf(command)).split("\n\n").filter((part) => !otherParts.test(part));
    const names = parts.flatMap((part) => [...part.matchAll(/^ {2}(\w+)/gm)].map(([, name = ""]) => name));
    const found = names.filter((name) => name !== "help").map((name) => [...command, name]);
    return [...found, ...(await Promise.all(found.map(commandsOf))).flat()];
  };
  // Another section lists the JSON fields of each command.
  const [, reference = ""] = /^## Commands\n(.*?)^## /ms.exec(read("packages/cli/README.md")) ?? [];
  const all = await commandsOf([]);
  const groups = new Set(all.map((command) => command.slice(0, -1).join(" ")));
  const commands = all.map((command) => command.join(" ")).filter((name) => !groups.has(name) || name === "plan");
  expect(commands.length).toBeGreaterThan(30);
  expect(commands.filter((name) => !new RegExp(`\`${name}[ \`]`).test(reference))).toEqual([]);
  const flags = [...(await helpOf(["run"])).matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag = ""]) => flag);
  expect(flags.length).toBeGreaterThan(15);
  expect(flags.filter((flag) => !reference.includes(`\`${flag}`))).toEqual([]);
});

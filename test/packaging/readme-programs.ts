/**
 * The TypeScript programs of a package's README, as files that an installed project can run. They run as they are printed,
 * except that paths of the reader's machine and server addresses are replaced.
 */
import { cpSync, existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { packageFolders } from "../../scripts/lib/freshness.ts";
import { root } from "../../scripts/lib/project.ts";
import type { Project } from "./installed-packages.ts";

export interface ReadmeProgram {
  /** `readme-1.ts` */
  file: string;
  /** The program for a project in this folder. */
  codeIn(folder: string): string;
  needsServer: boolean;
  /** Writes the files that the README expects in the project. */
  prepare(project: Project): void;
  env: NodeJS.ProcessEnv;
}

/** The surroundings of a program on the reader's machine. */
interface Surroundings {
  prepare?: (project: Project) => void;
  env?: NodeJS.ProcessEnv;
  /** The last lines of the program. */
  last?: string;
}

const agent = "---\nname: poet\ndescription: Writes poems\n---\nYou write poems.\n";

const surroundings: Record<string, Surroundings> = {
  // A reader has a key; the tests have a model that answers from a script.
  "troupe/readme-1.ts": { env: { TROUPE_MODEL: "scripted/answers.yaml" } },
  "troupe/readme-2.ts": { prepare: copyExample("01-embed", "licences.yaml") },
  "troupe/readme-3.ts": { prepare: copyExample("03-team", "release.yaml") },
  // The second program reads the session of the first one.
  "runtime/readme-1.ts": {
    last: `import { writeFile } from "node:fs/promises";
import { readFeed } from "@troupe/runtime";
await writeFile("session.json", JSON.stringify(await readFeed(deps.journal)));
`,
  },
  "roles/readme-1.ts": { prepare: (project) => project.write(".troupe/agents/poet.md", agent) },
  "tools/readme-3.ts": { prepare: (project) => project.write("me/project/test/empty.txt", "") },
};

export function readmePrograms(name: string): ReadmeProgram[] {
  const folder = packageFolders(root).find((each) => basename(each) === name) ?? "";
  const readme = join(folder, "README.md");
  if (!existsSync(readme)) return [];
  const blocks = [...readFileSync(readme, "utf8").matchAll(/^```ts\n(.*?)^```/gms)];
  return blocks.map(([, code = ""], i) => {
    const file = `readme-${i + 1}.ts`;
    const { prepare = () => {}, env = {}, last = "" } = surroundings[`${name}/${file}`] ?? {};
    return {
      ...{ file, prepare, env },
      needsServer: code.includes(serverAddress),
      codeIn: (project) =>
        (code + last)
          .replaceAll(/(?<=")\/(?:home\/me|tmp\/troupe)(?=[/"])/g, join(project, "me"))
          .replaceAll(serverAddress, "process.env.NATS_SERVER ?? ''"),
    };
  });
}

const serverAddress = '"nats://127.0.0.1:4222"';

function copyExample(example: string, file: string): (project: Project) => void {
  return ({ folder }) => cpSync(join(root, "examples", example, file), join(folder, file));
}

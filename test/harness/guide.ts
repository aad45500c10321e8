import { readFile } from "node:fs/promises";

/** A guide of docs/guides, for a test that executes it as it is written. */
export interface Guide {
  text: string;
  /** The code blocks of a language, in their order. */
  blocks(language: string): string[];
  /** The part below a heading, without the heading. Throws for a heading that the guide does not have. */
  section(heading: string): Guide;
}

export async function readGuide(name: string): Promise<Guide> {
  return guideOf(await readFile(new URL(`../../docs/guides/${name}.md`, import.meta.url), "utf8"));
}

function guideOf(text: string): Guide {
  return {
    text,
    blocks: (language) =>
      [...text.matchAll(/```(\w+)[^\n]*\n(.*?)```/gs)].flatMap(([, name, body = ""]) =>
        name === language ? [body] : [],
      ),
    section(heading) {
      const part = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
      if (part === undefined) throw new Error(`the guide has no heading ${heading}`);
      return guideOf(part.slice(heading.length + 1));
    },
  };
}

/** The commands of a guide in their order, each once: lines of `sh` blocks, and code in sentences that has an argument. */
export function commandsIn({ text, blocks }: Guide): string[] {
  const lines = blocks("sh").flatMap((block) => block.trim().split("\n"));
  const sentences = [...text.replace(/```.*?```/gs, "").matchAll(/`(troupe [^`]*\.yaml[^`]*)`/g)].map(
    ([, line = ""]) => line,
  );
  return [...new Set([...lines, ...sentences])];
}

/** The words of a command, as a shell reads them. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}

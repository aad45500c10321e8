import { readFile } from "node:fs/promises";

/** The text of a file. Bytes that are not UTF-8 become the replacement character. */
export async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await readFile(path));
}

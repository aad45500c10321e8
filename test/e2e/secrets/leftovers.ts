import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { openSqlite } from "@troupe/recorder/internal";

/** Bytes that a process left behind, with a name. */
export interface Leftover {
  name: string;
  bytes: Buffer;
}

/**
 * Every file of a home as it is, write-ahead logs too, and every row of its databases: a long text is spread over pages
 * of a file, and a secret on the border of two of them would be found in neither.
 */
export async function leftoversOf(home: string): Promise<Leftover[]> {
  const names = (await readdir(home, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const files = await Promise.all(names.map(async (name) => ({ name, bytes: await readFile(name) })));
  const rows = names.filter((name) => /(?:journal|troupe)\.db$/.test(name)).flatMap(rowsOf);
  // Names of files are remains as well.
  return [...files, ...rows, { name: "file names", bytes: Buffer.from(names.join("\n")) }];
}

function rowsOf(file: string): Leftover[] {
  const database = openSqlite(file, { readOnly: true });
  const tables = database.prepareValue<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const remains = tables.map((table) => {
    const rows = database.prepare<[], object>(`SELECT * FROM "${table}"`).all().map(Object.values);
    const text = rows.map((row) => row.map(String).join("\n")).join("\n");
    return { name: `${file}: ${table}`, bytes: Buffer.from(text) };
  });
  database.close();
  return remains;
}

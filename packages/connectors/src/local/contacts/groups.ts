import { z } from "zod";
import { Person } from "../../ports/person.ts";
import type { OfficeDatabase } from "../database/office-database.ts";

const Groups = z.record(z.string(), z.array(Person));
type Groups = z.infer<typeof Groups>;

/** The members of each group, by its name in lower case. */
export function readGroups(database: OfficeDatabase): Groups {
  const row = database.get<{ value: string }>("SELECT value FROM settings WHERE name = 'groups'");
  return row ? Groups.parse(JSON.parse(row.value)) : {};
}

/** Stores a group. One with the same name is replaced. */
export function putGroup(database: OfficeDatabase, name: string, members: readonly Person[]): void {
  const groups = { ...readGroups(database), [name.toLowerCase()]: members };
  database.run(
    "INSERT INTO settings (name, value) VALUES ('groups', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    JSON.stringify(groups),
  );
}

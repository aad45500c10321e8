import type { Clock } from "@troupe/core";
import type { ConnectionStatus } from "../ports/connection.ts";
import type { Person } from "../ports/person.ts";
import type { OfficeDatabase } from "./database/office-database.ts";

/** The user of a local office, with everything that its adapters need. */
export interface LocalAccount {
  database: OfficeDatabase;
  clock: Pick<Clock, "now">;
  person: Person;
  /** The number of the user's mailbox. */
  mailbox: number;
  timeZone: string;
}

/** A local office never expires and has no limits. */
export function localStatus({ person }: LocalAccount, note: string | null, canWrite: boolean): ConnectionStatus {
  return { account: person.address, auth: "valid", canWrite, rateLimit: null, note };
}

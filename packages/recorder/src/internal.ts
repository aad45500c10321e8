/** For the packages of troupe. These names can change in every release. */

export { blobsOf, hashesIn } from "./archive/blob-references.ts";
export { guarded, toDatabaseProblem } from "./database/database-error.ts";
export { type DatabaseSpec, openDatabase, openToRead } from "./database/open-database.ts";
export { type Database, isBusy, openSqlite, sqliteCodeOf } from "./database/sqlite.ts";
export { toTroupeError as databaseError, withTroupeErrors } from "./database/troupe-error.ts";
export { journalSpec } from "./journal/journal-store.ts";
export { foreignJournalFileError } from "./record/journal-identity.ts";
export { recordSpec } from "./record/table-migrations.ts";

/** For the packages of troupe. These names can change in every release. */
export { type Database, isBusy, openSqlite, sqliteCodeOf } from "./database/sqlite.ts";
export { blobsOf, hashesIn } from "./archive/blob-references.ts";

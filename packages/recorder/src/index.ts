export { openSqliteJournal } from "./journal/sqlite-journal.ts";

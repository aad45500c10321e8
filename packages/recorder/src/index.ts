export { readSessionFeed } from "./journal/session-feed.ts";
export { openSqliteJournal } from "./journal/sqlite-journal.ts";
export { journalVersion } from "./journal/store.ts";
export type { RecordProblem } from "./record/problem.ts";
export { openRecord, type RecordStore } from "./record/record-store.ts";
export { type Recorder, type RecorderOptions, startRecorder } from "./record/recorder.ts";
export type { OtherJournal } from "./record/same-journal.ts";
export { recordVersion } from "./record/schema.ts";

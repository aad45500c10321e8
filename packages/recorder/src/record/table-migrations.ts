// A new column of a run belongs into `run-columns.ts`. The SQL of a released version never changes.

import type { DatabaseSpec } from "../database/open-database.ts";
import { columnMigrations } from "./run-columns.ts";

/** The record's file. It survives a kill. After a power cut it can lack its newest rows; the journal still has them. */
export function recordSpec(file: string): DatabaseSpec {
  return {
    file,
    applicationId: 0x74_72_70_72,
    // The order of integer keys is ascending, so the place in this list is the version.
    migrations: Object.values({ ...tableMigrations, ...columnMigrations }),
    synchronous: "NORMAL",
    whenDamaged: "troupe record rebuild   # makes the record again from the journal",
  };
}

/** Version 1. The SQL is text in the source, so that the packed recorder needs no other files. */
const tree = `
CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY,
  root_run TEXT,
  agent TEXT,
  task TEXT,
  status TEXT NOT NULL DEFAULT 'pending',
  origin TEXT NOT NULL DEFAULT 'api',
  demo INTEGER NOT NULL DEFAULT 0,
  workspace TEXT,
  started_at TEXT,
  completed_at TEXT,
  duration_ms INTEGER,
  summary TEXT,
  error_message TEXT,
  position INTEGER NOT NULL
);
CREATE INDEX idx_sessions_started ON sessions (started_at);
CREATE INDEX idx_sessions_position ON sessions (position);

-- One row per run: the request to an agent, and its result.
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  parent_message_id INTEGER,
  started_at TEXT NOT NULL,
  completed_at TEXT,
  duration_ms INTEGER,
  agent_role TEXT,
  agent_depth INTEGER DEFAULT 0,
  model_id TEXT,
  system_prompt_id TEXT,
  request_type TEXT,
  request_content TEXT,
  context_mode TEXT,
  context_token_count INTEGER,
  response_content TEXT,
  response_summary TEXT,
  tool_calls_json TEXT,
  files_modified_json TEXT,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  total_tokens INTEGER,
  iteration_count INTEGER DEFAULT 0,
  max_iterations INTEGER,
  max_duration_ms INTEGER,
  bailout_reason TEXT,
  status TEXT DEFAULT 'pending',
  error_message TEXT,
  metadata_json TEXT,
  FOREIGN KEY (parent_message_id) REFERENCES messages (id),
  FOREIGN KEY (session_id) REFERENCES sessions (session_id)
);
CREATE INDEX idx_messages_session ON messages (session_id);
CREATE INDEX idx_messages_parent ON messages (parent_message_id);
CREATE INDEX idx_messages_role ON messages (agent_role);
CREATE INDEX idx_messages_depth ON messages (agent_depth);
CREATE INDEX idx_messages_started ON messages (started_at);
CREATE INDEX idx_messages_status ON messages (status);

-- Further columns for the dashboard, and the small columns for sums: in messages they would be behind large texts, and
-- slow to read.
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (session_id),
  message_id INTEGER NOT NULL UNIQUE REFERENCES messages (id),
  parent_run TEXT,
  seen INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  status TEXT NOT NULL,
  exact_status TEXT NOT NULL,
  total_tokens INTEGER NOT NULL,
  tool_calls INTEGER NOT NULL,
  activity TEXT,
  warnings_json TEXT NOT NULL,
  exact_bailout TEXT,
  last_event_at TEXT NOT NULL,
  head_index INTEGER NOT NULL,
  head_hash TEXT,
  position INTEGER NOT NULL
);
CREATE UNIQUE INDEX idx_runs_seen ON runs (session_id, seen);
CREATE INDEX idx_runs_parent ON runs (parent_run);
CREATE INDEX idx_runs_position ON runs (position);

-- The recorder's own copy of the feed. The hash is part of the key, so both branches of a fork are kept.
CREATE TABLE entries (
  position INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  idx INTEGER NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_entries_key ON entries (run_id, idx, hash);

CREATE TABLE inbox_items (
  position INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL
);
CREATE UNIQUE INDEX idx_inbox_items_key ON inbox_items (session_id, seq);

-- Items that are damaged or cannot be read. For an inbox item, run_id is null and idx is its number.
CREATE TABLE quarantine (
  position INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  run_id TEXT,
  idx INTEGER NOT NULL,
  reason TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX idx_quarantine_run ON quarantine (run_id, idx);

-- The position that has been recorded, and the hash of the last item, which identifies the journal.
CREATE TABLE cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL,
  mark TEXT
);
INSERT INTO cursor (id, position, mark) VALUES (1, 0, NULL);
`;

/**
 * Version 2: prices, budgets, approvals. The rows of version 1 stay valid, so they are kept. The new columns are filled
 * from stored entries. The cost of a run that has not settled is unknown.
 */
const delegation = `
-- Null if the price of any reply is unknown.
ALTER TABLE runs ADD COLUMN cost_usd REAL;
ALTER TABLE runs ADD COLUMN max_tool_calls INTEGER;
ALTER TABLE runs ADD COLUMN budget_json TEXT;
-- Approvals without an answer, and whether the run is paused.
ALTER TABLE runs ADD COLUMN asks_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE runs ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
CREATE INDEX idx_runs_queue ON runs (parent_run, seen) WHERE exact_status = 'queued';

UPDATE runs SET
  -- Version 1 had no budgets: only the limits of its runs apply.
  budget_json = CASE WHEN head_index >= 0 THEN '{"tokens":null,"costUsd":null,"toolCalls":null,"spawns":null}' END,
  cost_usd = CASE WHEN head_index < 0 THEN 0 ELSE (
    SELECT json_extract(m.metadata_json, '$.cost_usd') FROM messages m WHERE m.id = runs.message_id
  ) END,
  max_tool_calls = (
    SELECT json_extract(e.text, '$.pin.limits.maxToolCalls') FROM entries e WHERE e.run_id = runs.run_id AND e.idx = 0
    ORDER BY e.position LIMIT 1
  );

-- Approvals that users decide. withdrawn: the run continued or ended without an answer.
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  path_json TEXT NOT NULL,
  tool TEXT,
  args_json TEXT NOT NULL,
  risk TEXT NOT NULL,
  reason TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'denied', 'withdrawn')),
  requested_at TEXT NOT NULL,
  answered_at TEXT,
  scope TEXT,
  by_whom TEXT,
  answer_reason TEXT,
  position INTEGER NOT NULL
);
CREATE INDEX idx_approvals_session ON approvals (session_id, state);
CREATE INDEX idx_approvals_requested ON approvals (requested_at);
CREATE INDEX idx_approvals_waiting ON approvals (requested_at) WHERE state = 'waiting';
CREATE INDEX idx_approvals_position ON approvals (position);
`;

/** Version 3: sessions of several turns. Every earlier session has one turn. */
const turns = `
ALTER TABLE sessions ADD COLUMN turns INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sessions ADD COLUMN turn_started_at TEXT;
UPDATE sessions SET turn_started_at = started_at;
CREATE INDEX idx_sessions_turn ON sessions (turn_started_at);
-- A run without a parent begins a turn.
CREATE INDEX idx_runs_turns ON runs (session_id) WHERE parent_run IS NULL;
`;

/** Version 4: file changes of tool calls. Entries of earlier versions do not have them. */
const fileChanges = `
CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  step INTEGER NOT NULL,
  call INTEGER NOT NULL,
  tool TEXT NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('created', 'modified', 'deleted')),
  version_before TEXT,
  version_after TEXT,
  lines_added INTEGER NOT NULL,
  lines_removed INTEGER NOT NULL,
  diff TEXT NOT NULL,
  -- Whether the diff is cut, and the hash of the whole diff if it is kept as a blob.
  cut INTEGER NOT NULL,
  diff_ref TEXT,
  at TEXT NOT NULL
);
CREATE INDEX idx_changes_run ON changes (run_id);
CREATE INDEX idx_changes_session ON changes (session_id);
`;

/** Version 5: the origin of the record, and forked runs. An older record is identified only by its newest item. */
const origin = `
-- The id of the journal, null while it is unknown, and the record's name in the journal.
CREATE TABLE origin (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  follower TEXT NOT NULL,
  journal TEXT
);
INSERT INTO origin (id, follower, journal) VALUES (1, lower(hex(randomblob(16))), NULL);

-- Runs with two entries at one index, and the first such index.
CREATE TABLE forks (
  run_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  idx INTEGER NOT NULL,
  position INTEGER NOT NULL
);
CREATE INDEX idx_forks_session ON forks (session_id);
INSERT INTO forks (run_id, session_id, idx, position)
  SELECT run_id, min(session_id), min(idx), min(position) FROM (
    SELECT run_id, session_id, idx, max(position) AS position FROM entries GROUP BY run_id, idx HAVING count(*) > 1
  ) GROUP BY run_id;
CREATE INDEX idx_quarantine_session ON quarantine (session_id);
`;

/** Version 8: sessions that repeat a recorded one. The request of the newest turn names the recording as its model. */
const replays = `
ALTER TABLE sessions ADD COLUMN replay INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET replay = 1 WHERE (
  SELECT json_extract(i.text, '$.request.model') FROM inbox_items i
  WHERE i.session_id = sessions.session_id AND json_extract(i.text, '$.request.model') IS NOT NULL
  ORDER BY i.seq DESC LIMIT 1
) LIKE 'replay/%';
`;

/** Version 12: the later use of a changed file by another program, null for none. */
const runsLater = `
ALTER TABLE changes ADD COLUMN runs_later TEXT;
`;

/** Version 13: the files that a call deletes or overwrites, null for none. */
const approvalLosses = `
ALTER TABLE approvals ADD COLUMN losses_json TEXT;
`;

/** Version 15: the email, event or message of a call, null for none. */
const approvalPreview = `
ALTER TABLE approvals ADD COLUMN preview_json TEXT;
`;

/**
 * Version 16: the words of requests, responses and tool calls, for searches. The index has no copy of the texts: it reads
 * them from `messages`. Triggers keep it up to date.
 */
const words = `
CREATE VIRTUAL TABLE words USING fts5(
  agent_role, request_content, response_summary, response_content, error_message,
  content = 'messages', content_rowid = 'id', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO words (words) VALUES ('rebuild');
CREATE TRIGGER words_insert AFTER INSERT ON messages BEGIN
  INSERT INTO words (rowid, agent_role, request_content, response_summary, response_content, error_message)
  VALUES (new.id, new.agent_role, new.request_content, new.response_summary, new.response_content, new.error_message);
END;
CREATE TRIGGER words_delete AFTER DELETE ON messages BEGIN
  INSERT INTO words
    (words, rowid, agent_role, request_content, response_summary, response_content, error_message)
  VALUES ('delete', old.id, old.agent_role, old.request_content, old.response_summary, old.response_content,
    old.error_message);
END;
-- A row is written at each step of its run. Its texts change only at the end.
CREATE TRIGGER words_update AFTER UPDATE ON messages
WHEN (new.agent_role, new.request_content, new.response_summary, new.response_content, new.error_message)
  IS NOT (old.agent_role, old.request_content, old.response_summary, old.response_content, old.error_message)
BEGIN
  INSERT INTO words
    (words, rowid, agent_role, request_content, response_summary, response_content, error_message)
  VALUES ('delete', old.id, old.agent_role, old.request_content, old.response_summary, old.response_content,
    old.error_message);
  INSERT INTO words (rowid, agent_role, request_content, response_summary, response_content, error_message)
  VALUES (new.id, new.agent_role, new.request_content, new.response_summary, new.response_content, new.error_message);
END;
`;

/**
 * Version 17: the sums of the runs of each session, for reports of costs. The recorder writes them once all runs of a session
 * have ended. Sessions of older versions follow when the recorder has nothing else to do.
 */
const costs = `
CREATE TABLE summed_sessions (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE,
  -- 0 while a run is open: the other columns and the sums are missing.
  is_summed INTEGER NOT NULL DEFAULT 0,
  first_at TEXT,
  last_at TEXT,
  -- A demo or a replay.
  offline INTEGER,
  runs INTEGER
);
CREATE INDEX idx_summed_sessions_open ON summed_sessions (session_id) WHERE is_summed = 0;
INSERT INTO summed_sessions (session_id) SELECT session_id FROM sessions;

-- One row per group of a session. own_: its runs. all_: with the runs below. _usd: the known part. name: null without a team
-- or model.
CREATE TABLE session_costs (
  summed_id INTEGER NOT NULL REFERENCES summed_sessions (id) ON DELETE CASCADE,
  grouping TEXT NOT NULL,
  place INTEGER NOT NULL,
  name TEXT,
  own_runs INTEGER NOT NULL,
  own_tokens INTEGER NOT NULL,
  own_usd REAL NOT NULL,
  own_unknown INTEGER NOT NULL,
  own_estimated INTEGER NOT NULL,
  all_runs INTEGER NOT NULL,
  all_tokens INTEGER NOT NULL,
  all_usd REAL NOT NULL,
  all_unknown INTEGER NOT NULL,
  all_estimated INTEGER NOT NULL,
  PRIMARY KEY (summed_id, grouping, place)
) WITHOUT ROWID;
`;

/** SQL by schema version. Versions that only add columns for runs are beside their fields in `run-columns.ts`. */
export const tableMigrations: Readonly<Record<number, string>> = {
  1: tree,
  2: delegation,
  3: turns,
  4: fileChanges,
  5: origin,
  8: replays,
  12: runsLater,
  13: approvalLosses,
  15: approvalPreview,
  16: words,
  17: costs,
};

/** The newest version of `troupe.db` that this package reads. */
export const recordVersion: number = recordSpec("").migrations.length;

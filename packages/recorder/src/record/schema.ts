import type { DatabaseSpec } from "../database/open.ts";

/** The record's file: a projection, so a kill may cost it nothing and a power cut only what the journal still has. */
export function recordSpec(file: string): DatabaseSpec {
  return {
    file,
    applicationId: 0x74_72_70_72,
    migrations: [tree, delegation, turns, fileChanges, origin, hosts],
    synchronous: "NORMAL",
    whenDamaged: `rm ${file}*   # it is built again from the journal`,
  };
}

/** Version 1. SQL as text, so that a packed recorder needs no further files. */
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

-- One row per run: what was asked of an agent, and what came of it.
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

-- What the dashboard asks for besides, and the small columns that sums are made of: they stand behind large texts in
-- messages, and would be slow to reach there.
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

-- The recorder's own copy of all that it was fed. The hash is part of the key: of a fork both sides are kept.
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

-- What could not be trusted or read. For an inbox item run_id is null and idx its number.
CREATE TABLE quarantine (
  position INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  run_id TEXT,
  idx INTEGER NOT NULL,
  reason TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX idx_quarantine_run ON quarantine (run_id, idx);

-- How far the feed has been taken in, and the hash of the last item: another journal is recognised by it.
CREATE TABLE cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL,
  mark TEXT
);
INSERT INTO cursor (id, position, mark) VALUES (1, 0, NULL);
`;

/**
 * Version 2: prices, budgets, questions to people. Rows are kept and not built anew, because nothing that version 1
 * knew is told differently now; what it did not keep is filled in from what it stored. The cost of a run that is at
 * work is unknown until it settles.
 */
const delegation = `
-- Null: the price of something is unknown.
ALTER TABLE runs ADD COLUMN cost_usd REAL;
ALTER TABLE runs ADD COLUMN max_tool_calls INTEGER;
ALTER TABLE runs ADD COLUMN budget_json TEXT;
-- Questions without an answer, and whether it was told to stand still.
ALTER TABLE runs ADD COLUMN asks_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE runs ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
CREATE INDEX idx_runs_queue ON runs (parent_run, seen) WHERE exact_status = 'queued';

UPDATE runs SET
  -- Version 1 knew no budgets: whatever it opened may use all that its limits allow.
  budget_json = CASE WHEN head_index >= 0 THEN '{"tokens":null,"costUsd":null,"toolCalls":null,"spawns":null}' END,
  cost_usd = CASE WHEN head_index < 0 THEN 0 ELSE (
    SELECT json_extract(m.metadata_json, '$.cost_usd') FROM messages m WHERE m.id = runs.message_id
  ) END,
  max_tool_calls = (
    SELECT json_extract(e.text, '$.pin.limits.maxToolCalls') FROM entries e WHERE e.run_id = runs.run_id AND e.idx = 0
    ORDER BY e.position LIMIT 1
  );

-- What people are asked. withdrawn: its run went on or ended without an answer.
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

/** Version 3: sessions of several turns. Whatever there was had one. */
const turns = `
ALTER TABLE sessions ADD COLUMN turns INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sessions ADD COLUMN turn_started_at TEXT;
UPDATE sessions SET turn_started_at = started_at;
CREATE INDEX idx_sessions_turn ON sessions (turn_started_at);
-- A run that nobody asked for but a user begins a turn.
CREATE INDEX idx_runs_turns ON runs (session_id) WHERE parent_run IS NULL;
`;

/** Version 4: what calls have done to files. No entry before it says so. */
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
  -- Whether it is but the beginning; the hash of the whole in blobs, where it is kept.
  cut INTEGER NOT NULL,
  diff_ref TEXT,
  at TEXT NOT NULL
);
CREATE INDEX idx_changes_run ON changes (run_id);
CREATE INDEX idx_changes_session ON changes (session_id);
`;

/** Version 5: whose copy this is, and which runs have two lines. A copy from before is told by its newest item alone. */
const origin = `
-- The journal by its id, null while that is not known, and the name under which the journal knows this copy.
CREATE TABLE origin (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  follower TEXT NOT NULL,
  journal TEXT
);
INSERT INTO origin (id, follower, journal) VALUES (1, lower(hex(randomblob(16))), NULL);

-- Runs with two entries at one index: the first place where they part.
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

/** Version 6: where runs live. Of those that were there, as their newest entry says. */
const hosts = `
ALTER TABLE runs ADD COLUMN host TEXT;
UPDATE runs SET host = (
  SELECT json_extract(e.text, '$.host') FROM entries e
  WHERE e.run_id = runs.run_id AND e.idx = runs.head_index AND e.hash = runs.head_hash
);
`;

/** The newest version of `troupe.db` that this package reads. */
export const recordVersion: number = recordSpec("").migrations.length;

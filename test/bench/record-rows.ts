import { openRecord } from "@troupe/recorder";
import { openSqlite } from "@troupe/recorder/internal";

/** The sessions of a generated record that a measurement asks about. */
export interface GeneratedRecord {
  /** A session of 1,000 runs. */
  wideSession: string;
  rows: number;
}

interface PlacedRun {
  run: string;
  message: number;
}

const callsPerRun = 3;
const runsPerSession = 50;
const startMs = Date.UTC(2026, 0, 1);
/** Between two rows: a million rows are about 58 days. */
const stepMs = 5_000;
const agents = ["main", "coder", "tester", "reviewer", "planner", "news_lead", "news_writer", "researcher"];
const models = ["anthropic/claude-sonnet-5", "openai/gpt-6", "local/qwen"];

/**
 * Writes a record of so many rows of `messages`: runs in trees, each with three tool calls. The texts have words of a
 * vocabulary in which few words are common. The word `needle` is in one row of a thousand.
 */
export async function writeGeneratedRecord(file: string, rows: number): Promise<GeneratedRecord> {
  (await openRecord({ file })).close();
  const database = openSqlite(file);
  database.pragma("synchronous = OFF");
  const random = randomFrom(7);
  const words = Array.from({ length: 20_000 }, (_, i) => `w${i.toString(36)}`);
  const text = (count: number): string =>
    Array.from({ length: count }, () => words[Math.floor(words.length * random() ** 4)]).join(" ");
  const insertSession = database.prepare<[string, string, string, string, string, string]>(
    `INSERT INTO sessions (session_id, root_run, agent, task, status, workspace, started_at, turn_started_at, completed_at,
       position) VALUES (?, ?, 'main', ?, 'completed', '/w', ?, ?, ?, 1)`,
  );
  const insertSummed = database.prepare<[string]>("INSERT INTO summed_sessions (session_id) VALUES (?)");
  const insertMessage = database.prepare<(string | number | null)[]>(
    `INSERT INTO messages (session_id, parent_message_id, started_at, completed_at, duration_ms, agent_role, agent_depth,
       model_id, request_type, request_content, response_content, response_summary, context_mode, status, metadata_json,
       tool_calls_json, files_modified_json)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'task_only', 'completed', ?, '[]', '[]')`,
  );
  const insertRun = database.prepare<(string | number | null)[]>(
    `INSERT INTO runs (run_id, session_id, message_id, parent_run, seen, attempt, max_attempts, status, exact_status,
       total_tokens, tool_calls, warnings_json, last_event_at, head_index, position, cost_usd, activity)
     VALUES (?, ?, ?, ?, ?, 1, 1, 'completed', 'completed', 500, 3, '[]', ?, 1, 1, ?, 'completed')`,
  );
  let written = 0;
  const now = () => new Date(startMs + written * stepMs).toISOString();

  /** Writes a run and its calls, and returns the id of its row. */
  const writeRun = (
    session: string,
    { run, i, above }: { run: string; i: number; above: PlacedRun | null },
  ): number => {
    const agent = agents[i === 0 ? 0 : Math.floor(random() * agents.length)] ?? "main";
    const model = models[i % models.length] ?? "";
    const needle = i % 250 === 0 ? " needle" : "";
    const { lastInsertRowid } = insertMessage.run(
      ...[session, above?.message ?? null, now(), now(), Math.floor(random() * 60_000), agent, above ? 1 : 0, model],
      ...["delegation", text(20) + needle, text(60), text(12), "{}"],
    );
    const message = Number(lastInsertRowid);
    insertRun.run(run, session, message, above?.run ?? null, i, now(), i % 40 === 0 ? null : random() / 100);
    for (let call = 0; call < callsPerRun; call += 1) {
      const args = JSON.stringify({ tool: "shell", args: { command: text(6) } });
      const metadata = JSON.stringify({ run_id: run, step: 1, call });
      const times = [now(), now(), 12];
      insertMessage.run(...[session, message, ...times, agent, 1, model, "tool_call", args, text(30), null, metadata]);
    }
    return message;
  };

  const writeSession = database.transaction((session: string, runs: number) => {
    insertSession.run(session, session, text(12), now(), now(), now());
    insertSummed.run(session);
    const placed: PlacedRun[] = [];
    for (let i = 0; i < runs; i += 1) {
      const run = i === 0 ? session : idOf(written, 8);
      const above = i === 0 ? null : (placed[Math.floor((i - 1) / 6)] ?? null);
      placed.push({ run, message: writeRun(session, { run, i, above }) });
      written += 1 + callsPerRun;
    }
  });

  const wideSession = idOf(0, 7);
  writeSession(wideSession, 1_000);
  while (written < rows) writeSession(idOf(written, 7), runsPerSession);
  database.close();
  return { wideSession, rows: written };
}

/** Ids that spread over their index as real ones do. */
function idOf(number: number, version: 7 | 8): string {
  const hex = (Math.imul(number + 1, 2_654_435_761) >>> 0).toString(16).padStart(8, "0");
  const head = version === 7 ? number.toString(16).padStart(8, "0") : hex;
  return `${head}-0000-${version}000-8000-${number.toString(16).padStart(12, "0")}`;
}

/** A generator with a seed, so that every measurement has the same rows. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

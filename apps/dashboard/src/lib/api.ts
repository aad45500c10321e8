import type {
  ApprovalAnswer,
  ApprovalRow,
  ChangeRow,
  DaemonStatus,
  Entry,
  HostRow,
  RunResponse,
  SessionDetail,
  SessionRow,
  SubmitSession,
} from "@troupe/core";
import type {
  AgentCheck,
  AgentDraft,
  AgentFileList,
  AgentFileView,
  AgentList,
  AgentRemoval,
  AgentRemoved,
  ApiError,
  ApprovalOutcome,
  ApprovalRule,
  CancelOutcome,
  ConversationPage,
  GrantExplanation,
  HostOutcome,
  RunControlOutcome,
  Submitted,
  TimelinePage,
  UndoOutcome,
  UndoRequest,
  UndoRow,
} from "@troupe/core/internal";

/** Why a call failed, for the user of the page. */
export interface ApiProblem {
  /** HTTP status; 0 without a response. */
  httpStatus: number;
  /** The stable code of the daemon's error. */
  code?: string;
  message: string;
  fix: string | null;
}

/** The only error that calls of this module throw. */
export class ApiFailure extends Error {
  readonly problem: ApiProblem;

  constructor(problem: ApiProblem) {
    super(problem.message);
    this.name = "ApiFailure";
    this.problem = problem;
  }
}

/** The HTTP API of the daemon. `login` sets a cookie that authenticates the other calls. */
export const api = {
  login: (token: string) => call<null>("POST", "/api/v1/login", { token }),
  status: () => call<DaemonStatus>("GET", "/api/v1/status"),
  agents: (folder: string | null) => call<AgentList>("GET", `/api/v1/agents${folderQuery(folder)}`),
  sessions: () => call<{ position: number; sessions: SessionRow[] }>("GET", "/api/v1/sessions?limit=100"),
  session: (id: string, after?: string) =>
    call<SessionDetail>("GET", `${sessionPath(id)}${after === undefined ? "" : `?after=${encodeURIComponent(after)}`}`),
  timeline: (id: string, after: number) => call<TimelinePage>("GET", `${sessionPath(id)}/timeline?after=${after}`),
  agentFiles: (folder: string | null) => call<AgentFileList>("GET", `/api/v1/agent-files${folderQuery(folder)}`),
  agentFile: (id: string, folder: string | null) =>
    call<AgentFileView>("GET", `${agentPath(id)}${folderQuery(folder)}`),
  checkAgent: (draft: AgentDraft) => call<AgentCheck>("POST", "/api/v1/agent-checks", draft),
  saveAgent: (draft: AgentDraft) => call<AgentFileView>("PUT", agentPath(draft.id), draft),
  removeAgent: (id: string, removal: AgentRemoval) => call<AgentRemoved>("DELETE", agentPath(id), removal),
  response: (id: string) => call<RunResponse>("GET", `${sessionPath(id)}/response`),
  submit: (request: Partial<SubmitSession> & { task: string }) => call<Submitted>("POST", "/api/v1/sessions", request),
  cancel: (id: string) => call<CancelOutcome>("POST", `${sessionPath(id)}/cancel`, {}),
  cancelRun: (run: string) =>
    call<RunControlOutcome>("POST", `${runPath(run)}/cancel`, { reason: "cancelled on the page" }),
  steer: (run: string, text: string) => call<RunControlOutcome>("POST", `${runPath(run)}/steer`, { text, by }),
  pause: (run: string) => call<RunControlOutcome>("POST", `${runPath(run)}/pause`, { by }),
  resume: (run: string) => call<RunControlOutcome>("POST", `${runPath(run)}/resume`, { by }),
  explain: (run: string) => call<GrantExplanation>("GET", `${runPath(run)}/explain`),
  changes: (run: string, after: number) =>
    call<{ changes: ChangeRow[]; next: number | null }>("GET", `${runPath(run)}/changes?after=${after}&limit=100`),
  undo: (run: string, request: Partial<Pick<UndoRequest, "dryRun" | "partial" | "redo">>) =>
    call<UndoOutcome>("POST", `${runPath(run)}/undo`, { ...request, by }),
  undos: (run: string) => call<{ undos: UndoRow[] }>("GET", `${runPath(run)}/undos`),
  firstEntry: (run: string) => call<{ entries: Entry[] }>("GET", `${runPath(run)}/entries?from=0&limit=1`),
  conversation: (run: string, from: number) =>
    call<ConversationPage>("GET", `${runPath(run)}/conversation?from=${from}`),
  approvals: (state: "waiting" | "all") =>
    call<{ position: number; approvals: ApprovalRow[] }>("GET", `/api/v1/approvals?state=${state}&limit=500`),
  answer: (approval: string, answer: ApprovalDecision) =>
    call<ApprovalOutcome>("POST", `/api/v1/approvals/${encodeURIComponent(approval)}/answer`, { ...answer, by }),
  hosts: () => call<{ hosts: HostRow[] }>("GET", "/api/v1/hosts"),
  drainHost: (host: string) => call<HostOutcome>("POST", `/api/v1/hosts/${encodeURIComponent(host)}/drain`, { by }),
  rules: () => call<{ rules: ApprovalRule[] }>("GET", "/api/v1/rules"),
  removeRule: (id: string) => call<ApprovalRule>("DELETE", `/api/v1/rules/${encodeURIComponent(id)}`),
};

/** The decision of a person. The other fields of an answer have defaults. */
export type ApprovalDecision = Pick<ApprovalAnswer, "approved"> & Partial<Omit<ApprovalAnswer, "by">>;

/** The actor in the record. The daemon knows the browser, not the person. */
const by = "dashboard";

/** The problem of a thrown error. */
export function problemOf(thrown: unknown): ApiProblem {
  if (thrown instanceof ApiFailure) return thrown.problem;
  return { httpStatus: 0, message: thrown instanceof Error ? thrown.message : String(thrown), fix: null };
}

function sessionPath(id: string): string {
  return `/api/v1/sessions/${encodeURIComponent(id)}`;
}

function agentPath(id: string): string {
  return `/api/v1/agent-files/${encodeURIComponent(id)}`;
}

function folderQuery(folder: string | null): string {
  return folder === null ? "" : `?workspace=${encodeURIComponent(folder)}`;
}

function runPath(run: string): string {
  return `/api/v1/runs/${encodeURIComponent(run)}`;
}

async function call<T>(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      // Against forms of other origins, the daemon accepts only JSON for every method but GET.
      ...(method === "GET" ? {} : { headers: { "content-type": "application/json" } }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch {
    throw new ApiFailure({ httpStatus: 0, message: "The daemon does not answer.", fix: "Start it: troupe up" });
  }
  const value = parseJson(text);
  if (response.ok && (value !== undefined || text === "")) return (value ?? null) as T;
  throw new ApiFailure(problemOfBody(response.status, value));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOfBody(httpStatus: number, value: unknown): ApiProblem {
  const { error } = (value ?? {}) as Partial<ApiError>;
  if (error && typeof error.message === "string") {
    const { code, message, fix = null } = error;
    return { httpStatus, code, message, fix };
  }
  return {
    httpStatus,
    message: `The daemon answered ${httpStatus} without an error message.`,
    fix: "See its log: troupe doctor",
  };
}

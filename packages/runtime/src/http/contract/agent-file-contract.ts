import {
  AgentCheck,
  AgentDraft,
  AgentFileList,
  AgentFileView,
  AgentRemoval,
  AgentRemoved,
  agentFileBytesMax,
} from "@troupe/core/internal";
import { z } from "zod";
import { Workspace } from "./query.ts";
import { defineRoutes } from "./route.ts";

const query = z.object({ workspace: Workspace });
const params = { id: "agent" } as const;
/** A draft has the whole file, in JSON: each byte can need up to six. */
const bodyBytesMax = 6 * agentFileBytesMax;
const errors = ["CONFLICT", "FORBIDDEN", "INVALID_AGENT"] as const;

/** Routes that read, check and change agent files. */
export const agentFileContract = defineRoutes({
  "GET /agent-files": {
    operation: "listAgentFiles",
    summary: "Every definition with its origin, its abilities and how it can be edited",
    query,
    reply: AgentFileList,
    alias: true,
  },
  "GET /agent-files/{id}": {
    operation: "getAgentFile",
    summary: "One definition with its text, fields, problems and version",
    params,
    query,
    reply: AgentFileView,
    alias: true,
  },
  "POST /agent-checks": {
    operation: "checkAgentFile",
    summary: "The new text of a draft, its diff and its problems; writes nothing",
    body: AgentDraft,
    bodyBytesMax,
    reply: AgentCheck,
    errors: ["UNKNOWN_AGENT", ...errors],
    alias: true,
  },
  "PUT /agent-files/{id}": {
    operation: "saveAgentFile",
    summary: "Saves a draft; 201 for a new file",
    description: "`version: null` makes a new file. `CONFLICT`: the disk has another version.",
    params,
    body: AgentDraft,
    bodyBytesMax,
    reply: AgentFileView,
    otherStatus: 201,
    errors,
    alias: true,
  },
  "DELETE /agent-files/{id}": {
    operation: "removeAgentFile",
    summary: "Removes a file",
    params,
    body: AgentRemoval,
    reply: AgentRemoved,
    errors,
    alias: true,
  },
});

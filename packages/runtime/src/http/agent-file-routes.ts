import { TroupeError, type TroupeService } from "@troupe/core";
import {
  AgentDraft,
  type AgentFiles,
  AgentRemoval,
  agentFileBytesMax,
  Token,
  unknownAgent,
} from "@troupe/core/internal";
import type { Context, Hono } from "hono";
import { type HttpEnv, readBody } from "./input.ts";

/** A draft has the whole file, in JSON: each byte can need up to six. */
const draftBytesMax = 6 * agentFileBytesMax;

/** Routes that read, check and change agent files. */
export function addAgentFileRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  app.get("/api/agent-files", async (context) => {
    return context.json(await filesOf(service).list(context.req.query("workspace") || null));
  });
  app.get("/api/agent-files/:id", async (context) => {
    return context.json(await filesOf(service).read(readAgentId(context), context.req.query("workspace") || null));
  });
  app.post("/api/agent-checks", async (context) => {
    return context.json(await filesOf(service).check(await readBody(context, AgentDraft, { bytesMax: draftBytesMax })));
  });
  app.put("/api/agent-files/:id", async (context) => {
    const id = readAgentId(context);
    const draft = await readBody(context, AgentDraft, { bytesMax: draftBytesMax });
    if (draft.id !== id) {
      throw new TroupeError("USAGE", `the path names ${id}, but the draft is of ${draft.id}`, {
        fix: "send the same id in both",
      });
    }
    return context.json(await filesOf(service).save(draft), draft.version === null ? 201 : 200);
  });
  app.delete("/api/agent-files/:id", async (context) => {
    const id = readAgentId(context);
    return context.json(await filesOf(service).remove(id, await readBody(context, AgentRemoval)));
  });
}

function filesOf({ agentFiles }: TroupeService): AgentFiles {
  if (agentFiles) return agentFiles;
  throw new TroupeError("USAGE", "this process has no agent files to edit", { fix: "troupe up" });
}

/** An id that cannot be one of an agent gets the same error as an unknown one. */
function readAgentId(context: Context<HttpEnv>): string {
  const id = context.req.param("id") ?? "";
  if (Token.safeParse(id).success) return id;
  throw unknownAgent(id, []);
}

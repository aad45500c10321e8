import { TroupeError, type TroupeService } from "@troupe/core";
import type { AgentFiles } from "@troupe/core/internal";
import type { Hono } from "hono";
import { addRoutes } from "./contract/add-routes.ts";
import { agentFileContract } from "./contract/agent-file-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes that read, check and change agent files. */
export function addAgentFileRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  addRoutes(app, agentFileContract, {
    "GET /agent-files": async ({ query }) => await filesOf(service).list(query.workspace || null),
    "GET /agent-files/{id}": async ({ params: { id }, query }) =>
      await filesOf(service).read(id, query.workspace || null),
    "POST /agent-checks": async ({ body }) => await filesOf(service).check(body),
    "PUT /agent-files/{id}": async ({ params: { id }, body: draft }, context) => {
      if (draft.id !== id) {
        throw new TroupeError("USAGE", `the path names ${id}, but the draft is of ${draft.id}`, {
          fix: "send the same id in both",
        });
      }
      const view = await filesOf(service).save(draft);
      context.status(draft.version === null ? 201 : 200);
      return view;
    },
    "DELETE /agent-files/{id}": async ({ params: { id }, body }) => await filesOf(service).remove(id, body),
  });
}

function filesOf({ agentFiles }: TroupeService): AgentFiles {
  if (agentFiles) return agentFiles;
  throw new TroupeError("USAGE", "this process has no agent files to edit", { fix: "troupe up" });
}

import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { notFound } from "../service/lookup.ts";
import { addRoutes } from "./contract/add-routes.ts";
import { approvalContract } from "./contract/approval-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes that list and answer approvals, and routes about the rules that came from answers. */
export function addApprovalRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  const { record } = service;

  addRoutes(app, approvalContract, {
    "GET /approvals": async ({ query: { state, limit } }) => {
      const position = record.position();
      return { position, approvals: await record.approvals({ waiting: state === "waiting", limit }) };
    },
    "GET /approvals/{id}": async ({ params: { id } }) => {
      const approval = await record.approval(id);
      if (approval === null) throw notFound("approval", id);
      return approval;
    },
    "POST /approvals/{id}/answer": async ({ params: { id }, body }) => await service.answer(id, body),
    "GET /rules": async () => ({ rules: await service.rules() }),
    "DELETE /rules/{id}": async ({ params: { id } }) => await service.removeRule(id),
  });
}

import { ApprovalAnswer, TroupeError, type TroupeService } from "@troupe/core";
import type { Context, Hono } from "hono";
import { notFound } from "../service/lookup.ts";
import { type HttpEnv, readBody, readId, readNumber } from "./input.ts";
import type { ApprovalList, RuleList } from "./pages.ts";

/** Routes that list and answer approvals, and routes about the rules that came from answers. */
export function addApprovalRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  const { record } = service;

  app.get("/api/approvals", async (context) => {
    const waiting = readState(context) === "waiting";
    const limit = readNumber(context, "limit", { otherwise: 100, min: 1, max: 500 });
    const position = record.position();
    return context.json({ position, approvals: await record.approvals({ waiting, limit }) } satisfies ApprovalList);
  });
  app.get("/api/approvals/:id", async (context) => {
    const id = readId(context, "id", "approval");
    const approval = await record.approval(id);
    if (approval === null) throw notFound("approval", id);
    return context.json(approval);
  });
  app.post("/api/approvals/:id/answer", async (context) => {
    const id = readId(context, "id", "approval");
    return context.json(await service.answer(id, await readBody(context, ApprovalAnswer)));
  });
  app.get("/api/rules", async (context) => {
    return context.json({ rules: await service.rules() } satisfies RuleList);
  });
  app.delete("/api/rules/:id", async (context) => {
    return context.json(await service.removeRule(readId(context, "id", "rule")));
  });
}

function readState(context: Context<HttpEnv>): "waiting" | "all" {
  const state = context.req.query("state") ?? "waiting";
  if (state === "waiting" || state === "all") return state;
  throw new TroupeError("USAGE", `state is ${JSON.stringify(state)}`, { fix: "use waiting or all" });
}

import { ApprovalAnswer, ApprovalRow } from "@troupe/core";
import { ApprovalOutcome, ApprovalRule } from "@troupe/core/internal";
import { z } from "zod";
import { ApprovalList, RuleList } from "../pages.ts";
import { wholeNumber } from "./query.ts";
import { defineRoutes } from "./route.ts";

/** Routes about approvals, and about the rules that came from answers. */
export const approvalContract = defineRoutes({
  "GET /approvals": {
    operation: "listApprovals",
    summary: "Requests for a person's approval, oldest first",
    query: z.object({
      state: z.enum(["waiting", "all"], "use waiting or all").default("waiting").meta({
        description: "`waiting`: the open approvals that wait longest. `all`: the newest approvals of any state.",
      }),
      limit: wholeNumber({ min: 1, max: 500, otherwise: 100, about: "The most approvals." }),
    }),
    reply: ApprovalList,
    alias: true,
  },
  "GET /approvals/{id}": {
    operation: "getApproval",
    summary: "One request for approval",
    params: { id: "approval" },
    reply: ApprovalRow,
    alias: true,
  },
  "POST /approvals/{id}/answer": {
    operation: "answerApproval",
    summary: "Answers a request for approval; the first answer holds",
    params: { id: "approval" },
    body: ApprovalAnswer,
    reply: ApprovalOutcome,
    alias: true,
  },
  "GET /rules": { operation: "listRules", summary: "Rules that came from answers", reply: RuleList, alias: true },
  "DELETE /rules/{id}": {
    operation: "removeRule",
    summary: "Removes a rule, and returns it",
    params: { id: "rule" },
    reply: ApprovalRule,
    alias: true,
  },
});

import { CostGrouping, CostReport, RecordTotals } from "@troupe/core/internal";
import { z } from "zod";
import { Since, wholeNumber } from "./query.ts";
import { defineRoutes } from "./route.ts";

/** Routes about the cost and the outcome of many runs. */
export const costContract = defineRoutes({
  "GET /costs": {
    operation: "getCosts",
    summary: "What runs cost, by agent, role, model, team or day; an unknown cost is null",
    query: z.object({
      by: z
        .enum(CostGrouping.options, `use one of ${CostGrouping.options.join(", ")}`)
        .default("agent")
        .meta({ description: "What a row of the report is about." }),
      since: Since,
    }),
    reply: CostReport,
    alias: true,
  },
  "GET /stats": {
    operation: "getTotals",
    summary: "Outcomes, costs, and the slowest and most expensive branches",
    query: z.object({
      since: Since,
      branches: wholeNumber({ min: 1, max: 100, otherwise: 10, about: "The most branches of each list." }),
    }),
    reply: RecordTotals,
    alias: true,
  },
});

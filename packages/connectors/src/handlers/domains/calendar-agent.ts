import { type DomainAgent, defineDomainAgent } from "../base/define-domain-agent.ts";
import { availabilityPlan } from "./calendar/availability-plan.ts";
import { createPlan } from "./calendar/create-plan.ts";
import { deletePlan } from "./calendar/delete-plan.ts";
import { listPlan } from "./calendar/list-plan.ts";
import { updatePlan } from "./calendar/update-plan.ts";
import type { OfficeScope } from "./office-scope.ts";

/** The calendar: free times, and events to list, create, move and delete. */
export function calendarAgent(scope: OfficeScope): DomainAgent {
  return defineDomainAgent({
    domain: "calendar",
    description: "Checks free times, and lists, creates, moves and deletes events",
    patterns: new URL("../../../patterns/calendar.yaml", import.meta.url),
    connector: async (request) => (await scope.connectors(request)).calendar,
    tools: scope.toolsOf("calendar_"),
    ...scope.shared,
    requests: {
      create: createPlan(scope),
      block: createPlan(scope),
      availability: availabilityPlan(scope),
      list: listPlan,
      update: updatePlan(scope),
      delete: deletePlan,
    },
  });
}

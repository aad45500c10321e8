import { type DomainAgent, defineDomainAgent } from "../base/define-domain-agent.ts";
import { contactPlan, nameSearchPlan, organizationPlan } from "./contacts/contact-plans.ts";
import { emailCheckPlan, organizationsPlan } from "./contacts/directory-plans.ts";
import type { OfficeScope } from "./office-scope.ts";

/** The contacts: people, organizations and addresses. */
export function contactsAgent(scope: OfficeScope): DomainAgent {
  return defineDomainAgent({
    domain: "contacts",
    description: "Finds people, organizations and addresses in the contacts",
    patterns: new URL("../../../patterns/contacts.yaml", import.meta.url),
    connector: async (request) => (await scope.connectors(request)).contacts,
    tools: scope.toolsOf("contacts_"),
    ...scope.shared,
    requests: {
      "by-organization": organizationPlan,
      "by-name": nameSearchPlan,
      "by-id": contactPlan,
      organizations: organizationsPlan,
      "validate-email": emailCheckPlan,
    },
  });
}

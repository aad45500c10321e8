import type { RequestHandler } from "@troupe/core";
import type { DomainAgent } from "./base/define-domain-agent.ts";
import { calendarAgent } from "./domains/calendar-agent.ts";
import { contactsAgent } from "./domains/contacts-agent.ts";
import { gmailAgent } from "./domains/gmail-agent.ts";
import { type OfficeHandlerOptions, officeScope } from "./domains/office-scope.ts";
import { slackAgent } from "./domains/slack-agent.ts";
import { officeHandler } from "./office/office-handler.ts";

/**
 * The handlers `gmail`, `calendar`, `contacts`, `slack` and `office`: they read requests by patterns and decide the calls of their
 * agents without a model.
 *
 * @example
 * const office = openLocalOffice({ folder: "/home/me/office" });
 * const handlers = createOfficeHandlers({ connectors: office, ownDomains: ["lantern.example"] });
 * handlers.map(({ name }) => name); // ["gmail", "calendar", "contacts", "slack", "office"]
 */
export function createOfficeHandlers(options: OfficeHandlerOptions): RequestHandler[] {
  const scope = officeScope(options);
  return [...officeAgents(options).map(({ handler }) => handler), officeHandler(scope)];
}

/** The four domain agents of the office, each with the handler and the tools of its domain. */
export function officeAgents(options: OfficeHandlerOptions): DomainAgent[] {
  const scope = officeScope(options);
  return [gmailAgent(scope), calendarAgent(scope), contactsAgent(scope), slackAgent(scope)];
}

import type { Tool } from "@troupe/core/tool";
import { createCalendarTools } from "./calendar/create-calendar-tools.ts";
import { type OfficeToolOptions, withDefaults } from "./calls/tool-options.ts";
import { createContactTools } from "./contacts/create-contact-tools.ts";
import { createMailTools } from "./email/create-mail-tools.ts";
import { createChannelTools } from "./slack/create-channel-tools.ts";

/**
 * Creates the tools of the domains email, calendar, contacts and slack. Each is in the group of its domain. The output of every
 * call is one JSON object, for errors as well.
 *
 * @example
 * const office = openLocalOffice({ folder: "/home/me/office" });
 * const tools = createOfficeTools({ connectors: async () => office });
 */
export function createOfficeTools(options: OfficeToolOptions): Tool[] {
  const deps = withDefaults(options);
  return [
    ...createMailTools(deps),
    ...createCalendarTools(deps),
    ...createContactTools(deps),
    ...createChannelTools(deps),
  ];
}

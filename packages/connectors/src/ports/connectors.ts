import type { CalendarConnector } from "./calendar.ts";
import type { ChannelsConnector } from "./channels.ts";
import type { ContactsConnector } from "./contacts.ts";
import type { MailConnector } from "./mail.ts";

/** The connections of one user, one for each domain. */
export interface Connectors {
  mail: MailConnector;
  calendar: CalendarConnector;
  contacts: ContactsConnector;
  channels: ChannelsConnector;
}

export { readAttachments } from "./attachments/read-attachments.ts";
export {
  type ConnectedGoogle,
  type ConnectGoogleOptions,
  connectGoogle,
  disconnectGoogle,
} from "./google/connect-google.ts";
export { type GoogleClient, googleClientSteps, readGoogleClient } from "./google/google-client.ts";
export { OpenGoogleOptions, openGoogle } from "./google/open-google.ts";
export { type GoogleScope, googleScopes } from "./google/scopes.ts";
export {
  type DomainAgent,
  type DomainAgentOptions,
  defineDomainAgent,
  type PreparedRequest,
  type PrepareScope,
  type RequestPlan,
} from "./handlers/base/define-domain-agent.ts";
export type { CallWork, RequestWork, WorkAnswer, WorkScope } from "./handlers/base/request-work.ts";
export { createOfficeHandlers, officeAgents } from "./handlers/create-office-handlers.ts";
export type { OfficeHandlerOptions } from "./handlers/domains/office-scope.ts";
export { importFiles } from "./import/import-files.ts";
export type { ImportCounts, ImportedFile, ImportProblem } from "./import/import-report.ts";
export { type IntentMatch, matchIntent } from "./intents/match-intent.ts";
export { IntentDomain, ParamKind } from "./intents/pattern-file.ts";
export { type IntentOptions, type IntentReading, readIntent } from "./intents/read-intent.ts";
export { countRows, type OfficeCounts } from "./local/count-rows.ts";
export { type LocalOffice, LocalOfficeOptions, openLocalOffice } from "./local/open-local-office.ts";
export type { PhraseScope } from "./phrases/phrase.ts";
export { type EventTimeOptions, type EventTimePhrase, readEventTime } from "./phrases/read-event-time.ts";
export { type PeopleOptions, type PeoplePhrase, readPeople, splitNames } from "./phrases/read-people.ts";
export { rangeText, readTimeRange, type TimeRangeOptions, type TimeRangePhrase } from "./phrases/read-time-range.ts";
export {
  type Availability,
  AvailabilityQuery,
  type CalendarConnector,
  type CalendarEvent,
  EventChanges,
  EventQuery,
  NewEvent,
  type TimeSpan,
} from "./ports/calendar.ts";
export {
  type ChannelMessage,
  ChannelQuery,
  ChannelSearch,
  type ChannelsConnector,
  type ChannelUser,
  NewChannelMessage,
  ThreadQuery,
} from "./ports/channels.ts";
export { ChangeOptions, type ConnectionStatus, type Connector } from "./ports/connection.ts";
export {
  ConnectorError,
  type ConnectorErrorDetails,
  ConnectorErrorType,
  parseParams,
} from "./ports/connector-error.ts";
export type { Connectors } from "./ports/connectors.ts";
export {
  type Contact,
  ContactQuery,
  type ContactsConnector,
  type EmailCheck,
  type Organization,
  OrganizationQuery,
} from "./ports/contacts.ts";
export { EventTime, TimeZone, ZonedTime } from "./ports/event-time.ts";
export {
  type DeliveryStatus,
  DraftMail,
  type MailConnector,
  MailFolder,
  type MailMessage,
  MailQuery,
  MailReply,
  type MailSummary,
  OutgoingAttachment,
  OutgoingMail,
  type RecipientDelivery,
} from "./ports/mail.ts";
export type { Page } from "./ports/page.ts";
export { EmailAddress, LineText, Person } from "./ports/person.ts";
export { type RepliedMessage, replyRecipients, replySubject } from "./ports/reply-recipients.ts";
export { SeedOptions, seedOffice } from "./sample/seed-office.ts";
export { type ConnectedSlack, connectSlack, SlackAccount, slackScopes } from "./slack/connect-slack.ts";
export { createSlackChannels, openSlackChannels, SlackOptions } from "./slack/slack-channels.ts";
export { type ConnectedStandard, connectStandard, openStandard, parseMailServer } from "./standard/connect-standard.ts";
export { createStandardCalendar } from "./standard/dav/standard-calendar.ts";
export { createStandardContacts } from "./standard/dav/standard-contacts.ts";
export { createStandardMail } from "./standard/mail/standard-mail.ts";
export { MailServer, StandardAccount } from "./standard/standard-options.ts";
export {
  ConnectionDomain,
  ConnectionKind,
  ConnectionSecrets,
  type ConnectionStore,
  type OpenedConnection,
  openConnectionStore,
  StoredConnection,
} from "./tokens/connections.ts";
export type { OfficeToolOptions } from "./tools/calls/tool-options.ts";
export { createOfficeTools } from "./tools/create-office-tools.ts";
export { riskOfPreview } from "./tools/risk/risk-of-preview.ts";

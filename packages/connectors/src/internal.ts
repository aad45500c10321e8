/** For the packages of troupe and its tests. These names can change in every release. */
export { addChannelMessage, type ChannelRecord, putChannel, putMember } from "./local/channels/channel-store.ts";
export { type ContactRecord, putContact } from "./local/contacts/contact-store.ts";
export { addMessage, ensureMailbox, type MailRecord } from "./local/mail/mail-store.ts";

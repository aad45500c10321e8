import type { ConnectionDomain } from "../tokens/connections.ts";

/** A permission that troupe asks Google for. */
export interface GoogleScope {
  scope: string;
  /** The permission in plain words. */
  allows: string;
  domain: ConnectionDomain | null;
}

const base = "https://www.googleapis.com/auth/";

/** The smallest scopes that the operations of the ports need. None of them allows to delete mail, or to change contacts. */
export const googleScopes: readonly GoogleScope[] = [
  { scope: "openid", allows: "know which account this is", domain: null },
  { scope: `${base}userinfo.email`, allows: "see your mail address", domain: null },
  { scope: `${base}userinfo.profile`, allows: "see your name, for the sender of mails", domain: null },
  { scope: `${base}gmail.readonly`, allows: "read and search your mail", domain: "mail" },
  { scope: `${base}gmail.compose`, allows: "write drafts and send mail", domain: "mail" },
  { scope: `${base}calendar.events`, allows: "read, create, change and delete events", domain: "calendar" },
  { scope: `${base}calendar.freebusy`, allows: "see when people are free or busy", domain: "calendar" },
  { scope: `${base}contacts.readonly`, allows: "read your contacts", domain: "contacts" },
  { scope: `${base}contacts.other.readonly`, allows: "read the addresses of your earlier mails", domain: "contacts" },
];

/** Whether a scope, by the last part of its name, is among the granted ones. */
export function hasScope(granted: string, name: string): boolean {
  return granted.split(" ").includes(`${base}${name}`);
}

/** The scope without which a domain cannot be used. */
const neededScopes: readonly [ConnectionDomain, string][] = [
  ["mail", "gmail.readonly"],
  ["calendar", "calendar.events"],
  ["contacts", "contacts.readonly"],
];

/** The domains that the granted scopes allow: on Google's page, people can allow some and not others. */
export function domainsOf(granted: string): ConnectionDomain[] {
  return neededScopes.filter(([, scope]) => hasScope(granted, scope)).map(([domain]) => domain);
}

/** The scopes that the user did not allow. */
export function missingScopes(granted: string): GoogleScope[] {
  const known = granted.split(" ");
  return googleScopes.filter(({ scope, domain }) => domain !== null && !known.includes(scope));
}

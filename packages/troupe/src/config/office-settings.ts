import { z } from "zod";
import type { ConfigFile } from "./config-file.ts";
import { DisplayText } from "./nats-settings.ts";
import type { ConfigRow, Origin, Setting } from "./origin.ts";

/** The domains of an office, as its agents are called. */
export const officeDomains = ["email", "calendar", "contacts", "slack"] as const;
export const OfficeDomain = z.enum(officeDomains);
export type OfficeDomain = z.infer<typeof OfficeDomain>;

const Address = z.string().trim().toLowerCase().max(254).pipe(z.email("is not a mail address"));
const MailDomain = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/, "is not a domain such as acme.example");
const TimeZone = DisplayText.refine(isTimeZone, "is not a time zone such as Europe/Berlin");

/** Section `office` of the user's configuration: whose mail and calendar the office tools use. */
export const OfficeConfig = z.strictObject({
  name: DisplayText.exactOptional(),
  address: Address.exactOptional(),
  timeZone: TimeZone.exactOptional(),
  /** Mail domains of the user's own company. Mail to others has a high risk. */
  domains: z.array(MailDomain).max(100).exactOptional(),
  /** The connected account of each domain, by its id of `troupe connections ls`; `local` is the local office. */
  connections: z
    .strictObject(
      Object.fromEntries(officeDomains.map((domain) => [domain, DisplayText.exactOptional()])) as Record<
        OfficeDomain,
        z.ZodExactOptional<typeof DisplayText>
      >,
    )
    .default({}),
});
export type OfficeConfig = z.infer<typeof OfficeConfig>;

/** Each setting with its origin. Null: its default applies. */
export interface OfficeSettings {
  name: Setting<string> | null;
  address: Setting<string> | null;
  timeZone: Setting<string> | null;
  domains: Setting<readonly string[]> | null;
  connections: Readonly<Partial<Record<OfficeDomain, Setting<string>>>>;
}

/** The settings of a user without a configuration. */
export const defaultOffice: OfficeSettings = {
  name: null,
  address: null,
  timeZone: null,
  domains: null,
  connections: {},
};

/** A project's file cannot choose whose mail an agent reads. */
export function readOffice({
  office,
  originOf,
}: {
  office: ConfigFile["office"];
  originOf(path: readonly string[]): Origin;
}): OfficeSettings {
  const settingOf = <T>(key: keyof OfficeConfig, value: T | undefined): Setting<T> | null =>
    value === undefined ? null : { value, origin: originOf(["office", key]) };
  const chosen = Object.entries(office.connections).map(([domain, value]) => [
    domain,
    { value, origin: originOf(["office", "connections", domain]) },
  ]);
  return {
    name: settingOf("name", office.name),
    address: settingOf("address", office.address),
    timeZone: settingOf("timeZone", office.timeZone),
    domains: settingOf("domains", office.domains),
    connections: Object.fromEntries(chosen),
  };
}

/** Rows of `troupe config list`. */
export function officeRows({ connections, domains, ...single }: OfficeSettings): ConfigRow[] {
  const rows = Object.entries(single).flatMap(([key, setting]) =>
    setting ? [{ key: `office.${key}`, ...setting }] : [],
  );
  const ofDomains = domains ? [{ key: "office.domains", value: domains.value.join(", "), origin: domains.origin }] : [];
  const chosen = Object.entries(connections).map(([domain, setting]) => ({
    key: `office.connections.${domain}`,
    ...setting,
  }));
  return [...rows, ...ofDomains, ...chosen];
}

const examples: Partial<Record<string, string>> = {
  name: "write name: Kim Adler",
  address: "write address: kim@acme.example",
  timeZone: "write timeZone: Europe/Berlin",
  domains: "write domains: [acme.example]",
  connections: "write connections: {email: google/kim@acme.example}   # troupe connections ls lists the ids",
};

/** The fix of a wrong value in this section. */
export function officeValueFix(key: string | undefined): string {
  return (key && examples[key]) || "write office: {name: Kim Adler, address: kim@acme.example}";
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

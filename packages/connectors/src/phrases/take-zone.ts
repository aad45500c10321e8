import { type Phrase, type PhraseScope, takeMatch } from "./phrase.ts";

/** People write the abbreviation of the winter all year, so each means the place and not the offset. */
const places: Readonly<Record<string, string>> = {
  ...{ ET: "America/New_York", EST: "America/New_York", EDT: "America/New_York" },
  ...{ CT: "America/Chicago", CST: "America/Chicago", CDT: "America/Chicago" },
  ...{ MT: "America/Denver", MST: "America/Denver", MDT: "America/Denver" },
  ...{ PT: "America/Los_Angeles", PST: "America/Los_Angeles", PDT: "America/Los_Angeles" },
  ...{ BST: "Europe/London", CET: "Europe/Berlin", CEST: "Europe/Berlin", EET: "Europe/Athens", EEST: "Europe/Athens" },
  ...{ IST: "Asia/Kolkata", JST: "Asia/Tokyo", AEST: "Australia/Sydney", AEDT: "Australia/Sydney" },
  ...{ UTC: "Etc/UTC", GMT: "Etc/UTC", Z: "Etc/UTC" },
};
const plain = new Set(["UTC", "GMT", "Z"]);
const afterClock = String.raw`(?<=\d\s*(?:[ap]\.?m\.?)?\s*|noon\s+|midnight\s+)`;
const abbreviation = new RegExp(`${afterClock}\\(?(${Object.keys(places).join("|")})\\)?(?![\\w/])`);
const ianaName =
  /\(?\b((?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)\/[A-Za-z_+\-/0-9]+)\)?/;
const cityTime = /\b(?:in )?([A-Z][\p{L}]+(?: [A-Z][\p{L}]+)?)(?:'s)? (?:local )?time\b/u;

/** Takes the zone that the request names: an IANA name, an abbreviation behind a time, or "Tokyo time". Null: none. */
export function takeZone(phrase: Phrase, { timeZone }: PhraseScope): string | null {
  const named = ianaName.exec(phrase.text)?.[1];
  if (named !== undefined && isKnownZone(named)) {
    takeMatch(phrase, ianaName);
    return named;
  }
  const city = cityTime.exec(phrase.text)?.[1];
  const ofCity = city === undefined ? undefined : zoneOfCity(city);
  if (ofCity !== undefined) {
    takeMatch(phrase, cityTime);
    return ofCity;
  }
  const short = takeMatch(phrase, abbreviation)?.[1];
  const place = short === undefined ? undefined : places[short];
  if (short === undefined || place === undefined) return null;
  if (!plain.has(short) && place !== timeZone) phrase.assumptions.push(`${short} is read as the time of ${place}`);
  return place;
}

function isKnownZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function zoneOfCity(city: string): string | undefined {
  const ending = `/${city.replaceAll(" ", "_")}`.toLowerCase();
  return Intl.supportedValuesOf("timeZone").find((zone) => zone.toLowerCase().endsWith(ending));
}

import { readTimeRange } from "../../../phrases/read-time-range.ts";
import { toIso } from "../../../time/zoned-instant.ts";
import { paramsError } from "../../base/call-failure.ts";
import type { PrepareScope } from "../../base/define-domain-agent.ts";
import type { JsonObject } from "../../base/request-work.ts";
import { People } from "../people-text.ts";

const dayMs = 86_400_000;
const daysDefault = 30;

/** The words by which a request names an event to change. `text` is the part of the request that is about the event. */
export async function readEventWords(params: JsonObject, text: string, scope: PrepareScope): Promise<JsonObject> {
  const { nowMs } = scope.request;
  const named = await readTimeRange(text, { nowMs, timeZone: scope.timeZone, direction: "future" });
  const [person] = People.parse(params.people ?? []);
  const { title, noun } = params;
  if (title === undefined && !named && !person && isGeneric(noun)) {
    throw paramsError("event", "the request does not say which event", "name its title, its day or an attendee");
  }
  const range = named ?? { from: toIso(nowMs), to: toIso(nowMs + daysDefault * dayMs) };
  return {
    // A past event cannot be changed any more.
    ...{
      from: Date.parse(range.from) < nowMs && Date.parse(range.to) > nowMs ? toIso(nowMs) : range.from,
      to: range.to,
    },
    ...(title === undefined ? {} : { title }),
    ...(noun === undefined ? {} : { noun }),
    ...(person ? { attendee: person.address } : {}),
  };
}

function isGeneric(noun: JsonObject[string] | undefined): boolean {
  return typeof noun !== "string" || /^(?:meetings?|events?|appointments?|calls?|sessions?|chats?)$/i.test(noun);
}

import { type BusMessage, TroupeError } from "@troupe/core";
import { decode, HostMessage, type Subjects } from "@troupe/core/internal";
import { announcementBytesMax } from "./announcer.ts";
import type { InvalidHostMessages } from "./invalid-host-messages.ts";

/** What a host says of itself; null for anything else that somebody sends there. */
export function readHostMessage(
  { subject, bytes }: BusMessage,
  subjects: Subjects,
  invalidMessages: InvalidHostMessages,
): HostMessage | null {
  const parsed = subjects.parse(subject);
  if (parsed?.kind !== "host") return null;
  if (bytes.byteLength > announcementBytesMax) {
    invalidMessages.note("larger than an announcement may be", { subject, bytes: bytes.byteLength });
    return null;
  }
  try {
    const said = decode(HostMessage, bytes, `message on ${subject}`);
    if (said.host === parsed.host) return said;
    invalidMessages.note("one host speaks in another's name", { subject, host: said.host });
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    invalidMessages.note("it does not fit its schema", { subject, err: error });
  }
  return null;
}

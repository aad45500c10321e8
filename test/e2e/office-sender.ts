/**
 * Sends mails and creates events in a local office, one key after the other, until it is killed. Each key is sent again
 * after a restart, as a host does that does not know the outcome.
 *
 * node test/e2e/office-sender.ts FOLDER FROM TO [DEATH]
 *
 * DEATH: the key after whose mail it kills itself, before it reports anything.
 */
import { openLocalOffice } from "@troupe/connectors";

const [folder = "", from, to, death] = process.argv.slice(2);
const user = { name: "Me", address: "me@acme.example" };
const office = openLocalOffice({ folder, user, timeZone: "Etc/UTC" });
for (let i = Number(from); i < Number(to); i += 1) {
  const options = { idempotencyKey: `key ${i}` };
  await office.mail.sendMail(
    { to: [{ name: "Dee", address: "dee@acme.example" }], subject: `Mail ${i}`, body: "x".repeat(2_000) },
    options,
  );
  if (death === `${i}`) process.kill(process.pid, "SIGKILL");
  const time = (hour: string) => ({ dateTime: `2026-03-03T${hour}:00:00`, timeZone: "Etc/UTC" });
  await office.calendar.createEvent({ title: `Event ${i}`, start: time("10"), end: time("11") }, options);
  process.stdout.write(`${i}\n`);
}

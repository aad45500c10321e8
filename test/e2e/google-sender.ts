/**
 * Sends mails and creates events at Google, one key after the other, until it is killed. Each key is sent again after a
 * restart, as a host does that does not know the outcome.
 *
 * node test/e2e/google-sender.ts HOME FROM TO
 */
import { openConnectionStore, openGoogle } from "@troupe/connectors";

/** Sends the keys from the first to the one before the last, and reports each. */
export async function sendKeys(home: string, from: number, end: number, report: (key: number) => void): Promise<void> {
  const store = openConnectionStore(home);
  const { mail, calendar } = await openGoogle({ store, id: "google/me@acme.example" });
  for (let i = from; i < end; i += 1) {
    const options = { idempotencyKey: `key ${i}` };
    const to = [{ name: "Bob", address: "bob@client.example" }];
    await mail?.sendMail({ to, subject: `Mail ${i}`, body: "x".repeat(2_000) }, options);
    const time = (hour: string) => ({ dateTime: `2026-03-03T${hour}:00:00`, timeZone: "Etc/UTC" });
    await calendar?.createEvent({ title: `Event ${i}`, start: time("10"), end: time("11") }, options);
    report(i);
  }
}

if (import.meta.main) {
  const [home = "", from, to] = process.argv.slice(2);
  await sendKeys(home, Number(from), Number(to), (key) => void process.stdout.write(`${key}\n`));
}

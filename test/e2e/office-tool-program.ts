/**
 * One agent makes one call of an office tool, with real stores in FOLDER.
 *
 * node test/e2e/office-tool-program.ts FOLDER TOOL die|finish
 *
 * `die`: the process kills itself right after the connector has acted, before the tool has an outcome. `finish`: the session of the
 * killed process goes on. Prints the number of calls of the connector, and the output.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Connectors, openLocalOffice } from "@troupe/connectors";
import { createTroupe } from "troupe";

const [folder = "", tool = "", mode = ""] = process.argv.slice(2);
const calls = join(folder, "calls.txt");
const script = join(folder, "call.yaml");

const args = {
  gmail_send_email: { to: ["mara@lantern.example"], subject: "Beta", body: "On Friday." },
  calendar_create_event: { title: "Sprint", start: "2030-05-04T10:00", end: "2030-05-04T11:00" },
  slack_post_message: { channel: "general", text: "The beta is out." },
}[tool];

const office = openLocalOffice({ folder: join(folder, "office") });

/** Counts the acts, and dies after the first one if the test says so. */
async function act<Result>(operation: () => Promise<Result>): Promise<Result> {
  appendFileSync(calls, "x");
  const result = await operation();
  if (mode === "die") process.kill(process.pid, "SIGKILL");
  return result;
}
const connectors: Connectors = {
  ...office,
  mail: { ...office.mail, sendMail: (...given) => act(() => office.mail.sendMail(...given)) },
  calendar: { ...office.calendar, createEvent: (...given) => act(() => office.calendar.createEvent(...given)) },
  channels: { ...office.channels, postMessage: (...given) => act(() => office.channels.postMessage(...given)) },
};

if (mode === "die") {
  const step = `- calls: [{ tool: ${tool}, args: ${JSON.stringify(args)} }]`;
  const agents = `agents:\n  main:\n    - steps:\n        ${step}\n        - { text: "{{result.0.output}}" }\n`;
  writeFileSync(script, `name: call\ndescription: one call\n${agents}`);
}
await using troupe = await createTroupe({
  model: `scripted/${script}`,
  agents: [{ id: "main", description: "Works in the office.", prompt: "You work.", tools: [tool] }],
  connectors,
  workspace: folder,
  env: { HOME: folder, TROUPE_HOME: join(folder, "home") },
});
if (mode === "die") await troupe.run("work");
else {
  const [session] = await troupe.sessions.list();
  const settled = Promise.withResolvers<void>();
  const look = async (): Promise<void> => {
    if (await troupe.sessions.response(session?.session ?? "")) settled.resolve();
  };
  const stop = troupe.service.record.onChange(() => void look());
  await look();
  await settled.promise;
  stop();
  const response = await troupe.sessions.response(session?.session ?? "");
  const output = JSON.parse(response?.summary ?? "null");
  process.stdout.write(JSON.stringify({ calls: readFileSync(calls, "utf8").length, output }));
}

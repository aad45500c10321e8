/**
 * One agent makes one call of an office tool, with real stores in FOLDER. The process kills itself right after the connector
 * has acted, before the tool has an outcome.
 *
 * node test/e2e/office-tool-program.ts FOLDER TOOL
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Connectors, openLocalOffice } from "@troupe/connectors";
import { createTroupe } from "troupe";

const argsOf: Readonly<Record<string, object>> = {
  gmail_send_email: { to: ["mara@lantern.example"], subject: "Beta", body: "On Friday." },
  calendar_create_event: { title: "Sprint", start: "2030-05-04T10:00", end: "2030-05-04T11:00" },
  slack_post_message: { channel: "general", text: "The beta is out." },
};

const callsFile = (folder: string) => join(folder, "calls.txt");

/** Opens the folder with connectors that count their acts. `acted` runs after each act. */
async function openTroupe(folder: string, tool: string, acted: () => void) {
  const office = openLocalOffice({ folder: join(folder, "office") });
  const act = async <Result>(operation: () => Promise<Result>): Promise<Result> => {
    appendFileSync(callsFile(folder), "x");
    const result = await operation();
    acted();
    return result;
  };
  const connectors: Connectors = {
    ...office,
    mail: { ...office.mail, sendMail: (...given) => act(() => office.mail.sendMail(...given)) },
    calendar: { ...office.calendar, createEvent: (...given) => act(() => office.calendar.createEvent(...given)) },
    channels: { ...office.channels, postMessage: (...given) => act(() => office.channels.postMessage(...given)) },
  };
  return await createTroupe({
    model: `scripted/${join(folder, "call.yaml")}`,
    agents: [{ id: "main", description: "Works in the office.", prompt: "You work.", tools: [tool] }],
    connectors,
    workspace: folder,
    env: { HOME: folder, TROUPE_HOME: join(folder, "home") },
  });
}

/** Goes on with the session of the killed process. Returns the number of calls of the connector, and the tool's output. */
export async function finishCall(folder: string, tool: string) {
  await using troupe = await openTroupe(folder, tool, () => {});
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
  return { calls: readFileSync(callsFile(folder), "utf8").length, output: JSON.parse(response?.summary ?? "null") };
}

if (import.meta.main) {
  const [folder = "", tool = ""] = process.argv.slice(2);
  const step = `- calls: [{ tool: ${tool}, args: ${JSON.stringify(argsOf[tool])} }]`;
  const agents = `agents:\n  main:\n    - steps:\n        ${step}\n        - { text: "{{result.0.output}}" }\n`;
  writeFileSync(join(folder, "call.yaml"), `name: call\ndescription: one call\n${agents}`);
  await using troupe = await openTroupe(folder, tool, () => void process.kill(process.pid, "SIGKILL"));
  await troupe.run("work");
}

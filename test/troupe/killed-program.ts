// A program with one agent and one idempotent tool. `wait`: the tool never returns, so that the test kills this process.
// `finish`: the session of the killed process goes on, and its outcome is printed.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTroupe, defineTool } from "troupe";
import { z } from "zod";

const [folder = "", mode = ""] = process.argv.slice(2);
const calls = join(folder, "calls.txt");
const sleep = defineTool({
  name: "sleep",
  description: "Sleeps.",
  input: z.strictObject({}),
  risk: "low",
  effect: "idempotent",
  async run() {
    appendFileSync(calls, "x");
    if (mode === "wait") {
      process.stdout.write("calling\n");
      await new Promise(() => setInterval(() => {}, 60_000));
    }
    return { output: "slept" };
  },
});
const script = join(folder, "sleep.yaml");
appendFileSync(
  script,
  mode === "wait"
    ? 'name: sleep\ndescription: one call\nagents:\n  main:\n    - steps:\n        - calls: [{ tool: sleep, args: {} }]\n        - { text: "{{result.0.output}}" }\n'
    : "",
);
const main = { id: "main", description: "Sleeps.", prompt: "You sleep.", tools: ["sleep"] };
const env = { HOME: folder, TROUPE_HOME: join(folder, "home") };
await using troupe = await createTroupe({
  model: `scripted/${script}`,
  agents: [main],
  tools: [sleep],
  workspace: folder,
  env,
});
if (mode === "wait") await troupe.run("sleep");
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
  const { length: sessions } = await troupe.sessions.list();
  const facts = { calls: readFileSync(calls, "utf8").length, sessions, status: response?.status };
  process.stdout.write(JSON.stringify({ ...facts, summary: response?.summary }));
}

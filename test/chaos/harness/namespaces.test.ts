// Machines that are network namespaces: a cable that is pulled is a partition, and nothing of them stays.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { canMakeNamespaces, createNetwork } from "./namespaces.ts";
import { within } from "./scope.ts";

const run = promisify(execFile);
const mayMake = await canMakeNamespaces();
const speak = `
  const socket = require("node:net").connect({ host: process.argv[1], port: Number(process.argv[2]), timeout: 700 });
  socket.on("connect", () => { console.log("through"); process.exit(); });
  for (const event of ["error", "timeout"]) socket.on(event, () => { console.log("not through"); process.exit(); });
`;

// Only root can make network namespaces.
describe.skipIf(!mayMake)("machines on a switch", () => {
  it("reach this machine while they are plugged in, and leave nothing behind", async () => {
    let names: string[] = [];
    await within(async (scope) => {
      const { address, hosts } = await createNetwork(2, scope);
      names = hosts.map(({ name }) => name);
      const server = createServer((socket) => socket.end()).listen(0, address);
      await once(server, "listening");
      scope.onTestFinished(() => void server.close());
      const bound = server.address();
      const port = bound === null || typeof bound === "string" ? 0 : bound.port;
      const [first, second] = hosts;
      const tries = async (host = first): Promise<string> => {
        const asked = host?.inside(process.execPath, ["-e", speak, address, String(port)]);
        return asked ? (await run(asked.command, asked.args)).stdout.trim() : "nobody";
      };
      expect(await tries()).toBe("through");
      await first?.unplug();
      expect(await Promise.all([tries(), tries(second)])).toEqual(["not through", "through"]);
      await first?.plugIn();
      expect(await tries()).toBe("through");
      await first?.mute();
      expect(await tries()).toBe("not through");
      await first?.unmute();
      expect(await tries()).toBe("through");
    });
    const { stdout } = await run("ip", ["netns", "list"]);
    expect(names.filter((name) => stdout.includes(name))).toEqual([]);
  });
});

import { writeFile } from "node:fs/promises";
import path from "node:path";

/** An address that no page may ask for. */
export const lure = "http://lure.test";

/** Texts that try to be more than text. Each would set `window.hacked`, or ask for the lure. */
export const hostileTexts = {
  "an image that fails": `<img src=x onerror="window.hacked=1"><img src="${lure}/a.png">`,
  "an end of script": `</script><script src="${lure}/b.js"></script><svg onload="window.hacked=1">`,
  "a link that runs": `[press](javascript:window.hacked=1) <a href="javascript:window.hacked=1">press</a> ![](${lure}/c.png)`,
  "a style": `<style>@import "${lure}/d.css"; * { display: none }</style><body onload=window.hacked=1>`,
  "a frame": `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe><base href="${lure}/">`,
  "a turn of the writing direction": "before \u202Egnp.exe\u202C after \u2066isolated \u{E0041}\u200B",
  "terminal escapes": `\u001B]8;;${lure}\u0007press\u001B]8;;\u0007 \u001B[2J\u001B]52;c;aGFja2Vk\u0007 \u009B31m`,
  "a template": "{{constructor.constructor('window.hacked=1')()}} <%= window.hacked=1 %>",
  "ten thousand characters": `${"long".repeat(2_499)}<br>`,
};

/** A scenario whose agents say, call and break everything in hostile words. Returns its path. */
export async function writeHostileScenario(folder: string): Promise<string> {
  // A scenario takes braces for its own.
  const all = Object.values(hostileTexts).join("\n").replaceAll("{{", "{ {");
  const line = hostileTexts["an image that fails"];
  const scenario = {
    name: "hostile",
    description: "Agents that say what no page must run.",
    demo: true,
    agents: {
      main: [
        {
          steps: [
            {
              text: all,
              calls: [
                { tool: "write", args: { path: '<img src=x onerror="window.hacked=1">.md', content: all } },
                { tool: "read", args: { path: line } },
                { tool: "delegate", args: { agent: "coder", task: all } },
                { tool: line, args: { [line]: line } },
              ],
            },
            { text: all },
          ],
        },
      ],
      coder: [{ steps: [{ text: all, error: { type: "model", message: line, recoverable: false } }] }],
    },
  };
  const file = path.join(folder, "hostile.yaml");
  // JSON is YAML.
  await writeFile(file, JSON.stringify(scenario));
  return file;
}

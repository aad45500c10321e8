/** The channels of Slack keep the contract of the port, with the real SDK over sockets, for both kinds of tokens. */
import { createSlackChannels } from "@troupe/connectors";
import { describe } from "vitest";
import { botToken, sampleTs, sampleWorkspace, userToken } from "../harness/slack-server/sample-workspace.ts";
import { startSlackServer } from "../harness/slack-server/start-slack-server.ts";
import { channelsConformance } from "./channels-connector.ts";

describe.for([
  { kind: "a user", token: userToken },
  { kind: "a bot", token: botToken },
])("channels of Slack with a token of $kind", ({ token }) => {
  channelsConformance(async () => {
    const server = await startSlackServer(sampleWorkspace());
    const channels = createSlackChannels({ token, apiUrl: server.apiUrl });
    return { channels, messageId: sampleTs, [Symbol.asyncDispose]: () => server.close() };
  });
});

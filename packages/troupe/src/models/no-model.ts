import { type ModelProvider, RunFailure } from "@troupe/core";
import { noModel, providerOf } from "@troupe/core/internal";

/** Requests that the team `office` understands without a model, one for each of its agents. */
export const requestsWithoutModel = [
  "Schedule a meeting with the team next Tuesday 2pm",
  "Find contact info for people at Acme Corp",
  "Summarize recent discussions in #project-alpha",
  "Search my mail for invoices of last month",
];

/** The provider of sessions without a model. Each call fails, and says what can be asked, and how to configure a model. */
export function createNoModel(): ModelProvider {
  return {
    id: providerOf(noModel) ?? noModel,
    priceOf: async () => null,
    async call({ origin: { agent } }) {
      const examples = requestsWithoutModel.map((request) => JSON.stringify(request)).join(", ");
      throw new RunFailure({
        type: "auth",
        message:
          `the agent ${agent} needs a model for this request, because none of its patterns fits it, and no model is ` +
          `configured. Without a model you can ask the team office, for example: ${examples}. To configure a model: ` +
          "export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=… (troupe models ls lists all providers)",
        recoverable: false,
        begun: false,
      });
    },
  };
}

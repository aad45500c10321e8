import { findProvider } from "@pydantic/genai-prices";
import { expect, test } from "vitest";
import { knownTiers } from "./tiers.ts";

test.for(Object.entries(knownTiers))(
  "the price of every model that %s offers by size is known",
  ([provider, tiers]) => {
    const priced = findProvider({ providerId: provider })?.models.map(({ id }) => id);
    for (const model of Object.values(tiers)) expect(priced, model).toContain(model);
  },
);

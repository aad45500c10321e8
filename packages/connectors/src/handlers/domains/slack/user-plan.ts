import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { oneLine } from "../../base/wording.ts";

const text = z.string().nullish();
const FoundUser = z.object({
  user: z.object({ name: z.string(), handle: text, email: text, title: text, time_zone: text }),
});

/** The profile of a member. */
export const userPlan: RequestPlan = {
  expectedFormat: "The name, role, mail address and time zone of one member.",
  criteria: { user: "The member is found." },
  *work({ params, read }) {
    const { user: wanted } = z.object({ user: z.string() }).parse(params);
    const { user } = yield* read(FoundUser, "slack_get_user_info", { user: wanted });
    const facts = [user.title, user.email, user.time_zone && `time zone ${user.time_zone}`];
    const known = facts.flatMap((fact) => (fact ? [oneLine(fact)] : []));
    const handle = user.handle ? ` (@${oneLine(user.handle)})` : "";
    return {
      summary: `${oneLine(user.name)}${handle}${known.length === 0 ? "" : `: ${known.join(", ")}`}.`,
      missing: user.email ? [] : [`The mail address of ${oneLine(user.name)} is not known.`],
    };
  },
};

import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { outputOf } from "../../base/request-work.ts";
import { countOf, quoted } from "../../base/wording.ts";
import { readEventWords } from "./event-words.ts";
import { EventWords, eventLines, findEvents, oneEvent, whenOf } from "./found-events.ts";

const allMax = 10;

/** Finds an event and deletes it; several only for a request that says "all". */
export const deletePlan: RequestPlan = {
  expectedFormat: "A confirmation with the title and the time of the deleted event.",
  criteria: { deleted: "The event is deleted." },
  async prepare({ params }, scope) {
    const isAll = /\b(?:all|every)\b/i.test(scope.request.task);
    const words = await readEventWords(params, scope.request.task, scope);
    return { params: { ...words, ...(isAll ? { all: true } : {}) } };
  },
  *work({ params, callAll, timeZone }) {
    const words = EventWords.parse(params);
    const found = yield* findEvents(words);
    const { event, assumptions } = words.all ? { event: null, assumptions: [] } : oneEvent(found, timeZone);
    const events = event ? [event] : found.slice(0, allMax);
    const tool = "calendar_delete_event";
    const results = yield* callAll(
      events.map(({ event_id }) => ({ tool, args: { event_id } })),
      `Deletes ${countOf(events.length, "event")}.`,
    );
    if (!results.some(({ ok }) => ok)) outputOf(results[0], tool);
    const deleted = events.filter((_, i) => results[i]?.ok);
    const undeleted = events.filter((_, i) => !results[i]?.ok);
    const missing = [
      ...undeleted.map(({ title }) => `${quoted(title)} was not deleted.`),
      ...(found.length > events.length && words.all
        ? [`${found.length - events.length} more events fit; ask again.`]
        : []),
    ];
    const [first] = deleted;
    if (deleted.length === 1 && first) {
      return { summary: `Deleted ${quoted(first.title)} of ${whenOf(first, timeZone)}.`, assumptions, missing };
    }
    return { summary: `Deleted ${countOf(deleted.length, "event")}.`, details: eventLines(deleted, timeZone), missing };
  },
};

import type { SessionRow } from "@troupe/core";
import type { TimelineEvent } from "@troupe/core/internal";
import { useEffect, useRef, useState } from "react";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";
import { TimelineLog } from "../../lib/timeline.ts";

/** Between two requests while the runs change. */
const refreshMs = 300;

interface TimelineState {
  events: ReadonlyMap<string, readonly TimelineEvent[]>;
  problem: ApiProblem | null;
}

const noEvents: TimelineState = { events: new Map(), problem: null };

/** The events of a session's runs. New ones are loaded when the rows of the runs change. */
export function useTimeline({ session }: SessionRow): TimelineState {
  const runs = usePage((state) => state.open?.runs);
  const live = usePage((state) => state.connection === "live");
  const [state, setState] = useState(noEvents);
  const log = useRef(new TimelineLog());
  const isLoading = useRef(false);
  const isStale = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of any run can mean new events
  useEffect(() => {
    if (!live) return;
    const load = async (): Promise<void> => {
      isStale.current = true;
      if (isLoading.current) return;
      isLoading.current = true;
      try {
        while (isStale.current) {
          isStale.current = false;
          await loadPages(session, log.current);
        }
        setState({ events: log.current.toMap(), problem: null });
      } catch (thrown) {
        setState(({ events }) => ({ events, problem: problemOf(thrown) }));
      } finally {
        isLoading.current = false;
      }
    };
    // The first load is at once; later ones wait for the next rows of a busy session.
    const timer = setTimeout(() => void load(), log.current.next === 0 ? 0 : refreshMs);
    return () => clearTimeout(timer);
  }, [session, runs, live]);
  return state;
}

async function loadPages(session: string, log: TimelineLog): Promise<void> {
  for (let more = true; more; ) {
    const page = await api.timeline(session, log.next);
    log.add(page);
    more = page.more;
  }
}

import type { HostRow } from "@troupe/core";
import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiProblem, api, problemOf } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";

/** As often as hosts say how they are. */
const everyMs = 2_000;

export interface Hosts {
  hosts: readonly HostRow[] | null;
  problem: ApiProblem | null;
  reload(): void;
}

/** Hosts come and go without a word of the stream's: they are asked for again and again while somebody looks at them. */
export function useHosts(): Hosts {
  const live = usePage((state) => state.connection === "live");
  const [found, setFound] = useState<Omit<Hosts, "reload">>({ hosts: null, problem: null });
  const asked = useRef(0);
  const reload = useCallback((): void => {
    asked.current += 1;
    const own = asked.current;
    api.hosts().then(
      ({ hosts }) => own === asked.current && setFound({ hosts, problem: null }),
      (thrown) => own === asked.current && setFound(({ hosts }) => ({ hosts, problem: problemOf(thrown) })),
    );
  }, []);
  useEffect(() => {
    if (!live) return;
    const look = (): void => {
      if (!document.hidden) reload();
    };
    look();
    const timer = setInterval(look, everyMs);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [live, reload]);
  return { ...found, reload };
}

import type { RunRow } from "@troupe/core";
import { useEffect, useState } from "react";
import { LongText } from "../../components/long-text.tsx";
import { api } from "../../lib/api.ts";
import { isActive } from "../../lib/status.ts";

/** What a session has answered, in full; rows carry only the summary, which stands in until the rest is there. */
export function Answer({ run, summary }: { run: RunRow; summary: string }) {
  const [whole, setWhole] = useState<string | null>(null);
  const settled = !isActive(run);
  useEffect(() => {
    let current = true;
    if (settled) {
      api.response(run.session).then(
        ({ details }) => current && setWhole(details),
        // The summary stays.
        () => {},
      );
    }
    return () => {
      current = false;
    };
  }, [run.session, settled]);
  return <LongText text={whole || summary} charsMax={6_000} />;
}

import type { AgentList } from "@troupe/core/internal";
import { useEffect, useState } from "react";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";

/** A changed agent file is on the page after this time. The daemon reads only changed files again. */
const reloadMs = 900;

const noAgents: AgentList = { agents: [], problems: [] };

/** The agents of the daemon, and the problems in their files. They are loaded again while a person sees the page. */
export function useAgents(): AgentList {
  const live = usePage((state) => state.connection === "live");
  const [list, setList] = useState(noAgents);
  useEffect(() => {
    if (!live) return;
    let isCurrent = true;
    let isLoading = false;
    let shown = "";
    const load = async (): Promise<void> => {
      if (isLoading || document.hidden) return;
      isLoading = true;
      const loaded = await api.agents().catch(() => null);
      isLoading = false;
      const text = JSON.stringify(loaded);
      if (!isCurrent || loaded === null || text === shown) return;
      shown = text;
      setList(loaded);
    };
    void load();
    const timer = setInterval(() => void load(), reloadMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [live]);
  return list;
}

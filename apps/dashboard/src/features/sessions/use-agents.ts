import type { AgentList } from "@troupe/core/internal";
import { useEffect, useState } from "react";
import { api } from "../../lib/api.ts";
import { usePage } from "../../lib/page-context.ts";

/** A changed agent file is on the page after this time. The daemon reads only changed files again. */
const reloadMs = 900;

const noAgents: AgentList = { agents: [], problems: [] };

/** A folder that a person is typing is looked at after this pause. */
const typingMs = 400;

/**
 * The agents and teams of a folder, and the problems in their files; an empty text means those of the daemon. They are
 * loaded again while a person sees the page.
 */
export function useAgents(folder: string): AgentList {
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
      const loaded = await api.agents(folder === "" ? null : folder).catch(() => null);
      isLoading = false;
      const text = JSON.stringify(loaded);
      if (!isCurrent || loaded === null || text === shown) return;
      shown = text;
      setList(loaded);
    };
    const first = setTimeout(() => void load(), folder === "" ? 0 : typingMs);
    const timer = setInterval(() => void load(), reloadMs);
    return () => {
      isCurrent = false;
      clearTimeout(first);
      clearInterval(timer);
    };
  }, [live, folder]);
  return list;
}

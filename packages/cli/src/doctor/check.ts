/** One finding. `fix` is the next step, if there is a problem. */
export interface Check {
  name: string;
  status: "ok" | "warn" | "fail";
  detail: string;
  fix: string | null;
}

export const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail, fix: null });

export const warn = (name: string, detail: string, fix: string): Check => ({ name, status: "warn", detail, fix });

export const fail = (name: string, detail: string, fix: string): Check => ({ name, status: "fail", detail, fix });

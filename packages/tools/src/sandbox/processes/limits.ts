/** What one process of a command may use; null: as much as there is. */
export interface ProcessLimits {
  memoryMb: number | null;
  /** Of the user within the command's namespace; in a plain process group, of the user on the whole machine. */
  processes: number | null;
  cpuSeconds: number;
  fileBytes: number;
}

/** The words before a command by which `prlimit` of util-linux sets its limits; none where there is no `prlimit`. */
export function limitWords(prlimit: string, limits: ProcessLimits): string[] {
  if (prlimit === "") return [];
  const words = ["--core=0", `--cpu=${limits.cpuSeconds}`, `--fsize=${limits.fileBytes}`];
  if (limits.memoryMb !== null) words.push(`--data=${limits.memoryMb * 1024 * 1024}`);
  if (limits.processes !== null) words.push(`--nproc=${limits.processes}`);
  return [prlimit, ...words, "--"];
}

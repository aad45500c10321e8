/** Too little free space on a volume. */
export interface DiskShortage {
  /** A folder on the volume: the home, or the workspace of a run. */
  folder: string;
  freeBytes: number;
  /** The limit below which no call that may write starts. */
  limitBytes: number;
  /** The shortage in words, with the folder, the numbers and what to do. */
  message: string;
}

/** The free space of the volumes that a run on this host writes to. */
export interface DiskSpace {
  /** The shortage on the volume of the home or of a workspace; null if there is enough space. Never rejects. */
  shortageAt(workspace: string): Promise<DiskShortage | null>;
  /** The shortages that were found last. A look at the same folders follows. */
  current(): readonly DiskShortage[];
}

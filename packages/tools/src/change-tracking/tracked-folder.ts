import type { FolderCall, FolderChanges, RunFolder } from "@troupe/core/internal";
import type { TrackedCall } from "./change-tracker.ts";
import type { ChangeTrackers } from "./change-trackers.ts";

export interface TrackedFolderOptions {
  path: string;
  /** The run that works in the folder. */
  run: Pick<TrackedCall, "session" | "run">;
  trackers: Pick<ChangeTrackers, "of">;
}

/** A run folder whose changes by commands are found. Other runs, programs and people may change it, too. */
export function trackedFolder({ path, run: { session, run }, trackers }: TrackedFolderOptions): RunFolder {
  const callOf = (key: string): TrackedCall => {
    const [step, call] = key.split("/").map(Number);
    return { session, run, step: step ?? 0, call: call ?? 0 };
  };
  return {
    path,
    async callStarted({ key, planned, listsChanges }: FolderCall) {
      return (await trackers.of(path)?.callStarted(callOf(key), listsChanges ? planned : null)) ?? "";
    },
    callEnded: async ({ key }) => (await trackers.of(path)?.callEnded(callOf(key))) ?? null,
    callDropped: ({ key }) => trackers.of(path)?.callDropped(callOf(key)),
    callInDoubt: async ({ key }) => (await trackers.of(path)?.callInDoubt(callOf(key))) ?? null,
    describeUnkept: async () => (await trackers.of(path)?.describeUnkept()) ?? "",
  };
}

/** A folder with a state of its own that is also searched for changes by commands. */
export function withTrackedChanges(folder: RunFolder, tracked: RunFolder): RunFolder {
  return {
    path: folder.path,
    async callStarted(call) {
      const [note] = await Promise.all([tracked.callStarted(call), folder.callStarted(call)]);
      return note;
    },
    async callEnded(call) {
      const found = await tracked.callEnded(call);
      return joined(found, await folder.callEnded(call));
    },
    callDropped(call) {
      tracked.callDropped(call);
      folder.callDropped(call);
    },
    callInDoubt: async (call) => joined(await tracked.callInDoubt(call), await folder.callInDoubt(call)),
    describeUnkept: () => tracked.describeUnkept(),
  };
}

function joined(found: FolderChanges | null, state: FolderChanges | null): FolderChanges | null {
  if (found === null || state === null) return found ?? state;
  return { ...state, ...found, note: [found.note, state.note].filter(Boolean).join("\n") };
}

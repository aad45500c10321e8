import { type Bus, createSubjects, type Entry, type Journal } from "@troupe/core";
import { type AppendResult, encode, openEntry, type RunAppend, type Subjects, taintField } from "@troupe/core/internal";
import { createMemoryBus, createMemoryJournal } from "@troupe/core/memory";
import { createReplayGate, type ReplayGate } from "./gate.ts";
import type { Recording } from "./recording.ts";

/** A call that was not recorded. */
export type Unanswered = { what: "model"; step: number; purpose: string } | { what: "tool"; tool: string; key: string };

/** The state that all runs of a replayed session share. */
export interface ReplayState {
  recording: Recording;
  journal: Journal;
  bus: Bus;
  subjects: Subjects;
  gate: ReplayGate;
  /** Offered requests by run. */
  offered: Map<string, Uint8Array>;
  unanswered: Map<string, Unanswered[]>;
  /** Compares an entry with the recorded one before it is written. Throws to stop the replay. */
  check(now: Entry, recorded: Entry | undefined): void;
  /** Counts activity. While the count stays the same, nothing happens. */
  beats: number;
  beat(): void;
}

export function createReplayState(recording: Recording, check: ReplayState["check"]): ReplayState {
  const state: ReplayState = {
    recording,
    journal: createMemoryJournal(),
    bus: createMemoryBus(),
    subjects: createSubjects(),
    gate: createReplayGate(() => state.beat()),
    offered: new Map(),
    unanswered: new Map(),
    check,
    beats: 0,
    beat: () => {
      state.beats += 1;
    },
  };
  return state;
}

/** Compares the entries of a run with the recording, then writes them. */
export async function append(state: ReplayState, given: RunAppend): Promise<AppendResult> {
  const recorded = state.recording.entriesOf(given.run);
  for (const { index, text } of given.entries) state.check(openEntry(text), recorded[index]);
  const result = await state.journal.append(given);
  const last = given.entries.at(-1);
  if (result.ok && last) state.recording.written(given.run, last.index);
  state.beat();
  return result;
}

/** Puts the recorded context files and folder into a child request: a replay reads no files. */
export function withRecordedFiles({ recording }: ReplayState, bytes: Uint8Array): Uint8Array {
  const request = JSON.parse(new TextDecoder().decode(bytes));
  const [opened] = recording.entriesOf(String(request.run));
  if (opened?.kind !== "run.opened") return bytes;
  const { contextFiles, context, taint, workspace } = opened.request;
  const { path, files, project } = workspace;
  const recordedWorkspace = {
    ...(files === undefined ? {} : { files }),
    ...(project === undefined ? {} : { path, project }),
  };
  if (contextFiles.length === 0 && Object.keys(recordedWorkspace).length === 0) return bytes;
  const restored = contextFiles.length === 0 ? request : { ...request, context, ...taintField(taint) };
  return encode({ ...restored, workspace: { ...request.workspace, ...recordedWorkspace } });
}

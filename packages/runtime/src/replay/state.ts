import { type Bus, createSubjects, type Entry, type Journal } from "@troupe/core";
import { type AppendResult, encode, openEntry, type RunAppend, type Subjects } from "@troupe/core/internal";
import { createMemoryBus, createMemoryJournal } from "@troupe/core/memory";
import { createReplayGate, type ReplayGate } from "./gate.ts";
import type { Recording } from "./recording.ts";

/** A call that the record says nothing about. */
export type Unanswered = { what: "model"; step: number; purpose: string } | { what: "tool"; tool: string; key: string };

/** What the runs of a replayed session have in common. */
export interface ReplayState {
  recording: Recording;
  journal: Journal;
  bus: Bus;
  subjects: Subjects;
  gate: ReplayGate;
  /** Requests that were offered, by run. */
  offered: Map<string, Uint8Array>;
  unanswered: Map<string, Unanswered[]>;
  /** Hears of every entry before it is written, with what was recorded in its place. Throws to stop the replay. */
  check(now: Entry, recorded: Entry | undefined): void;
  /** Counts whatever happens: while it stands still, nothing does. */
  beats: number;
  beat(): void;
}

export function createReplayState(recording: Recording, check: ReplayState["check"]): ReplayState {
  const stage: ReplayState = {
    recording,
    journal: createMemoryJournal(),
    bus: createMemoryBus(),
    subjects: createSubjects(),
    gate: createReplayGate(() => stage.beat()),
    offered: new Map(),
    unanswered: new Map(),
    check,
    beats: 0,
    beat: () => {
      stage.beats += 1;
    },
  };
  return stage;
}

/** Writes what a run has to write, once it has been checked against the record. */
export async function append(stage: ReplayState, given: RunAppend): Promise<AppendResult> {
  const recorded = stage.recording.entriesOf(given.run);
  for (const { index, text } of given.entries) stage.check(openEntry(text), recorded[index]);
  const result = await stage.journal.append(given);
  const last = given.entries.at(-1);
  if (result.ok && last) stage.recording.written(given.run, last.index);
  stage.beat();
  return result;
}

/** A child is asked with what its files said when it was asked first, and with the folder that it was given then. */
export function withRecordedFiles({ recording }: ReplayState, bytes: Uint8Array): Uint8Array {
  const request = JSON.parse(new TextDecoder().decode(bytes));
  const [opened] = recording.entriesOf(String(request.run));
  if (opened?.kind !== "run.opened") return bytes;
  const { contextFiles, context, workspace } = opened.request;
  const { path, files, project } = workspace;
  const given = { ...(files === undefined ? {} : { files }), ...(project === undefined ? {} : { path, project }) };
  if (contextFiles.length === 0 && Object.keys(given).length === 0) return bytes;
  const asked = contextFiles.length === 0 ? request : { ...request, context };
  return encode({ ...asked, workspace: { ...request.workspace, ...given } });
}

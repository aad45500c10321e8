import { createLiveTree } from "../render/live-tree.ts";
import type { Output } from "../terminal/terminal.ts";
import type { ClientEvent } from "./client.ts";

/** The runs under way at the end of the terminal. */
export interface LiveScreen {
  event(event: Exclude<ClientEvent, { type: "resync" }>): void;
  /** Removes the lines, for a question to the user. The returned function shows them again. */
  hide(): () => void;
  /** Removes the lines for good. */
  stop(): void;
}

const drawnEveryMs = 150;
/** A narrower or lower terminal has no place for the tree. */
const widthMin = 40;
const heightMin = 8;

/** Draws the live tree of a session, a few times in a second. Without a terminal, or on a tiny one, it shows nothing. */
export function createLiveScreen(output: Output, now: () => number): LiveScreen {
  const tree = createLiveTree(output.colours);
  let isHidden = false;
  const draw = (): void => {
    const hasSpace = output.isTerminal && output.width >= widthMin && output.height >= heightMin;
    if (isHidden || !hasSpace) output.keepBelow([]);
    else output.keepBelow(tree.lines({ width: output.width, height: Math.floor(output.height / 2) }, now()));
  };
  const timer = output.isTerminal ? setInterval(draw, drawnEveryMs) : undefined;
  // A process that has nothing else to do may end.
  timer?.unref();
  return {
    event(event) {
      if (event.type === "change") tree.change(event.change.runs);
      else tree.live(event.event, now());
    },
    hide() {
      isHidden = true;
      draw();
      return () => {
        isHidden = false;
      };
    },
    stop() {
      clearInterval(timer);
      isHidden = true;
      draw();
    },
  };
}

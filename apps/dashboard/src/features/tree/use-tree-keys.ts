import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { isPlainKey } from "../../lib/keys.ts";
import { selectRun } from "../../lib/selection.ts";
import { globalKeys, pressKey } from "./tree-keys.ts";
import type { Tree } from "./use-tree.ts";

/** Lets the keys walk the tree: selection and focus move together. The selected row must always be in the document. */
export function useTreeKeys(tree: Tree, selected: string | null, scroller: RefObject<HTMLElement | null>): void {
  const inView = tree.indexOf(selected) >= 0;
  const focusNext = useRef(false);

  const onKey = useEffectEvent((event: KeyboardEvent): void => {
    const inTree = scroller.current?.contains(document.activeElement) ?? false;
    if (!isPlainKey(event) || !(inTree || globalKeys.has(event.key))) return;
    const onButton = event.target instanceof HTMLButtonElement;
    if (event.key === "Escape") selectRun(null);
    else if (event.key === "Enter" && !onButton) read();
    else if (!walk(event.key)) return;
    event.preventDefault();
  });

  const read = (): void => {
    const row = document.activeElement?.getAttribute("data-run");
    if (selected === null && row) selectRun(row);
    else document.getElementById("run-title")?.focus();
  };

  const walk = (key: string): boolean => {
    const effect = pressKey(key, tree, selected);
    if (effect === null) return false;
    focusNext.current = effect.go !== null;
    if (effect.go === selected) reveal();
    else if (effect.go !== null) selectRun(effect.go);
    return true;
  };

  const reveal = useEffectEvent((): void => {
    const row = scroller.current?.querySelector<HTMLElement>(`[data-run="${selected}"]`);
    row?.scrollIntoView({ block: "nearest" });
    if (focusNext.current) row?.focus({ preventScroll: true });
    focusNext.current = false;
  });

  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: when the selection moves; not when rows above it appear
  useEffect(() => reveal(), [selected, inView]);
}

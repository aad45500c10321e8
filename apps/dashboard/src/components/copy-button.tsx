import { useState } from "react";

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid("Copied");
    } catch {
      setSaid("Not allowed");
    }
    setTimeout(() => setSaid(null), 1_500);
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {said ?? label}
    </button>
  );
}

import type { ApprovalRow } from "@troupe/core";
import { formatBytes, reveal } from "../../lib/format.ts";

/** The files that a call deletes or overwrites, and that git does not have. */
export function LostFiles({ losses }: { losses: NonNullable<ApprovalRow["losses"]> }) {
  const { files, count, bytes, more } = losses;
  const rest = count - files.length;
  const number = `${count.toLocaleString("en-US")}${more ? " or more" : ""} ${count === 1 ? "file" : "files"}`;
  return (
    <section className="lost-files" aria-label="Lost files" data-testid="lost-files">
      <p>
        Deletes or overwrites {number} that git does not have <span className="soft">{formatBytes(bytes)}</span>
      </p>
      <ul tabIndex={files.length > 6 ? 0 : undefined} aria-label="Lost files">
        {files.map((file) => (
          <li key={file.path}>
            <code>{reveal(file.path)}</code> <span className="soft">{formatBytes(file.bytes)}</span>
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <p className="soft">
          and {rest.toLocaleString("en-US")}
          {more ? " or more" : ""} others
        </p>
      )}
    </section>
  );
}

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { LocalAccount } from "../local/local-account.ts";
import { addMessage } from "../local/mail/mail-store.ts";
import { addProblem, countRow, type ImportedFile } from "./import-report.ts";
import { type ParsedMail, parseMail } from "./parse-mail.ts";
import { splitMbox } from "./split-mbox.ts";

/** Messages of one transaction. */
const batchSize = 200;

/** One message. */
export async function importEml(path: string, account: LocalAccount, report: ImportedFile): Promise<void> {
  storeBatch(account, report, [{ where: "the message", parsed: await parseMail(await readFile(path), account) }]);
}

/** Many messages in one file, as Gmail and Thunderbird export them. */
export async function importMbox(path: string, account: LocalAccount, report: ImportedFile): Promise<void> {
  let batch: ReadMail[] = [];
  let number = 0;
  for await (const { raw, problem } of splitMbox(createReadStream(path))) {
    number += 1;
    const where = `message ${number}`;
    if (problem !== null) addProblem(report, where, problem);
    try {
      if (raw !== null) batch.push({ where, parsed: await parseMail(raw, account) });
    } catch (thrown) {
      addProblem(report, where, thrown);
    }
    if (batch.length < batchSize) continue;
    storeBatch(account, report, batch);
    batch = [];
  }
  storeBatch(account, report, batch);
  if (number === 0) throw new Error("has no message: a message of an mbox begins with a line `From `");
}

interface ReadMail {
  where: string;
  parsed: ParsedMail;
}

function storeBatch({ database, mailbox }: LocalAccount, report: ImportedFile, batch: readonly ReadMail[]): void {
  database.transaction(() => {
    for (const { where, parsed } of batch) {
      for (const problem of parsed.problems) addProblem(report, where, problem);
      countRow(report, "messages", addMessage(database, mailbox, parsed.record) !== null);
    }
  });
}

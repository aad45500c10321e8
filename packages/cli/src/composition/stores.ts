import { existsSync } from "node:fs";
import type { FeedItem } from "@troupe/core";
import type { WebhookRow } from "@troupe/core/internal";
import { type IntegrityReport, journalVersion, openRecord, readIntegrity, recordVersion } from "@troupe/recorder";
import { createFolderBlobs } from "@troupe/tools";
import { type Home, homeFiles, readHomeFeed, readStoredWebhooks, refuseEmptyRecord } from "troupe/internal";
import type { RecordArchive } from "../cli.ts";

/** The databases and files of a home, read without its owner. */
export const stores = {
  readIntegrity(home: Home): IntegrityReport | null {
    const { record: file } = homeFiles(home);
    return existsSync(file) ? readIntegrity({ file }) : null;
  },
  async openReader(home: Home): Promise<RecordArchive | null> {
    const { record: file } = homeFiles(home);
    await refuseEmptyRecord(home);
    if (!existsSync(file)) return null;
    const { reader, close } = await openRecord({ file });
    return Object.assign(reader, { close });
  },
  readWebhooks(home: Home): WebhookRow[] {
    const { webhooks: file } = homeFiles(home);
    return existsSync(file) ? readStoredWebhooks(file) : [];
  },
  readFeed: (home: Home, session: string): Promise<FeedItem[]> => readHomeFeed(home, session),
  openBlobs: (home: Home) => createFolderBlobs({ folder: homeFiles(home).blobs }),
  versions: { journal: journalVersion, record: recordVersion },
};

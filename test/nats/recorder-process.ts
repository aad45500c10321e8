/**
 * A process that records a journal over NATS until it is killed, and prints its progress.
 *
 * node test/nats/recorder-process.ts URL NAMESPACE FOLDER
 */

import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { openNatsLink, openNatsPorts } from "@troupe/nats";
import { startRecording } from "./recording.fixture.ts";

const [url = "", namespace = "", folder = ""] = process.argv.slice(2);
const link = await openNatsLink({ servers: url });
const ports = await openNatsPorts({ link, namespace, clock: systemClock(), logger: silentLogger });
console.log("up");
const { record } = await startRecording(folder, "troupe.db", ports.journal);
record.reader.onChange(({ position }) => console.log(position));

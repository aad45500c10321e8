import { z } from "zod";

/** The version of every message and entry. Within it fields are only added, never changed or removed. */
export const protocolVersion = 1;

export const Version = z.literal(protocolVersion);

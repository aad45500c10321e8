/** For the bench that compares the journal's reader with the client library's. No compatibility promise. */
export { createRequester } from "./connection/requester.ts";
export { createJetStreamApi } from "./jetstream/api.ts";
export { createOrderedReader } from "./journal/ordered-reader.ts";

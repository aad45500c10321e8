// In a file of its own, so that the program loads it alone.
export { readConfig } from "troupe/internal";

/** Size of the first request with as many agent files as the argument says. */
import { firstRequest } from "./first-request.ts";

console.log(JSON.stringify(await firstRequest(Number(process.argv[2] ?? 0))));

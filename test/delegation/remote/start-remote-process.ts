import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type RemoteMethods, type TestMethods, uncountedMethods } from "./methods.ts";
import { createPeer, type Methods, type Peer } from "./peer.ts";

/** A process beside the test's own, which has a NATS server, and a host whenever a test wants one. */
export interface RemoteProcess {
  peer: Peer<RemoteMethods>;
  /** Of the server that both use. */
  url: string;
  /** Methods of the current test, which answer the other process. */
  answerWith(test: TestMethods): void;
}

let started: Promise<RemoteProcess> | null = null;

/** One for all tests of this process: it ends with it, and takes its server and all that is stored along. */
export function useRemoteProcess(): Promise<RemoteProcess> {
  started ??= start();
  return started;
}

async function start(): Promise<RemoteProcess> {
  const main = fileURLToPath(new URL("./remote-process.ts", import.meta.url));
  const child = fork(main, { serialization: "advanced", execArgv: [] });
  let test: Partial<TestMethods> = {};
  const ours = new Proxy({} as Methods, { get: (_, name) => Reflect.get(test, name) });
  const peer = createPeer<RemoteMethods>(
    {
      send: (message) => child.connected && child.send(message as object),
      onMessage: (listener) => child.on("message", listener),
    },
    ours,
    uncountedMethods,
  );
  child.once("exit", (code, signal) => {
    started = null;
    peer.lose(`the second process has ended (${code ?? signal})`);
  });
  // The process ends by itself when this one is gone.
  child.unref();
  child.channel?.unref();
  return {
    peer,
    url: await peer.call("server", undefined),
    answerWith(methods) {
      test = methods;
    },
  };
}

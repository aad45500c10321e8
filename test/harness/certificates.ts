import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

export interface Certificates {
  /** Clients that trust this authority trust the server. */
  ca: string;
  cert: string;
  key: string;
}

const run = promisify(execFile);

/** An authority of a test's own, and a certificate for 127.0.0.1 that it has signed: a server's, or a client's. */
export async function makeCertificates(folder: string): Promise<Certificates> {
  const at = (name: string): string => path.join(folder, name);
  const openssl = (...args: string[]): Promise<unknown> => run("openssl", args);
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await writeFile(at("names"), "subjectAltName=IP:127.0.0.1\n");
  const authority = [
    "-x509",
    ...newKey,
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
    "-days",
    "2",
    "-subj",
    "/CN=a test",
  ];
  await openssl("req", ...authority);
  await openssl("req", ...newKey, "-keyout", at("server.key"), "-out", at("server.csr"), "-subj", "/CN=127.0.0.1");
  const signing = [
    "-CA",
    at("ca.pem"),
    "-CAkey",
    at("ca.key"),
    "-CAcreateserial",
    "-days",
    "2",
    "-extfile",
    at("names"),
  ];
  await openssl("x509", "-req", "-in", at("server.csr"), ...signing, "-out", at("server.pem"));
  return { ca: at("ca.pem"), cert: at("server.pem"), key: at("server.key") };
}

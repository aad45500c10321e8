/** Entries of `/etc` that commands see. */
export interface EtcRow {
  /** Paths relative to `/etc`. A `*` stands for any text in a name directly in `/etc`. */
  paths: readonly string[];
  reason: string;
  /** Visible only if commands use the machine's network. */
  needsNetwork?: boolean;
  /** Folders outside of `/etc` that the entries may lead to, besides those of the system. */
  alsoIn?: readonly string[];
}

/**
 * The only entries of `/etc` that commands see, without files in them that not everybody may read. Everything else is
 * absent. Administrators put tokens, passwords and programs to run into files that everybody may read: `npmrc`,
 * `pip.conf`, `gitconfig`, `wgetrc`, `curlrc`, `environment`, `profile.d`, `maven/settings.xml`, `odbc.ini`, `my.cnf`,
 * `nix/nix.conf`, `apt`. `machine-id` identifies the machine, and `profile` would replace the search path. A machine's
 * owner adds entries by `sandbox.readable` of policy.yaml. Each entry is a mount, which costs each command a tenth of a
 * millisecond: settings that programs do without are left out.
 */
export const etcTable: readonly EtcRow[] = [
  { paths: ["ld.so.*", "ld-musl-*"], reason: "programs and linkers find libraries" },
  { paths: ["alternatives"], reason: "names of programs in /usr/bin lead through it" },
  { paths: ["passwd", "group"], reason: "names of users; no passwords" },
  { paths: ["nsswitch.conf", "hosts"], reason: "names of users and hosts are looked up, also localhost" },
  {
    paths: ["resolv.conf", "host.conf", "gai.conf"],
    reason: "names of hosts in the network",
    needsNetwork: true,
    alsoIn: ["/run", "/mnt/wsl"],
  },
  { paths: ["services", "protocols"], reason: "names of ports and protocols" },
  { paths: ["localtime"], reason: "time zone" },
  { paths: ["os-release", "redhat-release", "alpine-release"], reason: "build scripts ask for the system" },
  { paths: ["ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem"], reason: "public certificates, without keys" },
  { paths: ["pki/ca-trust", "pki/java", "pki/tls/certs"], reason: "public certificates on Fedora" },
  { paths: ["pki/tls/cert.pem", "pki/tls/openssl.cnf", "crypto-policies"], reason: "settings of OpenSSL on Fedora" },
  { paths: ["java", "java-*", "jvm"], reason: "parts of a Java installation" },
  { paths: ["maven/m2.conf", "maven/logging"], reason: "mvn does not start without them" },
  { paths: ["python3.*", "php", "R", "ghc"], reason: "parts of the languages' installations" },
  { paths: ["texmf", "xml"], reason: "documents are built without a network" },
  { paths: ["fonts", "ImageMagick-*"], reason: "drawing" },
  { paths: ["mime.types"], reason: "types of files" },
];

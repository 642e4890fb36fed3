// The files of a certificate authority and of one server, s1, in a temporary directory, and the server's TLS source.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seconds } from "@lattice/core";
import { issue, makeAuthority, type Pem, writeRevocations } from "@lattice/wire";
import { pino } from "pino";
import type { TlsConfig } from "../../../src/base/config/index.ts";
import { openTlsSource, type TlsSource } from "../../../src/base/tls/source.ts";

export const DAY = 86_400_000;

export interface CertifiedServer {
  readonly authority: Pem;
  readonly config: TlsConfig;
  readonly tls: TlsSource;
  /** The path of a file with that name. */
  readonly file: (name: string) => string;
  close(): void;
}

export async function certifiedServer(): Promise<CertifiedServer> {
  const dir = mkdtempSync(join(tmpdir(), "lattice-tls-"));
  const file = (name: string) => join(dir, name);
  const save = (name: string, text: string) => writeFileSync(file(name), text, { mode: 0o600 });
  const authority = await makeAuthority("alps", 30 * DAY);
  const own = await issue(authority, { name: "s1", kind: "server", site: "alps", hosts: ["s1"], lifetimeMs: DAY });
  save("ca.crt", authority.cert);
  save("ca.key", authority.key);
  save("ca.crl", await writeRevocations(authority, []));
  save("s1.crt", own.cert);
  save("s1.key", own.key);
  const config: TlsConfig = {
    cert: file("s1.crt"),
    key: file("s1.key"),
    ca: file("ca.crt"),
    caKey: file("ca.key"),
    crl: file("ca.crl"),
    agentLifetime: seconds(3_600),
    requireClientCertificates: false,
  };
  const tls = await openTlsSource({ config, logger: pino({ level: "silent" }), everyMs: 1_000_000 });
  const close = () => {
    tls.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
  };
  return { authority, config, tls, file, close };
}

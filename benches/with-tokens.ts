// Provides a cluster with token authentication and one token. Rate limits are off, because a bench exceeds them.
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../tests/harness/cluster.ts";
import { withCluster } from "./with-cluster.ts";

const SECRET = "this secret is long enough for the hash it keys";

export async function withTokens<T>(
  use: (cluster: Cluster, headers: { readonly authorization: string }) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "lattice-bench-"));
  try {
    const file = join(dir, "secret");
    writeFileSync(file, SECRET, { mode: 0o600 });
    const config = `api: { oidc_hmac_secret: "file://${file}" }\nrate_limits: { user_requests_per_second: 0, tenant_requests_per_second: 0 }\n`;
    return await withCluster({ nodes: 0, config }, (cluster) => use(cluster, { authorization: `Bearer ${token()}` }));
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
  }
}

function token(): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: "ada", tenant: "default", exp: Math.floor(Date.now() / 1_000) + 3_600 };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
}

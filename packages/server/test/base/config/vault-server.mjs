// A stand-in for HashiCorp Vault: the key-value store, version 2, with one secret, one token, and faults on demand. The
// first word is what to do: serve, or which fault to show how often.
//
//   node vault-server.mjs [sealed:N] [slow] [redirect] [odd]
import { createServer } from "node:http";

const faults = process.argv.slice(2);
let sealed = Number(faults.find((fault) => fault.startsWith("sealed:"))?.slice(7) ?? 0);
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (sealed > 0) {
    sealed -= 1;
    return answer(503, { errors: ["Vault is sealed"] });
  }
  if (faults.includes("redirect")) return response.writeHead(307, { location: "http://127.0.0.1:9/" }).end();
  if (faults.includes("odd")) return answer(200, { data: { value: "version 1 says it like this" } });
  if (request.headers["x-vault-token"] !== "s.good") return answer(403, { errors: ["permission denied"] });
  if (request.url !== "/v1/secret/data/lattice/hmac") return answer(404, { errors: [] });
  answer(200, {
    request_id: "1",
    lease_id: "",
    data: {
      data: { value: "a secret of more than thirty-two characters", short: "short", number: 7 },
      metadata: { created_time: "2026-01-01T00:00:00Z", version: 3, destroyed: false },
    },
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));

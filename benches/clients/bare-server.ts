// A bare HTTP server: reads the body of each request, parses it, and answers with a small JSON object.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || "{}");
    const answer = JSON.stringify({ ok: typeof body === "object" });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") console.log(`127.0.0.1:${address.port}`);
});

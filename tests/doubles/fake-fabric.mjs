// A fabric manager that records its calls, in its own process, with faults on request: `POST /faults` sets how many of
// the next calls of a kind fail and how. `GET /services` is for the test. Prints its port when it listens.
import { createServer } from "node:http";

const services = new Map();
const networks = new Map();
const calls = [];
let faults = [];
let nextId = 1;

// Connections outlive any pause between two calls, since one closed by age would be an unrequested fault.
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  let text = "";
  request.on("data", (bytes) => {
    text += bytes;
  });
  request.on("end", () => answer(request, text, response));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();

function answer({ method, url, headers }, text, response) {
  const say = (status, body) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
  if (url === "/faults") {
    faults = JSON.parse(text);
    return say(200, {});
  }
  if (url === "/services") return say(200, { services: [...services.values()], calls });
  if (url === "/vnis") {
    if (method === "DELETE") networks.clear();
    for (const [vni, network] of method === "POST" ? JSON.parse(text) : []) networks.set(vni, network);
    return say(200, { vnis: [...networks.values()], calls });
  }
  calls.push(`${method} ${url}`);
  const about = url.endsWith("/auth") ? " auth" : url.startsWith("/fabric/vnis") ? " vni" : "";
  const fault = faults.find((one) => one.times > 0 && one.call === `${method}${about}`);
  if (fault !== undefined) {
    fault.times -= 1;
    if (fault.kind === "cut") return response.destroy();
    if (fault.kind === "silent") return undefined;
    return say(fault.status ?? 200, fault.body ?? "nonsense");
  }
  if (process.env.TOKEN !== undefined && headers.authorization !== `Bearer ${process.env.TOKEN}`) return say(401, {});
  if (about === " vni") return network(method, new URL(url, "http://fabric"), text, say);
  const [, , , , id, auth] = url.split("/");
  if (method === "POST") return say(201, make(JSON.parse(text), headers["idempotency-key"]));
  if (!services.has(id)) return say(404, {});
  if (auth === "auth") return say(200, { auth_key: `c0ffee0${id}`, svc_id: Number(id) + 100 });
  services.delete(id);
  return say(200, {});
}

/** A number belongs to its creator: another owner can neither change nor remove it. */
function network(method, { pathname, searchParams }, text, say) {
  const vni = Number(pathname.split("/")[3]);
  const known = networks.get(vni);
  const body = method === "PUT" ? JSON.parse(text) : {};
  const owner = searchParams.get("owner") ?? body.owner;
  if (method === "GET") return say(200, { vnis: [...networks.values()].filter((one) => one.owner === owner) });
  if (known !== undefined && known.owner !== owner) return say(409, {});
  if (method === "DELETE") return say(networks.delete(vni) ? 200 : 404, {});
  networks.set(vni, { vni, ...body });
  return say(200, {});
}

function make(body, key) {
  const known = [...services.values()].find((service) => service.key === key);
  if (known !== undefined) return known;
  const service = {
    id: String(nextId++),
    key,
    vni: body.vni ?? 1234,
    nodes: body.nodes,
    allocation: body.allocation_id,
  };
  services.set(service.id, service);
  return service;
}

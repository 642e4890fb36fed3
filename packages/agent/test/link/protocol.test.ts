// A server whose version of the protocol this agent does not speak: it says why it leaves, and finds
// another one.

import pino from "pino";
import { afterEach, expect, test } from "vitest";
import { type FakeServer, fakeServer, found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";

let r: Rig | null = null;
const fakes: FakeServer[] = [];
afterEach(async () => {
  await r?.close();
  r = null;
  for (const fake of fakes.splice(0)) await fake.close();
});

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly code?: string;
  readonly detail?: string;
  readonly protocol?: number;
}

function listening() {
  const heard: Line[] = [];
  const log = pino(
    { level: "info", formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => void heard.push(JSON.parse(line) as Line) },
  );
  return { heard, log };
}

async function fake(protocol: number): Promise<FakeServer> {
  const made = await fakeServer();
  made.settings.protocol = protocol;
  fakes.push(made);
  return made;
}

test.each([
  { name: "too new", protocol: 3, code: "server_protocol_too_new", upgrade: "upgrade this agent" },
  { name: "too old", protocol: 0, code: "server_protocol_too_old", upgrade: "upgrade the servers" },
])("a server that is $name is left, with both versions named, and another is found", async (given) => {
  const { heard, log } = listening();
  const strange = await fake(given.protocol);
  const good = await fake(1);
  r = await rig({ log, options: { servers: [strange.address, good.address] } });
  // Whichever it begins with, it must have met the strange one.
  const met = () => strange.hellos.length > 0 && good.connected() === 1;
  for (let round = 0; round < 20 && !met(); round += 1) {
    good.disconnect();
    await found(() => strange.hellos.length > 0 || good.hellos.length > round + 1);
  }
  await found(met);
  const refusal = heard.find((line) => line.code === given.code);
  expect(refusal).toMatchObject({ level: "error", msg: "this agent cannot work with the server" });
  expect(refusal?.detail).toContain(`version 1 here, version ${given.protocol} there`);
  expect(refusal?.detail).toContain(given.upgrade);
  expect(strange.heartbeats).toEqual([]);
  expect(heard.find((line) => line.msg === "connected to a server")).toMatchObject({ protocol: 1 });
});

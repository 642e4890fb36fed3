// Agents that connect while no server leads wait, are admitted when one does, and are refused after a while.

import { describe, expect, it } from "vitest";
import { createWaitingRoom } from "../../src/peers/waiting-room.ts";
import { createTestClock } from "../base/clock.ts";

function rig(limit?: number) {
  const clock = createTestClock();
  let led = false;
  const said: string[] = [];
  const room = createWaitingRoom({ clock, open: () => led, ...(limit === undefined ? {} : { limit }) });
  const come = (name: string) =>
    room.wait({ enter: () => said.push(`${name} in`), refuse: () => said.push(`${name} away`) });
  const lead = (value: boolean) => {
    led = value;
  };
  return { clock, said, room, come, lead };
}

describe("the waiting room", () => {
  it("keeps agents until a server leads, and admits them in order", async () => {
    const { clock, said, room, come, lead } = rig();
    come("a");
    come("b");
    await clock.advance(2_000);
    expect(said).toEqual([]);
    lead(true);
    await clock.advance(100);
    expect(said).toEqual(["a in", "b in"]);
    expect(room.size).toBe(0);
  });

  it("admits thousands over several turns, each once", async () => {
    const { clock, said, come, lead } = rig();
    for (let n = 0; n < 3_000; n += 1) come(`n${n}`);
    lead(true);
    for (let n = 0; n < 200 && said.length < 3_000; n += 1) await clock.advance(25);
    expect(said).toHaveLength(3_000);
    expect(new Set(said).size).toBe(3_000);
  });

  it("removes agents that disconnect", async () => {
    const { clock, said, come, lead } = rig();
    const leave = come("a");
    come("b");
    leave();
    lead(true);
    await clock.advance(100);
    expect(said).toEqual(["b in"]);
  });

  it("refuses agents that have waited too long, and agents that find it full", async () => {
    const { clock, said, come } = rig(2);
    come("a");
    await clock.advance(5_000);
    come("b");
    come("c");
    expect(said).toEqual(["c away"]);
    await clock.advance(3_100);
    expect(said).toEqual(["c away", "a away"]);
  });

  it("refuses all agents when it closes", () => {
    const { said, room, come } = rig();
    come("a");
    room.close();
    expect(said).toEqual(["a away"]);
  });
});

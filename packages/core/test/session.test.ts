// Sessions: the owner opens them on running allocations; an allocation made for a session ends with it.

import { type Command, type Origin, parseSessionId, type UserName } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, id, moves, orders, register, submit } from "./support/cluster.ts";

const by = (user: string): Origin => ({ user: user as UserName, requestId: null, bodyHash: "" });

const asSession = (command: ReturnType<typeof submit>): Command =>
  command.kind === "allocation.submit" ? { ...command, spec: { ...command.spec, session: true } } : command;

const userOf = (command: Command): string => ("origin" in command ? command.origin.user : "");

function running(session: boolean) {
  const submitted = submit({});
  const c = createCluster(register("n1"), session ? asSession(submitted) : submitted);
  c.place(1, "n1");
  c.report(1, "n1", "running");
  const user = userOf(submitted);
  const open = (who = user): Command => ({ kind: "session.open", origin: by(who), allocation: id(1) });
  const close = (n: number, exitCode: number | null = 0): Command => ({
    kind: "session.close",
    origin: by(user),
    allocation: id(1),
    n,
    exitCode,
  });
  return { c, open, close };
}

const numbers = (c: ReturnType<typeof createCluster>): number[] =>
  c.state.allocation(id(1))?.sessions.map(({ n }) => n) ?? [];

describe("a session", () => {
  it("exists from the start in an allocation made for it, which completes when it closes", () => {
    const { c, close } = running(true);
    expect(numbers(c)).toEqual([1]);
    const closed = c.apply(close(1, 7));
    expect(moves(closed)).toEqual(["1: running > completed"]);
    expect(orders(closed)).toEqual(["stop 1/1 on n1"]);
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "completed", exitCode: 7 });
    expect(moves(c.apply(close(1)))).toEqual([]);
  });

  it("that ran work fails its allocation by the exit code, and cancels dependents", () => {
    const { c, close } = running(true);
    c.apply(submit({ after: ["1:success"] }));
    const closed = c.apply({ ...close(1, 7), exitCounts: true } as Command);
    expect(moves(closed)).toEqual(["1: running > failed", "2: pending > cancelled"]);
    expect(orders(closed)).toEqual(["stop 1/1 on n1"]);
    expect(c.state.allocation(id(1))?.phase).toMatchObject({ kind: "failed", exitCode: 7, reason: "exit_code" });
    const well = running(true);
    expect(moves(well.c.apply({ ...well.close(1, 0), exitCounts: true } as Command))).toEqual([
      "1: running > completed",
    ]);
  });

  it("that closes before its allocation starts cancels the allocation", () => {
    const c = createCluster(register("n1"), asSession(submit({})));
    const command: Command = { kind: "session.close", origin: by("ada"), allocation: id(1), n: 1, exitCode: null };
    expect(moves(c.apply(command))).toEqual(["1: pending > cancelled"]);
  });

  it("in an ordinary allocation opens and closes without changing the allocation", () => {
    const { c, open, close } = running(false);
    c.apply(open());
    c.apply(open());
    expect(numbers(c)).toEqual([1, 2]);
    c.apply(close(1));
    c.apply(open());
    expect(numbers(c)).toEqual([2, 3]);
    c.apply(close(2));
    c.apply(close(3));
    expect(c.phase(1)).toBe("running");
    expect(c.state.allocation(id(1))).toMatchObject({ sessions: [] });
  });

  it("is opened by the owner only, and on running work only", () => {
    const { c, open } = running(false);
    expect(c.apply(open("mallory")).outcomes).toMatchObject([{ kind: "rejected", refusal: { code: "not_owner" } }]);
    c.report(1, "n1", "completed");
    expect(c.apply(open()).outcomes).toMatchObject([{ kind: "rejected", refusal: { code: "illegal_transition" } }]);
  });

  it("completes its allocation at the walltime, without a failure", () => {
    const { c } = running(true);
    expect(moves(c.report(1, "n1", "failed", "walltime_exceeded"))).toEqual(["1: running > completed"]);
  });

  it.each([
    ["12.1", { allocation: "12", n: 1 }],
    ["12_3.45", { allocation: "12_3", n: 45 }],
    ["12", null],
    ["12.0", null],
    [".1", null],
    ["x.1", null],
  ])("is parsed from %s as %j", (text, expected) => {
    expect(parseSessionId(text)).toEqual(expected);
  });
});

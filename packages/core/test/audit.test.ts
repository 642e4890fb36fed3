// The audit log: which commands leave a record, what it says, and which leave none. A command that is rejected or
// repeated leaves none.

import { type AuditRecord, brokenChain, type Command, duration, type UserName } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  deleteTenant,
  deleteVCluster,
  disable,
  drain,
  enable,
  grant,
  hold,
  id,
  nodeId,
  origin,
  register,
  setConfig,
  submit,
  submitGroup,
  tenant,
  tenantId,
  undrain,
  vcluster,
  vclusterId,
  verdict,
} from "./support/cluster.ts";
import { expectRejected } from "./support/content.ts";

const KEY = "k".repeat(43);

function cluster(): Cluster {
  const c = createCluster(tenant("physics"), register("n1"), register("n2"), vcluster("extra"));
  c.apply({ kind: "secret.keep", name: "jobs", value: KEY }, submit(), submit());
  c.apply(submitGroup([0, 3], 1));
  c.place(1, "n1");
  c.report(1, "n1", "running");
  return c;
}

const by = (user: string, command: Command): Command =>
  ({ ...command, origin: { ...origin(), user: user as UserName } }) as Command;

/** The records that a command leaves: action, scope, subject and detail. */
function records(c: Cluster, ...commands: readonly Command[]): readonly string[] {
  const before = c.state.lastAudit()?.n ?? 0;
  for (const command of commands) c.apply(command);
  return Array.from(c.state.audit())
    .filter(({ n }) => n > before)
    .map(({ user, action, scope, tenant: of, node, allocation, detail }: AuditRecord) =>
      [user, action, scope, of ?? node ?? "", allocation ?? "", detail].join("|"),
    );
}

describe("an audited command", () => {
  it.each<[string, readonly Command[]]>([
    ["ada|tenant.create|tenants|art||made", [tenant("art")]],
    [
      "ada|tenant.update|tenants|physics||description, quota",
      [
        {
          kind: "tenant.update",
          origin: origin(),
          tenant: tenantId("physics"),
          change: { description: "x", quota: { maxNodes: 1 } },
        },
      ],
    ],
    ["ada|vcluster.create|tenants|||ml", [vcluster("ml")]],
    ["ada|vcluster.create|tenants|physics||ml", [vcluster("ml", { tenant: tenantId("physics") })]],
    [
      "ada|vcluster.update|tenants|||batch: description",
      [{ kind: "vcluster.update", origin: origin(), vcluster: vclusterId("batch"), change: { description: "x" } }],
    ],
    ["ada|vcluster.delete|tenants|||extra", [deleteVCluster("extra")]],
    ['ada|config.set|cluster|||a.b "1"', [setConfig("a.b", "1")]],
    ['ada|grant.add|access|physics||tenant_admin to "bob"', [grant("grant.add", "physics", "bob")]],
    ['ada|node.drain|nodes|n2||"maintenance"', [drain("n2")]],
    ['ada|node.disable|nodes|n2||"broken fan"', [disable("n2")]],
    [
      "ada|node.assign|nodes|n2||extra",
      [{ kind: "node.assign", origin: origin(), node: nodeId("n2"), vcluster: vclusterId("extra") }],
    ],
    [
      "ada|node.assign|nodes|n2||to all",
      [{ kind: "node.assign", origin: origin(), node: nodeId("n2"), vcluster: null }],
    ],
    ["ada|session.open|work|physics|1|", [{ kind: "session.open", origin: origin(), allocation: id(1) }]],
    [
      "ada|secret.rotate|access|||the key of jobs; the one before counts for 60 s",
      [{ kind: "secret.rotate", origin: origin(), name: "jobs", value: "n".repeat(43), keep: duration(60_000) }],
    ],
    ['root|allocation.cancel|work|physics|1|"enough"', [by("root", cancel(1))]],
    ['root|allocation.cancel|work|physics|3|"enough"', [by("root", cancel(3))]],
    ["root|allocation.hold|work|physics|2|hold", [hold(2, true, "root")]],
    [
      "root|allocation.update|work|physics|2|name, tags",
      [by("root", { kind: "allocation.update", origin: origin(), id: id(2), change: { name: "x", tags: { a: "b" } } })],
    ],
    [
      "ada|terminal.open|sensitive|||by hand",
      [
        {
          kind: "audit.record",
          origin: origin(),
          action: { scope: "sensitive", action: "terminal.open", detail: "by hand" },
        },
      ],
    ],
  ])("leaves one record: %s", (record, commands) => {
    const c = cluster();
    expect(records(c, ...commands)).toEqual([record]);
    // Sent again it is rejected or repeated, and leaves nothing; opening and recording are done again.
    const again = commands.filter(({ kind }) => kind !== "session.open" && kind !== "audit.record");
    expect(records(c, ...again)).toEqual([]);
    expect(brokenChain(c.state.audit(), "")).toBeNull();
  });

  it("leaves a record when it reverses an earlier one", () => {
    const c = cluster();
    c.apply(
      grant("grant.add", "physics", "bob"),
      drain("n2"),
      setConfig("a.b", "1"),
      hold(2, true, "root"),
      tenant("art"),
    );
    expect(records(c, grant("grant.remove", "physics", "bob"), undrain("n2"), setConfig("a.b", null))).toEqual([
      'ada|grant.remove|access|physics||tenant_admin from "bob"',
      "ada|node.undrain|nodes|n2||",
      "ada|config.set|cluster|||a.b unset",
    ]);
    expect(records(c, hold(2, false, "root"), deleteTenant("art"))).toEqual([
      "root|allocation.hold|work|physics|2|release",
      "ada|tenant.delete|tenants|art||removed",
    ]);
    c.apply(disable("n2"));
    expect(records(c, enable("n2"))).toEqual(["ada|node.enable|nodes|n2||"]);
  });
});

describe("a command that is not audited", () => {
  it.each<[string, Command]>([
    ["a submission", submit()],
    ["a cancel of one's own work", cancel(1)],
    ["a hold of one's own work", hold(2)],
    ["an update of one's own work", { kind: "allocation.update", origin: origin(), id: id(2), change: { name: "x" } }],
    ["a registration", register("n3")],
    ["a cancel of unknown work", by("root", cancel(99))],
    ["a drain of an unknown node", drain("n9")],
  ])("leaves no record: %s", (_name, command) => {
    expect(records(cluster(), command)).toEqual([]);
  });
});

describe("a record of the audit log", () => {
  it("has a bounded detail, consecutive numbers, and the index of its entry", () => {
    const c = cluster();
    const first = c.state.lastAudit()?.n ?? 0;
    c.apply(setConfig("a.b", "x".repeat(4000)), drain("n2"));
    const [one, two] = Array.from(c.state.audit()).slice(-2);
    expect([one?.n, two?.n]).toEqual([first + 1, first + 2]);
    expect([one?.index, two?.index]).toEqual([c.state.index, c.state.index]);
    expect(two?.prev).toBe(one?.hash);
    const long: Command = {
      kind: "audit.record",
      origin: origin(),
      action: { scope: "work", detail: "y".repeat(2000) },
    };
    c.apply(long);
    expect(c.state.lastAudit()?.detail).toHaveLength(1024);
  });

  it("quotes the text of users, so that a line break cannot forge a record", () => {
    const c = cluster();
    const odd: Command = { kind: "node.drain", origin: origin(), node: nodeId("n2"), reason: 'a"\nb' };
    expect(records(c, odd)).toEqual(['ada|node.drain|nodes|n2||"a\\"\\nb"']);
  });
});

describe("the answer of a recorded action", () => {
  const record = (answer: string, requestId: string | null = "r1"): Command => ({
    kind: "audit.record",
    origin: origin(requestId),
    action: { scope: "cluster", action: "backup.take", detail: "" },
    answer,
  });

  it("is repeated for the same request, without a second record", () => {
    const c = cluster();
    expect(c.one(record("backup 1"))).toEqual({ kind: "accepted", id: "backup 1" });
    const before = c.state.lastAudit()?.n;
    expect(c.one(record("backup 2"))).toEqual({ kind: "accepted", id: "backup 1", repeated: true });
    expect(c.state.lastAudit()?.n).toBe(before);
  });

  it("is bounded", () => {
    const c = cluster();
    expect(verdict(c.one(record("x".repeat(16_384), null)))).toBe("accepted");
    expectRejected(c, record("x".repeat(16_385), null), "invalid_argument");
  });
});

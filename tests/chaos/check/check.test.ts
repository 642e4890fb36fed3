// The check detects violations: a correct history passes, and each way of breaking it is reported under its own rule.
import { expect, test } from "vitest";
import type { History, ProcessRun } from "../history.ts";
import { check } from "./check.ts";
import { BATCHES, logOf, run, sampleHistory, submission, submit } from "./sample-history.ts";

const good = sampleHistory();
const rulesOf = (history: History): readonly string[] => [
  ...new Set(check(history).violations.map(({ rule }) => rule)),
];
const withRuns = (...more: readonly ProcessRun[]): History => ({ ...good, runs: [...good.runs, ...more] });
const statesWithout = (id: string, state: string | null) =>
  new Map(
    [...good.end.allocations].map(([server, states], n) => [
      server,
      n === 0 ? new Map([...states, [id, state]]) : states,
    ]),
  );

test("a correct history passes", () => {
  expect(check(good)).toEqual({ violations: [], counts: { commands: 21, elections: 2, requeues: 1 } });
});

test.each<[string, string, History]>([
  [
    "an acknowledged submission that the log does not hold",
    "lost",
    { ...good, submissions: [...good.submissions, submission("d", "4")] },
  ],
  [
    "an acknowledged submission that one server does not know",
    "lost",
    { ...good, end: { ...good.end, allocations: statesWithout("2", null) } },
  ],
  [
    "a request that was answered with another's id",
    "lost",
    { ...good, submissions: [...good.submissions.slice(1), submission("a", "2")] },
  ],
  ["two answers that contradict each other", "lost", { ...good, contradictions: ["request a: 1, then 9"] }],
  ["a job that failed", "outcome", { ...good, end: { ...good.end, allocations: statesWithout("2", "failed") } }],
  ["a job that is not over", "outcome", { ...good, end: { ...good.end, allocations: statesWithout("2", "running") } }],
  [
    "a submission that was refused",
    "outcome",
    { ...good, submissions: [...good.submissions, { ...submission("d", null), refusal: "409" }] },
  ],
  [
    "a job that counts as completed and never finished",
    "outcome",
    { ...good, runs: good.runs.map((one) => ({ ...one, finished: false })) },
  ],
  [
    "an attempt that started twice",
    "twice",
    withRuns(run({ allocation: "2", node: "n2", startedAt: 2_500, aliveUntil: 2_600 })),
  ],
  [
    "an attempt on a node that it was not placed on",
    "twice",
    withRuns(run({ allocation: "2", node: "n1", startedAt: 9_500, aliveUntil: 9_600 })),
  ],
  [
    "a second attempt of what was never requeued",
    "twice",
    withRuns(run({ allocation: "2", attempt: 2, node: "n1", startedAt: 9_500 })),
  ],
  [
    "two jobs on one node at once",
    "owner",
    { ...good, runs: good.runs.map((one) => (one.allocation === "2" ? { ...one, aliveUntil: 4_500 } : one)) },
  ],
  [
    "a job under a longer one",
    "owner",
    withRuns(run({ allocation: "3", node: "n1", startedAt: 2_000, aliveUntil: 2_500 })),
  ],
  [
    "a tenant on more nodes than it may have",
    "quota",
    withRuns(run({ allocation: "2", tenant: "limited", node: "n7", startedAt: 6_500, aliveUntil: 6_900 })),
  ],
  ["an entry that is missing", "chain", { ...good, log: good.log.filter(({ index }) => index !== 4) }],
  ["an entry that was changed", "chain", { ...good, log: swapped() }],
  [
    "a term that goes back",
    "chain",
    sampleHistory(BATCHES.map((batch, at) => (at === 8 ? { ...batch, term: 1 } : batch))),
  ],
  ["a server with another state", "state", { ...good, polls: [{ server: "server-2", index: 3, hash: "other" }] }],
  ["a server ahead of the log", "state", { ...good, polls: [{ server: "server-2", index: 99, hash: "x" }] }],
  [
    "a server that stays behind",
    "state",
    {
      ...good,
      end: {
        ...good.end,
        servers: [{ ...good.polls[0], server: "server-1", index: 3, hash: good.polls[0]?.hash ?? "" }],
      },
    },
  ],
  ["a process that is left", "left", { ...good, end: { ...good.end, left: ["1.1 still runs on n1"] } }],
  ["a node that does not come back", "left", { ...good, end: { ...good.end, nodesNotReady: ["n1"] } }],
  [
    "a fault that did not go as it should",
    "expectation",
    { ...good, faults: [{ name: "kill-all", seconds: 1, complaints: ["no server leads"] }] },
  ],
  [
    "too few submissions",
    "load",
    { ...good, limits: { ...good.limits, least: { ...good.limits.least, acknowledged: 4 } } },
  ],
  ["too few faults", "load", { ...good, faults: [] }],
])("%s: %s", (_, rule, history) => {
  expect(rulesOf(history)).toContain(rule);
});

test("a request that created two allocations violates lost", () => {
  const twice = sampleHistory([
    ...BATCHES,
    { term: 2, commands: [{ ...submit("a"), origin: { ...submitOrigin(), requestId: null } } as never] },
  ]);
  expect(check(twice).violations).toContainEqual({ rule: "lost", detail: "request a made 1 and 4" });
});

test("a withdrawn attempt does not count against the quota, its successor does", () => {
  const runs = good.runs.map((one) => (one.allocation === "1" ? { ...one, tenant: "limited" } : one));
  expect(rulesOf({ ...good, runs })).toEqual([]);
  const beside = run({ allocation: "3", tenant: "limited", node: "n2", startedAt: 4_500, aliveUntil: 4_900 });
  expect(
    rulesOf({
      ...good,
      runs: [...runs.filter(({ attempt }) => attempt === 2).map((one) => ({ ...one, node: "n1" })), beside],
    }),
  ).toContain("quota");
});

/** Entry 5 with the bytes of a different log. */
function swapped() {
  const other = logOf([...BATCHES.slice(0, 4), { commands: [submit("z")] }]);
  return good.log.map((entry) => (entry.index === 5 ? (other[4] ?? entry) : entry));
}

function submitOrigin() {
  const command = submit("a");
  return "origin" in command ? command.origin : { user: "ada", bodyHash: "" };
}

// The order of the queue, one case per rule.

import { describe, expect, it } from "vitest";
import { orderQueue } from "../../src/queue/queue.ts";
import { scoreBasis } from "../../src/score/score.ts";
import { input, job, node, tenant } from "../make.ts";

const drain = (fields: Parameters<typeof input>[0]): string[] => {
  const given = input({ nodes: [node("n1"), node("n2")], ...fields });
  const queue = orderQueue(given, scoreBasis(given));
  const ids: string[] = [];
  for (let next = queue.next(); next !== null; next = queue.next()) ids.push(next.input.id);
  return ids;
};

describe("order of the queue", () => {
  const cases: { name: string; fields: Parameters<typeof input>[0]; expected: string[] }[] = [
    { name: "nothing pending", fields: { pending: [] }, expected: [] },
    {
      name: "a higher class goes first",
      fields: { pending: [job(1, { class: 2 }), job(2, { class: 9 }), job(3, { class: 5 })] },
      expected: ["2", "3", "1"],
    },
    {
      name: "a longer wait goes first within a class",
      fields: { pending: [job(1, { waited: 5 }), job(2, { waited: 600 }), job(3, { waited: 60 })] },
      expected: ["2", "3", "1"],
    },
    {
      name: "a long wait overtakes a higher class",
      fields: { pending: [job(1, { class: 10, waited: 0 }), job(2, { class: 5, waited: 600 })] },
      expected: ["2", "1"],
    },
    {
      name: "a tenant below its share goes first",
      fields: {
        pending: [job(1, { tenant: "physics" }), job(2, { tenant: "biology" })],
        tenants: [tenant("physics", { nodesInUse: 2 }), tenant("biology")],
      },
      expected: ["2", "1"],
    },
    {
      name: "equal scores by submission, then by number, not by text",
      fields: { pending: [job(10), job(9), job(100), job(11, { waited: 0.001 })] },
      expected: ["11", "9", "10", "100"],
    },
    {
      name: "elements of a group by their number, after the group itself",
      fields: { pending: [job("7_10"), job("7_9"), job("8"), job("7")] },
      expected: ["7", "7_9", "7_10", "8"],
    },
    {
      name: "first come, first served ignores class and share",
      fields: { isFifo: true, pending: [job(1, { class: 10, waited: 1 }), job(2, { class: 0, waited: 2 })] },
      expected: ["2", "1"],
    },
  ];
  it.each(cases)("$name", ({ fields, expected }) => {
    expect(drain(fields)).toEqual(expected);
  });
});

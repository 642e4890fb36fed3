// Tables: alignment, and fitting to the width of the terminal.

import type { AccountingRecord, Node } from "@lattice/sdk";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { historyColumns } from "../src/commands/history.ts";
import { nodeColumns } from "../src/commands/nodes/table.ts";
import { createPaint } from "../src/output/paint.ts";
import { type Column, renderTable } from "../src/output/table.ts";
import { clean, shorten, widthOf } from "../src/output/text.ts";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly count: string;
}

const columns: readonly Column<Row>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "NAME", value: ({ name }) => name, flexible: true },
  { header: "COUNT", value: ({ count }) => count, align: "right" },
];

const lines = (text: string) => text.trimEnd().split("\n");

describe("table", () => {
  test("aligns columns by the widest cell", () => {
    const rows = [
      { id: "1", name: "short", count: "7" },
      { id: "12345", name: "a longer name", count: "1234567" },
    ];
    expect(lines(renderTable(columns, rows))).toEqual([
      "ID     NAME             COUNT",
      "1      short                7",
      "12345  a longer name  1234567",
    ]);
  });

  test("shows the header alone without rows", () => {
    expect(renderTable(columns, [])).toBe("ID  NAME  COUNT\n");
  });

  test("cuts the flexible column only when there is a width", () => {
    const rows = [{ id: "1", name: "x".repeat(60), count: "7" }];
    const fitted = lines(renderTable(columns, rows, 40));
    expect(fitted.every((line) => widthOf(line) <= 40)).toBe(true);
    expect(fitted[1]).toContain("…");
    expect(renderTable(columns, rows)).toContain("x".repeat(60));
  });

  test("uses short forms, then drops columns, then stacks", () => {
    const more: readonly Column<Row>[] = [
      { header: "ID", value: ({ id }) => id },
      { header: "WHEN", value: () => "2026-03-01T14:05:09", short: () => "03-01T14:05" },
      { header: "FIRST", value: () => "one", optional: true },
      { header: "SECOND", value: () => "two", optional: true },
      { header: "COUNT", value: ({ count }) => count, align: "right" },
    ];
    const rows = [{ id: "1", name: "", count: "7" }];
    const headers = (width: number) => lines(renderTable(more, rows, width))[0]?.split(/ +/);
    expect(lines(renderTable(more, rows, 45))[1]).toContain("2026-03-01T14:05:09");
    expect(lines(renderTable(more, rows, 40))[1]).toContain("1   03-01T14:05");
    expect(headers(40)).toEqual(["ID", "WHEN", "FIRST", "SECOND", "COUNT"]);
    expect(headers(30)).toEqual(["ID", "WHEN", "FIRST", "COUNT"]);
    expect(headers(24)).toEqual(["ID", "WHEN", "COUNT"]);
    expect(lines(renderTable(more, rows, 16))).toHaveLength(5);
    expect(lines(renderTable(more, rows))[1]).toContain("2026-03-01T14:05:09");
  });

  test("the history fits eighty columns", () => {
    const row = {
      allocation_id: "123456_99",
      name: "a-name-of-some-length",
      state: "completed",
      exit_code: 0,
      nodes: 128,
      elapsed_seconds: 260_000,
      node_hours: 9_244.44,
      gpu_hours: 36_977.78,
      ended_at: "2026-03-01T14:05:09Z",
    } as unknown as AccountingRecord;
    const text = renderTable(historyColumns(createPaint(false), false), [row], 80);
    expect(lines(text)).toHaveLength(2);
    for (const line of lines(text)) expect(widthOf(line)).toBeLessThanOrEqual(80);
    expect(text).toContain("36977.78");
  });

  test("counts wide characters as two columns", () => {
    const rows = [
      { id: "1", name: "日本", count: "7" },
      { id: "2", name: "abcd", count: "8" },
    ];
    const [, first = "", second = ""] = lines(renderTable(columns, rows));
    expect(widthOf(first)).toBe(widthOf(second));
  });

  test("colours do not count as width", () => {
    const painted = [{ ...columns[0], paint: (text: string) => `<${text}>` } as Column<Row>, ...columns.slice(1)];
    const [, line] = lines(renderTable(painted, [{ id: "1", name: "a", count: "2" }]));
    expect(line).toBe("<1 >  a         2");
  });

  test("control characters in names are replaced", () => {
    const rows = [{ id: "1", name: "evil\u001b[2J\nname", count: "1" }];
    const text = renderTable(columns, rows);
    expect(text).not.toContain("\u001b");
    expect(lines(text)).toHaveLength(2);
  });

  test("no line exceeds a given width", () => {
    const row = fc.record({
      id: fc.stringMatching(/^\d{1,8}$/),
      name: fc.string({ unit: "grapheme" }),
      count: fc.constant("1"),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), fc.integer({ min: 30, max: 120 }), (rows, width) => {
        expect(lines(renderTable(columns, rows, width)).every((line) => widthOf(line) <= width)).toBe(true);
      }),
    );
  });
});

describe("on a terminal of 60 columns", () => {
  const paint = createPaint(false);
  const node: Node = {
    id: "node-1",
    state: "down",
    cause: "disabled",
    reason: "the fan of the second power supply has stopped",
    group: "group-0",
    home_vcluster: "hpc-batch",
    conformance: "a1b2c3d4e5f60718",
    agent_version: "0.1.0",
    capabilities: { cpu_cores: 64, memory_gb: 512, gpu_type: "GH200", gpu_count: 4 },
    claims: [{ allocation_id: "12345", vcluster: "hpc-batch", tenant: "physics" }],
  } as unknown as Node;

  test("the wide node table is stacked without loss", () => {
    const text = renderTable(nodeColumns(paint, true), [node, { ...node, id: "node-2" }], 60);
    expect(lines(text).every((line) => widthOf(line) <= 60)).toBe(true);
    expect(text).toMatch(/^NODE +node-1$[\s\S]*^MEMORY +512 GB$[\s\S]*^NODE +node-2$/m);
    expect(text).toMatch(/^REASON +the fan of the second power supply/m);
  });

  test("the wide node table is a table on a wide terminal and in a pipe", () => {
    expect(renderTable(nodeColumns(paint, true), [node], 200)).toMatch(/^NODE +STATE +GPUS/);
    expect(renderTable(nodeColumns(paint, true), [node], undefined)).toMatch(/^NODE +STATE +GPUS/);
  });

  test("the node table fits", () => {
    const { capabilities: _capabilities, ...rest } = node;
    const idle = { ...rest, cause: "", claims: [] };
    const text = renderTable(nodeColumns(paint, false), [{ ...idle, state: "ready" }], 60);
    expect(lines(text).every((line) => widthOf(line) <= 60)).toBe(true);
    expect(text).toMatch(/^NODE +STATE +GPUS +VCLUSTER +TENANT +GROUP +CONFORM…?/);
  });
});

test("shorten keeps what fits", () => {
  expect(shorten("abcdef", 6)).toBe("abcdef");
  expect(shorten("abcdef", 4)).toBe("abc…");
  expect(shorten("日本語", 4)).toBe("日…");
});

test("clean leaves ordinary text unchanged", () => {
  expect(clean("Grüße — 日本")).toBe("Grüße — 日本");
});

test("no table is wider than the terminal, however narrow that is", () => {
  const wide = { id: "1", name: "training-run", count: "1,000,000,000" };
  for (const width of [20, 24, 30]) {
    const text = renderTable(columns, [wide, wide], width);
    expect(lines(text).every((line) => widthOf(line) <= width)).toBe(true);
    expect(text).toContain("1,000");
  }
});

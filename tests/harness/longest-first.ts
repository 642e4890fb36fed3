// Orders test files by recorded duration, longest first, so that all workers end at about the same time. The record is
// test-times.json, which `npm test -- --record-times` writes; a file without an entry runs after the recorded ones.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./program.ts";

const seconds = JSON.parse(readFileSync(new URL("./test-times.json", import.meta.url), "utf8")) as Readonly<
  Record<string, number>
>;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => durationOf(b.moduleId) - durationOf(a.moduleId));
  }
}

const durationOf = (file: string): number => seconds[relative(root, file)] ?? 0;

// Runs the user guide page by page on one cluster. The queue is emptied between pages, and the page that refers to
// allocations by number runs first.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { blocksOf, runBlock } from "../harness/pages.ts";
import { root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const GUIDE = "docs/users";
/** Its reader has submitted nothing before. */
const FIRST = "why.md";
const pages = readdirSync(join(root, GUIDE))
  .filter((name) => name.endsWith(".md") && name !== FIRST && blocksOf(join(GUIDE, name)).length > 0)
  .sort();

const cluster = useCluster({ nodes: 4, output: true, strict: true });
const OPEN = "state=pending&state=staging&state=running&state=checkpointing&state=suspended";

afterEach(async () => {
  const open = (await cluster.allocations(OPEN)).map(({ id }) => id);
  if (open.length > 0) await cluster.cli(["cancel", ...open]);
  await eventually({ what: "nothing of the page is left" }, async () =>
    (await cluster.nodes()).every((node) => node.state === "ready" && (node.claims ?? []).length === 0) ? true : null,
  );
});

test("the user guide has pages to run", () => {
  expect(pages.length).toBeGreaterThan(10);
});

test.each([FIRST, ...pages])("%s does what it says", async (page) => {
  const blocks = blocksOf(join(GUIDE, page));
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) await runBlock(block, { cwd: join(cluster.dir, "home"), env: cluster.cliEnvironment() });
});

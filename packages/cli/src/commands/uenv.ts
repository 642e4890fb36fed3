// `lattice uenv`: software images. Nodes query the registry on behalf of the server; `test` runs a command in an image on
// a node; `index` turns a directory of images into a registry.

import { randomUUID } from "node:crypto";
import type { LatticeClient } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { writeBytes } from "../output/write-bytes.ts";
import { waitUntilEnded } from "../wait/until-ended.ts";
import { nodesOf, warmCaches, withNodes } from "./cache.ts";
import { reasonOf } from "./status/table.ts";
import { bytesText, imageColumns } from "./uenv/table.ts";

export function define(command: Command): void {
  const list = command.command("list").description("List the images of the registry");
  list.argument("[filter]", "only names with this text").option("--node <id>", "query through this node");
  list.action(async (filter: string | undefined, { node }: { node?: string }) => {
    const context = await createContext(list);
    await listImages(context, { ...(filter === undefined ? {} : { filter }), ...(node === undefined ? {} : { node }) });
  });

  const inspect = command.command("inspect").description("Show one image: digest, size, mount point, views");
  inspect.argument("<image>", "name/version:tag").option("--node <id>", "query through this node");
  inspect.action(async (image: string, { node }: { node?: string }) =>
    inspectImage(await createContext(inspect), image, node === undefined ? {} : { node }),
  );

  const pull = withNodes(command.command("pull").description("Pull an image to nodes before it is needed"));
  pull.argument("<image>", "name/version:tag").option("--sticky", "never evict it automatically");
  pull.action(async (image: string, { sticky = false, ...which }: { sticky?: boolean }) => {
    await warmCaches(await createContext(pull), image, { ...nodesOf(which), ...(sticky ? { sticky } : {}) });
  });

  const test = command.command("test").description("Test an image by running a command in it on a node");
  test.argument("<image>", "name/version:tag").argument("[words...]", "command after -- (default: true)");
  test.option("--view <names>", "views to apply").option("--node <id>", "node to use");
  test.action(async (image: string, words: readonly string[], flags: TestFlags) =>
    testImage(await createContext(test), image, words, flags),
  );

  const index = command
    .command("index")
    .description("Write the index of a directory of images, to use it as a registry");
  index
    .argument("<folder>", "directory with NAME_VERSION_TAG.squashfs files")
    .option("--sign <key>", "private key (PEM) to sign with");
  index.action(async (folder: string, { sign }: { sign?: string }) => {
    const { print } = await createContext(index);
    const { indexFolder } = await import("./uenv/index-folder.ts");
    const images = await indexFolder(folder, sign);
    if (print.structured) return print.document({ images });
    print.note(`Indexed ${images.length} ${images.length === 1 ? "image" : "images"} in ${folder}/index.json`);
  });
}

async function listImages({ client, print, settings }: Context, which: { filter?: string; node?: string }) {
  const answer = await client.images.list(which);
  const images = answer.images ?? [];
  if (print.structured) return print.document(answer);
  if (settings.quiet) return print.lines(images.map(({ name }) => name));
  print.table(imageColumns, images);
  if (images.length === 0) print.note("No images.");
}

async function inspectImage({ client, print }: Context, image: string, which: { node?: string }): Promise<void> {
  const found = await client.images.inspect(image, which);
  if (print.structured) return print.document(found);
  const { name, digest = "", size_bytes = 0, mount = "", views = [], signed = false, description = "" } = found;
  print.line(`Name:         ${name}`);
  print.line(`Digest:       ${digest}`);
  print.line(`Size:         ${bytesText(size_bytes)}`);
  print.line(`Mount point:  ${mount === "" ? "/user-environment" : mount}`);
  print.line(`Views:        ${views.length === 0 ? "none known" : views.map((view) => view.name).join(", ")}`);
  print.line(`Signed:       ${signed ? "yes" : "no"}`);
  if (description !== "") print.line(`Description:  ${description}`);
}

interface TestFlags {
  readonly view?: string;
  readonly node?: string;
}

async function testImage(
  { client, print, settings }: Context,
  image: string,
  words: readonly string[],
  flags: TestFlags,
) {
  const { id } = await client.submit(
    {
      name: `test ${image}`.slice(0, 256),
      uenv: image,
      ...(flags.view === undefined ? {} : { view: flags.view }),
      command: words.length === 0 ? ["true"] : words,
      walltime: "10m",
      workdir: "/",
      ...(flags.node === undefined ? {} : { required_nodes: [flags.node] }),
      ...(settings.tenant === undefined ? {} : { tenant: settings.tenant }),
      ...(settings.vcluster === undefined ? {} : { vcluster: settings.vcluster }),
    },
    { requestId: randomUUID() },
  );
  const ended = await waitUntilEnded(client, id);
  if (!print.structured) await copyOutput(client, id);
  if (ended.state === "completed") {
    if (print.structured) return print.document(ended);
    return print.done(image, `${image} works on ${ended.nodes?.join(", ")} (allocation ${id})`);
  }
  throw new ProblemError("image_unavailable", {
    detail: `allocation ${id} ${ended.state}: ${reasonOf(ended)}`,
    hint: `Show its output with: lattice logs ${id}`,
  });
}

/** Limit per stream; `lattice logs` shows longer output. */
const MAX_BYTES = 1024 ** 2;

/** Copies the output of a test; an unreadable log does not change the result. */
async function copyOutput(client: LatticeClient, id: string): Promise<void> {
  for (const stream of ["stdout", "stderr"] as const) {
    await writeBytes(client.logs(id, { stream, limit: MAX_BYTES }), process[stream]).catch(() => undefined);
  }
}

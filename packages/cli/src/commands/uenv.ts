// `lattice uenv`: the images that allocations can run in. Nodes know the registry, so they are asked;
// `test` runs a command in an image, on a node, and `index` makes a folder of images a registry.

import { randomUUID } from "node:crypto";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { untilFinal } from "../wait/until-final.ts";
import { nodesOf, warmCaches, withNodes } from "./cache.ts";
import { reasonOf } from "./status/table.ts";
import { passOnWhatItSaid } from "./uenv/said.ts";
import { bytesText, imageColumns } from "./uenv/table.ts";

export function define(command: Command): void {
  const list = command.command("list").description("Show the images of the registry");
  list.argument("[filter]", "only names that contain this").option("--node <id>", "ask this node");
  list.action(async (filter: string | undefined, { node }: { node?: string }) => {
    const context = await createContext(list);
    await listImages(context, { ...(filter === undefined ? {} : { filter }), ...(node === undefined ? {} : { node }) });
  });

  const inspect = command.command("inspect").description("Show one image: digest, size, mount point, views");
  inspect.argument("<image>", "name/version:tag").option("--node <id>", "ask this node");
  inspect.action(async (image: string, { node }: { node?: string }) =>
    inspectImage(await createContext(inspect), image, node === undefined ? {} : { node }),
  );

  const pull = withNodes(command.command("pull").description("Bring an image to nodes before it is needed"));
  pull.argument("<image>", "name/version:tag").option("--sticky", "never evict it to make room");
  pull.action(async (image: string, { sticky = false, ...which }: { sticky?: boolean }) => {
    await warmCaches(await createContext(pull), image, { ...nodesOf(which), ...(sticky ? { sticky } : {}) });
  });

  const test = command.command("test").description("Run a command in an image, on a node, and say whether it worked");
  test.argument("<image>", "name/version:tag").argument("[words...]", "the command, after -- (default: true)");
  test.option("--view <names>", "views to apply").option("--node <id>", "on this node");
  test.action(async (image: string, words: readonly string[], flags: TestFlags) =>
    testImage(await createContext(test), image, words, flags),
  );

  const index = command.command("index").description("Make the index of a folder of images, so that it is a registry");
  index.argument("<folder>", "with NAME_VERSION_TAG.squashfs files").option("--sign <key>", "sign with this key (PEM)");
  index.action(async (folder: string, { sign }: { sign?: string }) => {
    const { print } = await createContext(index);
    const { indexFolder } = await import("./uenv/index-folder.ts");
    const images = await indexFolder(folder, sign);
    if (print.structured) return print.document({ images });
    print.note(`${images.length} ${images.length === 1 ? "image" : "images"} in ${folder}/index.json`);
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
  const ended = await untilFinal(client, id);
  if (!print.structured) await passOnWhatItSaid(client, id);
  if (ended.state === "completed") {
    if (print.structured) return print.document(ended);
    return print.done(image, `${image} works on ${ended.nodes?.join(", ")} (allocation ${id})`);
  }
  throw new ProblemError("image_unavailable", {
    detail: `allocation ${id} ${ended.state}: ${reasonOf(ended)}`,
    hint: `See its output with: lattice logs ${id}`,
  });
}

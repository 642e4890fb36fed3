// Attacks by the files between an agent and a program that takes checkpoints (findings 4, 10a, 10d and 10e): links, hard links
// and pipes in their place, a removed flag, and addresses of other programs. Before, the flag's new owner could be any
// file, a pipe stopped the agent, a removed flag kept the node for ever, and root connected to any socket.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster();
const sh = (script: string) => ["/bin/sh", "-c", script];

/** Longer than any wait of the agent for a control file. */
const ENDS_WITHIN_MS = 10_000;

async function takesCheckpoint(id: string): Promise<void> {
  await secured.reaches(id, ["running"]);
  await secured.as(mallory, ["checkpoint", id]);
}

test("a flag that is replaced by a link or a hard link changes no other file", async () => {
  const precious = join(secured.victim, "precious");
  for (const link of ["ln -s", "ln"]) {
    const id = await secured.submit(mallory, {
      checkpoint: "shmem",
      command: sh(`rm $LATTICE_CHECKPOINT_SHM; ${link} ${precious} $LATTICE_CHECKPOINT_SHM; sleep 3`),
    });
    await takesCheckpoint(id);
    await secured.ends(id);
    expect(statSync(precious).uid, link).toBe(0);
    expect(readFileSync(precious, "utf8"), link).toBe("precious\n");
  }
});

test("the end of an attempt is reported soon when its flag was removed", async () => {
  const id = await secured.submit(mallory, {
    checkpoint: "shmem",
    command: sh("echo CHECKPOINT_NUMBER=1 >$LATTICE_CHECKPOINT_REQUEST; rm $LATTICE_CHECKPOINT_SHM"),
  });
  const since = Date.now();
  expect((await secured.ends(id)).state).toBe("completed");
  expect(Date.now() - since).toBeLessThan(ENDS_WITHIN_MS);
});

test("a flag that is removed while a checkpoint is under way ends the checkpoint, and neither agent nor job", async () => {
  const { pid } = secured.agent();
  const wait = "while ! grep -qs NUMBER $LATTICE_CHECKPOINT_REQUEST; do sleep 0.1; done";
  const id = await secured.submit(mallory, {
    checkpoint: "shmem",
    command: sh(`${wait}; rm $LATTICE_CHECKPOINT_SHM; sleep 3`),
  });
  await secured.reaches(id, ["running"]);
  const { code, stdout, stderr } = await secured.as(mallory, ["checkpoint", "--wait", id]);
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain("the program has removed its checkpoint flag");
  expect((await secured.ends(id)).state).toBe("completed");
  expect(secured.agent()).toMatchObject({ pid });
  expect(secured.agent().isRunning()).toBe(true);
});

test("pipes in the place of control files do not stop the agent", async () => {
  for (const [checkpoint, names] of [
    ["signal", "request done"],
    ["grpc", "request endpoint"],
    ["shmem", "request flag"],
  ]) {
    const id = await secured.submit(mallory, {
      checkpoint,
      command: sh(`cd $LATTICE_CHECKPOINT_CONTROL; rm -f ${names}; mkfifo ${names}; exec sleep 60`),
    });
    await takesCheckpoint(id);
    const other = await secured.submit(mallory, { command: ["true"] });
    await secured.as(mallory, ["cancel", id]);
    const since = Date.now();
    expect((await secured.ends(id)).state, checkpoint).toBe("cancelled");
    expect((await secured.ends(other)).state, checkpoint).toBe("completed");
    expect(Date.now() - since, checkpoint).toBeLessThan(ENDS_WITHIN_MS);
    expect(secured.agent().isRunning()).toBe(true);
  }
});

test("files of terabytes in the place of control files are not read", async () => {
  for (const [checkpoint, names] of [
    ["signal", "request done"],
    ["grpc", "request endpoint"],
    ["shmem", "request flag"],
  ]) {
    const script = `cd $LATTICE_CHECKPOINT_CONTROL; rm -f ${names}; truncate -s 8T ${names}; exec sleep 60`;
    const id = await secured.submit(mallory, { checkpoint, command: sh(script) });
    await takesCheckpoint(id);
    await secured.as(mallory, ["cancel", id]);
    const since = Date.now();
    expect((await secured.ends(id)).state, checkpoint).toBe("cancelled");
    expect(Date.now() - since, checkpoint).toBeLessThan(ENDS_WITHIN_MS);
  }
  expect(secured.agent().isRunning()).toBe(true);
});

test("root does not connect to a socket that a program names", async () => {
  const path = join(secured.victim, "socket");
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const id = await secured.submit(mallory, {
    checkpoint: "grpc",
    command: sh(`printf unix:${path} >$LATTICE_CHECKPOINT_ENDPOINT; sleep 4`),
  });
  await takesCheckpoint(id);
  expect((await secured.ends(id)).state).toBe("completed");
  server.close();
  expect(connections).toBe(0);
});

test("a program that its user runs is called, with that user's rights", async () => {
  const program = join(secured.outputDir, "answers.mjs");
  writeFileSync(
    program,
    `import { createServer } from "node:http"; import { writeFileSync } from "node:fs";
     const server = createServer((q, r) => { console.log("called"); r.end('{"done": 5}'); });
     server.listen(0, "127.0.0.1", () => writeFileSync(process.env.LATTICE_CHECKPOINT_ENDPOINT,
       "http://127.0.0.1:" + server.address().port + "/save"));
     setTimeout(() => process.exit(0), 6000);`,
    { mode: 0o644 },
  );
  const id = await secured.submit(mallory, { checkpoint: "grpc", command: [process.execPath, program] });
  await takesCheckpoint(id);
  expect((await secured.ends(id)).state).toBe("completed");
  expect(await secured.logs(mallory, id)).toContain("called");
});

// Real accounts of the machine for attacks: two ordinary users with home folders, made before the tests of a file and
// removed after them. The tests need root, like the agent that they attack.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { afterAll } from "vitest";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  /** Runs a shell script as this user and returns its output. Throws when it fails. */
  run(script: string): string;
  /** Keeps running a shell script as this user until the returned function is called. */
  keepRunning(script: string): () => void;
}

let made = 0;

/** Provides an account for the tests of the file. Its home folder is closed to others. */
export function useAccount(role: string): Account {
  const name = `lt${process.pid % 100_000}${role}${made++}`;
  execFileSync("useradd", ["--create-home", "--shell", "/bin/sh", name]);
  afterAll(() => {
    // Processes of the account would keep it from being removed.
    execFileSync("/bin/sh", [
      "-c",
      `pkill -KILL -u ${name}; sleep 0.2; userdel --force --remove ${name} 2>/dev/null; true`,
    ]);
  });
  const entry = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`${name}:`));
  const [, , uid = "", gid = "", , home = ""] = entry?.split(":") ?? [];
  chmodSync(home, 0o700);
  const wordsOf = (script: string): string[] => [
    ...[`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--", "/usr/bin/env", "-i"],
    ...[`HOME=${home}`, "PATH=/usr/local/bin:/usr/bin:/bin", "/bin/sh", "-ec", script],
  ];
  return {
    name,
    uid: Number(uid),
    gid: Number(gid),
    home,
    // The user can read the environment of these programs while they start.
    run: (script) => execFileSync("/usr/bin/setpriv", wordsOf(script), { env: {} }).toString(),
    keepRunning(script) {
      const child = spawn("/usr/bin/setpriv", wordsOf(script), { env: {}, stdio: "ignore" });
      return () => void child.kill("SIGKILL");
    },
  };
}

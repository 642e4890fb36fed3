// Names of container images: registries alone, and where the site limits them, the allowed registries.

import { expect, test } from "vitest";
import { checkContainerName, digestOfName, repositoryOf, withoutTag } from "../../src/images/container-name.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each([
  "docker-archive:/home/mallory/evil.tar",
  "docker-archive:evil.tar",
  "oci:folder",
  "oci-archive:x:1",
  "dir:x",
  "dir:/etc",
  "docker-daemon:site/tool:latest",
  "containers-storage:x",
  "docker://r.example.com/x",
  "DIR:x",
  "--help",
  "-v",
  "",
])("%j is not an image of a registry", (name) => {
  expect(() => checkContainerName(name, [])).toThrow(/transport|not the name/);
});

test.each([
  ["busybox", "docker.io/library/busybox"],
  ["hpc/app:1", "docker.io/hpc/app"],
  ["localhost/site/tool:latest", "localhost/site/tool"],
  ["oci:5000/app:1", "oci:5000/app"],
  ["r.example.com:5000/a/b:2", "r.example.com:5000/a/b"],
  [`r.example.com/a:2@${DIGEST}`, "r.example.com/a"],
])("%s is of the repository %s", (name, repository) => {
  expect(() => checkContainerName(name, [])).not.toThrow();
  expect(repositoryOf(name)).toBe(repository);
});

test("a site allows whole registries and parts of them", () => {
  const allowed = ["r.example.com", "docker.io/library"];
  for (const name of ["r.example.com/a:1", "busybox:1"]) expect(() => checkContainerName(name, allowed)).not.toThrow();
  for (const name of [
    "r.example.com.evil.org/a",
    "r.example.com:5000/a",
    "mallory/busybox",
    "docker.io/librarything/x",
  ])
    expect(() => checkContainerName(name, allowed)).toThrow(
      "this node takes images from r.example.com, docker.io/library alone (--allow-registry)",
    );
});

test("a digest replaces the tag", () => {
  expect(withoutTag(`r:5000/a:2@${DIGEST}`)).toBe(`r:5000/a@${DIGEST}`);
  expect(digestOfName(`r:5000/a:2@${DIGEST}`)).toBe(DIGEST);
  expect(digestOfName("r:5000/a:2")).toBeNull();
});

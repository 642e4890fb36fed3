// Images and the image caches of nodes. Requests are passed to one agent, or to each named one, and the answers are
// merged. A node that cannot be reached is part of the answer, not an error.

import { create } from "@bufbuild/protobuf";
import { imageNameProblem, type NodeId, parseNodeId } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { checkText, invalid, unknownNode } from "../../base/problems.ts";
import type { ImageAsk } from "../../nodes/agents/images.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";

const MAX_IMAGE_TEXT = 512;

export async function listImages(call: Call, request: pb.ListImagesRequest): Promise<pb.ListImagesResponse> {
  authorize(call.principal, "ImageService.ListImages", UNOWNED);
  checkText("filter", request.filter, MAX_IMAGE_TEXT);
  const { node, answer } = await askOne(call, request.node, { case: "list", value: request });
  return create(pb.ListImagesResponseSchema, { images: answer.images, node });
}

export async function inspectImage(call: Call, request: pb.InspectImageRequest): Promise<pb.Image> {
  authorize(call.principal, "ImageService.InspectImage", UNOWNED);
  checkImageName(request.image);
  const { answer } = await askOne(call, request.node, { case: "inspect", value: request });
  const [image] = answer.images;
  if (image === undefined) {
    throw new ProblemError("image_unavailable", { detail: `The registry has no image ${request.image}.` });
  }
  return image;
}

export async function warmCache(call: Call, request: pb.WarmCacheRequest): Promise<pb.CacheResponse> {
  authorize(call.principal, "ImageService.WarmCache", UNOWNED);
  if (request.sticky) authorize(call.principal, "ImageService.EvictImage", UNOWNED);
  checkImageName(request.image);
  return askNodes(call, request, { case: "warm", value: request });
}

export async function getCache(call: Call, request: pb.GetCacheRequest): Promise<pb.CacheResponse> {
  authorize(call.principal, "ImageService.GetCache", UNOWNED);
  return askNodes(call, request, { case: "status", value: request });
}

export async function evictImage(call: Call, request: pb.EvictImageRequest): Promise<pb.CacheResponse> {
  authorize(call.principal, "ImageService.EvictImage", UNOWNED);
  checkImage(request.image);
  return askNodes(call, request, { case: "evict", value: request });
}

/** Of an image that a node looks for or fetches. An image in a cache is removed by any name that it is listed by. */
function checkImageName(image: string): void {
  checkImage(image);
  const problem = imageNameProblem(image);
  if (problem !== null)
    throw invalid("image", problem, "For example prgenv-gnu/24.11:v1 or registry.example.com/app:1.");
}

function checkImage(image: string): void {
  if (image === "") throw invalid("image", "must be given", "For example prgenv-gnu/24.11:v1.");
  checkText("image", image, MAX_IMAGE_TEXT);
}

async function askOne(call: Call, named: string, ask: ImageAsk): Promise<{ node: NodeId; answer: pb.ImageAnswer }> {
  const [node] = named === "" ? connectedNodes(call, "") : nodesNamed(call, [named]);
  if (node === undefined) throw new ProblemError("node_unreachable", { detail: "No agent is connected to ask." });
  const answer = await call.plane.askImages(node, ask, call.signal);
  if (answer.error !== "") throw noImage(answer.error, ask);
  return { node, answer };
}

/** Requests in parallel, so that a slow node does not delay the others. */
const MAX_AT_ONCE = 64;

async function askNodes(
  call: Call,
  which: { readonly nodes: readonly string[]; readonly group: string },
  ask: ImageAsk,
): Promise<pb.CacheResponse> {
  const nodes = which.nodes.length > 0 ? nodesNamed(call, which.nodes) : connectedNodes(call, which.group);
  if (nodes.length === 0) {
    const where = which.group === "" ? "is connected" : `of group ${which.group} is connected`;
    throw new ProblemError("node_unreachable", { detail: `No agent ${where}.` });
  }
  const answers: pb.NodeCache[] = [];
  for (let i = 0; i < nodes.length; i += MAX_AT_ONCE) {
    answers.push(...(await Promise.all(nodes.slice(i, i + MAX_AT_ONCE).map((node) => askForCache(call, node, ask)))));
  }
  return create(pb.CacheResponseSchema, { nodes: answers });
}

async function askForCache(call: Call, node: NodeId, ask: ImageAsk): Promise<pb.NodeCache> {
  try {
    const { error, cache } = await call.plane.askImages(node, ask, call.signal);
    const { sizeBytes = 0, usedBytes = 0, images = [] } = cache ?? {};
    return create(pb.NodeCacheSchema, { node, error, sizeBytes, usedBytes, images });
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return create(pb.NodeCacheSchema, { node, error: error.problem.detail });
  }
}

function nodesNamed(call: Call, names: readonly string[]): NodeId[] {
  const view = call.plane.view();
  return [...new Set(names)].map((name) => {
    const id = parseNodeId(name);
    if (id === null || view.node(id) === undefined) throw unknownNode(name);
    return id;
  });
}

function connectedNodes(call: Call, group: string): NodeId[] {
  const found: NodeId[] = [];
  let known = group === "";
  for (const node of call.plane.view().nodes()) {
    if (group !== "" && node.group !== group) continue;
    known = true;
    if (!node.capabilities.hollow && call.plane.liveness(node.id).connected) found.push(node.id);
  }
  if (!known)
    throw invalid("group", `no node is in ${JSON.stringify(group.slice(0, 80))}`, "`lattice nodes` shows the groups.");
  return found;
}

/** The usual hint, to list the images, does not help when the list itself failed or no registry is configured. */
function noImage(detail: string, ask: ImageAsk): ProblemError {
  const isCircular = ask.case === "list" || detail.startsWith("no registry is configured");
  const hint = "Ask an administrator: agents find images where their --registry says.";
  return new ProblemError("image_unavailable", { detail, ...(isCircular ? { hint } : {}) });
}
